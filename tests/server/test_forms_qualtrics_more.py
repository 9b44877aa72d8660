"""Check what becomes of the settings of Qualtrics' questions, blocks, flow and surveys."""

import random
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from test_forms_qualtrics import (
    YES,
    asked,
    block,
    choices,
    entries,
    form,
    imported,
    logic,
    row,
    survey,
)

from server.forms import FormError

#: More questions, each with what an exported file can say of its type.
MORE: dict[str, dict[str, Any]] = {
    "QID30": asked("agree", "Agree?", "Matrix", "Likert", SubSelector="SingleAnswer",
                   Choices=choices("I sleep", "I smoke", "Other:", **{"Other:": True}),
                   Answers=choices("always", "at times", "never", "do not know"),
                   AnswerOrder=[1, 2, 3, 4], ChoiceOrder=["1", "2", "3"],
                   RecodeValues={"1": "3", "2": "2", "3": "1", "4": "-99"},
                   ChoiceDataExportTags=False, Validation={"Settings": {
                       "ForceResponse": "ON", "ForceResponseType": "ON", "Type": "None"}}),
    "QID31": asked("safe", "How safe?", "Slider", "HBAR", Choices=choices("At work", "At home"),
                   Labels=choices("unsafe", "so-so", "safe"), Configuration={
                       "CSSliderMin": 0, "CSSliderMax": 10, "NumDecimals": "0", "GridLines": 5,
                       "SnapToGrid": False, "NotApplicable": True, "CustomStart": True,
                       "SliderStartPositions": {"1": 0.5, "2": 0}, "ShowValue": True}),
    "QID32": asked("grid2", "This school?", "Matrix", "Bipolar", Choices=choices("a:b", "c:d"),
                   Answers=choices("1", "2", "3"), Randomization={"Type": "All"}),
    "QID33": asked("pole", "This class?", "Matrix", "Bipolar", Choices=choices("cold:warm"),
                   Answers=choices("1", "2", "3")),
    "QID34": asked("tick", "Which?", "MC", "MAVR", Choices=choices("A", "B", "C", "None"),
                   Validation={"Settings": {"ForceResponse": "ON", "Type": "ChoiceRange",
                                            "MinChoices": "2", "MaxChoices": "3"}},
                   DefaultChoices={"1": {"Selected": True}}, VariableNaming={"1": "a"},
                   AnalyzeChoices={"2": "No"}, Randomization={"Type": "Advanced", "Advanced": {
                       "FixedOrder": ["{~Randomized~}", "{~Randomized~}", "{~Randomized~}", "4"],
                       "RandomizeAll": ["1", "2", "3"], "RandomSubSet": [], "Undisplayed": []}}),
    "QID35": asked("last-of-three", "Which one?", "MC", "SAVR", Choices=choices("A", "B", "C", "D"),
                   RecodeValues={"1": "1", "2": "1", "3": "2", "4": "3"},
                   Randomization={"Type": "Advanced", "EvenPresentation": False, "Advanced": {
                       "FixedOrder": ["{~Randomized~}", "{~Randomized~}", "3"],
                       "RandomizeAll": ["1", "2"], "Undisplayed": ["4"]}},
                   GradingData=[{"ChoiceID": "1", "index": 0, "Grades": {"SC_1": 2}}]),
    "QID36": asked("recommend", "Recommend?", "MC", "NPS", Choices={
        str(number): {"Display": str(number)} for number in range(11)},
        ColumnLabels=[{"Display": "not at all"}, {"Display": "certainly"}]),
    "QID37": asked("who", "About you", "TE", "FORM", Choices=choices("Your name", "Town"),
                   DefaultChoices={"TEXT": {"Text": "${e://Field/town}"}}, QuestionJS="alert(1)",
                   SearchSource={"AllowFreeResponse": "false"}),
    "QID38": asked("years", "Hello ${e://Field/name}, how many years?", "TE", "SL",
                   QuestionJS="Qualtrics.SurveyEngine.addOnload(function()\n{\n\t/*here*/\n\n});",
                   Validation={"Settings": {
                       "Type": "ContentType", "ContentType": "ValidNumber", "MinChars": "1",
                       "ValidDateType": "DateWithFormat", "ValidNumber": {
                           "Min": "0", "Max": "80", "NumDecimals": "0"}}}),
    "QID39": asked("picture", "Look", "DB", "GRB", SubSelector="WTXB", Graphics="IM_1",
                   GraphicsDescription="A house", QuestionText_Unsafe="Look"),
    "QID40": asked("sick", "Sick?", "MC", "SAVR", Choices=choices("Yes", "No"),
                   DynamicChoices={"Locator": "q://QID34/x", "DynamicType": "Chosen", "Type": "D"},
                   Validation={"Settings": {"Type": "CustomValidation", "CustomValidation": {
                       "Logic": logic("q://QID40/SelectableChoice/1", "Selected"),
                       "Message": {"description": "No", "messageID": "MS_1"}}}}),
    "QID41": asked("stars2", "Stars?", "Slider", "STAR", Choices=choices("Food", "Staff"),
                   Labels=choices("bad", "good"),
                   Configuration={"StarCount": 5, "StarType": "half"}),
    "QID42": asked("why-sleep", "Why?", "MC", "DL", Choices=choices("A", "B"), DisplayLogic=logic(
        "q://QID30/SelectableChoice/1/3", "Selected") | {"inPage": False}),
    "QID43": asked("never-shown", "Hidden?", "MC", "SAVR", Choices=choices("A", "B")),
    "QID44": asked("after", "After?", "MC", "SB", Choices=choices("A", "B")),
}  # fmt: skip
_SKIP = {"SkipLogicID": 1, "Locator": "q://QID40/SelectableChoice/1", "Condition": "Selected",
         "Description": "If <b>Yes</b> Is Selected, Skip To: End of Block", "QuestionID": "QID40",
         "SkipToDestination": "ENDOFBLOCK"}  # fmt: skip


