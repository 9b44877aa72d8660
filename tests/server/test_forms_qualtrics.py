"""Check each question and step of a Qualtrics file, and that nothing in a file does harm."""

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
from server.forms import FormError, Imported, Row, read_form


def choices(*labels: str, **typed: bool) -> dict[str, Any]:
    """Return choices as Qualtrics numbers them; `typed` ones have a text beside them."""
    return {
        str(number): {"Display": label} | ({"TextEntry": "true"} if label in typed else {})
        for number, label in enumerate(labels, 1)
    }


def logic(
    operand: str, operator: str, number: Any = None, kind: str = "Question"
) -> dict[str, Any]:
    """Return the display logic of one expression."""
    part = {"LogicType": kind, "LeftOperand": operand, "Operator": operator,
            "RightOperand": number, "Description": f"<span>If</span> {operand}"}  # fmt: skip
    return {"0": {"0": part, "Type": "If"}, "Type": "BooleanExpression", "inPage": False}


def asked(tag: str, text: str, kind: str, selector: str = "", **more: Any) -> dict[str, Any]:
    return {"QuestionText": text, "DataExportTag": tag, "QuestionType": kind,
            "Selector": selector, **more}  # fmt: skip


MUST = {"Settings": {"ForceResponse": "ON"}}
#: Written by hand after exported files.
QUESTIONS: dict[str, dict[str, Any]] = {
    "QID1": asked("hello", "<p>Welcome</p>", "DB", "TB"),
    "QID2": asked("Smokes", "Do you smoke?", "MC", "SAVR", Choices=choices("Yes", "No"),
                  Validation=MUST),
    "QID3": asked("where", "Where?", "MC", "DL",
                  Choices=choices("Home", "Work", "Other", Other=True),
                  ChoiceOrder=["2", 1, "3"], RecodeValues={"1": "10", "2": "20", "3": "30"},
                  DisplayLogic=logic("q://QID2/SelectableChoice/1", "Selected")),
    "QID4": asked("why", "Why?", "MC", "MAVR", Choices=choices("Fun", "Habit", "Calm"),
                  Validation={"Settings": {"MaxChoices": "2"}}, Randomization={"Type": "All"}),
    "QID5": asked("age", "Age?", "TE", "SL", DisplayLogic=logic(
        "q://QID3/SelectableChoice/2", "NotSelected"), Validation={"Settings": {
            "ContentType": "ValidNumber", "ValidNumber": {"Min": "18", "Max": "99"}}}),
    "QID6": asked("grid", "How often?", "Matrix", "Likert", SubSelector="SingleAnswer",
                  Choices=choices("Mornings", "Evenings"), Answers=choices("never", "often"),
                  DisplayLogic=logic("q://QID5/ChoiceTextEntryValue", "GreaterThan", "20")),
    "QID7": asked("many", "Which?", "Matrix", "Likert", SubSelector="MultipleAnswer",
                  Choices=choices("At home", "At work"), Answers=choices("Beer", "Wine")),
    "QID8": asked("slide", "How much?", "Slider", "HSLIDER", Choices=choices("Beer", "Wine"),
                  Configuration={"CSSliderMin": 0, "CSSliderMax": 10}),
    "QID9": asked("stars", "How good?", "Slider", "STAR", Choices=choices("It"),
                  Configuration={"StarCount": 4}),
    "QID10": asked("order", "Which first?", "RO", "DND", Choices=choices("a", "b", "c")),
    "QID11": asked("nps", "Would you?", "MC", "NPS", Choices=choices("0", "1")),
    "QID12": asked("brand", "Which brand of ${q://QID3/ChoiceGroup/SelectedChoices}?", "TE", "SL",
                   DisplayLogic=logic("q://QID4/SelectableChoice/2", "Selected")),
    "QID13": asked("story", "Tell us", "TE", "ML"),
    "QID14": asked("mail", "Mail?", "TE", "SL",
                   Validation={"Settings": {"ContentType": "ValidEmail"}}),
    "QID15": asked("time", "", "Timing", "PageTimer"),
    "QID16": asked("sbs", "Both?", "SBS", "SBSMatrix"),
    "QID17": asked("odd", "?", "Poem"),
    "QID18": asked("last", "Last?", "MC", "SAVR", Choices=choices("Yes", "No"),
                   DisplayLogic=logic("group", "EqualTo", "1", "EmbeddedField"),
                   SkipLogic=[{"x": 1}]),
    "QID19": asked("old", "Old?", "MC", "SAVR", Choices=choices("Yes", "No")),
    "QID20": asked("lost", "Lost?", "MC", "SAVR", Choices=choices("Yes", "No")),
    "QID21": asked("inside", "Inside?", "MC", "SAVR", Choices=choices("Yes", "No")),
    "QID22": asked("outside", "In no block?", "MC", "SAVR", Choices=choices("Yes", "No")),
}  # fmt: skip


