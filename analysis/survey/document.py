"""The reader of a survey file. Tables are read key by key, and each error names its position."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from analysis.core.errors import SurveyError, shown
from analysis.survey.files import read_file

#: The form of ids of surveys, questions and options.
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_ID_RULE = "an id of a-z, 0-9 and -, not starting with -, at most 64 long"
#: The beginning of the mark that an earlier answer replaces in a text.
ANSWER_MARK = "{answer"
_MISSING = object()


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file, with exact decimals.

    Raises
    ------
    SurveyError
        If there is no such file, or if it cannot be read, is not text, or is not TOML.
    """
    try:
        text = read_file(path).decode("utf-8-sig")
    except OSError as error:
        raise SurveyError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SurveyError(
            f"{path}: expected a text file in UTF-8, got byte 0x{error.object[error.start]:02x} "
            f"at position {error.start}"
        ) from None
    return parsed(text, str(path))


def parsed(text: str, path: str) -> dict[str, Any]:
    """Return the tables of a TOML text, with exact decimals; `path` is its name in messages.

    Raises
    ------
    SurveyError
        If the text is not TOML, or has a key of too many parts.
    """
    check_keys(text, path)
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise SurveyError(f"{path}: not TOML: {error}") from None
    except ArithmeticError:
        raise SurveyError(f"{path}: not a survey: a number has too large an exponent") from None
    except ValueError as error:
        raise SurveyError(f"{path}: not a survey: {error}") from None
    except RecursionError:
        raise SurveyError(f"{path}: not a survey: tables or lists nested too deeply") from None


#: The most parts of a key such as `privacy.cap`. No file needs more than five, and readers of TOML
#: take a time and memory that grow with the square of their number.
MOST_PARTS = 16
_OPENING = re.compile("[\"'#]")
#: What can end a string with escapes, a short one or a long one. A backslash pairs with the next
#: character; a short string ends with its line at the latest, which is a mistake.
_SHORT_END, _LONG_END = re.compile(r'\\.|"|\n', re.DOTALL), re.compile(r'\\.|"""', re.DOTALL)
_BETWEEN_KEYS = re.compile(r"[^\w.-]+")


def check_keys(text: str, path: str) -> None:
    """Raise SurveyError if a TOML text has a key of too many parts, in a linear time."""
    words = _BETWEEN_KEYS.split(_without_strings(text).replace(" ", "").replace("\t", ""))
    parts = max(word.count(".") for word in words) + 1
    if parts > MOST_PARTS:
        raise SurveyError(
            f"{path}: not a survey: expected keys of at most {MOST_PARTS} parts, got one of {parts}"
        )


def _without_strings(text: str) -> str:
    """Return a TOML text with the end of a line for each comment, and a letter for each string."""
    kept, position = list[str](), 0
    while found := _OPENING.search(text, position):
        kept.append(text[position : found.start()])
        position = _end(text, found.start())
        kept.append("\n" if found[0] == "#" else "s")
    return "".join([*kept, text[position:]])


def _end(text: str, start: int) -> int:
    """Return where the string or the comment ends that begins at `start`."""
    quote = text[start]
    is_long = quote != "#" and text.startswith(3 * quote, start)
    mark = 3 * quote if is_long else quote
    if quote == '"':
        stops = (_LONG_END if is_long else _SHORT_END).finditer(text, start + len(mark))
        end = next((stop.end() for stop in stops if stop[0][0] != "\\"), len(text))
    else:
        closing = "\n" if quote == "#" else mark
        found = text.find(closing, start + len(mark))
        end = len(text) if found < 0 else found + len(closing)
    # A long string may have one or two of its quotes before its end.
    for _ in range(2 if is_long else 0):
        end += text.startswith(quote, end)
    return end


def exact(value: Any) -> Any:
    """Return values as TOML is parsed, with exact decimals."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    return [exact(one) for one in value] if isinstance(value, list) else value


#: Characters that no text needs, and that many programs take for its end or for a command.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that is not empty."""
    return isinstance(value, str) and bool(value.strip())


def is_plain_text(value: Any) -> bool:
    """Return whether a value is a text that is not empty and has no control characters."""
    return _is_text(value) and not _CONTROL.search(value)


