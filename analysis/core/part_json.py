"""Encoders and channels as JSON. Every part is checked before it is used."""

from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from analysis.core.errors import shown

#: The most digits of a ratio or delta. Python refuses to read numbers of over 4,300 digits.
_DIGITS = 4000


def to_numbers(part: Any) -> dict[str, Any]:
    """Return the numbers that state an encoder or a channel, with its name."""
    return {"name": part.name, **{key: _thawed(value) for key, value in asdict(part).items()}}


def _thawed(value: Any) -> Any:
    return [_thawed(item) for item in value] if isinstance(value, tuple) else value


def read_part(what: str, table: dict[str, Any], data: Any) -> Any:
    """Return an encoder or a channel from JSON: whole numbers of at least 1, or lists of these."""
    name = data.get("name") if isinstance(data, dict) else data
    if not isinstance(data, dict) or not isinstance(name, str) or name not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, got {shown(name)}")
    known = sorted(field.name for field in fields(table[name]))
    if sorted(data) != sorted([*known, "name"]):
        got = ", ".join(sorted(set(data) - {"name"}))
        raise ValueError(f"{name} must have {', '.join(known)}, got {got}")
    part = table[name](**{key: _frozen(data[key]) for key in known})
    check_part(part)
    return part


def check_part(part: Any) -> None:
    """Raise ValueError unless the part's numbers are whole, and pass its own check."""
    for field in fields(part):
        value = getattr(part, field.name)
        depth = str(field.type).count("tuple")
        if not _is_whole(value, depth):
            kind = ("a whole number", "a list of whole numbers", "rows of whole numbers")[depth]
            raise ValueError(f"{part.name}: {field.name} must be {kind} of at least 1")
    part.check()


def _is_whole(value: Any, depth: int) -> bool:
    if depth == 0:
        return type(value) is int and 1 <= value < 2**53
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(_is_whole(item, depth - 1) for item in value)
    )


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def read_fraction(name: str, pair: Any) -> tuple[int, int]:
    """Return numerator and denominator from two strings of digits."""
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or not all(isinstance(text, str) and text.isascii() and text.isdigit() for text in pair)
        or max(map(len, pair)) > _DIGITS
        or int(pair[1]) < 1
    ):
        raise ValueError(
            f"{name} must be two whole numbers as strings of at most {_DIGITS} digits, "
            f"got {shown(pair)}"
        )
    return int(pair[0]), int(pair[1])


def written(number: Fraction) -> str:
    """Return a fraction as messages show it."""
    return f"{number.numerator}/{number.denominator}"