def block(name: str, kind: str, *parts: Any) -> dict[str, Any]:
    elements = [
        {"Type": "Page Break"} if part is None else {"Type": "Question", "QuestionID": part}
        for part in parts
    ]
    return {"ID": name, "Type": kind, "BlockElements": elements}


BLOCKS = [
    block("BL_2", "Standard", *(f"QID{number}" for number in range(6, 19))),
    block("BL_1", "Default", "QID1", "QID2", "QID3", None, "QID4", "QID5"),
    block("BL_3", "Standard", "QID21"),
    block("BL_4", "Standard", "QID20"),
    block("BL_5", "Trash", "QID19"),
]
FLOW = [
    {"Type": "EmbeddedData", "FlowID": "FL_2"},
    {"Type": "Standard", "ID": "BL_1", "FlowID": "FL_3"},
    {"Type": "BlockRandomizer", "FlowID": "FL_4",
     "Flow": [{"Type": "Standard", "ID": "BL_2", "FlowID": "FL_5"}]},
    {"Type": "Branch", "FlowID": "FL_6",
     "BranchLogic": logic("q://QID2/SelectableChoice/2", "Selected"),
     "Flow": [{"Type": "Block", "ID": "BL_3", "FlowID": "FL_7"},
              {"Type": "EndSurvey", "FlowID": "FL_8"}]},
]  # fmt: skip


def form() -> dict[str, Any]:
    questions = deepcopy(QUESTIONS)
    for place, question in questions.items():
        question["QuestionID"] = place
        text = f"{question['QuestionText']} (de)"
        question["Language"] = {"DE": {"QuestionText": text}} if int(place[3:]) < 20 else []
    questions["QID2"]["Language"]["DE"]["Choices"] = choices("Ja", "Nein")
    questions["QID3"]["Language"]["FR"] = {"QuestionText": "Où ?"}
    return {
        "SurveyEntry": {"SurveyName": "Smoking", "SurveyLanguage": "EN"},
        "SurveyElements": [
            {"Element": "BL", "PrimaryAttribute": "Survey Blocks", "Payload": BLOCKS},
            {"Element": "FL", "PrimaryAttribute": "Survey Flow", "Payload": {"Flow": FLOW}},
            {"Element": "SO", "PrimaryAttribute": "Survey Options", "Payload": {}},
            *(
                {"Element": "SQ", "PrimaryAttribute": place, "Payload": question}
                for place, question in questions.items()
            ),
        ],
    }


def imported(given: Any) -> Imported:
    found = read_form(json.dumps(given).encode(), "smoking.qsf")
    if found.toml:
        survey_of(parsed(found.toml, "x"), "x", Path("."))
    return found


YES = choices("Yes", "No")


def survey(*questions: dict[str, Any], flow: Any = None, **options: Any) -> dict[str, Any]:
    """Return a form of these questions, in one block with these options."""
    places = {f"QID{number}": one for number, one in enumerate(questions, 1)}
    one_block = block("BL_1", "Default", *places) | {"Options": options}
    steps = flow or [{"Type": "Block", "ID": "BL_1", "FlowID": "FL_2"}]
    return {
        "SurveyEntry": {"SurveyName": "Short", "SurveyLanguage": "EN"},
        "SurveyElements": [
            {"Element": "BL", "Payload": [one_block]},
            {"Element": "FL", "Payload": {"Flow": steps}},
            *({"Element": "SQ", "PrimaryAttribute": place, "Payload": one}
              for place, one in places.items()),
        ],
    }  # fmt: skip


