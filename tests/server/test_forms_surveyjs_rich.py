"""A form with much of what SurveyJS has is imported, and what is lost is named."""

import tomllib
from typing import Any

import pytest
from test_forms_surveyjs import imported

#: Each type that is read, with much of what it can have; and types that are refused.
RICH: dict[str, Any] = {
    "locale": "de",
    "title": {"default": "Work", "de": "Arbeit"},
    "description": {"default": "Why", "de": "Warum"},
    "logo": "logo.png",
    "showProgressBar": "top",
    "questionOrder": "random",
    "maxTimeToFinish": 60,
    "calculatedValues": [{"name": "sum", "expression": "{a} + {b}"}],
    "pages": [
        {
            "name": "p1",
            "title": {"default": "Days", "de": "Tage"},
            "description": {"default": "The past four weeks", "de": "Die letzten vier Wochen"},
            "questionsOrder": "random",
            "elements": [
                {
                    "type": "checkbox",
                    "name": "tasks",
                    "title": {"default": "Tasks?", "de": "Aufgaben?"},
                    "choices": ["desk|At a desk", {"value": "car", "text": "In a car"},
                                {"value": "no", "text": "Neither", "isExclusive": True}],
                    "showNoneItem": True,
                    "noneText": "None of the above",
                    "showRefuseItem": True,
                    "showDontKnowItem": True,
                    "dontKnowText": "I cannot tell",
                    "minSelectedChoices": 2,
                    "validators": [{"type": "answercount", "maxCount": 2, "text": {"default": "!"}},
                                   {"type": "expression", "expression": "{tasks} notempty"}],
                },
                {
                    "type": "radiogroup",
                    "name": "post",
                    "title": "Post?",
                    "choices": [
                        {"value": "lead", "text": "Lead", "showCommentArea": True,
                         "commentPlaceholder": "Of whom?"},
                        {"value": "staff", "text": "Staff", "visibleIf": "{tasks} contains 'car'"},
                        {"value": 3, "text": "Third", "elements": [
                            {"type": "boolean", "name": "paid", "labelTrue": "Well",
                             "labelFalse": "Badly", "valueTrue": "w", "valueFalse": "b"}]},
                    ],
                    "showOtherItem": True,
                    "otherText": "Something else",
                    "showCommentArea": True,
                    "commentText": "Tell us why",
                    "choicesOrder": "random",
                    "requiredIf": "{tasks} notempty",
                    "defaultValue": "lead",
                    "placeholder": {"default": "Choose", "de": "Wählen"},
                },
                {"type": "imagepicker", "name": "place", "choicesOrder": "asc",
                 "choices": [{"value": "a", "imageLink": "a.png"}, {"value": "b"}]},
                {"type": "dropdown", "name": "years", "choicesMin": 0, "choicesMax": 40,
                 "visibleIf": "{tasks} contains ['desk', 'car']"},
                {"type": "rating", "name": "rate", "rateMin": 0, "rateCount": 11,
                 "minRateDescription": "bad", "maxRateDescription": "good",
                 "rateType": "smileys", "enableIf": "{post} = 'staff'", "isRequired": True},
                {"type": "rating", "name": "often",
                 "rateValues": ["1|Often", {"value": 2, "text": "Never"}]},
                {"type": "slider", "name": "load", "max": 60, "labelFormat": "{0} kg",
                 "customLabels": [{"value": 0, "text": "none"}, {"value": 60, "text": "most"}]},
                {"type": "ranking", "name": "order", "choices": ["x", "y", "z"],
                 "selectToRankEnabled": True, "maxSelectedChoices": 2},
            ],
        },
        {
            "name": "p2",
            "visibleIf": "{tasks.length} > 0",
            "elements": [
                {"type": "panel", "name": "inner", "title": "At home", "description": "Only now.",
                 "enableIf": "{post} = 'lead'", "isRequired": True, "elements": [
                    {"type": "html", "name": "hello", "html": "<b>Hello</b>"},
                    {"type": "text", "name": "pay", "maskType": "currency", "isRequired": True,
                     "maskSettings": {"min": 0, "max": 900, "prefix": "$", "suffix": "a month"}},
                    {"type": "text", "name": "hours", "inputType": "number", "min": 0, "step": 1,
                     "validators": [{"type": "numeric", "maxValue": 60}]},
                    {"type": "text", "name": "since", "inputType": "date", "min": "1990-01-01",
                     "max": "2020-12-31", "maxValueExpression": "today()"},
                    {"type": "text", "name": "city", "dataList": ["Bonn", "Rome"],
                     "visible": False},
                    {"type": "text", "name": "mail", "title": "Where can we write?",
                     "validators": [{"type": "email"}], "readOnly": True},
                ]},
                {
                    "type": "matrix",
                    "name": "grid",
                    "title": {"default": "Grid", "de": "Raster"},
                    "description": {"default": "Last week", "de": "Letzte Woche"},
                    "columns": [{"value": 9, "text": "often"}, {"value": 1, "text": "never"}],
                    "rows": [{"value": "u", "text": "U"},
                             {"value": "v", "text": "V", "visibleIf": "{post} = 3"}],
                    "rowOrder": "random",
                    "isAllRowRequired": True,
                    "hasComment": True,
                },
                {"type": "matrix", "name": "ticks", "cellType": "checkbox", "columns": ["a", "b"],
                 "rows": [{"value": "desk"}, {"value": "car"}],
                 "rowsVisibleIf": "{tasks} contains {item}"},
                {"type": "multipletext", "name": "names", "title": "Names", "items": [
                    {"name": "one", "title": "First", "isRequired": True},
                    {"name": "two", "inputType": "number", "min": 1, "max": 2}]},
                {"type": "matrix", "name": "bare", "columns": ["a", "b"], "rows": []},
                {"type": "matrixdropdown", "name": "table", "columns": [{"name": "c"}]},
                {"type": "comment", "name": "story", "rows": 9},
                {"type": "text", "name": "phone", "inputType": "tel"},
            ],
        },
    ],
}  # fmt: skip


