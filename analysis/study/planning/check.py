"""The error of a plan where no number of respondents is enough."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class OutOfReach(ValueError):
    """No number of respondents, or no ε, is enough. The message says for what."""


def or_none(needed: Callable[[], T]) -> T | None:
    """Return the needed number, or None if no number is enough."""
    try:
        return needed()
    except OutOfReach:
        return None
