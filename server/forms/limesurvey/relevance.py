"""Relevance equations of LimeSurvey, as far as survey files can have them.

comparison = "is_empty" "(" name ")" | operand sign operand
operand    = name | text | number
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.forms.conditions import TURNED, Parser, Untold, short

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
    """The meaning of a name in an equation: the answer to `name`, or whether `ticked` is in it."""

    name: str
    ticked: str | None = None


def condition(text: str, variables: Mapping[str, Variable]) -> list[Any]:
    """Return the tree of an equation, with names and values of the source.

    `variables` are those of earlier questions. Raise `Untold` if a part cannot be translated.
    """
    return _Equation(text, variables).tree()


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
        super().__init__(text)

    def comparison(self) -> list[Any]:
        if self.token.lower() == "is_empty" and self.kind == "word":
            self.next()
            self.expect("(")
            variable = self._variable()
            self.expect(")")
            return _compared("=", variable, "")
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
        return self._variables[name]


def _compared(sign: str, variable: Variable, value: Any) -> list[Any]:
    """Return the tree of a comparison."""
    if variable.ticked is None:
        is_none = value == "" and sign in ("=", "!=")
        return [sign, variable.name, None if is_none else value]
    if value not in (TICKED, "") or sign not in ("=", "!="):
        raise Untold(f"an option of {variable.name} is ticked ({TICKED}) or is not")
    tree = ["selected", variable.name, variable.ticked]
    return tree if (value == TICKED) == (sign == "=") else ["not", tree]
