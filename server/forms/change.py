"""What is different from the source after an import, by what somebody has to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass

#: Something is lost, or other people are asked; somebody has to look whether it is right; and
#: nobody has to.
LOST, LOOK, HARMLESS = "lost", "look", "harmless"
WEIGHTS = (LOST, LOOK, HARMLESS)


@dataclass(frozen=True)
class Change:
    """A difference from the source, in words without a capital letter and a period."""

    weight: str
    words: str


def lost(words: str) -> Change:
    """Return that a part of the source is lost, or that other people are asked."""
    return Change(LOST, words)


def look(words: str) -> Change:
    """Return a decision of the import that may be wrong for this study."""
    return Change(LOOK, words)


def harmless(words: str) -> Change:
    """Return a difference that means nothing to anybody."""
    return Change(HARMLESS, words)


def weight_of(changes: Iterable[Change]) -> str:
    """Return the largest weight; "" if nothing is different."""
    there = {change.weight for change in changes}
    return next((weight for weight in WEIGHTS if weight in there), "")


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return each change once, the weighty ones first."""
    return tuple(sorted(dict.fromkeys(changes), key=lambda one: WEIGHTS.index(one.weight)))
