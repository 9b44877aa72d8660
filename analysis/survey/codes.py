"""Codes of options and points: the values that answers have in other tools and in exported files.

Questionnaires give answers codes with a meaning, such as 1, 3 and 5, -88, or "A1". A code stands
beside the option in the file. In the frozen survey all codes stand apart, in ``codes``, by the ids
of questions and options: there they are in no digest of a memory, and change no price.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from analysis.core.errors import SurveyError, shown
from analysis.survey.document import Table, is_plain_text

#: The most letters of a code that is a text, and the most digits of one that is a number.
LONGEST, MOST_DIGITS = 64, 15
#: The key of an option, and that of a frozen survey.
CODE, CODES = "code", "codes"
Code = int | str
#: Texts such as 007, which are no whole number as one writes it, stay texts.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,14}", re.ASCII)


def is_code(value: Any) -> bool:
    """Return whether a value can be a code: a whole number, or a short text of one line."""
    if isinstance(value, str):
        one_line = is_plain_text(value) and value.splitlines() == [value.strip()]
        return one_line and len(value) <= LONGEST
    return type(value) is int and abs(value) < 10**MOST_DIGITS


def typed_code(text: str) -> Code | None:
    """Return the code that somebody typed, or that another tool has; None for an empty text."""
    text = text.strip()
    return int(text) if _WHOLE.fullmatch(text) else text or None


def read_code(part: Table) -> dict[str, Code]:
    """Return the code of an option, if it has one."""
    code = part.take(
        CODE,
        is_code,
        f"a whole number of at most {MOST_DIGITS} digits, or a text of one line and at most "
        f"{LONGEST} letters, without spaces around it",
        default=None,
    )
    return {} if code is None else {CODE: code}


def check_differ(place: str, options: Iterable[Mapping[str, Any]]) -> None:
    """Raise SurveyError if two options have the same code; one without a code has its id."""
    taken = set[str]()
    for option in options:
        code = str(option.get(CODE, option["id"]))
        if code in taken:
            raise SurveyError(
                f"{place}: code must be unique in its question, where an option without a code has "
                f"its id, got {shown(code)} twice"
            )
        taken.add(code)


def taken_out(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Take the codes out of the options of questions; return them for the frozen survey."""
    codes: dict[str, dict[str, Code]] = {}
    for entry in entries:
        for option in entry.get("options", ()):
            if CODE in option:
                codes.setdefault(entry["id"], {})[option["id"]] = option.pop(CODE)
    return {CODES: codes} if codes else {}


def codes_of(spec: Mapping[str, Any], question: str) -> Mapping[str, Code]:
    """Return the codes of a question of a frozen survey by the ids of its options."""
    codes: Mapping[str, Code] = spec.get(CODES, {}).get(question, {})
    return codes


def put_back(spec: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question of a frozen survey with the codes of its options beside them."""
    codes = codes_of(spec, entry["id"])
    if not codes:
        return dict(entry)
    options = [
        option | ({CODE: codes[option["id"]]} if option["id"] in codes else {})
        for option in entry["options"]
    ]
    return {**entry, "options": options}
