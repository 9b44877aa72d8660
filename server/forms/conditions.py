"""Conditions of other tools: a parser that they share, and their meaning in a survey file.

A reader gives the tree of a condition in terms of its source: ``["=", name, value]`` with one of
the signs ``=``, ``!=``, ``<``, ``<=``, ``>`` and ``>=``; ``["selected", name, value]``; and these
joined by ``and``, ``or`` and ``not``. The value None stands for "no answer". `in_our_terms` turns
that into the tree of a survey file, by the kinds and the options of the questions.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import isinf
from typing import Any, ClassVar, Protocol

#: The most parentheses in each other, and the most characters: more than anyone writes.
_DEEPEST, _LONGEST = 50, 10_000
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
#: The signs of comparisons, and what each is when its sides are swapped.
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,9})?", re.ASCII)
#: Conditions that always hold, or never.
ALWAYS, NEVER = ["and"], ["or"]


def compares(sign: str, one: float, other: float) -> bool:
    """Return whether a comparison of two numbers holds."""
    if sign in ("=", "!="):
        return (one == other) is (sign == "=")
    return _SIGNS[sign](one, other)


class Untold(ValueError):
    """A condition that a survey file cannot have; the message says which part."""


class Parser(ABC):
    """A recursive-descent parser of conditions; a tool adds its tokens and its comparisons.

    condition  = and_term (OR and_term)*            and_term = factor (AND factor)*
    factor     = NOT factor | "(" condition ")" | comparison

    `token` is the next token, and `kind` the name of its group in `TOKENS`; at the end both are "".
    """

    TOKENS: ClassVar[re.Pattern[str]]
    OR: ClassVar[tuple[str, ...]] = ("or",)
    AND: ClassVar[tuple[str, ...]] = ("and",)
    NOT: ClassVar[tuple[str, ...]] = ("not",)

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise Untold(f"it has more than {_LONGEST:,} characters")
        self._text, self._at, self._depth = text, 0, 0
        self.kind, self.token = "", ""
        #: What negates the next comparison, without parentheses between them.
        self.negation = ""
        self.next()

    def tree(self) -> list[Any]:
        """Return the tree of all the text; raise `Untold` if a part of it is not understood."""
        tree = self._condition()
        if self.kind:
            raise self.untold()
        return tree

    @abstractmethod
    def comparison(self) -> list[Any]:
        """Return the tree of the next comparison, which is neither joined nor in parentheses."""

    def untold(self, expected: str = "") -> Untold:
        """Return the error that the next token is not understood."""
        where = f", where {expected} is expected" if expected else ""
        return Untold(f"{self.token or 'its end'} is not understood{where}")

    def next(self) -> str:
        """Return the token, and read the one after it."""
        before = self.token
        match = self.TOKENS.match(self._text, self._at)
        if match:
            self._at = match.end()
            self.kind, self.token = str(match.lastgroup), match[str(match.lastgroup)]
        elif self._text[self._at :].strip():
            raise Untold(f"{self._text[self._at :].strip()[:20]} is not understood")
        else:
            self.kind, self.token = "", ""
        return before

    def expect(self, mark: str) -> None:
        """Read one token, which must be this one."""
        if self.token != mark:
            raise self.untold(mark)
        self.next()

    def _condition(self) -> list[Any]:
        return self._joined("or", self.OR, lambda: self._joined("and", self.AND, self._factor))

    def _joined(
        self, word: str, marks: tuple[str, ...], part: Callable[[], list[Any]]
    ) -> list[Any]:
        parts = [part()]
        while self.kind != "text" and self.token.lower() in marks:
            self.next()
            parts.append(part())
        return joined(word, parts)

    def _factor(self) -> list[Any]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untold("its parentheses are nested too deeply")
        try:
            if self.kind != "text" and self.token.lower() in self.NOT:
                self.negation = self.next()
                return ["not", self._factor()]
            if self.token == "(" and self.kind != "text":
                self.next()
                self.negation = ""
                tree = self._condition()
                self.expect(")")
                return tree
            tree = self.comparison()
            self.negation = ""
            return tree
        finally:
            self._depth -= 1


def joined(word: str, parts: list[list[Any]]) -> list[Any]:
    """Return the tree of parts that are joined by "and" or "or", without needless words."""
    return parts[0] if len(parts) == 1 else [word, *parts]


class Known(Protocol):
    """The facts about a question of the source that is imported."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Its table in the survey file."""

    @property
    def values(self) -> Mapping[str, str]:
        """The ids of its answers, by their values in the source."""