def full() -> dict[str, Any]:
    """Return a form with more of everything, and with the settings that files have."""
    given, more = form(), deepcopy(MORE)
    parts: Any = more["QID30"]
    parts["Choices"]["2"]["DisplayLogic"] = logic("q://QID2/SelectableChoice/1", "Selected")
    parts["Answers"]["2"]["DisplayLogic"] = logic("q://QID2/SelectableChoice/2", "Selected")
    more["QID34"]["Choices"]["1"]["DisplayLogic"] = logic("q://QID2/SelectableChoice/2", "Selected")
    more["QID34"]["Choices"]["4"]["ExclusiveAnswer"] = True
    more["QID34"]["Choices"]["3"]["Image"] = {"ImageLocation": "IM_3", "Width": 9}
    more["QID31"]["Language"] = {"DE": {"QuestionText": "Wie sicher?", "Labels": choices("u", "s")}}
    block_of_more = block("BL_6", "Standard", *more)
    at = [*more].index("QID40")
    block_of_more["BlockElements"][at]["SkipLogic"] = [_SKIP]
    block_of_more["Options"] = {
        "BlockLocking": "false", "RandomizeQuestions": "Advanced", "Looping": "Static",
        "LoopingOptions": {"Static": {"1": {"1": "mother"}, "2": {"1": "father"}}},
        "Randomization": {"EvenPresentation": False, "Advanced": {
            "FixedOrder": ["QID30"], "RandomSubSet": ["QID31", "QID32"], "TotalRandSubset": 1,
            "QuestionsPerPage": 0, "Undisplayed": ["QID43"]}},
    }  # fmt: skip
    blocks, flow, *_ = given["SurveyElements"]
    blocks["Payload"] = [*blocks["Payload"], block_of_more, block("BL_7", "Trash")]
    end = {"SurveyTermination": "DisplayMessage", "EOSMessage": "MS_1", "EOSMessageLibrary": "UR_1"}
    consent = {"Type": "Branch", "FlowID": "FL_9", "Description": "New Branch",
               "BranchLogic": logic("q://QID3/SelectableChoice/3", "Selected"),
               "Flow": [{"Type": "EndSurvey", "FlowID": "FL_10", "EndingType": "Advanced",
                         "Options": end}]}  # fmt: skip
    data = [{"Field": "town", "Type": "Custom", "Value": "Ulm", "AnalyzeText": False}]
    flow["Payload"] = {
        "Type": "Root", "FlowID": "FL_1", "Properties": {"Count": 12, "RemovedFieldsets": []},
        "Flow": [*flow["Payload"]["Flow"], consent, {"Type": "Group", "FlowID": "FL_11", "Flow": [
            {"Type": "Standard", "ID": "BL_6", "FlowID": "FL_12", "Autofill": []}]},
            {"Type": "EmbeddedData", "FlowID": "FL_13", "EmbeddedData": data}],
    }  # fmt: skip
    given["SurveyEntry"] |= {"SurveyID": "SV_1", "SurveyDescription": "Hello", "Deleted": None}
    settings = [
        ("SO", "Survey Options", {
            "BackButton": "false", "Header": "<b>Ours</b>", "Footer": "", "EOSMessage": "MS_2",
            "SurveyTermination": "Redirect", "EOSRedirectURL": "https://example.org/end",
            "Skin": {"templateId": "*base", "overrides": None}, "NoIndex": "Yes",
            "CustomStyles": {"customCSS": "a {}"}, "AvailableLanguages": {"EN": [], "DE": []}}),
        ("SCO", "Scoring", {"ScoringCategories": [{"ID": "SC_1", "Name": "Health"}],
                            "ScoringSummaryAfterSurvey": 0, "DefaultScoringCategory": "SC_1"}),
        ("QG", "QG_1", {"ID": "QG_1", "Name": "Ages", "Quotas": ["QO_1"], "Selected": True}),
        ("QGO", "QGO_QuotaGroupOrder", ["QG_1"]),
        ("QO", "QO_1", {"Name": "Young", "Occurrences": 50, "OverQuotaAction": "EndSurvey"}),
        ("NT", "NT_1", {"ID": "NT_1", "Notes": [{"Message": "Look", "Removed": False}],
                        "UserStatuses": {"UR_1": "Expanded"}}),
        ("PL", "Preview Link", {"PreviewID": "a", "PreviewType": "Brand"}),
        ("PROJ", "CORE", {"ProjectCategory": "CORE", "SchemaVersion": "1.1.0"}),
        ("STAT", "Survey Statistics", {"MobileCompatible": False, "ID": "Survey Statistics"}),
        ("QC", "Survey Question Count", None), ("RS", "RS_1", None),
    ]  # fmt: skip
    given["SurveyElements"] = [
        {"SurveyID": "SV_1", "SecondaryAttribute": None, **one}
        for one in (
            *(one for one in given["SurveyElements"] if one["Element"] != "SO"),
            *({"Element": kind, "PrimaryAttribute": name, "Payload": payload}
              for kind, name, payload in settings),
            *({"Element": "SQ", "PrimaryAttribute": place, "Payload": one | {"QuestionID": place}}
              for place, one in more.items()),
        )
    ]  # fmt: skip
    return given


