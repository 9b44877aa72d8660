"""Check each item of a Google form, as its API gives the form."""

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


def asked(title: str, kind: str, question: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"itemId": "00aa", "title": title,
            "questionItem": {"question": {"questionId": "1", kind: question, **more}}}  # fmt: skip


def options(*values: str, kind: str = "RADIO", **more: Any) -> dict[str, Any]:
    return {"type": kind, "options": [{"value": value} for value in values], **more}


LETTERS = options("a", "b")

#: Written by hand after the API's reference.
FORM: dict[str, Any] = {
    "formId": "1A",
    "info": {"title": "Nights out", "description": "Why we ask"},
    "items": [
        asked("Do you drink?", "choiceQuestion", options("Yes", "No"), required=True),
        asked("What do you drink?", "choiceQuestion", {
            "type": "DROP_DOWN", "shuffle": True,
            "options": [{"value": "Beer", "goToAction": "SUBMIT_FORM"}, {"value": "Wine"},
                        {"isOther": True}]}),
        asked("Why?", "choiceQuestion", options("Fun", "Habit", "Thirst", kind="CHECKBOX")),
        {"title": "At home", "description": "Now about you", "pageBreakItem": {}},
        asked("How are you?", "scaleQuestion", {"low": 0, "high": 3, "lowLabel": "Bad",
                                                "highLabel": "Well"}),
        asked("How good?", "ratingQuestion", {"ratingScaleLevel": 5, "iconType": "STAR"}),
        {"title": "How often?", "description": "In a month", "questionGroupItem": {
            "questions": [{"rowQuestion": {"title": "Beer"}, "required": True},
                          {"rowQuestion": {"title": "Wine"}}],
            "grid": {"columns": options("Never", "Often")}}},
        {"title": "Which?", "questionGroupItem": {
            "questions": [{"rowQuestion": {"title": "At home"}}],
            "grid": {"columns": options("Beer", "Wine", kind="CHECKBOX")}}},
        {"title": "Thank you", "description": "Nearly done", "textItem": {}},
        asked("Which brand?", "textQuestion", {}),
        asked("Tell us", "textQuestion", {"paragraph": True}),
        asked("When?", "timeQuestion", {}),
        asked("Born?", "dateQuestion", {"includeYear": True}),
        asked("Send it", "fileUploadQuestion", {}),
        asked("Odd", "poemQuestion", {}),
        {"title": "Look", "imageItem": {}},
        {"title": "What", "poemItem": {}},
        asked("One?", "choiceQuestion", options("Only")),
        asked("Capital?", "choiceQuestion", {"type": "RADIO", "options": [
            {"value": "Bonn", "image": {"contentUri": "https://example.org/a.png",
                                        "properties": {"alignment": "LEFT", "width": 9}}},
            {"value": "Rome"}]}, grading={
                "pointValue": 2, "correctAnswers": {"answers": [{"value": "Rome"}]},
                "whenWrong": {"text": "No"}}),
        {"title": "Rows", "questionGroupItem": {"questions": [], "grid": {
            "columns": options("A", "B")}}},
        {"title": "Now", "questionGroupItem": {
            "questions": [{"rowQuestion": {"title": "Here"}}],
            "grid": {"shuffleQuestions": True,
                     "columns": options("A", "B", "None of the above", kind="CHECKBOX")}}},
        asked("What is your name?", "textQuestion", {"paragraph": False}),
    ],
    "settings": {"quizSettings": {"isQuiz": True}, "emailCollectionType": "VERIFIED"},
    "responderUri": "https://example.org",
}  # fmt: skip


def imported(form: Any) -> Imported:
    found = read_form(json.dumps(form).encode(), "nights.json")
    if found.toml:
        survey_of(parsed(found.toml, "x"), "x", Path("."))
    return found


def test_supported_items_become_questions() -> None:
    tables = tomllib.loads(imported(FORM).toml)
    assert (tables["title"], tables["introduction"]) == ("Nights out", "Why we ask")
    entries = {entry["id"]: entry for entry in tables["questions"]}
    assert [*entries] == [
        *("do-you-drink", "what-do-you-drink", "what-do-you-drink-other", "why", "at-home"),
        *("how-are-you", "how-good", "how-often-beer", "how-often-wine", "which-at-home"),
        *("thank-you", "which-brand", "capital", "now-here", "what-is-your-name"),
    ]
    assert (entries["do-you-drink"]["kind"], entries["do-you-drink"]["required"]) == (
        "yes-no",
        True,
    )
    drink = entries["what-do-you-drink"]
    assert [option["id"] for option in drink["options"]] == ["beer", "wine", "other"]
    assert drink["random_order"]
    assert entries["what-do-you-drink-other"]["namely"] == "other"
    assert entries["why"]["kind"] == "choices"
    assert (entries["at-home"]["new_page"], entries["at-home"]["section"]) == (True, "At home")
    assert entries["how-are-you"]["points"] == ["0", "1", "2", "3"]
    assert entries["how-are-you"]["help"] == "0: Bad, 3: Well"
    assert len(entries["how-good"]["points"]) == 5
    assert entries["how-often-beer"]["matrix"] == "How often? (In a month)"
    assert entries["which-at-home"]["kind"] == "choices"
    assert entries["thank-you"]["help"] == "Nearly done"


