"""Files of JSON from elsewhere: a part without the expected type counts as missing."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from server.forms.conditions import short
from server.forms.form import FormError


def parsed(content: bytes, name: str) -> Any:
    """Return the value of a file; raise FormError if it is not JSON in UTF-8."""
    try:
        value = json.loads(content.decode("utf-8-sig"))
        # Halves of characters, as JSON can have them, cannot be written to any file.
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(text, parse_constant=lambda _: None)  # NaN, and what is above 10³⁰⁸
    except RecursionError:
        raise FormError(f"{name}: expected JSON that is not nested too deeply") from None
    except ValueError as error:
        raise FormError(f"{name}: expected JSON in UTF-8: {str(error)[:100]}") from None


def is_json_of(content: bytes, name: str, fits: Callable[[Any], bool]) -> bool:
    """Return whether a file is JSON whose value fits."""
    try:
        return fits(parsed(content, name))
    except FormError:
        return False


def table(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a table of keys, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return a value if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def amount(value: Any) -> int | float | None:
    """Return a number, or a text of one, if its size is less than 10¹²; otherwise None."""
    try:
        number = float(value) if isinstance(value, str | int | float) else float("nan")
    except (ValueError, OverflowError):
        return None
    return short(number) if abs(number) < 1e12 and not isinstance(value, bool) else None
