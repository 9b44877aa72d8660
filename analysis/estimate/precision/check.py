"""The limits of plans, and the errors beyond them."""

from collections.abc import Callable
from typing import TypeVar

from analysis.core.errors import check_count

T = TypeVar("T")

#: The most respondents and the most waves of a plan.
MOST_RESPONDENTS, MOST_WAVES = 10**9, 1000


class OutOfReach(ValueError):
    """No number of respondents, or no ε, is enough. The message says for what."""


def check_respondents(respondents: int) -> None:
    """Raise `ValueError` unless the number is whole and from 1 to `MOST_RESPONDENTS`."""
    check_count(respondents, "respondents", MOST_RESPONDENTS)


def or_none(needed: Callable[[], T]) -> T | None:
    """Return the needed number, or None if no number is enough."""
    try:
        return needed()
    except OutOfReach:
        return None
