"""Infinite numbers in results, and the form of limits that do not exist in rows and tables.

No form of infinity in a table is read by all programs, and JSON has none at all. So an infinite
number becomes an empty cell, or null in JSON, and a word in the column ``flag`` says which number
it was.
"""

from collections.abc import Mapping
from math import inf, isinf
from typing import Any


def infinities(estimate: float | None, low: float | None, high: float | None) -> list[str]:
    """Return the words for the infinite numbers of an estimate and its interval.

    They are ``estimate-minus-infinity``, ``estimate-plus-infinity``, ``no-lower-limit`` and
    ``no-upper-limit``.
    """
    return [
        word
        for word, is_so in (
            ("estimate-minus-infinity", estimate == -inf),
            ("estimate-plus-infinity", estimate == inf),
            ("no-lower-limit", low == -inf),
            ("no-upper-limit", high == inf),
        )
        if is_so
    ]


def without_infinities(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with None in place of infinite numbers."""
    return {
        name: None if isinstance(value, float) and isinf(value) else value
        for name, value in row.items()
    }
