"""Earlier answers in later texts: ``{answer.ID}``, or ``{answer.ID|words if there is none}``.

The respondent's page inserts the answer into the text on the device alone, as plain text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.core.memory import is_stable
from analysis.survey.document import ANSWER_MARK, ID, Table, by_language
from analysis.survey.kinds import KINDS

#: The keys of an entry whose texts may repeat an earlier answer.
KEYS = ("text", "help", "matrix")

#: The text in place of an answer that is not given yet.
NONE_YET = "…"

# The words are looked at twice, once for a character that is no space, and never tried again.
# Otherwise the time for a text without an end would grow with the square of its length.
_PIECE = re.compile(rf"\{{answer\.({ID.pattern})(?:\|(?=\s*+[^{{}}|\s])([^{{}}|]++))?\}}")
#: Texts that a reader, a phone or a mail program may take for an address.
_LINK = re.compile(r"://|\bwww\.|\bmailto:|\]\(", re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """A part of a text: plain `words`, or the answer to `question`, or `words` if it has none."""

    words: str
    question: str | None = None


def pieces(text: str) -> Iterator[Piece]:
    """Yield the parts of a text in one language, in their order."""
    end = 0
    for found in _PIECE.finditer(text):
        if found.start() > end:
            yield Piece(text[end : found.start()])
        yield Piece(found[2] or NONE_YET, found[1])
        end = found.end()
    if end < len(text):
        yield Piece(text[end:])


def without_answers(text: str) -> str:
    """Return a text in its form without answers, such as among the results."""
    return "".join(piece.words for piece in pieces(text))


def answers_told(entry: Mapping[str, Any]) -> set[str]:
    """Return the ids of the questions whose answers the texts of a frozen entry repeat."""
    texts = [text for key in KEYS for text in by_language(entry.get(key, "")).values()]
    return {name for text in texts for name, _ in _PIECE.findall(text)}


def check_pieces(table: Table, entry: Mapping[str, Any], earlier: Mapping[str, Any]) -> None:
    """Check the texts of an entry that repeat earlier answers.

    Parameters
    ----------
    table : Table
        The entry as its author wrote it.
    entry : mapping
        The frozen entry.
    earlier : mapping
        The frozen entries before it, by their ids.

    Raises
    ------
    SurveyError
        If the text repeats something other than an answer to an earlier question; if words are
        missing for people who give no answer; if the text also has a link, which would reveal the
        answer to the link's owner; or if the question is `stable`, since it cannot be if its text
        depends on an answer.
    """
    for key in KEYS:
        for language, text in by_language(entry.get(key, "")).items():
            if ANSWER_MARK not in text:
                continue
            _check_text(table, f"{key}.{language}" if language else key, text, earlier)
            if is_stable(entry):
                raise table.error("stable", f"left out, since {key} depends on an answer")


def _check_text(table: Table, key: str, text: str, earlier: Mapping[str, Any]) -> None:
    if ANSWER_MARK in without_answers(text):
        raise table.error(
            key, "a text in which each answer is {answer.ID} or {answer.ID|words if there is none}"
        )
    for question, words in _PIECE.findall(text):
        entry = earlier.get(question)
        if entry is None or entry["kind"] not in KINDS:
            raise table.error(key, f"a text about earlier questions; {question} is not one of them")
        if entry["no_answer"] and not words:
            raise table.error(
                key,
                f"{{answer.{question}|words}}, with words for people who do not answer it",
            )
    if _LINK.search(text):
        raise table.error(
            key, "without a link: following it would reveal the answer that the text contains"
        )
