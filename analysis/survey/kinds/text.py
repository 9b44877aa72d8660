"""A text in the respondent's own words, such as a name or a place."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from analysis.core.domain import NO_ANSWER, OTHER, Texts
from analysis.core.errors import SurveyError, shown
from analysis.core.texts import normalized
from analysis.core.typed import encoding_of
from analysis.survey.document import Table
from analysis.survey.files import read_file_within
from analysis.survey.json_schema import COUNT, STRING, Schema

#: The most candidates. More would make a page of several megabytes.
_MOST_CANDIDATES = 20_000
#: The default of the most letters of a text, and the most that an author can allow.
_USUAL, _LONGEST = 32, 256
#: The most different letters. Pairs are tried after each beginning, and more would take too long.
_MOST_LETTERS = 200


class Text:
    """``kind = "text"`` with ``candidates``, a list or a file of lines, and ``longest``.

    Texts are compared in the form of `analysis.core.texts.normalized`. Texts that are not
    candidates are estimated together. Without candidates, frequent texts are discovered.
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
        elif given is not None:
            placed = ((f"{table.place}: candidate {n}", text) for n, text in enumerate(given, 1))
            frozen["candidates"] = _checked(table.place, placed, longest)
        else:
            letters = table.take(
                "letters",
                lambda value: isinstance(value, str) and 2 <= len(_letters(value)) <= _MOST_LETTERS,
                f"a text of 2 to {_MOST_LETTERS} letters, those that answers can have",
                default=None,
            )
            if letters is not None:
                frozen["letters"] = _letters(letters)
        return frozen

    def written(self, question: dict[str, Any]) -> dict[str, Any]:
        keys = ("longest", "candidates", "letters")
        return {key: question[key] for key in keys if key in question}

    def schema(self) -> tuple[Schema, Schema]:
        candidates = {"type": "array", "items": STRING, "minItems": 2, "uniqueItems": True}
        return {"longest": COUNT}, {"letters": STRING, "candidates": candidates}

    def domain(self, question: dict[str, Any]) -> Texts:
        candidates = question.get("candidates")
        texts = None if candidates is None else tuple(map(normalized, candidates))
        letters = question.get("letters", "")
        return Texts(texts, question["longest"], question["no_answer"], letters)

    def value(self, answer: str, question: dict[str, Any]) -> str | None:
        """Return the normalized text; None for no answer."""
        # A huge text takes long to normalize. Normalization turns a letter into at most 18.
        text = normalized(answer) if len(answer) <= 18 * question["longest"] + 99 else answer
        if text in ("", NO_ANSWER) and question["no_answer"]:
            return None
        # Half of a surrogate pair is not a letter, and has no bytes that could be hashed.
        is_text = text != NO_ANSWER and not any("\ud800" <= letter <= "\udfff" for letter in text)
        if is_text and 0 < len(text) <= question["longest"]:
            return text
        empty = ", or empty" * question["no_answer"]
        raise ValueError(f"a text of at most {question['longest']} letters{empty}")

    def made_up(self, place: float, question: dict[str, Any]) -> str:
        """Return a candidate, or without candidates one of four short texts of allowed letters."""
        texts = question.get("candidates") or _words(question)
        return str(texts[int(place * len(texts))])

    def expectable(self, question: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def expected(self, place: float, question: dict[str, Any], shares: Mapping[str, float]) -> str:
        raise ValueError("expected no shares of a text question: its answers cannot be listed")

    def labels(self, question: dict[str, Any]) -> dict[str, Any]:
        candidates = {normalized(text): text for text in question.get("candidates", ())}
        return {OTHER: "Any other answer", **candidates}


def _words(question: dict[str, Any]) -> list[str]:
    """Return four possible answers, each of which repeats one letter."""
    letters = question.get("letters", "abcd").replace(" ", "")
    return [letters[place % len(letters)] * min(3, question["longest"]) for place in range(4)]


def _letters(text: str) -> str:
    """Return each letter of a normalized text once, including the space if the text has one."""
    parts = (normalized(letter) or " " * letter.isspace() for letter in text)
    return "".join(dict.fromkeys("".join(parts)))


def _from_file(table: Table, name: str, longest: int) -> list[str]:
    """Return the lines of a file in the survey's folder, without empty lines.

    No message quotes a line, since the survey's author may not be allowed to read the file.
    """
    path = table.folder / name
    try:
        content = read_file_within(table.folder, name)
        lines = content.decode(encoding_of(content)).split("\n")
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
    """Return the candidates as written, after checking them.

    Raises
    ------
    SurveyError
        At the first wrong candidate, with its position; `quoted` returns its form in messages.
    """
    written: dict[str, str] = {}
    for where, candidate in candidates:
        text = normalized(candidate) if isinstance(candidate, str) else ""
        if not 0 < len(text) <= longest:
            raise SurveyError(
                f"{where}: expected a text of 1 to {longest} letters, got {quoted(candidate)}"
            )
        if text in (NO_ANSWER, OTHER):
            raise SurveyError(
                f"{where}: expected a text other than {NO_ANSWER} and {OTHER}, which are reserved"
            )
        if text in written:
            raise SurveyError(f"{where}: expected each text once, got {quoted(candidate)} twice")
        written[text] = candidate.strip("\t\n\v\f\r ")
    if not 2 <= len(written) <= _MOST_CANDIDATES:
        raise SurveyError(
            f"{place}: candidates must be from 2 to {_MOST_CANDIDATES}, got {len(written)}"
        )
    return list(written.values())
