"""survey-core, the library of SurveyJS, asks the same questions as the survey that is imported."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from found import optional

from analysis.core.domain import NONE
from analysis.survey.document import parsed
from analysis.survey.logic import asked_of, holds
from analysis.survey.survey_file import survey_of
from server.forms import read_form

pytestmark = pytest.mark.more

LIBRARY = "survey-core@3.1.1"
#: What npm writes if it reaches no registry. Any other failure is one of the test.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
#: For each table of answers, print the questions, rows, fields and rates that are visible.
PROGRAM = """
import { readFileSync } from 'node:fs';
import { Model } from 'survey-core';
const { form, answers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const survey = new Model(form);
for (const data of answers) {
  survey.data = data;
  const names = survey.getAllQuestions(true).flatMap((question) =>
    question.visibleRows?.map((row) => `${question.name}.${row.name}`) ??
    question.items?.map((item) => `${question.name}.${item.name}`) ??
    [question.name, ...question.visibleRateValues?.map((rate) => `rate ${rate.value}`) ?? []]);
  process.stdout.write(`${JSON.stringify(names)}\\n`);
}
"""

CHOICE = {"type": "radiogroup", "name": "r",
          "choices": ["beer", "be", {"value": "Red Wine!", "text": "Wine"}, 12, "03|Three"],
          "showNoneItem": True, "showRefuseItem": True, "showDontKnowItem": True,
          "showOtherItem": True}  # fmt: skip
TICKS = {"type": "checkbox", "name": "q", "choices": ["a", {"value": "B", "text": "Bee"}, 1],
         "showNoneItem": True}  # fmt: skip
BARE = {"type": "checkbox", "name": "z", "choices": ["a", "b"]}
SWITCH = {"type": "boolean", "name": "b"}
NAMED = {"type": "boolean", "name": "c", "valueTrue": "y", "valueFalse": "n", "isRequired": True}
NUMBER = {"type": "text", "name": "n", "inputType": "number", "min": 0, "max": 4, "step": 1}
RATES = {"type": "rating", "name": "k", "rateMin": 0, "rateCount": 4}
GRID = {"type": "matrix", "name": "m", "columns": ["never", {"value": 2, "text": "often"}],
        "rows": ["a", {"value": "b", "visibleIf": "{z} notempty"}],
        "rowsVisibleIf": "{z} empty or {z} contains {item}"}  # fmt: skip

#: The questions of a form, conditions of further ones, and of these those that are lost.
FORMS: dict[str, tuple[list[Any], list[str], list[str]]] = {
    "one": (
        [CHOICE],
        [
            "{r} = 'beer'", "{r} != 'beer'", "{R} = 'BEER'", "{r} <> 'Red Wine!'",
            "{r} contains 'be'", "{r} notcontains 'be'", "{r} contains 'r'", "{r} notcontains 'r'",
            "{r} anyof ['beer', 'be']", "{r} noneof ['beer', \"12\"]", "{r} allof ['be']",
            "{r} allof ['be', 'er']", "{r} anyof 'beer'", "{r} contains ['be']",
            "{r} notcontains ['beer', 'be']", "{r} empty", "{r} notempty", "{r} = ''",
            "{r} != null", "{r} = 'none'", "{r} = 'other'", "{r} anyof ['refused', 'dontknow']",
            "{r} = 12", "{r} = '12.0'", "{r} > 3", "{r} >= '3'", "{r} < 12", "{r} = 3", "3 < {r}",
            "{r} = beer", "!({r} = 'beer')", "!({r} = 'beer' or {r} = 'be')",
            "{r} = 'beer' or {r} = 'be' and {r} = 12", "{r} != ['beer']", "{r} > 'be'",
            "({r} = 'be' || {r} = 12) && {r} notempty", "{r} = 'rum'", "{r} = ['beer']",
            "{r} = iif(1 > 0, 'beer', 'be')",
        ],
        ["{r} = 'rum'", "{r} = ['beer']", "{r} = iif(1 > 0, 'beer', 'be')"],
    ),
    "several": (
        [TICKS],
        [
            "{q} contains 'a'", "{q} contains ['a', 'b']", "{q} contains ['A', 1]",
            "{q} notcontains 'a'", "{q} notcontains ['a', 'b']", "{q} anyof ['a', 'b']",
            "{q} anyof ['a', 'none']", "{q} noneof ['a', 'b']", "{q} allof ['a', 'b']",
            "{q} allof ['a']", "{q} anyof 'b'", "{q} = ['a']", "{q} = ['B', 'a']",
            "{q} != ['a', '1']", "{q} = ['none']", "{q} contains 'none'", "{q} contains '1'",
            "{q} notcontains 'none'", "{q} empty", "{q} notempty", "{q.length} > 0",
            "{q.length} >= 1", "!({q} contains 'a') and {q} notempty", "{q} != 'a'",
            "{q} anyof ['a', 'z']", "{q} notcontains 'z'", "{q} = 'a'", "{q} allof ['a', 'z']",
            "{q.length} > 1", "{q} = ['b', 'a']",
        ],
        ["{q} = ['b', 'a']", "{q} = 'a'", "{q} allof ['a', 'z']", "{q.length} > 1"],
    ),
    "switches": (
        [SWITCH, NAMED],
        [
            "{b} = true", "{b} = 'true'", "{b} = 'False'", "{b} != true", "{b} = false", "{b}",
            "!{b}", "{b} and {c} = 'y'", "{b} empty", "{b} notempty", "{c} = 'n'", "{c} <> 'Y'",
            "{b} || {c} = 'n'", "!({b} = true) && {c} notempty", "{c}", "{c} = true",
        ],
        ["{c}", "{c} = true"],
    ),
    "numbers": (
        [NUMBER, RATES],
        [
            "{n} = 2", "{n} = '2'", "{n} != 2", "{n} < 2", "{n} <= 2", "{n} > 2 and {k} > 1",
            "{n} >= 2 or {k} = 0", "2 < {n}", "{n} empty", "{n} notempty", "{n} anyof [1, 3]",
            "{n} noneof [1, 3]", "!({n} < 2)", "{n} <> '3'", "{k} < 2", "{k} >= 2", "{k} != 0",
            "{k} anyof [0, 3]", "{k} notempty", "{n} = {k}", "{n} + 1 > 2", "{n} contains 1",
        ],
        ["{n} = {k}", "{n} + 1 > 2", "{n} contains 1"],
    ),
    "parts": (
        [
            BARE,
            GRID,
            {"type": "panel", "name": "p", "visibleIf": "{z} contains 'a'", "elements": [
                SWITCH, {"type": "multipletext", "name": "f", "visibleIf": "{b} = true",
                         "items": [{"name": "x"}]}]},
        ],
        [
            "{z} empty", "{z} notempty", "{z} notcontains 'a'", "{m.a} = 2", "{m.b} != 'never'",
            "{m.a} empty and {b} = false", "{m.b} notempty or {z} = ['a', 'b']", "{b} notempty",
            "{m} notempty", "{row.a} = 2", "{panel.b} = true",
        ],
        ["{m} notempty", "{row.a} = 2", "{panel.b} = true"],
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """A question of ours that conditions name: its answers, each with the one there."""

    id: str
    name: str
    answers: dict[str, Any]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the library, and the program that asks it."""
    npm, folder = optional("npm"), tmp_path_factory.mktemp("surveyjs")
    words = ["install", "--no-audit", "--no-fund", "--ignore-scripts", LIBRARY]
    done = subprocess.run(
        [npm, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    if any(sign in done.stderr for sign in UNREACHABLE):
        pytest.skip(f"npm cannot reach its registry: {done.stderr.strip()[:200]}")
    assert not done.returncode, done.stderr
    (folder / "visible.mjs").write_text(PROGRAM)
    return folder


def visible(library: Path, form: Any, answers: Sequence[Any]) -> list[set[str]]:
    """Return the names of what the library shows, for each table of answers."""
    (library / "asked.json").write_text(json.dumps({"form": form, "answers": answers}))
    done = subprocess.run(
        [optional("node"), "visible.mjs", "asked.json"],
        cwd=library, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return [{*json.loads(line)} for line in done.stdout.splitlines()]


def elements_of(form: Any) -> Iterator[Any]:
    for element in form["elements"]:
        yield element
        yield from elements_of(element) if "elements" in element else ()


def values_of(element: Mapping[str, Any]) -> list[Any]:
    """Return the values of the options of a question there, in our order."""
    if element["type"] == "boolean":
        return [element.get("valueTrue", True), element.get("valueFalse", False)]
    if element["type"] == "rating":
        return [*range(element["rateMin"], element["rateMin"] + element["rateCount"])]
    given = element["columns"] if element["type"] == "matrix" else element["choices"]
    values = [one["value"] if isinstance(one, dict) else one for one in given]
    values = [one.partition("|")[0] if isinstance(one, str) else one for one in values]
    added = [("showNoneItem", "none"), ("showRefuseItem", "refused"),
             ("showDontKnowItem", "dontknow"), ("showOtherItem", "other")]  # fmt: skip
    values += [value for switch, value in added if switch in element]
    return values


def answers_of(entry: Mapping[str, Any], element: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each answer to a question of ours, and what the same person answers there."""
    if not entry.get("required"):
        yield "", None
    kind = entry["kind"]
    if kind == "number":
        yield from ((str(one), one) for one in range(element["min"], element["max"] + 1))
        return
    ids = [option["id"] for option in entry.get("options", ())] or ["yes", "no"]
    values = values_of(element)
    if kind != "choices":
        yield from zip(ids, values, strict=True)
        return
    has_none = "showNoneItem" in element
    yield NONE, ["none"] if has_none else []
    pairs = [*zip(ids, [one for one in values if one != "none"], strict=True)]
    for some in chain.from_iterable(combinations(pairs, n) for n in range(1, len(pairs) + 1)):
        yield "|".join(one for one, _ in some), [value for _, value in some]


def cases(
    entries: Sequence[Mapping[str, Any]], named: Sequence[Answered], before: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield all answers to the questions that conditions name, as the survey asks them."""
    if not named:
        yield dict(before)
        return
    first, *others = named
    tree = next(entry.get("shows_if") for entry in entries if entry["id"] == first.id)
    for answer in first.answers if not tree or holds(tree, before) else [""]:
        yield from cases(entries, others, {**before, first.id: answer})


def there(named: Sequence[Answered], answers: Mapping[str, str]) -> dict[str, Any]:
    """Return what somebody answers there who gives these answers to the survey."""
    data: dict[str, Any] = {}
    for one in named:
        value = one.answers[answers[one.id]] if answers[one.id] else None
        question, _, row = one.name.partition(".")
        if value is not None and row:
            data.setdefault(question, {})[row] = value
        elif value is not None:
            data[question] = value
    return data


@pytest.mark.parametrize("form", FORMS)
def test_the_survey_asks_what_the_library_asks(form: str, library: Path) -> None:
    questions, conditions, lost = FORMS[form]
    asked = [{"type": "text", "name": f"t{number}", "visibleIf": condition}
             for number, condition in enumerate(conditions)]  # fmt: skip
    given = {"elements": [*questions, *asked]}
    found = read_form(json.dumps(given).encode(), "form.json")
    entries = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
    names = {row.id: row.name for row in found.rows if row.id}
    told = {row.name for row in found.rows if "could not be translated" in row.detail}
    assert {conditions[int(name[1:])] for name in told} == {*lost}

    elements = {one["name"]: one for one in elements_of(given)}
    needed = set().union(*(asked_of(entry.get("shows_if", [])) for entry in entries))
    named = [
        Answered(one["id"], name, dict(answers_of(one, elements[name.partition(".")[0]])))
        for one in entries
        if one["id"] in needed
        for name in [names[one["id"]]]
    ]
    ours = [*cases(entries, named, {})]
    assert 3 < len(ours) < 2_000
    theirs = [there(named, answers) for answers in ours]
    for answers, data, shown in zip(ours, theirs, visible(library, given, theirs), strict=True):
        for entry in entries:
            # The library does not count the text beside an option as a question.
            name = names.get(entry["id"])
            is_asked = not entry.get("shows_if") or holds(entry["shows_if"], answers)
            if name is not None and is_asked is not (name in shown):
                assert is_asked, (elements.get(name, name), data)
                assert name in told, (elements.get(name, name), data)


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"rateMin": 0}, {"rateMax": 9}, {"rateMin": 0, "rateCount": 11}, {"rateStep": 2},
        {"rateMax": 9, "rateCount": 3}, {"rateMin": 0, "rateStep": 2, "rateCount": 4},
        {"rateValues": [3, "4|four"]}, {"rateValues": [3, 4], "autoGenerate": True},
        {"rateMin": 2, "rateMax": 6, "rateStep": 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_rating_has_the_rates_of_the_library(keys: dict[str, Any], library: Path) -> None:
    form = {"elements": [{"type": "rating", "name": "k", "title": "K", **keys}]}
    found = read_form(json.dumps(form).encode(), "form.json")
    [entry] = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
    ours = [one["text"].replace("four", "4") for one in entry["options"]]
    [theirs] = visible(library, form, [{}])
    assert {f"rate {one}" for one in ours} == theirs - {"k"}
