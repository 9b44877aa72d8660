"""The reader of JSON files, with messages that name the file and the member."""

import json
from collections.abc import Callable
from typing import Any

from analysis.core.errors import DataError, shown
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey, version_of
from analysis.survey.written import check_written

#: The largest file, in bytes. The tally of a question of texts can have a million cells.
LARGEST = 1 << 28

#: The errors that reading a malformed file can raise.
_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError),
)


def read_json(name: str, content: bytes, read: Callable[[Any], Any]) -> Any:
    """Return the result of `read` for a file's JSON, in which each member must appear once.

    Raises
    ------
    DataError
        If the file is not JSON, or if `read` raises. The message begins with the file's name.
    """
    if len(content) > LARGEST:
        raise DataError(f"{name}: expected at most {LARGEST >> 20} MiB, got more")
    try:
        return read(
            json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        )
    except DataError:
        raise
    except _UNREADABLE as error:
        told = str(error).partition("\n")[0][:400] or type(error).__name__
        raise DataError(f"{name}: {told}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"expected each member of an object once, got {shown(twice)} again")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"expected numbers, got {text}")


def member(name: str, read: Callable[[], Any]) -> Any:
    """Return the result of `read`, whose errors then begin with the name of a member."""
    try:
        return read()
    except _UNREADABLE as error:
        told = str(error) or type(error).__name__
        raise ValueError(f"{name}: {told}") from None


def read_frozen(data: Any) -> Survey:
    """Return the frozen survey in JSON from the API, a bundle's survey.json, or a tally.

    Raise ValueError, or another error of `_UNREADABLE`, if it is not a frozen survey.
    """
    if not isinstance(data, dict) or not {"survey", "randomizers"} <= set(data):
        raise ValueError(
            "expected a frozen survey, an object of survey and randomizers as /api/surveys/ID or "
            f"a bundle's survey.json has it, got {shown(data)}"
        )
    frozen = {"survey": data["survey"], "randomizers": data["randomizers"]}
    stated = data.get("version")
    check_written(data["survey"])
    return thaw(frozen, version_of(frozen) if stated is None else stated)
