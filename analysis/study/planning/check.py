"""The most waves of a plan, and the error where no number of respondents is enough."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: The most waves of a plan.
MOST_WAVES = 1000


class OutOfReach(ValueError):
    """No number of respondents, or no ε, is enough. The message says for what."""


def or_none(needed: Callable[[], T]) -> T | None:
    """Return the needed number, or None if no number is enough."""
    try:
        return needed()
    except OutOfReach:
        return None