class Table:
    """A table of a survey file, with its position for messages and the keys that were read so far.

    Parameters
    ----------
    data : dict
        The table as parsed.
    place : str
        The beginning of messages, such as ``canteen.toml: question "meat"``.
    languages : sequence of str
        The languages of texts; empty if every text is a plain string.
    folder : Path
        Where the files lie that it names.
    file_format : int
        The ``format`` of the whole file.
    """

    def __init__(
        self,
        data: dict[str, Any],
        place: str,
        languages: Sequence[str] = (),
        folder: Path = Path(),
        file_format: int = 1,
    ) -> None:
        self._data, self.place, self.languages, self.folder = data, place, languages, folder
        self.format = file_format
        self._known: list[str] = []

    def error(self, key: str, expected: str) -> SurveyError:
        """Return the error that `key` must be `expected`, and what it is instead."""
        if key in self._data:
            got = shown(self._data[key])
        else:
            near = get_close_matches(key, [k for k in self._data if k not in self._known], 1)
            got = f"nothing; is {near[0]} a typing error?" if near else "nothing"
        return SurveyError(f"{self.place}: {key} must be {expected}, got {got}")

    def take(
        self, key: str, fits: Callable[[Any], bool], expected: str, default: Any = _MISSING
    ) -> Any:
        """Return the value of `key` if it `fits`, or `default` if the key is missing."""
        self._known.append(key)
        if key not in self._data and default is not _MISSING:
            return default
        value = self._data.get(key, _MISSING)
        if value is _MISSING or not fits(value):
            raise self.error(key, expected)
        return value

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the author gave, in their order."""
        return tuple(self._data)

    def peek(self, key: str) -> Any:
        """Return the value of `key` without a check; None if the key is missing."""
        return self._data.get(key)

    def refuse(self, key: str, why: str) -> None:
        """Raise SurveyError if the author gave `key`, which must be left out."""
        self.take(key, lambda _: False, f"left out: {why}", default=None)

    def part(self, key: str) -> "Table":
        """Return the table at `key`, with plain texts, or an empty table if the key is missing."""
        data = self.take(key, lambda value: isinstance(value, dict), "a table", default={})
        place, _, above = self.place.removesuffix("]").partition(": [")
        return Table(data, f"{place}: [{above}.{key}]" if above else f"{self.place}: [{key}]")

    def identifier(self) -> str:
        """Return the table's id, after checking it by the rule for all ids."""
        value: str = self.take(
            "id", lambda value: isinstance(value, str) and bool(ID.fullmatch(value)), _ID_RULE
        )
        return value

    def text(self, key: str, default: Any = _MISSING, may_tell_answers: bool = False) -> Any:
        """Return a text: a string, or a table with one string for each language of the survey.

        If it `may_tell_answers`, `analysis.survey.piping` checks the earlier answers in it.
        """

        def fits(value: Any) -> bool:
            if isinstance(value, dict):
                return sorted(value) == sorted(self.languages)  # each text was checked above
            return _is_text(value)

        each = f", or a table of texts for {', '.join(self.languages)}" if self.languages else ""
        given = self.peek(key)
        if self.languages and isinstance(given, dict):
            told = [f"a text for {one}" for one in self.languages if not _is_text(given.get(one))]
            told += [f"no text for {one}" for one in given if one not in self.languages]
            if told:
                raise self.error(key, f"a table with {', '.join(told)}")
        value = self.take(key, fits, f"a text that is not empty{each}", default)
        texts = by_language(value).values()
        if any(_CONTROL.search(text) for text in texts if text):
            raise self.error(key, "a text without control characters")
        if not may_tell_answers and any(ANSWER_MARK in text for text in texts if text):
            raise self.error(key, f"without {ANSWER_MARK}…}}: this text cannot contain answers")
        return value

    def number(
        self,
        key: str,
        expected: str = "a number",
        fits: Callable[[Decimal], bool] = lambda _: True,
        default: Any = _MISSING,
    ) -> Decimal:
        """Return a finite number of at most 15 digits, which a browser's numbers hold exactly."""

        def finite(value: Any) -> bool:
            number = isinstance(value, int | Decimal) and not isinstance(value, bool)
            return number and Decimal(value).is_finite()

        if isinstance(self.peek(key), str):
            raise self.error(key, f"{expected}, without quotation marks")
        value = Decimal(self.take(key, finite, expected, default))
        if abs(value.adjusted()) > 15 or len(value.normalize().as_tuple().digits) > 15:
            raise self.error(key, "a number of at most 15 digits")
        if key in self._data and not fits(value):
            raise self.error(key, expected)
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false if the key is missing."""
        return bool(self.take(key, lambda value: isinstance(value, bool), "true or false", False))

    def tables(
        self, key: str, expected: str, fewest: int, most: int | None = None
    ) -> list[dict[str, Any]]:
        """Return a list of `fewest` to `most` tables."""
        given = self.peek(key)
        if most is not None and isinstance(given, list) and len(given) > most:
            raise SurveyError(f"{self.place}: {key} must be {expected}, got {len(given)}")
        value: list[dict[str, Any]] = self.take(
            key,
            lambda value: (
                isinstance(value, list)
                and len(value) >= fewest
                and all(isinstance(table, dict) for table in value)
            ),
            expected,
        )
        return value

    def finish(self) -> None:
        """Raise SurveyError if the table has a key that was not read."""
        for key in self._data:
            if key not in self._known:
                raise SurveyError(
                    f"{self.place}: unknown key {shown(key)}, "
                    f"expected one of {', '.join(sorted(set(self._known)))}"
                )


def plain(number: Decimal) -> int | float:
    """Return a number in the form of JSON, in which whole numbers have no point."""
    return int(number) if number == number.to_integral_value() else float(number)


def by_language(text: Any) -> Mapping[str, Any]:
    """Return the forms of a text by the tags of their languages; a text without any under ""."""
    return text if isinstance(text, dict) else {"": text}