def test_everything_of_a_rich_form_is_read_or_named() -> None:
    found = imported(RICH)
    entries = {entry["id"]: entry for entry in tomllib.loads(found.toml)["questions"]}
    assert [*entries] == [
        *("p1", "tasks", "post", "post-lead", "post-other", "paid", "place", "years", "rate"),
        *("often", "load", "order", "inner", "hello", "pay", "hours", "since", "city", "mail"),
        *("grid-u", "grid-v", "ticks-desk", "ticks-car", "names-one", "names-two"),
    ]
    assert entries["p1"]["text"] == {"de": "Die letzten vier Wochen", "en": "The past four weeks"}
    assert [one["id"] for one in entries["tasks"]["options"]] == [
        *("desk", "car", "no", "refused", "dontknow"),
    ]
    assert entries["tasks"]["at_most"] == 2
    assert entries["post-lead"]["namely"] == "lead"
    assert entries["post-other"]["shows_if"] == "post = 'other'"
    assert entries["paid"]["shows_if"] == "post = '3'"
    assert (entries["years"]["min"], entries["years"]["max"]) == (0, 40)
    assert entries["years"]["shows_if"] == "selected(tasks, 'desk') and selected(tasks, 'car')"
    assert len(entries["rate"]["points"]) == 11
    assert "required" not in entries["rate"]
    assert entries["load"]["unit"]["de"] == "kg"
    assert entries["load"]["help"]["de"] == "0: none, 60: most"
    assert entries["inner"]["text"] == {"de": "Only now.", "en": "Only now."}
    assert (entries["pay"]["max"], entries["pay"]["unit"]["en"]) == (900, "a month")
    assert "required" not in entries["pay"]  # a part that is locked for some
    assert (entries["hours"]["max"], entries["hours"]["integer"]) == (60, True)
    assert entries["city"]["candidates"] == ["Bonn", "Rome"]
    assert entries["grid-u"]["matrix"] == {"de": "Raster (Letzte Woche)", "en": "Grid (Last week)"}
    assert [one["text"]["de"] for one in entries["grid-u"]["points"]] == ["never", "often"]
    assert "post = '3'" in entries["grid-v"]["shows_if"]
    assert "selected(tasks, 'car')" in entries["ticks-car"]["shows_if"]
    assert entries["ticks-car"]["kind"] == "choices"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tasks", "that at least 2 of them are chosen is left out"),
        ("tasks", "that “Neither” excludes all others is left out"),
        ("tasks", "“None of the above” cannot be ticked beside others"),
        ("tasks", "the condition that answers have to fulfil, {tasks} notempty is left out"),
        ("post", "its field for comments “Tell us why” is left out"),
        ("post", "it is required only if {tasks} notempty there"),
        ("post", "that an option is offered only if {tasks} contains 'car' is left out"),
        ("post", "the example in its empty field Choose and 1 more is left out"),
        ("place", "the image of an option, a.png is left out"),
        ("rate", "that it can be answered only if {post} = 'staff' is left out"),
        ("order", "that only some of its items are ranked is left out"),
        ("p1", "the random order of its questions is left out"),
        ("inner", "that at least one of its parts is answered is left out"),
        ("pay", "“$” beside the number is left out"),
        ("since", "its highest value today() is left out"),
        ("city", "it was hidden, and is shown"),
        ("mail", "it seems to ask who somebody is (“e-mail”)"),
        ("mail", "that nobody can answer it is left out"),
        ("grid", "the random order of its rows is left out"),
        ("grid", "its field for comments is left out"),
        ("bare", "it has no rows"),
        ("table", "with it: name"),
        ("phone", "an answer of type tel identifies"),
        ("", "the time limit of the whole form 60 is left out"),
        ("", "the logo logo.png is left out"),
    ],
)
def test_what_is_different_is_named(name: str, told: str) -> None:
    assert any(row.name == name and told in row.detail for row in imported(RICH).rows)
