"""Relevance equations of LimeSurvey, as far as survey files can have them.

comparison = "is_empty" "(" name ")" | operand sign operand
operand    = name | text | number

A name without ".NAOK" makes the whole equation false for people who are not asked that question
(LimeSurvey's manual, "ExpressionScript").
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.forms.conditions import TURNED, Parser, Untold, joined, short
from server.forms.form import Asked, Condition

_SIGNS = {
    **dict.fromkeys(("==", "=", "eq"), "="),
    **dict.fromkeys(("!=", "<>", "ne"), "!="),
    **dict.fromkeys(("<", "lt"), "<"),
    **dict.fromkeys(("<=", "le"), "<="),
    **dict.fromkeys((">", "gt"), ">"),
    **dict.fromkeys((">=", "ge"), ">="),
}
#: What LimeSurvey stores for an option that is ticked.
TICKED = "Y"


@dataclass(frozen=True)
class Variable:
    """The meaning of a name in an equation: an answer, or whether `ticked` is in it."""

    asked: Asked
    ticked: str | None = None


def condition(
    text: str, variables: Mapping[str, Variable], held: Sequence[Condition] = ()
) -> list[Any]:
    """Return the tree of an equation, with names and values of the source.

    `variables` are those of earlier questions, and `held` the conditions that hold in any case.
    Raise `Untold` if a part cannot be translated.
    """
    equation = _Equation(text, variables)
    tree = equation.tree()
    needed = [
        known.tree
        for asked in equation.must_be_asked
        for known in asked.conditions
        if known.tree and known not in held and _holds_without(tree, asked.name) is not False
    ]
    parts = [one for at, one in enumerate(needed) if one not in needed[:at]]
    return joined("and", [*parts, tree])


def _holds_without(tree: list[Any], name: str) -> bool | None:
    """Return whether a condition holds if a question has no answer; None if others decide."""
    first, *rest = tree
    if first == "not":
        inner = _holds_without(rest[0], name)
        return None if inner is None else not inner
    if first in ("and", "or"):
        parts = [_holds_without(part, name) for part in rest]
        decided = first == "or"
        return decided if decided in parts else None if None in parts else not decided
    if rest[0] != name:
        return None
    return (rest[1] is None) is (first == "=") if first in ("=", "!=") else False


def by_scenario(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the equation of a question's rows in the table of conditions.

    One scenario must hold. In each, one of the rows about the same question must hold, for each
    question (LimeSurvey's manual, "Setting conditions").
    """
    scenarios: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        sign, value = row.get("method", "").strip() or "==", row.get("value", "")
        shown = value if sign not in ("==", "!=") and _NUMBER.fullmatch(value) else f'"{value}"'
        name = row.get("cfieldname", "").removeprefix("+")
        about = scenarios.setdefault(row.get("scenario", ""), {})
        about.setdefault(row.get("cqid", ""), []).append(f"{name}.NAOK {sign} {shown.strip()}")
    return " or ".join(
        " and ".join(f"({' or '.join(parts)})" for parts in about.values())
        for about in scenarios.values()
    )


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class _Equation(Parser):
    TOKENS = re.compile(
        r"""\s*(?:(?P<text>'[^']*'|"[^"]*")|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))"""
        r"""|(?P<mark>==|!=|<>|<=|>=|&&|\|\||[=<>()!])|(?P<word>[A-Za-z0-9_][\w.:#-]*))"""
    )
    OR = ("or", "||")
    AND = ("and", "&&")
    NOT = ("not", "!")

    def __init__(self, text: str, variables: Mapping[str, Variable]) -> None:
        self._variables = variables
        #: The questions that stand in it without ".NAOK".
        self.must_be_asked: list[Asked] = []
        super().__init__(text)

    def comparison(self) -> list[Any]:
        if self.token.lower() == "is_empty" and self.kind == "word":
            self.next()
            self.expect("(")
            variable = self._variable()
            self.expect(")")
            return _compared("=", variable, "")
        if self.negation == "!":  # it would negate the variable, and not the comparison
            raise Untold("! before a comparison without parentheses is not understood")
        if self.kind == "word":
            variable, sign = self._variable(), self._sign()
            return _compared(sign, variable, self._value())
        value, sign = self._value(), self._sign()
        if self.kind != "word":
            raise self.untold("a question")
        return _compared(TURNED[sign], self._variable(), value)

    def _sign(self) -> str:
        sign = _SIGNS.get(self.token.lower()) if self.kind in ("mark", "word") else None
        if sign is None:
            raise self.untold("a comparison")
        self.next()
        return sign

    def _value(self) -> Any:
        if self.kind == "text":
            return self.next()[1:-1]
        if self.kind == "number":
            return short(float(self.next()))
        raise self.untold("a value")

    def _variable(self) -> Variable:
        if self.kind != "word":
            raise self.untold("a question")
        word = self.next()
        name = re.sub(r"\.(NAOK|code)$", "", word)
        if re.search(r"\.(value|valueNAOK|shown)$", word):
            raise Untold(f"{word} is about an assessment or a label, not about an answer")
        if self.token == "(":
            raise Untold(f"the function {name} is not understood")
        if name not in self._variables:
            raise Untold(f"{name} is not among the earlier questions")
        variable = self._variables[name]
        if not word.endswith(".NAOK") and variable.asked not in self.must_be_asked:
            self.must_be_asked.append(variable.asked)
        return variable


def _compared(sign: str, variable: Variable, value: Any) -> list[Any]:
    """Return the tree of a comparison."""
    name = variable.asked.name
    if variable.ticked is None:
        is_none = value == "" and sign in ("=", "!=")
        return [sign, name, None if is_none else value]
    if value not in (TICKED, "") or sign not in ("=", "!="):
        raise Untold(f"an option of {name} is ticked ({TICKED}) or is not")
    tree = ["selected", name, variable.ticked]
    return tree if (value == TICKED) == (sign == "=") else ["not", tree]
