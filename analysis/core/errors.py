"""Errors that say what somebody has to correct, and checks that raise them."""

from math import isfinite
from numbers import Integral
from typing import Any

#: The most letters of a value that a message shows.
_LONGEST = 60


class SurveyError(ValueError):
    """A mistake in a survey file that its author must correct.

    `entry` is the id of the question or note that has the mistake; None if it is elsewhere.
    """

    entry: str | None = None

    def of(self, entry: str) -> "SurveyError":
        """Return the same error with the id of an entry."""
        self.entry = entry
        return self


class AnswersError(ValueError):
    """A mistake in a table of true answers for a simulation: it does not fit its survey."""


class DataError(ValueError):
    """A mistake in a table from elsewhere: it does not fit its design or the estimate asked for."""


class ReportError(ValueError):
    """A mistake in a report: no randomizer of this survey can have made it.

    Parameters
    ----------
    field : str
        Its position in the request, such as ``reports.team``.
    expected : str
        What would have been accepted there.
    got : str
        What was found, shortened.
    """

    def __init__(self, field: str, expected: str, got: str) -> None:
        super().__init__(f"{field}: expected {expected}, got {got}")
        self.field, self.expected, self.got = field, expected, got


def shown(value: Any, depth: int = 2) -> str:
    """Return a received value as messages show it: as TOML and JSON write it, shortened."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, dict):
        text = f"a table of {', '.join(value)}" if value else "an empty table"
    elif isinstance(value, list):
        items = [shown(item, depth - 1) for item in value[:8]] if depth else ["…"]
        text = "[" + ", ".join(items) + (", …]" if value[8:] else "]")
    elif isinstance(value, int) and abs(value) > 10**_LONGEST:
        text = "a number too long to show"
    else:
        text = "null" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def whole(name: str, number: Any, count: int) -> int:
    """Return `number`; raise ValueError unless it is one of the whole numbers 0..count-1."""
    if type(number) is not int or not 0 <= number < count:
        raise ValueError(f"{name} must be a whole number of 0..{count - 1}, got {shown(number)}")
    return number


def check_positive(number: float, name: str = "epsilon") -> float:
    """Return `number`; raise ValueError unless it is finite and above 0."""
    if not (isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a number above 0, got {number:g}")
    return number


def check_delta(delta: float, name: str = "delta") -> float:
    """Return `delta`; raise ValueError unless it is above 0 and below 1."""
    if not 0 < delta < 1:
        raise ValueError(f"{name} must be a number above 0 and below 1, got {delta:g}")
    return delta


def check_order(order: float) -> float:
    """Return the order of a Rényi divergence; raise ValueError unless it is finite and above 1."""
    if not (isfinite(order) and order > 1):
        raise ValueError(f"order must be a number above 1, got {order:g}")
    return order


def check_count(count: int, name: str, most: int | None = None) -> int:
    """Return `count`; raise ValueError unless it is a whole number and 1 <= count <= most."""
    is_whole = isinstance(count, Integral) and not isinstance(count, bool)
    if not is_whole or count < 1 or (most is not None and count > most):
        limits = "of at least 1" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name} must be a whole number {limits}, got {count}")
    return int(count)