def entries(found: Imported) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in tomllib.loads(found.toml)["questions"]}


def row(found: Imported, place: str) -> Row:
    return next(one for one in found.rows if one.row == place)


def test_supported_questions_are_imported() -> None:
    tables = tomllib.loads(imported(form()).toml)
    assert tables["title"] == {"en": "Smoking", "de": "Smoking"}
    entries = {entry["id"]: entry for entry in tables["questions"]}
    assert [*entries] == [
        *("hello", "smokes", "where", "where-30", "why", "age", "grid-1", "grid-2", "many-1"),
        *("many-2", "slide-1", "slide-2", "stars", "order", "nps", "brand", "last", "inside"),
    ]
    assert entries["smokes"]["text"] == {"en": "Do you smoke?", "de": "Do you smoke? (de)"}
    assert (entries["smokes"]["kind"], entries["smokes"]["required"]) == ("yes-no", True)
    assert [(one["id"], one["text"]["en"]) for one in entries["where"]["options"]] == [
        ("20", "Work"), ("10", "Home"), ("30", "Other"),
    ]  # fmt: skip
    assert entries["where"]["shows_if"] == "smokes = 'yes'"
    assert entries["where-30"]["namely"] == "30"
    assert (entries["why"]["at_most"], entries["why"]["random_order"]) == (2, True)
    assert entries["why"]["new_page"]
    assert entries["age"]["shows_if"] == "where != '20'"
    assert (entries["age"]["min"], entries["age"]["max"]) == (18, 99)
    assert entries["grid-2"]["shows_if"] == "age > 20"
    assert entries["grid-2"]["matrix"]["en"] == "How often?"
    assert (entries["many-1"]["kind"], entries["many-1"]["section"]["en"]) == ("choices", "Which?")
    assert (entries["slide-1"]["max"], entries["slide-1"]["slider"]) == (10, True)
    assert len(entries["stars"]["points"]) == 4
    assert len(entries["nps"]["points"]) == 11
    assert entries["brand"]["shows_if"] == "selected(why, '2')"
    assert entries["brand"]["text"]["en"] == "Which brand of {answer.where|…}?"
    assert "shows_if" not in entries["last"]
    # People who come into the branch are asked its questions.
    assert entries["inside"]["shows_if"] == "smokes = 'no'"


