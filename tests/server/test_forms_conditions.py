"""Conditions of other tools hold for the same answers after the import."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from analysis.survey.document import parsed
from analysis.survey.logic import holds
from analysis.survey.logic import written as written_condition
from analysis.survey.survey_file import survey_of
from server.forms.building import build
from server.forms.form import Asked, Condition, Form, Imported

#: Possible answers in the source; None if there was no answer.
ANSWERS: dict[str, list[Any]] = {
    "Flat": [None, "1", "2", "10"],
    "Many": [None, (), ("x",), ("y",), ("x", "y")],
    "Often": [None, "0", "1", "2"],
    "Agreed": [None, "J", "N"],
    "Age": [None, 0, 17, 18, 99],
}
_SIGNS = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def questions() -> list[Asked]:
    return [
        Asked("1", "Flat", "", "choice", "Flat?",
              options=[("1", "One"), ("2", "Two"), ("10", "Ten")]),
        Asked("2", "Many", "", "choices", "Which?", options=[("x", "X"), ("y", "Y")]),
        Asked("3", "Often", "", "scale", "How often?",
              options=[("0", "Not at all"), ("1", "A little"), ("2", "Very much")]),
        Asked("4", "Agreed", "", "yes-no", "Agreed?", options=[("J", "Ja"), ("N", "Nein")]),
        Asked("5", "Age", "", "number", "Age?", {"min": 0, "max": 99, "integer": True}),
    ]  # fmt: skip


def meant(tree: list[Any], answers: Mapping[str, Any]) -> bool:
    """Return whether a condition holds in the source."""
    first, *rest = tree
    if first == "not":
        return not meant(rest[0], answers)
    if first in ("and", "or"):
        return (all if first == "and" else any)(meant(part, answers) for part in rest)
    answer, value = answers[rest[0]], rest[1]
    if value is None:
        return (answer in (None, ())) is (first == "=")
    if isinstance(answer, tuple):
        return (value in answer) is not (first == "!=")
    if first in _SIGNS:
        return answer is not None and bool(_SIGNS[first](float(answer), float(value)))
    return (answer is not None and str(answer) == str(value)) is not (first == "!=")


def written(answer: Any, values: Mapping[str, str]) -> str:
    """Return an answer in the form of our pages."""
    if isinstance(answer, tuple):
        return "|".join(values[one] for one in answer) or "none"
    return "" if answer is None else values.get(str(answer), str(answer))


def imported(tree: list[Any], required: bool = False) -> tuple[Imported, list[dict[str, Any]]]:
    asked = questions()
    for question in asked:
        question.keys |= {"required": True} if required else {}
    last = Asked("6", "last", "", "yes-no", "?", conditions=[Condition(tree, "as it stands")])
    found = build(Form("A form", "form", [*asked, last]))
    spec = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
    return found, spec


TREES: list[list[Any]] = [
    ["=", "Flat", "2"],
    ["!=", "Flat", 10],
    [">=", "Flat", 2],
    ["<", "Flat", "0"],
    ["=", "Flat", None],
    ["selected", "Many", "x"],
    ["not", ["selected", "Many", "y"]],
    ["!=", "Many", None],
    ["=", "Often", "2"],
    ["=", "Often", 0],
    ["<=", "Often", 1],
    ["!=", "Often", None],
    ["=", "Agreed", "J"],
    ["!=", "Agreed", "N"],
    ["=", "Age", "18"],
    [">", "Age", 17],
    ["!=", "Age", None],
    ["not", ["=", "Age", None]],
    ["and", ["!=", "Flat", None], ["or", ["=", "Often", "1"], ["=", "Agreed", "N"]]],
    ["not", ["and", ["<", "Age", 18], ["not", ["=", "Flat", None]]]],
]


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("tree", TREES, ids=str)
def test_it_holds_exactly_if_that_of_the_source_holds(tree: list[Any], required: bool) -> None:
    found, spec = imported(tree, required)
    condition = spec[-1].get("shows_if")
    texts = [{option["text"]: option["id"] for option in one.get("options", ())} for one in spec]
    values = {
        question.name: {value: texts[place].get(text, "") for value, text in question.options}
        for place, question in enumerate(questions())
    } | {"Agreed": {"J": "yes", "N": "no"}}
    ids = [one["id"] for one in spec]
    can = {
        name: [one for one in answers if not required or one is not None]
        for name, answers in ANSWERS.items()
    }
    seen = set()
    for answers in map(dict, product(*([(name, one) for one in can[name]] for name in can))):
        ours = {
            key: written(answers[name], values[name])
            for key, name in zip(ids, answers, strict=False)
        }
        wanted = meant(tree, answers)
        seen.add(wanted)
        if condition is not None:
            assert holds(condition, ours) == wanted, answers
    if condition is None:
        # It always holds, or never holds, which is reported.
        assert len(seen) == 1
        assert seen == {True} or "it can never be true" in found.rows[-1].detail


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        (["=", "Flat", "3"], "Flat has no answer 3"),
        ([">", "Many", "1"], "the answers of Many have no order"),
        ([">", "Agreed", "1"], "the answers of Agreed have no order"),
        ([">", "Age", "old"], "Age is a number, and cannot be compared with old"),
        (["=", "Name", "x"], "Name is not among the earlier questions"),
        ([">", "Age", None], "> cannot compare a missing answer"),
    ],
)
def test_impossible_conditions_are_reported(tree: list[Any], told: str) -> None:
    found, spec = imported(tree)
    assert "shows_if" not in spec[-1]
    assert found.rows[-1].outcome == "changed"
    assert f"the condition as it stands could not be translated ({told})" in found.rows[-1].detail


def test_one_condition_stays_if_another_cannot() -> None:
    kept, lost = Condition(["=", "Flat", "2"], "one"), Condition(["=", "Name", "x"], "other")
    last = Asked("6", "last", "", "yes-no", "?", conditions=[lost, kept])
    found = build(Form("A form", "form", [*questions(), last]))
    assert "shows_if = \"flat = '2'\"" in found.toml
    assert "the condition other could not be translated" in found.rows[-1].detail


def test_a_choice_of_several_that_equals_one_is_reported() -> None:
    found, _ = imported(["=", "Many", "x"])
    assert "is read as whether x is ticked" in found.rows[-1].detail


NOTHING = ("0", "None of the above")


@pytest.mark.parametrize(
    ("tree", "condition"),
    [
        (["selected", "Many", "0"], "selected(many, 'none')"),
        (["not", ["selected", "Many", "0"]], "not (selected(many, 'none'))"),
        (["=", "Many", None], "selected(many, 'no-answer')"),
        (["!=", "Many", None], "not (selected(many, 'no-answer'))"),
        (["=", "Many", "x"], ""),
    ],
    ids=str,
)
def test_the_option_that_none_is_true_is_that_of_the_page(tree: list[Any], condition: str) -> None:
    many = Asked("1", "Many", "", "choices", "Which?", {"at_most": 3, "random_order": True},
                 [("x", "X"), NOTHING, ("y", "Y")], alone=["0"])  # fmt: skip
    last = Asked("2", "last", "", "text", "?", conditions=[Condition(tree, "as it stands")])
    found = build(Form("A form", "form", [many, last]))
    first, second = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
    assert [option["text"] for option in first["options"]] == ["X", "Y"]
    assert first["at_most"] == 2
    if condition:
        assert written_condition(second["shows_if"]) == condition
    else:
        assert second["namely"] == "x"
    assert "“None of the above” cannot be ticked beside others" in found.rows[0].detail
    assert (found.rows[0].outcome, found.rows[0].weight) == ("imported", "harmless")


def test_the_option_that_none_is_true_stays_where_it_is_needed() -> None:
    options = [("x", "X"), NOTHING]
    for kind in ("choice", "choices"):
        asked = Asked("1", "q", "", kind, "Which?", options=[*options], alone=["0"])
        found = build(Form("A form", "form", [asked]))
        spec = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
        assert [option["text"] for option in spec[0]["options"]] == ["X", "None of the above"]
        told = "that “None of the above” excludes all others is left out"
        assert (told in found.rows[0].detail) is (kind == "choices")


def test_each_text_beside_an_option_is_asked_of_those_who_choose_the_option() -> None:
    options: list[tuple[str, Any]] = [("x", "X"), ("Y", "Y"), ("z", "Z")]
    asked = Asked("1", "q", "", "choices", "Which?", options=options)
    texts = [asked.namely(value, "Which one?", f"q-{value}") for value in ("x", "Y")]
    found = build(Form("A form", "form", [asked, *texts]))
    _, first, second = survey_of(parsed(found.toml, "x"), "x", Path(".")).spec["questions"]
    assert first["namely"] == "x"
    assert "namely" not in second
    assert written_condition(second["shows_if"]) == "selected(q, 'y')"
