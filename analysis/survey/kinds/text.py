"""A text in the respondent's own words, such as a name or a place."""

from collections.abc import Callable, Iterable
from typing import Any

from analysis.core.domain import NO_ANSWER, OTHER, Texts
from analysis.core.errors import SurveyError, shown
from analysis.core.texts import normalized
from analysis.survey.document import Table
from analysis.survey.files import read_file_within
from analysis.survey.json_schema import COUNT, STRING, Schema

#: More candidates would make a page of some megabytes.
MOST_CANDIDATES = 20_000
#: Letters of a text, if the author does not say, and the most that can be asked for.
_USUAL, _LONGEST = 32, 256
#: Pairs of letters are tried after each beginning: more would take too long.
_MOST_LETTERS = 200


class Text:
    """``kind = "text"``; ``candidates``, a list or a file of a line each, and ``longest`` optional.

    Texts are compared as `analysis.core.texts.normalized` writes them. Those that are no candidates
    are estimated together; without candidates the frequent ones are found.
    """

    name = "text"

    def read(self, table: Table) -> dict[str, Any]:
        longest = table.take(
            "longest",
            lambda value: type(value) is int and 1 <= value <= _LONGEST,
            f"a whole number of letters from 1 to {_LONGEST}",
            default=_USUAL,
        )
        frozen: dict[str, Any] = {"longest": longest}
        given = table.take(
            "candidates",
            lambda value: isinstance(value, str) or (isinstance(value, list) and bool(value)),
            "a list of texts, or the name of a file with one in each line",
            default=None,
        )
        if isinstance(given, str):
            frozen["candidates"] = _from_file(table, given, longest)
        elif given is None:
            frozen |= _read_letters(table)
        else:
            places = [f"{table.place}: candidate {number}" for number in range(1, len(given) + 1)]
            frozen["candidates"] = _checked(table.place, zip(places, given, strict=True), longest)
        return frozen

    def schema(self) -> tuple[Schema, Schema]:
        candidates = {"type": "array", "items": STRING, "minItems": 2, "uniqueItems": True}
        return {"longest": COUNT}, {"letters": STRING, "candidates": candidates}

    def domain(self, question: dict[str, Any]) -> Texts:
        candidates = question.get("candidates")
        texts = None if candidates is None else tuple(map(normalized, candidates))
        letters = question.get("letters", "")
        return Texts(texts, question["longest"], question["no_answer"], letters)

    def value(self, answer: str, question: dict[str, Any]) -> str | None:
        """The normalized text; None for no answer."""
        # Normalizing a huge text takes long, and compatibility forms have 18 letters at most.
        text = normalized(answer) if len(answer) <= 18 * question["longest"] + 99 else answer
        if text in ("", NO_ANSWER) and question["no_answer"]:
            return None
        if 0 < len(text) <= question["longest"] and text != NO_ANSWER:
            return text
        empty = ", or empty" * question["no_answer"]
        raise ValueError(f"a text of at most {question['longest']} letters{empty}")

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        return {
            OTHER: "Any other answer",
            **{normalized(one): one for one in question.get("candidates", ())},
        }


def _read_letters(table: Table) -> dict[str, Any]:
    """What the texts are made of, if the author says: each letter once, as normalized."""
    given = table.take(
        "letters",
        lambda value: isinstance(value, str) and 2 <= len(_letters(value)) <= _MOST_LETTERS,
        f"a text of the 2 to {_MOST_LETTERS} letters that answers are made of",
        default=None,
    )
    return {} if given is None else {"letters": _letters(given)}


def _letters(text: str) -> str:
    """Those of the text, and the space between words if it has one."""
    found = (normalized(one) or " " * one.isspace() for one in text)
    return "".join(dict.fromkeys(letter for letters in found for letter in letters))


def _from_file(table: Table, name: str, longest: int) -> list[str]:
    """The lines of a file in the survey's folder, without empty ones.

    No message quotes a line: the survey's author need not be allowed to read the file.
    """
    path = table.folder / name
    try:
        lines = read_file_within(table.folder, name).decode("utf-8-sig").split("\n")
    except OSError as error:
        raise SurveyError(f"{table.place}: candidates: {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SurveyError(
            f"{table.place}: candidates: {path}: line {line}: expected text in UTF-8, "
            "got other bytes"
        ) from None
    place = f"{table.place}: candidates: {path}"
    numbered = ((f"{place}: line {n}", line) for n, line in enumerate(lines, 1) if line.strip())
    return _checked(place, numbered, longest, lambda line: "another line")


def _checked(
    place: str,
    candidates: Iterable[tuple[str, Any]],
    longest: int,
    quoted: Callable[[Any], str] = shown,
) -> list[str]:
    """Return the candidates as written, if all of them can be found.

    Raises
    ------
    SurveyError
        For the first that cannot, with its place; `quoted` says how messages show it.
    """
    found: dict[str, str] = {}
    for where, one in candidates:
        text = normalized(one) if isinstance(one, str) else ""
        if not 0 < len(text) <= longest:
            raise SurveyError(
                f"{where}: expected a text of 1 to {longest} letters, got {quoted(one)}"
            )
        if text in (NO_ANSWER, OTHER):
            raise SurveyError(
                f"{where}: expected another text than {NO_ANSWER} and {OTHER}, which are reserved"
            )
        if text in found:
            raise SurveyError(f"{where}: expected each text once, got {quoted(one)} twice")
        found[text] = one.strip("\t\n\v\f\r ")
    if not 2 <= len(found) <= MOST_CANDIDATES:
        raise SurveyError(
            f"{place}: candidates must be from 2 to {MOST_CANDIDATES}, got {len(found)}"
        )
    return list(found.values())
