"""What can be planned: numbers that are none, or mean nothing, are refused by name."""

from math import isfinite

import numpy as np

#: The most respondents, and waves, that are planned for.
MOST_RESPONDENTS, MOST_WAVES = 10**9, 1000


class OutOfReach(ValueError):
    """No number of respondents, or no ε, is enough for what is wanted; the message says why."""


def check_half_width(half_width: float) -> None:
    """ValueError unless it is a finite number above 0."""
    if not (isfinite(half_width) and half_width > 0):
        raise ValueError(f"half_width must be a number above 0, got {half_width:g}")


def check_respondents(respondents: int) -> None:
    """ValueError unless it is a whole number from 1 to `MOST_RESPONDENTS`."""
    check_whole("respondents", respondents, MOST_RESPONDENTS)


def check_whole(name: str, number: int, most: int) -> None:
    """ValueError unless it is a whole number from 1 to `most`."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not 1 <= number <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most}, got {number}")
