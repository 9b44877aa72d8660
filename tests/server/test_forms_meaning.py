"""After an import, nobody is asked something else than in the source without a report of it."""

import json
import tomllib
from typing import Any

import pytest
from test_forms_limesurvey import LSS, _rows
from test_forms_qualtrics import asked, block, choices, logic
from test_forms_xlsform import Sheet, workbook

from server.forms import FormError, Imported, meaning, read_form


def xlsform(survey: Sheet, lists: Sheet) -> Imported:
    heads = [["list_name", "name", "label"]]
    return read_form(workbook(survey=survey, choices=heads + lists), "form.xlsx")


def surveyjs(*elements: dict[str, Any], **more: Any) -> Imported:
    return read_form(json.dumps({"elements": [*elements], **more}).encode(), "form.json")


def qualtrics(flow: Any, blocks: Any, **questions: Any) -> Imported:
    elements = [
        {"Element": "BL", "Payload": blocks},
        {"Element": "FL", "Payload": {"Flow": flow}},
        *({"Element": "SQ", "PrimaryAttribute": key, "Payload": one}
          for key, one in questions.items()),
    ]  # fmt: skip
    return read_form(json.dumps({"SurveyElements": elements}).encode(), "form.qsf")


def entries(found: Imported) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in tomllib.loads(found.toml)["questions"]}


def told(found: Imported, name: str) -> str:
    return next(row.detail for row in found.rows if row.name == name)


YES_NO: Sheet = [["yn", "1", "Yes"], ["yn", "0", "No"]]


def test_conditions_of_bindings_count() -> None:
    head = ["type", "name", "label", "bind::relevant", "bind::required"]
    rows: Sheet = [
        head,
        ["select_one yn", "hiv", "Tested?"],
        ["select_one yn", "art", "Do you take ART?", "${hiv} = '1'", "yes"],
    ]
    art = entries(xlsform(rows, YES_NO))["art"]
    assert (art["shows_if"], art["required"]) == ("hiv = 'yes'", True)


@pytest.mark.parametrize(
    "labels", [("Yes", "Sometimes"), ("Oui", "Non"), ("No", "Yes"), ("Man", "Woman")]
)
def test_other_labels_than_yes_and_no_stay(labels: tuple[str, str]) -> None:
    lists: Sheet = [["yn", "1", labels[0]], ["yn", "2", labels[1]]]
    rows: Sheet = [["type", "name", "label"], ["select_one yn", "one", "Which?"]]
    question = entries(xlsform(rows, lists))["one"]
    assert [option["text"] for option in question["options"]] == [*labels]
    switch = {"type": "boolean", "name": "one", "labelTrue": labels[0], "labelFalse": labels[1]}
    last = {"type": "boolean", "name": "two", "visibleIf": "{one} = true"}
    found = entries(surveyjs(switch, last))
    assert [option["text"] for option in found["one"]["options"]] == [*labels]
    assert found["two"]["shows_if"] == "one = 'true'"


def test_labels_in_a_language_that_the_page_does_not_speak_stay() -> None:
    head = ["type", "name", "label::Italian (it)"]
    book = workbook(
        survey=[head, ["select_one yn", "one", "Fuma?"]],
        choices=[
            ["list_name", "name", "label::Italian (it)"],
            ["yn", "1", "Sì"],
            ["yn", "2", "No"],
        ],
    )
    question = entries(read_form(book, "form.xlsx"))["one"]
    assert question["kind"] == "choice"
    assert [option["text"] for option in question["options"]] == [{"it": "Sì"}, {"it": "No"}]


def test_headings_begin_at_the_first_question_that_is_imported() -> None:
    rows: Sheet = [
        ["type", "name", "label", "appearance"],
        ["begin group", "health", "Health", "field-list"],
        ["geopoint", "where", "Where?"],
        ["end group"],
        ["begin group", "work", "Work", "field-list"],
        ["begin group", "pay", "Pay", ""],
        ["decimal", "salary", "How much?"],
        ["select_one yn", "paid", "Are you paid?"],
        ["end group"],
        ["select_one yn", "happy", "Are you happy?"],
        ["end group"],
        ["select_one yn", "last", "Last?"],
    ]
    found = entries(xlsform(rows, YES_NO))
    assert [found[name].get("section") for name in ("paid", "happy", "last")] == [
        *("Work – Pay", "Work", None),
    ]


def test_an_option_other_of_the_source_stays_apart_from_a_written_one() -> None:
    lists: Sheet = [["who", "other", "Another colleague"], ["who", "me", "I"]]
    rows: Sheet = [["type", "name", "label"], ["select_one who or_other", "one", "Who?"]]
    found = entries(xlsform(rows, lists))
    options = [option["text"] for option in found["one"]["options"]]
    assert options == ["Another colleague", "I", "Other"]
    assert found["one-other"]["namely"] == found["one"]["options"][2]["id"]


def test_fields_of_a_multiple_text_keep_their_condition_and_title() -> None:
    found = entries(surveyjs(
        {"type": "boolean", "name": "one"},
        {"type": "multipletext", "name": "m", "title": "Names", "visibleIf": "{one} = true",
         "items": [{"name": "x"}]},
    ))  # fmt: skip
    assert (found["m-x"]["shows_if"], found["m-x"]["section"]) == ("one = 'yes'", "Names")


def test_elements_that_surveyjs_hides_are_reported() -> None:
    found = surveyjs(
        {"type": "panel", "name": "p", "visible": False,
         "elements": [{"type": "boolean", "name": "inside"}]},
        {"type": "radiogroup", "name": "r", "choicesOrder": "asc",
         "choices": [{"value": "a", "visibleIf": "{inside} = true"}, "b"]},
        {"type": "slider", "name": "cold", "min": -100, "max": 0, "step": 5},
    )  # fmt: skip
    assert "it was hidden, and is shown" in told(found, "p")
    assert "that an option is offered only if {inside} = true is left out" in told(found, "r")
    assert "the alphabetical order of its options is left out" in told(found, "r")
    cold = entries(found)["cold"]
    assert (cold["min"], cold["max"], cold["step"]) == (-100, 0, 5)


