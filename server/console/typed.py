"""Read numbers as people are used to typing them."""

import re

from analysis.core.typed import latin

#: Digits, or groups of three with one kind of separator between them: 4000, 4,000, 4.000, 4 000.
_WHOLE = re.compile(r"\d{1,12}|\d{1,3}(?:([,.'’ \u00a0\u202f])\d{3})(?:\1\d{3}){0,3}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}(?:[.,]\d{1,12})?|[.,]\d{1,12}", re.ASCII)


def whole_number(text: str) -> int | None:
    """Return a number without decimals; None if the text is no such number, as 5,5 or 4.0."""
    text = latin(text.strip())
    return int(re.sub(r"\D", "", text)) if _WHOLE.fullmatch(text) else None


def decimal_number(text: str) -> float | None:
    """Return a number with a point or a comma before its decimals, and no groups; else None."""
    text = latin(text.strip())
    return float(text.replace(",", ".")) if _DECIMAL.fullmatch(text) else None