def test_each_question_and_step_is_reported() -> None:
    rows = imported(form()).rows
    places = [row.row for row in rows]
    assert len(places) == len(set(places))
    for place in QUESTIONS:
        assert place in places
    for step in ("Flow[0]", "Flow[1]", "Flow[2]", "Flow[2].Flow[0]", "Flow[3].Flow[1]"):
        assert step in places
    for number in range(3):
        assert f"SurveyElements[{number}]" in places
    told = {row.name: (row.outcome, row.detail) for row in rows}
    for name, why in {
        "story": "free prose cannot be randomized",
        "mail": "an answer of type Email identifies",
        "time": "times are not collected",
        "sbs": "a table of several questions is not asked",
        "odd": "the type Poem is not known here",
        "QID19": "it is in the trash",
        "lost": "its block is not in the flow",
        "outside": "it is in no block",
        "FL_2": "embedded data are not available",
    }.items():
        assert told[name][0] == "refused", name
        assert why in told[name][1]
    for name, change in {
        "FL_4": "everybody is asked all of it",
        "last": "its skip logic is left out",
        "Smoking": "fewer than half of the questions are translated: FR",
        "where": "the text beside an option becomes a question",
    }.items():
        assert told[name][0] == "changed", name
        assert change in told[name][1]
    assert "it is about EmbeddedField, not about an answer" in told["last"][1]
    assert told["BL_1"] == ("imported", "")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[" * 100_000, "expected JSON"),
        (b"\xff", "expected JSON in UTF-8"),
        (b"{}", "expected JSON with SurveyElements"),
        (
            json.dumps({"SurveyElements": [{"Element": "SQ"}] * 100_000}).encode(),
            "at most 5,000 elements",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, told: str) -> None:
    with pytest.raises(FormError, match=told):
        read_form(content, "x.qsf", "qualtrics")


def test_a_flow_that_is_too_deep_is_refused_with_a_sentence() -> None:
    given = form()
    deep = '{"Type": "Group", "Flow": [' * 900 + "]}" * 900
    text = json.dumps(given).replace('"Flow": [', f'"Flow": [{deep}, ', 1)
    with pytest.raises(FormError, match="nested too deeply"):
        read_form(text.encode(), "deep.qsf", "qualtrics")


def test_whatever_a_file_holds_the_result_can_be_checked() -> None:
    rng = random.Random(3)
    strange = [None, True, 0, -1e300, "", "{", "x" * 3000, [], {}, ["a", "a"], {"0": 3}, "1e999"]
    for _ in range(30):
        given = form()
        for _ in range(rng.randint(1, 12)):
            element = rng.choice(given["SurveyElements"])
            table = element["Payload"] if isinstance(element.get("Payload"), dict) else element
            if table:
                table[rng.choice([*table])] = rng.choice(strange)
        with suppress(FormError):
            imported(given)


def test_options_with_the_same_code_are_told_and_have_their_numbers() -> None:
    codes = {"1": "0", "2": "4", "3": "4"}
    question = asked("often", "How often?", "MC", "SAVR", Choices=choices("a", "b", "c"),
                     ChoiceOrder=["3", "1", "2"], RecodeValues=codes)  # fmt: skip
    found = imported(survey(question))
    assert [one["id"] for one in entries(found)["often"]["options"]] == ["3", "1", "2"]
    assert "the code 4 stands for several options" in row(found, "QID1").detail


@pytest.mark.parametrize(
    ("randomization", "told"),
    [
        ({"Type": "All"}, ""),
        ({"Type": "Advanced", "Advanced": {"FixedOrder": ["{~Randomized~}"] * 3,
                                           "RandomizeAll": ["1", "2", "3"]}}, ""),
        ({"Type": "Advanced", "Advanced": {"FixedOrder": ["{~Randomized~}", "3"],
                                           "RandomizeAll": ["1", "2"]}}, "1 keep their places"),
        ({"Type": "ScaleReversal"}, "the source shuffles them (ScaleReversal)"),
        ({"Type": "Subset", "TotalRandSubset": 2}, "not 2 of them at random"),
        ({"Type": "None"}, None),
    ],
)  # fmt: skip
def test_random_order_of_options_is_kept_or_told(
    randomization: dict[str, Any], told: str | None
) -> None:
    question = asked("one", "Which?", "MC", "SAVR", Choices=choices("a", "b", "c"),
                     Randomization=randomization)  # fmt: skip
    found = imported(survey(question))
    assert entries(found)["one"].get("random_order", False) == (told == "")
    assert (row(found, "QID1").outcome == "changed") == bool(told)
    assert (told or "") in row(found, "QID1").detail


def test_an_option_with_a_field_may_keep_its_place() -> None:
    fixed = {"FixedOrder": ["{~Randomized~}", "{~Randomized~}", "3"], "RandomizeAll": ["1", "2"]}
    question = asked("one", "Which?", "MC", "SAVR", Choices=choices("a", "b", "More", More=True),
                     Randomization={"Type": "Advanced", "Advanced": fixed})  # fmt: skip
    assert entries(imported(survey(question)))["one"]["random_order"]


def test_whoever_leaves_the_survey_is_asked_no_more() -> None:
    consent = asked("consent", "Do you agree?", "MC", "SAVR", Choices=YES)
    other = asked("more", "More?", "MC", "SAVR", Choices=YES)
    end: dict[str, Any] = {"Type": "EndSurvey", "FlowID": "FL_9"}

    def leaving(branch: dict[str, Any]) -> Imported:
        flow = [{"Type": "Block", "ID": "BL_1"}, branch, {"Type": "Block", "ID": "BL_2"}]
        given = survey(consent, flow=flow)
        given["SurveyElements"][0]["Payload"].append(block("BL_2", "Standard", "QID2"))
        element = {"Element": "SQ", "PrimaryAttribute": "QID2", "Payload": other}
        given["SurveyElements"].append(element)
        return imported(given)

    refusing = logic("q://QID1/SelectableChoice/1", "NotSelected")
    found = leaving({"Type": "Branch", "BranchLogic": refusing, "Flow": [end]})
    assert entries(found)["more"]["shows_if"] == "consent = 'yes'"
    assert row(found, "Flow[1].Flow[0]").outcome == "imported"
    abroad = logic("Country", "EqualTo", "x", "GeoIP")
    for branch in (
        {"Type": "Branch", "BranchLogic": abroad, "Flow": [end]},
        {"Type": "BlockRandomizer", "SubSet": 1, "Flow": [end]},
    ):
        found = leaving(branch)
        assert "shows_if" not in entries(found)["more"]
        assert "the survey cannot end early" in row(found, "Flow[1].Flow[0]").detail
    found = leaving(end)
    assert [*entries(found)] == ["consent"]
    assert "the survey is over before it" in row(found, "Flow[2]").detail


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (asked("a", "?", "Matrix", "Likert", Answers=YES, Choices={}), "it has no rows"),
        (asked("a", "?", "MC", "Wheel", Choices=YES), "of the type Wheel is not known here"),
        (asked("a", "?", "MC", "SAVR", Choices=[], DynamicChoices={"Locator": "q://QID9/x"}),
         "but for those that it carries forward (q://QID9/x)"),
    ],
)  # fmt: skip
def test_questions_that_cannot_be_asked_are_refused(question: dict[str, Any], why: str) -> None:
    found = imported(survey(question, asked("b", "?", "MC", "SAVR", Choices=YES)))
    assert row(found, "QID1").outcome == "refused"
    assert why in row(found, "QID1").detail


