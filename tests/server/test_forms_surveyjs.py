"""Check each element of a SurveyJS form, and that nothing in a file does harm."""

import json
import random
import tomllib
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from analysis.survey.document import parsed
from analysis.survey.survey_file import survey_of
from server.forms import FormError, Imported, read_form

FORM: dict[str, Any] = {
    "title": {"default": "Nights", "de": "Nächte"},
    "description": "Why we ask",
    "pages": [
        {
            "name": "first",
            "title": "You",
            "elements": [
                {"type": "html", "name": "hello", "html": "<p>Hello</p>"},
                {
                    "type": "radiogroup",
                    "name": "Drink",
                    "title": {"default": "What do you drink?", "de": "Was trinken Sie?"},
                    "choices": ["beer", {"value": "w", "text": {"default": "Wine", "de": "Wein"}}],
                    "showOtherItem": True,
                },
                {
                    "type": "checkbox",
                    "name": "why",
                    "title": "Why?",
                    "visibleIf": "{Drink} = 'beer' and {Drink} notempty",
                    "choices": ["fun", "habit", "thirst"],
                    "maxSelectedChoices": 2,
                },
                {"type": "boolean", "name": "drove", "title": "Did you drive?"},
                {
                    "type": "rating",
                    "name": "mood",
                    "title": "How was {Drink}?",
                    "visibleIf": "{why} contains 'fun'",
                },
            ],
        },
        {
            "name": "second",
            "elements": [
                {
                    "type": "panel",
                    "name": "more",
                    "visibleIf": "{drove} = true",
                    "elements": [
                        {"type": "text", "name": "km", "inputType": "number", "min": 0, "max": 90},
                        {"type": "text", "name": "born", "inputType": "date", "min": "1920-01-01",
                         "max": "2010-12-31"},
                    ],
                },
                {
                    "type": "matrix",
                    "name": "grid",
                    "title": "How often?",
                    "columns": ["never", "often"],
                    "rows": [{"value": "am", "text": "Mornings"}, "pm"],
                    "isAllRowRequired": True,
                },
                {"type": "ranking", "name": "order", "choices": ["a", "b", "c"]},
                {"type": "multipletext", "name": "names", "items": [{"name": "x"}, {"name": "y"}]},
                {"type": "comment", "name": "story"},
                {"type": "text", "name": "mail", "inputType": "email"},
                {"type": "text", "name": "weight", "inputType": "number"},
                {"type": "dropdown", "name": "url", "choicesByUrl": {"url": "https://example.org"}},
                {"type": "boolean", "name": "last", "visibleIf": "{km} + 1 > 3",
                 "defaultValue": True},
                {"type": "poem", "name": "poem"},
            ],
        },
    ],
    "triggers": [{"type": "complete"}],
}  # fmt: skip


def imported(form: Any) -> Imported:
    found = read_form(json.dumps(form).encode(), "nights.json")
    if found.toml:
        survey_of(parsed(found.toml, "x"), "x", Path("."))
    return found


def test_supported_elements_become_questions() -> None:
    tables = tomllib.loads(imported(FORM).toml)
    assert tables["title"] == {"en": "Nights", "de": "Nächte"}
    entries = {entry["id"]: entry for entry in tables["questions"]}
    assert [*entries] == [
        *("hello", "drink", "drink-other", "why", "drove", "mood", "km", "born", "grid-am"),
        *("grid-pm", "order", "names-x", "names-y", "last"),
    ]
    drink = entries["drink"]
    assert [option["id"] for option in drink["options"]] == ["beer", "w", "other"]
    assert drink["options"][1]["text"] == {"en": "Wine", "de": "Wein"}
    assert entries["drink-other"]["namely"] == "other"
    assert entries["why"]["shows_if"] == "drink = 'beer' and drink != 'no-answer'"
    assert entries["why"]["at_most"] == 2
    assert entries["mood"]["shows_if"] == "selected(why, 'fun')"
    assert entries["mood"]["text"]["en"] == "How was {answer.drink|…}?"
    assert entries["mood"]["points"] == ["1", "2", "3", "4", "5"]
    assert entries["km"]["shows_if"] == "drove = 'yes'"
    assert entries["km"]["new_page"]
    assert (entries["born"]["min"], entries["born"]["max"]) == (1920, 2010)
    assert entries["grid-am"]["matrix"]["en"] == "How often?"
    assert entries["grid-pm"]["required"]


