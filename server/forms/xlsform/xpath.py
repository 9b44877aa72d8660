"""Conditions and constraints of XLSForms, as far as survey files can have them.

condition  = and_term ("or" and_term)*          and_term = factor ("and" factor)*
factor     = "not" "(" condition ")" | "(" condition ")" | "selected" "(" name "," text ")"
           | operand ("=" | "!=" | "<" | "<=" | ">" | ">=") operand
operand    = "${" name "}" | "." | text | number
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>\$\{\s*[^}]*\})|(?P<text>'[^']*'|"[^"]*"|[‘’][^‘’]*’|“[^”]*”)"""
    r"""|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z][\w:-]*)|(?P<mark>!=|<=|>=|[=<>(),.]))"""
)
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
#: The most parentheses in each other, more than anyone writes.
_DEEPEST = 50


class Untold(ValueError):
    """A condition that survey files cannot have; the message says which part."""


@dataclass(frozen=True)
class _Operand:
    kind: str
    value: Any


def condition(text: str) -> list[Any]:
    """Return the tree of a condition, with names and values of the source.

    Raises
    ------
    Untold
        If a part of it is none of the grammar's.
    """
    parser = _Parser(text)
    tree = parser.joined("or", lambda: parser.joined("and", parser.factor))
    if parser.kind != "end":
        raise Untold(f"{parser.token} is not understood")
    return tree


def bounds(text: str) -> tuple[dict[str, float], str]:
    """Return `min` and `max` that a constraint on the answer itself sets, and what it says beside.

    The second is "" if the bounds say all of it. A bound that is excluded counts as the bound of
    whole numbers next to it.
    """
    try:
        tree = condition(text)
    except Untold:
        return {}, text
    parts = tree[1:] if tree[0] == "and" else [tree]
    found: dict[str, float] = {}
    for part in parts:
        if part[0] not in (">", ">=", "<", "<=") or part[1] != "." or isinstance(part[2], str):
            return found, text
        key = "min" if part[0][0] == ">" else "max"
        if key in found:
            return found, text
        found[key] = part[2] + {">": 1, "<": -1}.get(part[0], 0)
    return found, ""


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0
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

    def _expect(self, mark: str) -> None:
        if self.token != mark:
            raise Untold(f"{self.token or 'its end'} is not understood, where {mark} is expected")
        self._next()

    def joined(self, word: str, part: Callable[[], list[Any]]) -> list[Any]:
        parts = [part()]
        while self.token.lower() == word:
            self._next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else [word, *parts]

    def _bracket(self) -> list[Any]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untold("it has too many parentheses in each other")
        self._expect("(")
        tree = self.joined("or", lambda: self.joined("and", self.factor))
        self._expect(")")
        self._depth -= 1
        return tree

    def factor(self) -> list[Any]:
        if self.token == "not":
            self._next()
            return ["not", self._bracket()]
        if self.token == "(":
            return self._bracket()
        if self.token == "selected":
            self._next()
            self._expect("(")
            name = self._operand()
            self._expect(",")
            value = self._operand()
            self._expect(")")
            if name.kind != "name" or value.kind == "name":
                raise Untold("selected() is understood of a question and a value alone")
            return ["selected", name.value, _as_text(value.value)]
        left, sign, right = self._operand(), self.token, None
        if sign not in _TURNED:
            raise Untold(f"{sign or 'its end'} is not understood, where a comparison is expected")
        self._next()
        right = self._operand()
        if left.kind != "name":
            left, sign, right = right, _TURNED[sign], left
        if left.kind != "name" or right.kind == "name":
            raise Untold("a comparison is understood of a question and a value alone")
        if right.value == "" and sign in ("=", "!="):
            return [sign, left.value, "no-answer"]
        return [sign, left.value, right.value]

    def _operand(self) -> _Operand:
        kind, token = self.kind, self.token
        if kind == "name":
            found = _Operand("name", token[2:-1].strip())
        elif token == ".":
            found = _Operand("name", ".")
        elif kind == "text":
            found = _Operand("value", token[1:-1])
        elif kind == "number":
            number = float(token)
            found = _Operand("value", int(number) if number.is_integer() else number)
        else:
            raise Untold(f"{token or 'its end'} is not understood")
        self._next()
        return found


def _as_text(value: Any) -> str:
    return str(value)
