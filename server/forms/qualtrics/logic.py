"""Display and branch logic of Qualtrics, as far as survey files can have them."""

import re
from collections.abc import Mapping
from typing import Any

from server.forms.conditions import Untold, joined
from server.forms.json_file import amount, table

_LOCATOR = re.compile(
    r"q://(QID\d+)(?:#\d+)?/"
    r"(SelectableChoice|ChoiceTextEntryValue|ChoiceNumericEntryValue)(?:/(\w+))?"
)
_SIGNS = {
    "EqualTo": "=", "NotEqualTo": "!=", "GreaterThan": ">", "GreaterThanOrEqual": ">=",
    "LessThan": "<", "LessThanOrEqual": "<=",
}  # fmt: skip


#: Groups and their parts are numbered.
_KEYS = {str(number) for number in range(1000)}


def condition(
    logic: Any, names: Mapping[str, str], values: Mapping[str, Mapping[str, str]]
) -> list[Any]:
    """Return the tree of display logic, with names and values of the source.

    Parameters
    ----------
    logic : dict
        Of type BooleanExpression: tables of type If, each with its expressions, all by numbers.
    names : mapping
        The names of the questions before, by their ids.
    values : mapping
        The values of their choices, by the choices' ids.

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
        words_of = {str(part.get("Conjuction") or part.get("Conjunction")) for part in parts[1:]}
        if len({word.lower().startswith("or") for word in words_of}) > 1:
            raise Untold("it mixes “and” with “or”, whose order is not documented")
        for part in parts:
            found = _expression(part, names, values)
            inner = _with(inner, str(part.get("Conjuction") or part.get("Conjunction")), found)
        if inner:
            tree = _with(tree, str(group.get("Type", "")), inner)
    if not tree:
        raise Untold("it is empty")
    return tree


def words(logic: Any) -> str:
    """Return what Qualtrics wrote about logic, in words."""
    told = [
        re.sub(r"<[^<>]*>|&nbsp;", " ", str(part.get("Description", "")))
        for group in _numbered(logic)
        for part in _numbered(group)
    ]
    return " ".join(" ".join(filter(None, told)).split()) or "of Qualtrics"


def _numbered(value: Any) -> list[Mapping[str, Any]]:
    found = sorted((int(key), one) for key, one in table(value).items() if key in _KEYS)
    return [table(one) for _, one in found]


def _with(tree: list[Any], word: str, other: list[Any]) -> list[Any]:
    """Return two trees that are joined by a word such as And, Or, AndIf or ElseIf."""
    if not tree:
        return other
    is_or = word.lower().startswith(("or", "else"))
    return joined("or" if is_or else "and", [tree, other])


def _expression(
    part: Mapping[str, Any], names: Mapping[str, str], values: Mapping[str, Mapping[str, str]]
) -> list[Any]:
    if part.get("LogicType") != "Question":
        raise Untold(f"it is about {str(part.get('LogicType'))[:20]}, not about an answer")
    locator = str(part.get("LeftOperand") or part.get("ChoiceLocator") or "")
    found = _LOCATOR.fullmatch(locator)
    if found is None:
        raise Untold(f"{locator[:60] or 'its question'} is not understood")
    place, what, choice = found.groups()
    name = names.get(place, place)
    operator = str(part.get("Operator", ""))
    if what == "SelectableChoice" and choice and operator in ("Selected", "NotSelected"):
        tree = ["selected", name, values.get(place, {}).get(choice, choice)]
        return tree if operator == "Selected" else ["not", tree]
    if what == "SelectableChoice" and not choice and operator in ("Empty", "NotEmpty"):
        return ["=" if operator == "Empty" else "!=", name, None]
    number = amount(part.get("RightOperand"))
    if what != "SelectableChoice" and choice:
        raise Untold(f"it is about what is written beside an option of {name}")
    if what != "SelectableChoice" and operator in _SIGNS and number is not None:
        return [_SIGNS[operator], name, number]
    raise Untold(f"{operator[:30] or 'it'} is not understood for {name}")
