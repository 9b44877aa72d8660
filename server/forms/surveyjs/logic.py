"""Conditions of SurveyJS, as far as survey files can have them."""

import re
from typing import Any

from server.forms.conditions import TURNED, Parser, Untold, joined, short

_SIGNS = {
    **dict.fromkeys(("=", "==", "equal"), "="),
    **dict.fromkeys(("<>", "!=", "notequal"), "!="),
    **dict.fromkeys((">", "greater"), ">"),
    **dict.fromkeys(("<", "less"), "<"),
    **dict.fromkeys((">=", "greaterorequal"), ">="),
    **dict.fromkeys(("<=", "lessorequal"), "<="),
}
#: Operators on lists of values, with the word that joins the values' parts.
_SETS = {"contains": "or", "contain": "or", "anyof": "or", "notcontains": "or", "allof": "and"}


def condition(text: str) -> list[Any]:
    """Return the tree of a condition, with names and values of the source.

    Raise `Untold` if a part of it cannot be translated.
    """
    return _Parser(text).tree()


class _Parser(Parser):
    TOKENS = re.compile(
        r"""\s*(?:(?P<name>\{[^{}]+\})|(?P<text>'[^']*'|"[^"]*")|(?P<number>-?\d+(?:\.\d+)?)"""
        r"""|(?P<list>\[[^\]]*\])|(?P<mark><>|!=|<=|>=|==|&&|\|\||[=<>()!])|(?P<word>[A-Za-z]\w*))"""
    )
    OR = ("or", "||")
    AND = ("and", "&&")
    NOT = ("not", "!")

    def comparison(self) -> list[Any]:
        if self.kind != "name":
            return self._turned()
        name, sign = self.next()[1:-1].strip(), self.next().lower()
        if sign in ("notempty", "empty"):
            return ["!=" if sign == "notempty" else "=", name, None]
        values = self._values()
        if sign in _SETS:
            tree = joined(_SETS[sign], [["selected", name, value] for value in values])
            return ["not", tree] if sign == "notcontains" else tree
        if sign not in _SIGNS or len(values) != 1:
            raise Untold(f"{sign or 'its end'} is not understood")
        return [_SIGNS[sign], name, values[0]]

    def _turned(self) -> list[Any]:
        """Return a comparison whose value stands first."""
        values, sign = self._values("a question"), _SIGNS.get(self.next().lower(), "")
        if self.kind != "name" or len(values) != 1 or not sign:
            raise self.untold("a question")
        return [TURNED[sign], self.next()[1:-1].strip(), values[0]]

    def _values(self, expected: str = "a value") -> list[Any]:
        kind, token = self.kind, self.token
        if kind == "list":
            values = [one.strip().strip("'\"") for one in token[1:-1].split(",")]
            found: list[Any] = [one for one in values if one]
        elif kind == "text":
            found = [token[1:-1]]
        elif kind == "number":
            found = [short(float(token))]
        elif kind == "word" and token.lower() in ("true", "false"):
            found = [token.lower()]
        else:
            raise self.untold(expected)
        self.next()
        if not found:
            raise Untold("an empty list is not understood")
        return found
