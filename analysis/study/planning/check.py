"""The limits of what can be planned, and the errors beyond them."""

from collections.abc import Callable
from typing import TypeVar

from analysis.core.errors import check_count

T = TypeVar("T")

#: The most respondents, and waves, that are planned for.
MOST_RESPONDENTS, MOST_WAVES = 10**9, 1000


class OutOfReach(ValueError):
    """No number of respondents, or no ε, is enough for what is wanted; the message says why."""


def check_respondents(respondents: int) -> None:
    """Raise `ValueError` unless it is a whole number from 1 to `MOST_RESPONDENTS`."""
    check_count(respondents, "respondents", MOST_RESPONDENTS)


def or_none(needed: Callable[[], T]) -> T | None:
    """Return what is needed, or None where nothing is enough."""
    try:
        return needed()
    except OutOfReach:
        return None
