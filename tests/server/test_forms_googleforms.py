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
    ],
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
        *("thank-you", "which-brand"),
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
    }.items():
        assert told[f"items[{number}]"][0] == "refused"
        assert why in told[f"items[{number}]"][1]


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
