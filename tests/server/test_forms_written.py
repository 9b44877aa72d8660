"""Surveys written as questionnaires of other tools come back unchanged."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from command_line import run
from pyxform.xls2xform import convert

from analysis.survey.document import parsed
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey, survey_of
from server.forms import WRITTEN, Imported, read_form, write_form
from server.studies import templates

EXAMPLES = Path(__file__).parents[2] / "examples"
SURVEYS = [*sorted(path.stem for path in EXAMPLES.glob("*.toml")), *templates()]
#: Everything that a survey can have.
ALL = """
title = {en = "All", de = "Alles"}
id = "all"
languages = ["en", "de"]
introduction = {en = "Hello", de = "Hallo"}
[[questions]]
id = "2nd"
kind = "yes-no"
text = {en = "=1+1 & 2 < 3?", de = "Wirklich?"}
help = {en = "Think.", de = "Denken."}
epsilon = 1
[[questions]]
id = "which"
kind = "choices"
text = {en = "Which?", de = "Welche?"}
options = [{id = "a", text = {en = "A", de = "Ä"}}, {id = "b", text = {en = "B", de = "B"}},
  {id = "c", text = {en = "C", de = "C"}}]
at_most = 2
random_order = true
shows_if = "2nd != 'no' and 2nd != 'no-answer'"
section = {en = "More", de = "Mehr"}
new_page = true
epsilon = 1
[[questions]]
id = "namely"
kind = "text"
text = {en = "Namely", de = "Nämlich"}
namely = "c"
epsilon = 1
[[questions]]
id = "am"
kind = "scale"
text = {en = "Mornings", de = "Morgens"}
matrix = {en = "How often, {answer.2nd|then}?", de = "Wie oft?"}
points = [{en = "Never", de = "Nie"}, {en = "Often", de = "Oft"}]
epsilon = 1
[[questions]]
id = "pm"
kind = "scale"
text = {en = "Evenings", de = "Abends"}
matrix = {en = "How often, {answer.2nd|then}?", de = "Wie oft?"}
points = [{en = "Never", de = "Nie"}, {en = "Often", de = "Oft"}]
epsilon = 1
[[questions]]
id = "far"
kind = "number"
text = {en = "How far?", de = "Wie weit?"}
min = 0
max = 10
step = 0.5
unit = {en = "miles", de = "Meilen"}
slider = true
shows_if = "selected(which, 'a') or (am = '2' and 2nd = 'yes')"
epsilon = 1
[[questions]]
id = "age"
kind = "number"
text = {en = "Age?", de = "Alter?"}
min = 18
max = 99
integer = true
required = true
epsilon = 1
[[questions]]
id = "word"
kind = "text"
text = {en = "A word?", de = "Ein Wort?"}
candidates = ["one", "two"]
shows_if = "age >= 21 and selected(which, 'none')"
epsilon = 1
[[questions]]
id = "first"
kind = "rank"
text = {en = "Which first?", de = "Was zuerst?"}
items = [{id = "x", text = {en = "X", de = "X"}}, {id = "y", text = {en = "Y", de = "Y"}}]
epsilon = 1
"""


def survey() -> Survey:
    return survey_of(parsed(ALL, "all"), "all", Path("."))


def back(survey: Survey, tool: str) -> Imported:
    return read_form(write_form(survey, tool).content, f"back{WRITTEN[tool][0]}", tool)


#: The keys that come back unchanged, if the other tool has them.
KEYS = ("id", "kind", "text", "help", "options", "required", "min", "max", "shows_if", "namely",
        "at_most", "random_order", "section", "new_page")  # fmt: skip


def kept(survey: Survey, names: dict[str, str]) -> list[dict[str, Any]]:
    """Return the keys of the questions; ids that the other tool cannot have are replaced."""
    found = []
    for one in survey.spec["questions"]:
        text = json.dumps({key: one[key] for key in ("id", "shows_if") if one.get(key)})
        for old, new in names.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        found.append({key: one[key] for key in KEYS if one.get(key)} | json.loads(text))
    rows: list[dict[str, Any]] = json.loads(
        re.sub(r"(\{answer\.[\w-]+\|)[^}]*\}", r"\1…}", json.dumps(found))
    )
    return rows


@cache
def survey_named(name: str) -> Survey:
    """Return a template or an example; it is read once."""
    if name in templates():
        return survey_of(parsed(templates()[name].text, name), name, Path("."))
    return read_survey(EXAMPLES / f"{name}.toml")


@pytest.mark.parametrize("tool", WRITTEN)
@pytest.mark.parametrize("name", SURVEYS)
def test_a_form_that_is_read_again_asks_the_same(name: str, tool: str) -> None:
    given = survey_named(name)
    returned = survey_of(parsed(back(given, tool).toml, "x"), "x", Path("."))
    # A matrix of SurveyJS names its rows.
    matrices: dict[str, str] = {}
    if tool == "surveyjs":
        before = [one["id"] for one in given.spec["questions"]]
        after = [one["id"] for one in returned.spec["questions"]]
        matrices = {a: b for a, b in zip(before, after, strict=True) if a != b}
        assert all(b.startswith("matrix") and b.endswith(a) for a, b in matrices.items())
    for ours, theirs in zip(kept(given, matrices), kept(returned, {}), strict=True):
        if tool == "surveyjs" and "help" in ours and ours["kind"] == "note":
            ours["text"] += f"\n{ours.pop('help')}"
        # Other programs that read an XLSForm make one space of each run of spaces.
        if tool == "xlsform":
            ours, theirs = _spaced(ours), _spaced(theirs)
        assert ours == theirs, ours["id"]


def _spaced(value: Any) -> Any:
    """Return the same with plain spaces instead of those that keep words together."""
    if isinstance(value, dict):
        return {key: _spaced(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_spaced(one) for one in value]
    return re.sub("[\u00a0\u202f]", " ", value) if isinstance(value, str) else value


#: Questions with all that other tools may not have.
MORE = """
title = {en = "More", de = "Mehr"}
id = "more"
languages = ["en", "de"]
organisation = "We"
[[questions]]
id = "usual"
kind = "choice"
text = {en = "Usual?", de = "Üblich?"}
options = [{id = "a", text = {en = "Yes", de = "Ja"}}, {id = "b", text = {en = "No", de = "Nein"}}]
reason = "Why not."
epsilon = 1
[[questions]]
id = "points"
kind = "scale"
text = "Why {not}?"
points = [0, 3, 6]
aim = "mean"
epsilon = 1
[[questions]]
id = "am"
kind = "scale"
text = "{answer.usual|Well}, mornings?"
matrix = "How often?"
points = ["Never", "Often"]
required = true
epsilon = 1
[[questions]]
id = "pm"
kind = "scale"
text = "Evenings?"
matrix = "How often?"
points = ["Never", "Often"]
epsilon = 1
[[questions]]
id = "far"
kind = "number"
text = "How far?"
min = 0
max = 10
slider = true
prior = [1, 2]
unit = "miles"
epsilon = 1
[[questions]]
id = "name"
kind = "text"
text = "Which word?"
longest = 5
letters = "abc"
epsilon = 1
[[questions]]
id = "coded"
kind = "choice"
text = "Which?"
options = [{id = "a", text = "A", code = 5}, {id = "b", text = "B", code = 6}]
epsilon = 1
[[questions]]
id = "now"
kind = "note"
text = "A note."
help = "More of it."
"""
#: What the report says of a key that does not come back, if not the key itself.
TOLD = {
    "kind": "it would be read as a yes-no question",
    "memory": "epsilon_forever is left out",
    "step": "its step",
    "matrix": "the text over its grid is left out",
}
#: Words in the report for what can happen to a text, to an id, and to options.
CHANGED_TEXTS = (
    "braces in its texts",
    "the words in place of an answer",
    "help is part of its text",
)
CHANGED_OPTIONS = ("their codes in place of their ids", "known by their places", "yes-no question")


def _same(value: Any, languages: list[str]) -> Any:
    """Return the same with plain texts where all languages have the same text."""
    if isinstance(value, list):
        return [_same(one, languages) for one in value]
    if isinstance(value, dict) and value and value.keys() <= {*languages}:
        return value if len({*value.values()}) > 1 else next(iter(value.values()))
    if isinstance(value, dict):
        return {key: _same(one, languages) for key, one in value.items()}
    return value


@pytest.mark.parametrize("tool", WRITTEN)
@pytest.mark.parametrize("name", ["all", "more", *SURVEYS])
def test_each_key_comes_back_or_is_in_the_report(name: str, tool: str) -> None:
    texts = {"all": ALL, "more": MORE}
    given = (
        survey_of(parsed(texts[name], name), name, Path("."))
        if name in texts
        else survey_named(name)
    )
    written = write_form(given, tool)
    found = read_form(written.content, f"back{WRITTEN[tool][0]}", tool)
    returned = survey_of(parsed(found.toml, "x"), "x", Path("."))
    rows = {row.row: row for row in written.rows}
    languages = given.spec.get("languages", [])
    for key, value in given.spec.items():
        if key not in ("questions", "codes") and value != returned.spec.get(key):
            assert rows[key].outcome in ("refused", "changed"), key
    pairs = [*zip(given.spec["questions"], returned.spec["questions"], strict=True)]
    names = {before["id"]: after["id"] for before, after in pairs}
    for before, after in pairs:
        kind = "note" if before["kind"] == "note" else "question"
        told = rows[f"{kind} {before['id']}"].detail
        # Every import proposes its own ε, and a tool without ε has no mechanism.
        for key in {*before, *after} - {"epsilon", "mechanism"}:
            ours, theirs = (_same(one.get(key), languages) for one in (before, after))
            if key == "shows_if":
                ours = json.loads(_renamed(json.dumps(ours), names))
            if ours == theirs:
                continue
            if key == "id":
                assert re.search(r"its name is|it is a row of", told)
            elif key in ("text", "help", "matrix") and any(one in told for one in CHANGED_TEXTS):
                continue
            elif key == "options":
                assert any(one in told for one in CHANGED_OPTIONS), (before["id"], told)
            elif key == "shows_if":
                assert "none of these and no answer are the same" in told
            else:
                assert TOLD.get(key, key) in told, (before["id"], key, told)


def _renamed(text: str, names: dict[str, str]) -> str:
    """Return a condition with the ids that came back."""
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return text


def test_everything_comes_back_from_an_xlsform() -> None:
    given, found = survey(), back(survey(), "xlsform")
    returned = survey_of(parsed(found.toml, "x"), "x", Path("."))
    ours, theirs = kept(given, {"2nd": "q-2nd"}), kept(returned, {})
    # Nobody can say "none of these" there, so it is the same as no answer.
    word = next(one for one in theirs if one["id"] == "word")
    assert word.pop("shows_if") != next(one for one in ours if one["id"] == "word").pop("shows_if")
    for one, other in zip(ours, theirs, strict=True):
        one.pop("help", None)
        other.pop("help", None)
        assert one == other


def test_everything_comes_back_from_surveyjs() -> None:
    returned = survey_of(parsed(back(survey(), "surveyjs").toml, "x"), "x", Path("."))
    ours = kept(survey(), {"am": "matrix-am", "pm": "matrix-pm"})
    for one, other in zip(ours, kept(returned, {}), strict=True):
        assert one == other


@pytest.mark.parametrize("name", ["all", *SURVEYS])
def test_pyxform_makes_a_form_of_it(name: str) -> None:
    given = survey() if name == "all" else survey_named(name)
    form = convert(write_form(given, "xlsform").content, file_type=".xlsx")
    assert "<h:html" in form.xform


def test_no_text_becomes_a_formula() -> None:
    content = write_form(survey(), "xlsform").content
    import io

    book = openpyxl.load_workbook(io.BytesIO(content))
    kinds = {cell.data_type for sheet in book for row in sheet.rows for cell in row}
    assert kinds <= {"s", "n", "inlineStr"}
    texts = [cell.value for row in book["survey"].rows for cell in row]
    assert "=1+1 & 2 < 3?" in texts


@pytest.mark.parametrize("tool", WRITTEN)
def test_losses_are_reported(tool: str) -> None:
    rows = {row.row: row for row in write_form(survey(), tool).rows}
    assert rows["privacy"].outcome == "refused"
    assert "it collects true answers" in rows["privacy"].detail
    assert {f"question {one['id']}" for one in survey().spec["questions"]} <= {*rows}
    assert rows["question age"].outcome == "exported"
    assert rows["question far"].outcome == "changed"
    assert "its unit" in rows["question far"].detail
    panel = {row.row: row for row in write_form(survey_named("staff-panel"), tool).rows}
    assert panel["access"].outcome == "refused"
    assert "epsilon_forever is left out" in panel["question shouted"].detail


def test_the_command_writes_a_new_file(tmp_path: Path) -> None:
    draft, output = tmp_path / "all.toml", tmp_path / "all.json"
    draft.write_text(ALL)
    args = ["convert", str(draft), "--to", "surveyjs", "--output", str(output)]
    result = run(*args, "--report", str(tmp_path / "report.csv"))
    assert result.exit_code == 0, result.output
    assert json.loads(output.read_text())["title"] == {"default": "All", "de": "Alles"}
    lines = (tmp_path / "report.csv").read_text().splitlines()
    assert lines[0] == "row,name,type,outcome,detail,weight,to_see,id"
    again = run(*args)
    assert (again.exit_code, "expected a new file" in again.output) == (1, True)