def in_our_terms(tree: list[Any], earlier: Mapping[str, Known], notes: list[str]) -> list[Any]:
    """Return a condition as a survey file can have it, or `ALWAYS` or `NEVER`.

    Parameters
    ----------
    tree : list
        The condition in terms of its source.
    earlier : mapping
        The questions before that are imported, by their names in the source.
    notes : list of str
        Takes a note on each part that is read differently from the source.

    Raises
    ------
    Untold
        If a part of it is about something else, or compares what cannot be compared.
    """
    first, *rest = tree
    if first == "not":
        inner = in_our_terms(rest[0], earlier, notes)
        if inner in (ALWAYS, NEVER):
            return NEVER if inner == ALWAYS else ALWAYS
        if inner[0] in ("=", "!="):
            return ["!=" if inner[0] == "=" else "=", *inner[1:]]
        return inner[1] if inner[0] == "not" else ["not", inner]
    if first in ("and", "or"):
        neutral, decided = (ALWAYS, NEVER) if first == "and" else (NEVER, ALWAYS)
        parts = [in_our_terms(part, earlier, notes) for part in rest]
        if decided in parts:
            return decided
        parts = [part for part in parts if part != neutral]
        return joined(first, parts) if parts else neutral
    sign, name, value = tree
    known = earlier.get(name)
    if known is None:
        raise Untold(f"{name} is not among the earlier questions")
    if known.data["kind"] in ("text", "rank", "note"):
        raise Untold(f"conditions on texts, rankings and notes are not possible: {name}")
    if value is None:
        return _of_nothing(sign, known)
    if known.data["kind"] == "number":
        return _of_amount(sign, known, value, name)
    return _of_options(sign, known, value, name, notes)


def _of_nothing(sign: str, known: Known) -> list[Any]:
    """Return whether a question was left out, or was not."""
    from analysis.core.domain import NO_ANSWER, NONE

    name, kind = known.data["id"], known.data["kind"]
    is_always_answered = bool(known.data.get("required")) and "shows_if" not in known.data
    if sign not in ("=", "!="):
        raise Untold(f"{sign} cannot compare a missing answer")
    if kind == "choices":
        # A respondent who ticks nothing there has answered all the same: none of these. Where the
        # source has an option for that, its respondents have answered, too.
        has_none = NONE in known.values.values()
        parts = [["selected", name, NONE]] * (not has_none)
        parts += [["selected", name, NO_ANSWER]] * (not is_always_answered)
        tree = joined("or", parts) if parts else NEVER
        return tree if sign == "=" else ALWAYS if tree == NEVER else ["not", tree]
    if is_always_answered:
        return ALWAYS if sign == "!=" else NEVER
    if kind == "number":
        tree = [">=", name, known.data["min"]]
        return tree if sign == "!=" else ["not", tree]
    return [sign, name, NO_ANSWER]


def _of_amount(sign: str, known: Known, value: Any, name: str) -> list[Any]:
    """Return a comparison of a number with a number."""
    if sign == "selected":
        sign = "="
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise Untold(f"{name} is a number, and cannot be compared with {value or 'nothing'}")
        value = short(float(value))
    return [sign, known.data["id"], value]


def _of_options(sign: str, known: Known, value: Any, name: str, notes: list[str]) -> list[Any]:
    """Return a comparison of the answer to a question with options."""
    from analysis.core.domain import NONE

    if sign in _SIGNS:
        return _in_order(sign, known, value, name)
    option = known.values.get(str(value))
    if option is None and known.data["kind"] == "choices" and value == NONE:
        option = NONE
    if option is None:
        raise Untold(f"{name} has no answer {str(value)[:40] or '(empty)'}")
    if known.data["kind"] != "choices":
        return ["!=" if sign == "!=" else "=", known.data["id"], option]
    if sign != "selected":
        notes.append(f"{name} {sign} {value} is read as whether {value} is ticked")
    tree = ["selected", known.data["id"], option]
    return ["not", tree] if sign == "!=" else tree


def _in_order(sign: str, known: Known, value: Any, name: str) -> list[Any]:
    """Return the answers for which a comparison by size holds, if their values are numbers."""
    numbers = [one for one in known.values if _NUMBER.fullmatch(one)]
    is_number = not isinstance(value, str) or _NUMBER.fullmatch(value)
    if known.data["kind"] == "choices" or not is_number or len(numbers) < len(known.values):
        raise Untold(f"the answers of {name} have no order")
    fitting = [one for one in numbers if _SIGNS[sign](float(one), float(value))]
    return joined("or", [["=", known.data["id"], known.values[one]] for one in fitting])


def short(number: float) -> int | float:
    """Return a number as an integer if it is one; raise `Untold` if it is infinite."""
    if isinf(number):
        raise Untold("one of its numbers is too large")
    return int(number) if float(number).is_integer() else number
