"""Shared by all vectors: words that are counted, values in JSON, and refusals."""

from fractions import Fraction
from math import nan
from typing import Any

from analysis.core.encoders.groups import Group, Order, Suborder
from analysis.core.encoders.several import Multihot, Padded, Pick
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD


class Tape:
    """A stream that remembers which words were taken."""

    def __init__(self, words: Any) -> None:
        self._words, self.taken = iter(words), list[int]()

    def __iter__(self) -> "Tape":
        return self

    def __next__(self) -> int:
        self.taken.append(next(self._words))
        return self.taken[-1]


def error(action: Any) -> str:
    """The message with which an action is refused."""
    try:
        action()
    except ValueError as refusal:
        return str(refusal)
    raise AssertionError("it is not refused")


def refusal(randomizer: Any) -> dict[str, Any]:
    """Return a randomizer as it comes as JSON, with the message with which it is refused."""
    return {"randomizer": randomizer, "error": error(lambda: Randomizer.from_json(randomizer))}


def given(value: Any, encoder: Any = None) -> Any:
    """Return a value of a vector in the form that Python's encoders take."""
    if isinstance(value, list) and isinstance(
        encoder, Multihot | Padded | Pick | Group | Order | Suborder
    ):
        return tuple(value)
    if isinstance(value, str) and "/" in value:
        return Fraction(value)
    return nan if value == "NaN" else value


def edges(total: int, marks: list[int]) -> list[int]:
    """Return words at both ends of each interval of a draw below `total`, and of rejected ones."""
    limit = WORD - WORD % total
    found = {0, limit - 1, limit, WORD - 1, limit - total}
    found |= {word for mark in marks for word in (mark - 1, mark)}
    return sorted({word % WORD for word in found})
