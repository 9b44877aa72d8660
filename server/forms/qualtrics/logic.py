"""Display and branch logic of Qualtrics, as far as survey files can have them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.forms.conditions import Untold, joined
from server.forms.json_file import amount, table

_LOCATOR = re.compile(
    r"q://(QID\d+)(?:#\d+)?/"
    r"(SelectableChoice|ChoiceTextEntryValue|ChoiceNumericEntryValue)(?:/(\w+))?(?:/(\w+))?"
)
_SIGNS = {
    "EqualTo": "=", "NotEqualTo": "!=", "GreaterThan": ">", "GreaterThanOrEqual": ">=",
    "LessThan": "<", "LessThanOrEqual": "<=",
}  # fmt: skip
#: The values of an expression that mean something.
_OF_EXPRESSION = ("LogicType", "LeftOperand", "Operator", "RightOperand", "Description", "Type")
#: Groups and their parts are numbered.
_KEYS = {str(number) for number in range(1000)}


@dataclass
class Answers:
    """How logic names questions and answers, by the ids of the questions.

    `names` has the names of the questions, `values` the values of their choices by the choices' ids
    and `rows` the names of the questions that their rows became, by the rows' ids.
    """

    names: Mapping[str, str]
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)


def condition(logic: Any, answers: Answers) -> list[Any]:
    """Return the tree of display logic, with names and values of the source.

    Parameters
    ----------
    logic : mapping
        Of type BooleanExpression: tables of type If, each with its expressions, all by numbers.
    answers : Answers
        Of the questions before.

    Raises
    ------
    Untold
        If a part of it is about something else than answers to earlier questions.
    """
    if table(logic).get("Type") != "BooleanExpression":
        raise Untold("it is not about earlier answers")
    tree: list[Any] = []
    for group in _numbered(logic):
        inner: list[Any] = []
        parts = _numbered(group)
        if len({_joins_by_or(_word(part)) for part in parts[1:]}) > 1:
            raise Untold("it mixes “and” with “or”, whose order is not documented")
        for part in parts:
            inner = _with(inner, _word(part), _expression(part, answers))
        if inner:
            tree = _with(tree, str(group.get("Type", "")), inner)
    if not tree:
        raise Untold("it is empty")
    return tree


def words(logic: Any) -> str:
    """Return what Qualtrics wrote about logic, in words, and read all that it says."""
    table(logic).get("Type")
    told = []
    for group in _numbered(logic):
        group.get("Type")
        for part in _numbered(group):
            _word(part)
            values = {key: str(part.get(key) or "") for key in _OF_EXPRESSION}
            told.append(bare(values["Description"]))
    return " ".join(filter(None, told)) or "of Qualtrics"


def contradiction(logic: Any) -> str:
    """Return two answers that an expression names where it should name one; "" if none does."""
    for group in _numbered(logic):
        for part in _numbered(group):
            left, other = (str(part.get(key) or "") for key in ("LeftOperand", "ChoiceLocator"))
            # The fourth part is whether an answer is selected or shown, which may differ.
            ids = [[*one.split("/")[:3], *one.split("/")[4:]] for one in (left, other)]
            if left and other and ids[0] != ids[1]:
                return f"{left}, which counts, and {other}"
    return ""


def bare(text: Any) -> str:
    """Return a description of Qualtrics in one line and without HTML."""
    return " ".join(re.sub(r"<[^<>]*>|&nbsp;", " ", str(text)).split())


def shortened(text: str) -> str:
    """Return a text of at most 200 characters, whose end says what has to be selected."""
    return text if len(text) <= 200 else f"{text[:99]} … {text[-98:]}"


def selected(locator: Any, operator: Any, answers: Answers) -> list[Any]:
    """Return the tree of whether the choice of a locator is, or is not, selected."""
    operator = str(operator or "")
    name, _, choice, given = _located(str(locator or ""), answers)
    if choice is None or operator not in ("Selected", "NotSelected"):
        raise Untold(f"{operator[:30] or 'it'} is not understood for {name}")
    if choice not in given:
        raise Untold(f"{name} has no choice {choice[:20]} that is shown")
    tree = ["selected", name, given[choice]]
    return tree if operator == "Selected" else ["not", tree]


def _word(part: Mapping[str, Any]) -> str:
    """Return the word before an expression, whose key Qualtrics misspells."""
    return str(part.get("Conjuction") or part.get("Conjunction") or "")


def _joins_by_or(word: str) -> bool:
    return word.lower().startswith(("or", "else"))


def _numbered(value: Any) -> list[Mapping[str, Any]]:
    found = sorted((int(key), value[key]) for key in table(value) if key in _KEYS)
    return [table(one) for _, one in found]


def _with(tree: list[Any], word: str, other: list[Any]) -> list[Any]:
    """Return two trees that are joined by a word such as And, Or, AndIf or ElseIf."""
    return joined("or" if _joins_by_or(word) else "and", [tree, other]) if tree else other


def _located(locator: str, answers: Answers) -> tuple[str, str, str | None, Mapping[str, str]]:
    """Return a question's name, what of it is meant, the choice, and the choices' values."""
    found = _LOCATOR.fullmatch(locator)
    if found is None:
        raise Untold(f"{locator[:60] or 'its question'} is not understood")
    place, what, choice, answer = found.groups()
    name, values = answers.names.get(place, place), answers.values.get(place, {})
    rows = answers.rows.get(place)
    if rows is not None and choice is not None:
        if choice not in rows:
            raise Untold(f"{name} has no row {choice}")
        return rows[choice], what, answer, values
    if answer is not None:
        raise Untold(f"{name} is not among the earlier questions, or has no rows")
    return name, what, choice, values


def _expression(part: Mapping[str, Any], answers: Answers) -> list[Any]:
    if part.get("LogicType") != "Question":
        raise Untold(f"it is about {str(part.get('LogicType'))[:20]}, not about an answer")
    locator = part.get("LeftOperand") or part.get("ChoiceLocator")
    operator = str(part.get("Operator") or "")
    name, what, choice, _ = _located(str(locator or ""), answers)
    if what == "SelectableChoice":
        if choice is None and operator in ("Empty", "NotEmpty"):
            return ["=" if operator == "Empty" else "!=", name, None]
        return selected(locator, operator, answers)
    number = amount(part.get("RightOperand"))
    if choice:
        raise Untold(f"it is about what is written beside an option of {name}")
    if operator in _SIGNS and number is not None:
        return [_SIGNS[operator], name, number]
    raise Untold(f"{operator[:30] or 'it'} is not understood for {name}")
