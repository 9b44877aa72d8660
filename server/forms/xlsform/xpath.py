"""Conditions and constraints of XLSForms, as far as survey files can have them.

comparison = "selected" "(" name "," text ")"
           | operand ("=" | "!=" | "<" | "<=" | ">" | ">=") operand
operand    = "${" name "}" | "../" name | "." | text | number
"""

import re
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from server.forms.conditions import TURNED, Parser, Untold, short


@dataclass(frozen=True)
class _Operand:
    kind: str
    value: Any


def condition(text: str) -> list[Any]:
    """Return the tree of a condition, with names and values of the source.

    Raises
    ------
    Untold
        If a part of it does not fit the grammar.
    """
    return _Parser(text).tree()


def bounds(text: str, is_whole: bool) -> tuple[dict[str, float], str]:
    """Return `min` and `max` that a constraint on the answer itself sets, and what else it says.

    The second is "" if the bounds say all of it. If a whole number is excluded, the next one is the
    bound. For other numbers, the bound itself is allowed, and `beside` says so.
    """
    try:
        tree = condition(text)
    except Untold:
        return {}, text
    parts = tree[1:] if tree[0] == "and" else [tree]
    found: dict[str, float] = {}
    beside = ""
    for part in parts:
        if part[0] not in (">", ">=", "<", "<=") or part[1] != "." or isinstance(part[2], str):
            return found, text
        key = "min" if part[0][0] == ">" else "max"
        if key in found:
            return found, text
        bound = part[2]
        if is_whole:
            # The whole numbers nearest to it that are allowed.
            bound = {">": floor(bound) + 1, ">=": ceil(bound), "<": ceil(bound) - 1}.get(
                part[0], floor(bound)
            )
        found[key] = bound
        beside = beside if is_whole or part[0].endswith("=") else text
    return found, beside


class _Parser(Parser):
    TOKENS = re.compile(
        r"""\s*(?:(?P<name>\$\{[^}]*\}|(?:\.\./)+[\w.-]+)|(?P<text>'[^']*'|"[^"]*"|[‘’][^‘’]*’|“[^”]*”)"""
        r"""|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z][\w:-]*)|(?P<mark>!=|<=|>=|[=<>(),.]))"""
    )

    def comparison(self) -> list[Any]:
        if self.token == "selected":
            self.next()
            self.expect("(")
            name = self._operand()
            self.expect(",")
            value = self._operand()
            self.expect(")")
            if name.kind != "name" or value.kind == "name":
                raise Untold("selected() needs a question and a value")
            return ["selected", name.value, str(value.value)]
        left, sign = self._operand(), self.token
        if sign not in TURNED:
            raise self.untold("a comparison")
        self.next()
        right = self._operand()
        if left.kind != "name":
            left, sign, right = right, TURNED[sign], left
        if left.kind != "name" or right.kind == "name":
            raise Untold("a comparison needs a question and a value")
        if left.value != "." and right.value == "" and sign in ("=", "!="):
            return [sign, left.value, None]
        return [sign, left.value, right.value]

    def _operand(self) -> _Operand:
        kind, token = self.kind, self.token
        if kind == "name":
            found = _Operand("name", re.sub(r"^(\.\./)+|[${} ]", "", token))
        elif token == ".":
            found = _Operand("name", ".")
        elif kind == "text":
            found = _Operand("value", token[1:-1])
        elif kind == "number":
            found = _Operand("value", short(float(token)))
        else:
            raise self.untold()
        self.next()
        return found