def test_codes_of_a_matrix_are_those_of_its_answers_and_give_the_order() -> None:
    found = imported(full())
    questions = entries(found)
    labels = [point["en"] for point in questions["agree-1"]["points"]]
    assert labels == ["never", "at times", "always"]
    assert "“do not know” (-99) is no point" in row(found, "QID30.1").detail
    # The third answer in the source, “never”, has the code 1.
    assert questions["why-sleep"]["shows_if"].endswith("agree-1 = '1'")
    assert questions["agree-2"]["shows_if"].endswith("smokes = 'yes'")
    assert not questions["agree-1"]["shows_if"].endswith("smokes = 'yes'")
    assert "the condition If q://QID2/SelectableChoice/2 of its option at times is left out" in (
        row(found, "QID30").detail
    )
    assert "what is written beside “Other:” is left out" in row(found, "QID30.3").detail


def test_labels_of_ends_are_kept() -> None:
    questions = entries(imported(full()))
    assert questions["safe-1"]["help"]["en"] == "0: unsafe, 5: so-so, 10: safe"
    assert questions["safe-2"]["help"]["de"] == "0: u, 5: s, 10: safe"
    assert questions["recommend"]["help"]["en"] == "0: not at all, 10: certainly"
    assert len(questions["recommend"]["points"]) == 11
    assert questions["pole"]["help"]["en"] == "1: cold, 3: warm"
    assert questions["grid2-1"]["text"]["en"] == "a – b"
    assert questions["stars2-1"]["help"]["en"] == "1: bad, 5: good"
    assert "help" not in questions["stars2-2"]  # it is above the whole grid