def test_two_questions_with_one_id_are_told() -> None:
    given = survey(asked("a", "One?", "MC", "SAVR", Choices=YES))
    again = deepcopy(given["SurveyElements"][-1])
    again["Payload"]["QuestionText"] = "Two?"
    given["SurveyElements"].append(again)
    found = imported(given)
    assert "another question has its id" in row(found, "SurveyElements[3]").detail
    assert entries(found)["a"]["text"] == "One?"


def test_a_condition_that_names_two_answers_is_told() -> None:
    about = logic("q://QID1/SelectableChoice/2", "Selected")
    about["0"]["0"]["ChoiceLocator"] = "q://QID1/SelectableChoice/1"
    first = asked("a", "One?", "MC", "SAVR", Choices=YES)
    second = asked("b", "Two?", "MC", "SAVR", Choices=YES, DisplayLogic=about)
    found = imported(survey(first, second))
    assert entries(found)["b"]["shows_if"] == "a = 'no'"
    told = "SelectableChoice/2, which counts, and q://QID1/SelectableChoice/1"
    assert told in row(found, "QID2").detail


def test_headings_of_options_give_their_order_and_are_told() -> None:
    groups = {"cg_1": {"GroupLabel": "Drinks", "ChoiceGroupOrder": ["3", "1"]}}
    question = asked("a", "Which?", "MC", "SAVR", Choices=choices("tea", "bread", "milk"),
                     ChoiceGroups=groups, ChoiceGroupOrder=["cg_1", "2"])  # fmt: skip
    found = imported(survey(question))
    assert [one["id"] for one in entries(found)["a"]["options"]] == ["3", "1", "2"]
    told = "the headings above groups of its options are left out: Drinks"
    assert told in row(found, "QID1").detail
