"""Conditions and constraints of XLSForms, as far as survey files can have them.

comparison = "selected" "(" name "," text ")" | "count-selected" "(" name ")" sign number
           | "true()" | "false()" | operand ("=" | "!=" | "<" | "<=" | ">" | ">=") operand
operand    = "${" name "}" | path "/" name | "." | text | number | "int" "(" operand ")"
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

from server.forms.conditions import ALWAYS, NEVER, TURNED, Parser, Untold, compares, short
from server.forms.form import MOST_OPTIONS


@dataclass(frozen=True)
class _Operand:
    kind: str
    value: Any
    is_cut: bool = False


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
        r"""\s*(?:(?P<name>\$\{[^}]*\}|\.{0,2}/[\w./-]+)|(?P<text>'[^']*'|"[^"]*"|[‘’][^‘’]*’"""
        r"""|“[^”]*”)|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z][\w:-]*)"""
        r"""|(?P<mark>!=|<=|>=|[=<>(),.]))"""
    )

    def comparison(self) -> list[Any]:
        if self.kind == "word" and self.token.lower() in ("true", "false"):
            tree = ALWAYS if self.next().lower() == "true" else NEVER
            if self.token == "(":
                self.next()
                self.expect(")")
            return tree
        if self.token == "selected":
            name, value = self._call(2)
            if name.kind != "name" or value.kind == "name":
                raise Untold("selected() needs a question and a value")
            return ["selected", name.value, str(value.value)]
        if self.token == "count-selected":
            return self._counted(*self._call(1))
        left, sign = self._operand(), self._sign()
        right = self._operand()
        if left.is_cut or right.is_cut:
            return self._cut(left, sign, right)
        if left.kind != "name":
            left, sign, right = right, TURNED[sign], left
        if left.kind != "name" or right.kind == "name":
            raise Untold("a comparison needs a question and a value")
        if left.value != "." and right.value == "" and sign in ("=", "!="):
            return [sign, left.value, None]
        return [sign, left.value, right.value]

    def _cut(self, left: _Operand, sign: str, right: _Operand) -> list[Any]:
        """Return a comparison of what stands before the decimal point with a whole number."""
        if not left.is_cut:
            left, sign, right = right, TURNED[sign], left
        name, value = left.value, right.value
        if right.kind != "value" or not isinstance(value, int) or value < 1:
            raise Untold("int() is compared with another thing than a whole number from 1 on")
        above, below = [">=", name, value + 1], ["<", name, value + 1]
        equal = ["and", [">=", name, value], below]
        return {
            "=": equal, "!=": ["not", equal], ">": above, "<=": below,
            ">=": [">=", name, value], "<": ["<", name, value],
        }[sign]  # fmt: skip

    def _counted(self, name: _Operand) -> list[Any]:
        """Return a comparison of how many options are ticked; of another question, if any is."""
        sign, number = self._sign(), self._operand().value
        if name.value == ".":
            return ["count", sign, number]
        if (sign, number) in ((">", 0), (">=", 1), ("!=", 0)):
            return ["!=", name.value, None]
        if (sign, number) in (("=", 0), ("<", 1), ("<=", 0)):
            return ["=", name.value, None]
        raise Untold("how many options are ticked cannot be compared")

    def _sign(self) -> str:
        if self.token not in TURNED:
            raise self.untold("a comparison")
        return self.next()

    def _call(self, number: int) -> list[_Operand]:
        """Return the arguments of a function."""
        self.next()
        self.expect("(")
        found = [self._operand()]
        while len(found) < number:
            self.expect(",")
            found.append(self._operand())
        self.expect(")")
        return found

    def _operand(self) -> _Operand:
        kind, token = self.kind, self.token
        if kind == "word" and token in ("int", "number"):
            return replace(self._call(1)[0], is_cut=token == "int")
        if kind == "name":
            # A path leads through groups to a question.
            found = _Operand("name", token.strip("${}").rpartition("/")[2].strip())
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


@dataclass(frozen=True)
class Ticks:
    """The limits of a constraint on ticked options: how many, and which exclude all others."""

    at_least: int
    at_most: int
    alone: tuple[str, ...]


def ticks(text: str, values: Sequence[str]) -> Ticks | None:
    """Return the limits that a constraint sets on ticked options; None if it says anything else.

    The constraint is tried on each option that it names, by itself and beside others, and on as
    many of the others as can be: these are alike to it.
    """
    try:
        tree = condition(text)
        alone = tuple(one for one in values if one in _named(tree))
        usual = [one for one in values if one not in alone]
        if len(values) > MOST_OPTIONS or not usual:
            return None

        def holds(*ticked: str) -> bool:
            return _holds(tree, frozenset(ticked))

        numbers = range(1, len(usual) + 1)
        fitting = [number for number in numbers if holds(*usual[:number])]
        are_alone = all(
            holds(one)
            and not any(holds(one, other) for other in alone if other != one)
            and not any(holds(one, *usual[:number]) for number in numbers)
            for one in alone
        )
    except Untold:
        return None
    if not fitting or not are_alone or len(fitting) <= fitting[-1] - fitting[0]:
        return None
    return Ticks(fitting[0], fitting[-1], alone)


def _named(tree: list[Any]) -> set[str]:
    """Return the values that a constraint on the answer itself names."""
    sign, *rest = tree
    if sign in ("and", "or", "not"):
        return set().union(*map(_named, rest))
    return set() if sign == "count" else {str(rest[1])}


def _holds(tree: list[Any], ticked: frozenset[str]) -> bool:
    """Return whether a constraint on the answer itself holds for ticked options."""
    sign, *rest = tree
    if sign == "not":
        return not _holds(rest[0], ticked)
    if sign in ("and", "or"):
        return (all if sign == "and" else any)(_holds(part, ticked) for part in rest)
    if sign == "count":
        return compares(rest[0], len(ticked), rest[1])
    if rest[0] != ".":
        raise Untold("it is about another question")
    return (sign == "selected" or sign == "=") and str(rest[1]) in ticked
