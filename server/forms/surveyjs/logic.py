"""Conditions of SurveyJS, as far as survey files can have them."""

import re
from collections.abc import Mapping
from typing import Any

from server.forms.xlsform.xpath import Untold

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>\{[^{}]+\})|(?P<text>'[^']*'|"[^"]*")|(?P<number>-?\d+(?:\.\d+)?)"""
    r"""|(?P<list>\[[^\]]*\])|(?P<mark><>|!=|<=|>=|==|&&|\|\||[=<>()!])|(?P<word>[A-Za-z]\w*))"""
)
_SIGNS = {
    **dict.fromkeys(("=", "==", "equal"), "="),
    **dict.fromkeys(("<>", "!=", "notequal"), "!="),
    **dict.fromkeys((">", "greater"), ">"),
    **dict.fromkeys(("<", "less"), "<"),
    **dict.fromkeys((">=", "greaterorequal"), ">="),
    **dict.fromkeys(("<=", "lessorequal"), "<="),
}
_DEEPEST = 50


def condition(text: str, kinds: Mapping[str, str]) -> list[Any]:
    """Return the tree of a condition, with names and values of the source.

    `kinds` are ours of the questions before. Raise `Untold` if a part of it cannot be told.
    """
    parser = _Parser(text, kinds)
    tree = parser.joined(0)
    if parser.token:
        raise Untold(f"{parser.token} is not understood")
    return tree


class _Parser:
    def __init__(self, text: str, kinds: Mapping[str, str]) -> None:
        self._text, self._at, self._depth, self._known = text, 0, 0, kinds
        self.kind, self.token = "", ""
        self._next()

    def _next(self) -> str:
        before = self.token
        match = _TOKEN.match(self._text, self._at)
        if match:
            self._at = match.end()
            self.kind, self.token = str(match.lastgroup), match[str(match.lastgroup)]
        elif self._text[self._at :].strip():
            raise Untold(f"{self._text[self._at :].strip()[:20]} is not understood")
        else:
            self.kind, self.token = "end", ""
        return before

    def joined(self, level: int) -> list[Any]:
        word, marks = (("or", ("or", "||")), ("and", ("and", "&&")))[level]
        parts = [self._part(level)]
        while self.token.lower() in marks:
            self._next()
            parts.append(self._part(level))
        return parts[0] if len(parts) == 1 else [word, *parts]

    def _part(self, level: int) -> list[Any]:
        return self.joined(1) if level == 0 else self._factor()

    def _factor(self) -> list[Any]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untold("it has too many parentheses in each other")
        try:
            if self.token in ("!", "not"):
                self._next()
                return ["not", self._factor()]
            if self.token == "(":
                self._next()
                tree = self.joined(0)
                if self._next() != ")":
                    raise Untold("a parenthesis is not closed")
                return tree
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> list[Any]:
        if self.kind != "name":
            raise Untold(
                f"{self.token or 'its end'} is not understood, where a question is expected"
            )
        name = self._next()[1:-1].strip()
        sign = self._next().lower()
        if sign in ("notempty", "empty"):
            return ["!=" if sign == "notempty" else "=", name, "no-answer"]
        values = self._values()
        kind = self._known.get(name, "")
        if sign in ("contains", "contain", "notcontains", "anyof", "allof"):
            if kind not in ("choices", "choice", "yes-no"):
                raise Untold(f"{sign} is understood of questions with options alone")
            operator = "selected" if kind == "choices" else "="
            parts = [[operator, name, self._value(kind, value)] for value in values]
            tree = parts[0] if len(parts) == 1 else ["and" if sign == "allof" else "or", *parts]
            return ["not", tree] if sign == "notcontains" else tree
        if sign not in _SIGNS or len(values) != 1:
            raise Untold(f"{sign or 'its end'} is not understood")
        value, sign = self._value(kind, values[0]), _SIGNS[sign]
        if kind == "number" and isinstance(value, str):
            raise Untold(f"{name} is a number")
        if kind in ("choice", "yes-no") and sign not in ("=", "!="):
            raise Untold(f"the answers of {name} have no order")
        if kind == "choices":
            tree = ["selected", name, value]
            return tree if sign == "=" else ["not", tree]
        return [sign, name, value]

    def _value(self, kind: str, value: Any) -> Any:
        if kind == "yes-no":
            return {"true": "yes", "false": "no"}.get(str(value).lower(), str(value).lower())
        return str(value) if kind in ("choice", "choices") else value

    def _values(self) -> list[Any]:
        kind, token = self.kind, self.token
        if kind == "list":
            self._next()
            return [one.strip().strip("'\"") for one in token[1:-1].split(",") if one.strip()]
        if kind == "text":
            self._next()
            return [token[1:-1]]
        if kind == "number":
            self._next()
            number = float(token)
            return [int(number) if number.is_integer() else number]
        if kind == "word" and token.lower() in ("true", "false"):
            self._next()
            return [token.lower()]
        raise Untold(f"{token or 'its end'} is not understood, where a value is expected")