def test_conditions_without_relevance_are_reported() -> None:
    tables = [
        _rows("groups", [{"gid": 1}]),
        _rows("questions", [
            {"qid": 1, "gid": 1, "type": "Y", "title": "one", "question": "One?"},
            {"qid": 2, "gid": 1, "type": "Y", "title": "two", "question": "Two?"},
        ]),
        _rows("conditions", [{"cid": 1, "qid": 2, "cqid": 1, "method": "==", "value": "Y"}]),
    ]  # fmt: skip
    found = read_form(LSS.format("Survey", "".join(tables)).encode(), "old.lss")
    assert "more people are asked" in told(found, "two")
    assert "more people are asked" not in told(found, "one")


def _branch(choice: int, *flow: Any) -> dict[str, Any]:
    about = logic(f"q://QID1/SelectableChoice/{choice}", "Selected")
    return {"Type": "Branch", "BranchLogic": about, "Flow": [*flow]}


def test_a_block_in_two_branches_is_asked_in_both() -> None:
    one = asked("one", "Which?", "MC", "SAVR", Choices=choices("A", "B", "C"))
    two = asked("two", "Yes?", "MC", "SAVR", Choices=choices("Yes", "No"))
    blocks = [block("BL_1", "Default", "QID1"), block("BL_2", "Standard", "QID2")]
    step = {"Type": "Block", "ID": "BL_2"}
    first = {"Type": "Block", "ID": "BL_1"}
    flow = [first, _branch(1, step), _branch(2, step)]
    found = qualtrics(flow, blocks, QID1=one, QID2=two)
    assert entries(found)["two"]["shows_if"] == "one = '1' or one = '2'"
    found = qualtrics([first, _branch(1, step), step], blocks, QID1=one, QID2=two)
    assert "shows_if" not in entries(found)["two"]


def test_text_beside_an_option_is_not_a_choice() -> None:
    one = asked("one", "Which?", "MC", "SAVR", Choices=choices("A", "B", "C", C=True))
    about = logic("q://QID1/ChoiceTextEntryValue/3", "EqualTo", "1")
    two = asked("two", "Yes?", "MC", "SAVR", Choices=choices("Yes", "No"), DisplayLogic=about)
    blocks = [block("BL_1", "Default", "QID1", "QID2")]
    found = qualtrics([{"Type": "Block", "ID": "BL_1"}], blocks, QID1=one, QID2=two)
    assert "shows_if" not in entries(found)["two"]
    assert "what is written beside an option" in told(found, "two")


@pytest.mark.parametrize("stars", [1e11, "999999999999", 1, -3, "²"])
def test_no_number_of_a_file_keeps_the_server_busy(stars: Any) -> None:
    one = asked("one", "How?", "Slider", "STAR", Configuration={"StarCount": stars})
    two = asked("two", "How?", "MC", "MAVR", Choices=choices("A", "B"),
                Validation={"Settings": {"MaxChoices": "²"}})  # fmt: skip
    found = qualtrics([{"Type": "Block", "ID": "B"}], [block("B", "Default", "QID1", "QID2")],
                      QID1=one, QID2=two)  # fmt: skip
    assert "two" in entries(found)


def test_long_texts_and_lists_are_read_in_time() -> None:
    # Each took from 15 seconds to hours when patterns and names were searched again and again.
    label = "${" * 60_000 + "<br>" * 3000
    many = [["who", f"名{number}", f"Person {number}"] for number in range(900)]
    rows: Sheet = [["type", "name", "label"], ["select_one who", "one", label[:30_000]]]
    assert len(entries(xlsform(rows, many))["one"]["options"]) == 900
    tags = {f"{a}{b}{c}": "x" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"}
    form = {"title": {"default": "T", **tags}}
    found = tomllib.loads(surveyjs({"type": "boolean", "name": "one"}, **form).toml)
    assert len(found["languages"]) <= 50


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"elements": [{"type": "boolean", "name": "\\ud800"}]}', "x.json"),
        (b"survey,,\n,type,name,label,parameters\n,range,r,R,start=1.2.3\n", "x.csv"),
        (b"survey,,\n,type,name,label,constraint\n,integer,r,R,. > 0.5 and . < 9.5\n", "x.csv"),
        (b"survey\n,type,name,label,constraint\n,integer,r,R,. > " + b"9" * 400, "x.csv"),
        (b'{"elements": [{"type": "slider", "name": "a", "max": 1e400}]}', "x.json"),
    ],
)
def test_strange_values_cause_no_tracebacks(content: bytes, name: str) -> None:
    try:
        found = read_form(content, name)
    except FormError:
        return
    for row in found.rows:
        row.name.encode()
    if ". > 0.5" in content.decode("utf-8", "replace"):
        assert (entries(found)["r"]["min"], entries(found)["r"]["max"]) == (1, 9)


def test_rows_below_a_gap_are_not_dropped() -> None:
    gap: Sheet = [[]] * 100
    rows = [["type", "name", "label"], ["note", "a", "A"], *gap, ["select_one yn", "b", "B"]]
    found = xlsform(rows, YES_NO)
    assert [row.row for row in found.rows if row.name == "b"] == ["survey!103"]
    assert "b" in entries(found)


def test_the_longest_words_by_which_a_question_asks_who_somebody_is_are_named() -> None:
    assert meaning.asks_who("¿Cuál es su número de teléfono?") == "número de teléfono"