def test_each_element_is_reported() -> None:
    rows = imported(FORM).rows
    places = [row.row for row in rows]
    for number in range(5):
        assert f"pages[0].elements[{number}]" in places
    for number in range(10):
        assert f"pages[1].elements[{number}]" in places
    assert len(set(places)) == len(places)
    told = {row.name: (row.outcome, row.detail) for row in rows}
    for name, why in {
        "story": "free prose cannot be randomized",
        "mail": "an answer of type email identifies",
        "weight": "give it min and max",
        "url": "its options come from elsewhere",
        "poem": "the type poem is not known here",
        "triggers": "no counterpart",
    }.items():
        assert told[name][0] == "refused"
        assert why in told[name][1]
    assert told["last"][0] == "changed"
    assert "the condition {km} + 1 > 3 could not be translated" in told["last"][1]
    assert "its default answer True is left out" in told["last"][1]
    lacking = "its text in de is missing: the text of another language is used"
    assert told["drove"] == ("changed", f"{lacking}; ε = 1 is proposed")
    alone = imported({"elements": [{"type": "boolean", "name": "drove", "title": "Did you?"}]})
    assert (alone.rows[0].outcome, alone.rows[0].detail) == ("imported", "ε = 1 is proposed")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[" * 100_000, "expected JSON"),
        (b"\xff", "expected JSON in UTF-8"),
        (b"{}", "expected JSON with pages or elements"),
        (b"[1]", "expected JSON with pages or elements"),
        (
            json.dumps({"elements": [{"type": "html", "name": "x"}] * 100_000}).encode(),
            "at most 5,000 elements",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, told: str) -> None:
    with pytest.raises(FormError, match=told):
        read_form(content, "x.json", "surveyjs")


def test_deep_panels_are_refused_with_a_sentence() -> None:
    panel: dict[str, Any] = {"type": "boolean", "name": "x"}
    for _ in range(400):
        panel = {"type": "panel", "name": "p", "elements": [panel]}
    with suppress(FormError):
        imported({"elements": [panel]})


def test_whatever_a_file_holds_the_result_can_be_checked() -> None:
    rng = random.Random(5)
    strange = [
        None,
        True,
        0,
        -1e300,
        "",
        "{",
        "x" * 5000,
        [],
        {},
        ["a", "a"],
        {"default": 3},
        "{a} =",
    ]
    for _ in range(60):
        form = deepcopy(FORM)
        for _ in range(rng.randint(1, 12)):
            table: Any = rng.choice(rng.choice(form["pages"])["elements"])
            if isinstance(table, dict) and table:
                table[rng.choice([*table, "choices", "title", "visibleIf", "name"])] = rng.choice(
                    strange
                )
        with suppress(FormError):
            imported(form)


def read(*elements: Any, **survey: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the questions of a form by their ids, and the details of its rows by their names."""
    found = imported({"elements": [*elements], **survey})
    questions = tomllib.loads(found.toml).get("questions", []) if found.toml else []
    return {one["id"]: one for one in questions}, {row.name: row.detail for row in found.rows}


def choose(name: str, *choices: Any, kind: str = "radiogroup", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "choices": [*choices], **more}


@pytest.mark.parametrize(
    ("keys", "points"),
    [
        ({}, "1 2 3 4 5"),
        ({"rateMin": 0}, "0 1 2 3 4 5"),
        ({"rateMin": 0, "rateCount": 4}, "0 1 2 3"),
        ({"rateMax": 9, "rateCount": 3}, "7 8 9"),
        ({"rateMin": 0, "rateStep": 2, "rateCount": 3}, "0 2 4"),
        ({"rateValues": [1, 2]}, "1 2"),
        ({"rateValues": [1, 2], "autoGenerate": True}, "1 2 3 4 5"),
    ],
    ids=str,
)
def test_rates_are_those_of_survey_core(keys: dict[str, Any], points: str) -> None:
    entries, _ = read({"type": "rating", "name": "k", **keys})
    assert entries["k"]["points"] == points.split()


def test_the_default_text_is_english_beside_one_in_the_language_of_the_form() -> None:
    title = {"default": "Wine?", "de": "Wein?"}
    entries, _ = read({"type": "boolean", "name": "q", "title": title}, locale="de")
    assert entries["q"]["text"] == {"de": "Wein?", "en": "Wine?"}
    entries, _ = read({"type": "boolean", "name": "q", "title": {"default": "Wein?"}}, locale="de")
    assert entries["q"]["text"] == {"de": "Wein?"}
    entries, _ = read(choose("q", "a", "b", title="Wo?", showOtherItem=True), locale="de")
    assert entries["q"]["options"][2]["text"] == {"de": "Anderes"}


def test_options_with_the_same_value_are_named() -> None:
    twice = choose("q", {"value": 1, "text": "One"}, {"value": 1, "text": "Uno"}, 2)
    entries, told = read(twice)
    assert [one["text"] for one in entries["q"]["options"]] == ["One", "2"]
    assert "options with the value of an earlier one are left out" in told["q"]


def test_answers_have_the_name_of_their_value() -> None:
    entries, told = read(
        choose("q", "a", "b", valueName="v"),
        {"type": "boolean", "name": "one", "visibleIf": "{V} = 'A'"},
        {"type": "boolean", "name": "two", "visibleIf": "{q} = 'a'"},
    )
    assert entries["one"]["shows_if"] == "q = 'a'"
    assert "q is not among the earlier questions" in told["two"]


def test_a_question_whose_parts_are_all_refused_is_refused() -> None:
    fields = {"type": "multipletext", "name": "f", "items": [{"name": "x", "inputType": "email"}]}
    form = imported({"title": "F", "elements": [fields, {"type": "boolean", "name": "b"}]})
    assert [row.outcome for row in form.rows] == ["refused", "refused", "imported", "imported"]
    assert form.questions == 1


def test_what_is_lost_in_the_text_of_an_option_is_named() -> None:
    pictured = {"value": "b", "text": "<img src=x>Bee"}
    _, told = read(choose("q", "a", pictured), {"type": "boolean", "name": "next"})
    assert "an image is left out of its answer's label" in told["q"]
    assert told["next"] == "ε = 1 is proposed"


def test_the_narrowest_bounds_count() -> None:
    rule = {"type": "numeric", "minValue": 3, "maxValue": 99}
    entries, _ = read({"type": "text", "name": "n", "min": "1", "max": 20, "validators": [rule]})
    assert (entries["n"]["min"], entries["n"]["max"]) == (3, 20)


#: Questions that conditions name.
WHICH = choose("which", "a", "B c", 3, kind="checkbox", showNoneItem=True)
ONE = choose("one", "x", "y", 12, showDontKnowItem=True, showRefuseItem=True, isRequired=True)


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ("{which} contains ['a', 'b c']", "selected(which, 'a') and selected(which, 'b-c')"),
        ("{which} anyof ['a', '3']", "selected(which, 'a') or selected(which, '3')"),
        ("{which} allof ['a', 3]", "selected(which, 'a') and selected(which, '3')"),
        ("{which} notcontains 'a'", "not (selected(which, 'a'))"),
        ("{which} noneof ['a', 3]", "not (selected(which, 'a') or selected(which, '3'))"),
        ("{which} contains 'none'", "selected(which, 'none')"),
        ("{which} empty", "selected(which, 'no-answer')"),
        ("{one} != 'X'", "one != 'x'"),
        ("{one} = 'dontknow' or {one} = refused", "one = 'dontknow' or one = 'refused'"),
        ("{one} > 3", "one = '12'"),
        ("!({one} = 12)", "one != '12'"),
    ],
)  # fmt: skip
def test_comparisons_mean_what_they_mean_in_survey_core(condition: str, asked: str) -> None:
    entries, _ = read(WHICH, ONE, {"type": "boolean", "name": "q", "visibleIf": condition})
    assert entries["q"]["shows_if"] == asked


@pytest.mark.parametrize(
    "condition",
    [
        "{which} = 'a'", "{one} = 'z'", "{row.one} = 'x'", "{panel.one} = 'x'", "{one} = {which}",
        "age({one}) > 3", "{one} +", "not ({one} = 'x')", "{which.length} > 1", "{one} anyof ['x'",
    ],
)  # fmt: skip
def test_a_question_whose_condition_is_lost_is_not_required(condition: str) -> None:
    last = {"type": "boolean", "name": "q", "visibleIf": condition, "isRequired": True}
    entries, told = read(WHICH, ONE, last)
    assert not {"shows_if", "required"} & {*entries["q"]}
    assert f"the condition {condition} could not be translated" in told["q"]
    assert "it is not required any more" in told["q"]