def test_a_slider_is_read_with_its_steps() -> None:
    settings = {"CSSliderMin": 0, "CSSliderMax": 10, "GridLines": 4, "SnapToGrid": True,
                "NumDecimals": "0"}  # fmt: skip
    steps = asked("steps", "How?", "Slider", "HBAR", Choices=choices("x"), Configuration=settings)
    questions = entries(imported(survey(steps)))
    assert (questions["steps"]["step"], "integer" in questions["steps"]) == (2.5, False)
    settings |= {"GridLines": 3}
    found = imported(survey(steps))
    assert "step" not in entries(found)["steps"]
    assert "its steps, of which there are 3, are left out" in row(found, "QID1").detail
    settings |= {"CSSliderMin": 0.5}
    assert "integer" not in entries(imported(survey(steps)))["steps"]
    assert entries(imported(full()))["safe-1"]["integer"]


def test_an_option_that_excludes_others_is_the_pages_own() -> None:
    found = imported(full())
    tick = entries(found)["tick"]
    assert [one["text"]["en"] for one in tick["options"]] == ["A", "B", "C"]
    assert (tick["at_most"], tick["random_order"]) == (3, True)
    for told in (
        "“None” cannot be ticked beside others",
        "at least 2 of its options had to be ticked",
        "of its option A is left out",
        "that an option is chosen from the start",
    ):
        assert told in row(found, "QID34").detail
    both = asked("both", "Which?", "MC", "MAVR", Choices=choices("a", "b", "c", "d"))
    for number in ("3", "4"):
        both["Choices"][number]["ExclusiveAnswer"] = True
    detail = row(imported(survey(both)), "QID1").detail
    assert "“c” cannot be ticked beside others" in detail
    assert "that “d” excludes all others is left out" in detail


def test_what_a_block_does_is_told() -> None:
    detail = row(imported(full()), "Flow[5].Flow[0]").detail
    assert "instead of 1 of 2 drawn ones" in detail
    assert "asked once, not once for each of mother, father" in detail
    one = asked("one", "Sick?", "MC", "SAVR", Choices=YES)
    found = imported(survey(one, RandomizeQuestions="RandomWithXPerPage", Looping="Question",
                            LoopingOptions={"Locator": "q://QID9/x"}))  # fmt: skip
    assert "its questions are not randomized (RandomWithXPerPage)" in row(found, "Flow[0]").detail
    assert "not once for each of q://QID9/x" in row(found, "Flow[0]").detail
    found = imported(survey(one, RandomizeQuestions="false", Looping="None", BlockLocking=False))
    assert row(found, "Flow[0]").outcome == "imported"


def test_skip_logic_asks_the_same_people() -> None:
    questions = entries(imported(full()))
    for name in ("stars2-1", "why-sleep", "after"):
        assert "sick != '1'" in questions[name]["shows_if"], name
    assert "sick" not in questions["picture"]["shows_if"]
    given = survey(*(asked(name, f"{name}?", "MC", "SAVR", Choices=YES) for name in "abcd"))
    parts = given["SurveyElements"][0]["Payload"][0]["BlockElements"]
    parts[0]["SkipLogic"] = [{"Locator": "q://QID1/SelectableChoice/2", "Condition": "Selected",
                              "SkipToDestination": "QID3"}]  # fmt: skip
    parts[2]["SkipLogic"] = [{"Locator": "q://QID3/SelectableChoice/2", "Condition": "Empty",
                              "SkipToDestination": "ENDOFSURVEY"}]  # fmt: skip
    found = imported(given)
    shown = [entries(found)[name].get("shows_if") for name in "abcd"]
    assert shown == [None, "a != 'no'", None, None]
    assert row(found, "QID1").outcome == "imported"
    assert "its skip logic is left out, so more people are asked" in row(found, "QID3").detail
    assert row(found, "QID3").weight == "lost"