def test_each_item_is_reported() -> None:
    rows = imported(FORM).rows
    places = [row.row for row in rows]
    assert len(places) == len(set(places))
    for number in range(len(FORM["items"])):
        assert f"items[{number}]" in places
    told = {row.row: (row.outcome, row.detail) for row in rows}
    assert told["items[0]"] == ("imported", "ε = 1 is proposed")
    assert "“go to section” is left out" in told["items[1]"][1]
    for number, why in {
        10: "free prose cannot be randomized",
        11: "a time has no kind",
        12: "a date has no first and last day",
        13: "files are not collected",
        14: "the question poemQuestion is not known here",
        15: "an image without a question",
        16: "the item poemItem is not known here",
        17: "fewer than two options",
        19: "it has no rows",
    }.items():
        assert told[f"items[{number}]"][0] == "refused"
        assert why in told[f"items[{number}]"][1]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("items[18]", "an image, https://example.org/a.png is left out"),
        ("items[18]", "the points for the right answer: 2 is left out"),
        ("items[18]", "the right answer Rome is left out"),
        ("items[18]", "what is said after a wrong answer: No is left out"),
        ("items[20]", "the random order of its rows is left out"),
        ("items[20].questions[0]", "“None of the above” cannot be ticked beside others"),
        ("items[21]", "it seems to ask who somebody is (“your name”)"),
        ("form", "that it is a quiz is left out"),
        ("form", "that it collects e-mail addresses is left out"),
    ],
)
def test_what_is_different_is_named(row: str, told: str) -> None:
    assert told in next(one.detail for one in imported(FORM).rows if one.row == row)


def led(*options: dict[str, Any]) -> dict[str, str]:
    """Return the conditions of three sections, and of a question in the section before them."""
    items: list[dict[str, Any]] = [
        asked("Where?", "choiceQuestion", {"type": "RADIO", "options": [*options]}),
        asked("Where?", "choiceQuestion", LETTERS),
    ]
    for name in ("one", "two", "three"):
        items += [{"itemId": name, "title": name, "pageBreakItem": {}},
                  asked(f"In {name}", "choiceQuestion", LETTERS)]  # fmt: skip
    found = imported({"info": {}, "items": items})
    questions = tomllib.loads(found.toml)["questions"]
    return {one["id"]: one["shows_if"] for one in questions if "shows_if" in one}


def test_whoever_goes_to_a_section_skips_those_between() -> None:
    far = {"value": "Far", "goToSectionId": "three"}
    near = {"value": "Near", "goToSectionId": "one"}
    end = {"value": "Nowhere", "goToAction": "SUBMIT_FORM"}
    back = {"value": "Back", "goToAction": "RESTART_FORM"}
    other = {"isOther": True, "goToSectionId": "two"}
    assert led(far, near) == {"in-one": "where != 'far'", "in-two": "where != 'far'"}
    ended = "where != 'nowhere'"
    assert led(end, near) == {"in-one": ended, "in-two": ended, "in-three": ended}
    assert led(near, other) == {"in-one": "where != 'other'"}
    assert led(near, back) == {}


def test_options_that_look_alike_stay_apart() -> None:
    found = imported(
        {"info": {}, "items": [asked("Mark?", "choiceQuestion", options("A+", "A-", "A-"))]}
    )
    [question] = tomllib.loads(found.toml)["questions"]
    assert [one["text"] for one in question["options"]] == ["A+", "A-"]
    assert "the value of an earlier one" in found.rows[0].detail


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[" * 100_000, "expected JSON"),
        (b'{"items": []}', "expected JSON of the Google Forms API"),
        (
            json.dumps({"info": {}, "items": [{"textItem": {}}] * 100_000}).encode(),
            "at most 5,000 items",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, told: str) -> None:
    with pytest.raises(FormError, match=told):
        read_form(content, "x.json", "googleforms")


def test_whatever_a_file_holds_the_result_can_be_checked() -> None:
    rng = random.Random(4)
    strange: list[Any] = [
        None,
        True,
        0,
        -1e300,
        "",
        "{answer.x}",
        "x" * 3000,
        [],
        {},
        ["a"],
        10**400,
    ]
    for _ in range(60):
        form = deepcopy(FORM)
        for _ in range(rng.randint(1, 9)):
            table: Any = rng.choice(form["items"])
            for _ in range(rng.randint(0, 3)):
                inner = [one for one in table.values() if isinstance(one, dict) and one]
                table = rng.choice(inner) if inner else table
            table[rng.choice([*table])] = rng.choice(strange)
        with suppress(FormError):
            imported(form)
