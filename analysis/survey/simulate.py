"""Simulated respondents: true answers from a table, randomized as in a survey."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.random import Generator

from analysis.core.errors import AnswersError, shown
from analysis.core.memory import pseudonym
from analysis.core.typed import delimiter_of, encoding_of, number_cell
from analysis.core.words import seeded_bytes, seeded_words
from analysis.survey.kinds import KINDS
from analysis.survey.survey import Survey

#: The probability that a simulated answer follows from its respondent's position, and the power
#: that makes early answers more frequent: a position u in [0, 1) becomes u to this power.
_ALIKE, _EARLY = 0.5, 1.5


def read_answers(content: bytes, survey: Survey, place: str) -> list[dict[str, str]]:
    """Return the true answers of a CSV table with a row by respondent and a column by question.

    A cell is an option's id or a decimal. An empty cell is no answer. The table is in UTF-8, or in
    UTF-16 with a byte order mark; commas, semicolons or tabs part its cells.

    Raises
    ------
    AnswersError
        At the first column or cell that does not fit, with its row and column.
    """
    try:
        text = content.decode(encoding_of(content))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise AnswersError(
            f"{place}: line {line}: expected CSV in UTF-8, got {error.reason}"
        ) from None
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    ids = [question.id for question in survey.questions]
    rows: list[dict[str, str]] = []
    try:
        header = next(reader, None)
        if header is None:
            raise AnswersError(f"{place}: expected columns {', '.join(ids)}, got nothing")
        _check_header(header, ids, place)
        for number, cells in enumerate(reader, 1):
            # Some programs write the empty cell of a single column as an empty line.
            cells = cells or [""] * (len(ids) == 1)
            if len(cells) != len(header):
                raise AnswersError(
                    f"{place}: row {number} (line {reader.line_num}): "
                    f"expected {len(header)} cells, got {len(cells)}"
                )
            rows.append(dict(zip(header, cells, strict=True)))
            for question in survey.questions:
                if question.spec["kind"] == "number":
                    rows[-1][question.id] = number_cell(rows[-1][question.id], delimiter)
                answer = rows[-1][question.id]
                try:
                    question.value(answer)
                except ValueError as error:
                    raise AnswersError(
                        f'{place}: row {number} (line {reader.line_num}), column "{question.id}": '
                        f"expected {error}, got {shown(answer)}"
                    ) from None
    except csv.Error as error:
        raise AnswersError(
            f"{place}: line {reader.line_num + 1}: expected CSV in UTF-8, got {error}"
        ) from None
    if not rows:
        raise AnswersError(f"{place}: expected a row for each respondent, got none")
    return rows


def _check_header(header: list[str], ids: list[str], place: str) -> None:
    """Raise AnswersError unless each question has exactly one column."""
    for column in header:
        if column not in ids:
            raise AnswersError(
                f"{place}: unknown column {shown(column)}, expected {', '.join(ids)}"
            )
        if header.count(column) > 1:
            raise AnswersError(f"{place}: column {shown(column)}: expected once, got it twice")
    for name in ids:
        if name not in header:
            raise AnswersError(f"{place}: missing column {shown(name)}")


def made_up_answers(
    survey: Survey,
    respondents: int,
    rng: Generator,
    expected: Mapping[str, Mapping[str, float]] | None = None,
) -> list[dict[str, str]]:
    """Return simulated answers for trying a study, in the form of `read_answers`.

    If nothing is expected, early answers are more frequent than late ones. Answers to different
    questions are slightly correlated, so that tables and models have something to show.

    Parameters
    ----------
    respondents : int
        The number of rows.
    rng : Generator
        The generator of the answers.
    expected : mapping, optional
        For each question, the argument of its kind's `expected`, among those who are asked.
    """
    expected = expected or {}
    rows = []
    for _ in range(respondents):
        own = rng.random()
        row = {}
        for question in survey.questions:
            place = own if rng.random() < _ALIKE else rng.random()
            kind = KINDS[question.spec["kind"]]
            if question.id in expected:
                row[question.id] = kind.expected(place, question.spec, expected[question.id])
            else:
                row[question.id] = kind.made_up(place**_EARLY, question.spec)
        rows.append(survey.shown(row))
    return rows


def payloads(
    survey: Survey, rows: Iterable[dict[str, str]], wave: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the content of each respondent's submission, in the order of `rows`.

    The reports are drawn as in ``client/report.js``. `seed` fixes every draw, pseudonym and rid by
    row. Row i is the same respondent, with the same device secret, in every wave and survey.
    Permanent draws follow from the secret, and all others are drawn anew in each wave.
    """
    for row, answers in enumerate(rows):
        once = (seed, row, survey.version, wave)
        secret, words = seeded_bytes(32, "secret", seed, row), seeded_words("draw", *once)
        counted = survey.shown(answers)
        token = {} if survey.access == "open" else {"token": simulated_token(survey, row, seed)}
        yield {
            "version": survey.version,
            "wave": wave,
            "rid": seeded_bytes(16, "rid", *once).hex(),
            "respondent": pseudonym(secret, survey.id),
            **token,
            "reports": {
                name: report
                for draw in survey.draws
                for name, report in draw.reports(counted, secret, survey.id, words, wave).items()
            },
        }


def simulated_token(survey: Survey, row: int, seed: int) -> str:
    """Return the invitation of a row's respondent, which is the same in every wave."""
    return seeded_bytes(16, "token", seed, row, survey.id).hex()


def hidden_cells(survey: Survey, rows: Iterable[dict[str, str]]) -> int:
    """Return the number of answers in the table whose questions `shows_if` hides."""
    return sum(
        answers[name] != kept for answers in rows for name, kept in survey.shown(answers).items()
    )