def test_only_so_many_places_where_people_leave_are_read() -> None:
    questions = [asked(f"q{at}", "?", "MC", "SAVR", Choices=YES) for at in range(52)]
    given = survey(*questions)
    for at, part in enumerate(given["SurveyElements"][0]["Payload"][0]["BlockElements"], 1):
        locator = f"q://QID{at}/SelectableChoice/2"
        part["SkipLogic"] = [_SKIP | {"Locator": locator}]
    found = imported(given)
    assert "at most 50 are read" not in row(found, "QID50").detail
    assert "at most 50 are read" in row(found, "QID51").detail


def test_what_is_lost_of_a_question_is_told() -> None:
    found = imported(full())
    for place, told in {
        "QID37": ("its program is left out", "its default answer ${e://Field/town} is left out"),
        "QID37.1": ("it seems to ask who somebody is (“your name”)",),
        "QID38": ("what the source inserts into its text (${e://Field/name}) is left out",),
        "QID39": ("its image, A house, is left out",),
        "QID40": ("its validation If q://QID40/SelectableChoice/1 is left out",
                  "the choices that it carries forward are left out (Chosen D q://QID34/x)"),
        "QID35": ("the scores of its answers are left out", "D is left out, which is never shown"),
        "QID31": ("“not applicable” means to give no answer",),
        "QID43": ("it is never shown",),
    }.items():  # fmt: skip
        for words in told:
            assert words in row(found, place).detail
    assert "program" not in row(found, "QID38").detail  # it does nothing
    assert (entries(found)["years"]["max"], entries(found)["years"]["integer"]) == (80, True)


def test_settings_are_named_only_if_they_concern_respondents() -> None:
    told = {one.name: (one.outcome, one.detail) for one in imported(full()).rows}
    for name in ("NT_1", "Preview Link", "CORE", "Survey Statistics", "RS_1", "FL_11"):
        assert told[name] == ("imported", "")
    for name, words in {
        "Survey Options": "the page to which respondents go at the end is left out: https://example.org",
        "Scoring": "the score Health is left out",
        "QG_1": "the quota QO_1 is left out",
        "QO_1": "Occurrences 50 is left out",
        "FL_10": "the message at the end, MS_1 of a library, is left out",
        "FL_13": "the page knows only the answers (town = Ulm)",
    }.items():
        assert words in told[name][1]
    assert "the text above each page: <b>Ours</b>" in told["Survey Options"][1]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all tables and lists of a file with their keys."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield value, key
        yield from places(value[key])


def test_whatever_stands_in_place_of_a_value_a_file_is_read_or_refused() -> None:
    rng = random.Random(4)
    strange: list[Any] = [None, True, 0, -1e300, "", "{", [], {}, ["a", "a"], [{"a": 1}], {"1": {}}]
    for _ in range(30):
        given = full()
        for _ in range(rng.randint(1, 5)):
            part, key = rng.choice([*places(given)])
            part[key] = deepcopy(rng.choice(strange))
        with suppress(FormError):
            imported(given)


@pytest.mark.parametrize(("least", "is_lost"), [("1", False), ("2", True)])
def test_to_tick_one_option_is_what_whoever_answers_does(least: str, is_lost: bool) -> None:
    limits = {"Settings": {"MinChoices": least}}
    ticks = asked("ticks", "Which?", "MC", "MAVR", Choices=choices("a", "b", "c"))
    detail = row(imported(survey(ticks | {"Validation": limits})), "QID1").detail
    assert ("of its options had to be ticked" in detail) is is_lost
