"""Counting exported reports anew, by any engine, into tallies for estimates."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.bit_reports import ALPHABET
from analysis.core.csv_json import cell_text, read_report
from analysis.core.errors import DataError, ReportError, shown
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.recount.engines import Engine
from server.recount.queries import PlaceQueries, column_of, place_queries

Ints = NDArray[np.int64]


def recounted(
    survey: Survey, engine: Engine
) -> tuple[dict[str, Ints], dict[str, Ints], dict[str, int]]:
    """Return tallies and sizes by question, as the product keeps them, and numbers of reports.

    Raises
    ------
    DataError
        If there is a report that its question's randomizer cannot make.
    """
    tallies, sizes, reports = {}, {}, {}
    for question in survey.questions:
        counted = _Counted(question)
        queries = place_queries(question)
        if queries is None or engine.query(queries.faults) is None:
            counted.add(engine.whole([question]))
        else:
            counted.add_by_place(engine, queries)
        tallies[question.id] = counted.tally
        if question.randomizer.channel.size_chances(1) is not None:
            sizes[question.id] = counted.sizes
        reports[question.id] = question.randomizer.reports_in(counted.tally)
    return tallies, sizes, reports


def report_of(question: Question, cell: Any) -> Any:
    """Return the report of a cell of a file; raise DataError if no randomizer makes it."""
    randomizer = question.randomizer
    kind, column = randomizer.channel.report_schema()["type"], column_of(question)
    in_cohort = randomizer.encoder.cohorts is not None
    if type(cell) is not (int if kind == "integer" and not in_cohort else str):
        raise DataError(f"{column}: expected reports, got {shown(cell)}")
    try:
        report = read_report(cell, kind, in_cohort) if isinstance(cell, str) else cell
        randomizer.check_report(report, column)
        if cell_text(report) != cell:
            raise ValueError  # such as 01 for 1
    except ReportError as error:
        raise DataError(str(error)) from None
    except ValueError:
        raise DataError(f"{column}: expected reports, got {shown(cell)}") from None
    return report


def _reports_of(question: Question, cells: Sequence[Any]) -> list[Any]:
    """Return the reports of cells of a file; raise DataError at the first that has no report."""
    randomizer, sets = question.randomizer, None
    if randomizer.channel.report_schema()["type"] == "array" and randomizer.encoder.cohorts is None:
        sets = _sets([cell for cell in cells if cell], randomizer.channel)
    if sets is None:
        return [report_of(question, cell) for cell in cells]
    left = iter(sets)
    return [next(left) if cell else report_of(question, cell) for cell in cells]


def _sets(cells: Sequence[Any], channel: Any) -> list[list[int]] | None:
    """Return the reports of many cells of a channel of sets, in one go; None if one is no report.

    Then `report_of` says which.
    """
    places = {str(place): place for place in range(channel.inputs)}
    try:
        members = [places[member] for member in "|".join(cells).split("|")]
    except (TypeError, KeyError):
        return None
    if any(cell.count("|") != channel.size - 1 for cell in cells):
        return None
    sets = np.array(members, dtype=np.int64).reshape(len(cells), channel.size)
    return sets.tolist() if (sets[:, 1:] > sets[:, :-1]).all() else None


class _Counted:
    """The counts of one question, to which reports are added."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.tally = np.zeros(question.randomizer.shape, dtype=np.int64)
        self.sizes = np.zeros(question.randomizer.channel.symbols + 1, dtype=np.int64)

    def add(self, rows: Iterable[tuple[Sequence[Any], int]]) -> None:
        """Add whole reports, each with how often it came."""
        rows = iter(rows)
        while block := list(islice(rows, 2**16)):
            sent = _reports_of(self.question, [cell for (cell,), _ in block])
            self._add(sent, np.array([times for _, times in block], dtype=np.int64))

    def _add(self, sent: Sequence[Any], often: Ints) -> None:
        randomizer = self.question.randomizer
        reports = randomizer.read_many(sent)
        places, symbols = randomizer.channel.entries(reports.drawn)
        np.add.at(self.tally, (reports.cohorts[places], symbols), often[places])
        sizes = randomizer.channel.sizes_many(reports.drawn)
        if sizes is not None:
            np.add.at(self.sizes, sizes, often)

    def add_by_place(self, engine: Engine, queries: PlaceQueries) -> None:
        """Add reports whose parts were counted by place."""
        randomizer, column = self.question.randomizer, column_of(self.question)
        channel, cohorts = randomizer.channel, randomizer.encoder.cohorts
        faults = int(_rows(engine, queries.faults)[0][0])
        if faults:
            raise DataError(f"{column}: expected reports, got {faults:,} of another form")
        empty = int(_rows(engine, queries.empty)[0][0])
        if empty:
            report_of(self.question, "")
            self._add([[]], np.array([empty]))
        is_bits = channel.report_schema()["type"] == "string"
        often = np.zeros((cohorts or 1, channel.length, 64), dtype=np.int64) if is_bits else None
        for cohort, place, written, times, unsorted in _rows(engine, queries.parts):
            at = _whole(column, cohort, cohorts) if cohorts else 0
            if unsorted:
                raise DataError(f"{column}: expected sets in rising order, got {unsorted} others")
            if often is None:
                self.tally[at, _whole(column, written, channel.inputs)] += times
            elif len(written) == 1 and written in ALPHABET:
                often[at, place - 1, ALPHABET.index(written)] += times
            else:
                raise DataError(f"{column}: expected characters of base64url, got {shown(written)}")
        if often is not None:
            for at in range(len(often)):
                try:
                    self.tally[at] += channel.counts_of_characters(often[at])
                except ValueError as error:
                    raise DataError(f"{column}: {error}, got others") from None
            for ones, times in _rows(engine, queries.sizes):
                self.sizes[int(ones) + 1] += times
        elif (sizes := channel.sizes_many(channel.read_many([]))) is not None:
            sets = randomizer.asked_in(self.tally)
            self.sizes[channel.size] += sets
            assert sizes.sum() == 0


def _rows(engine: Engine, query: str) -> list[Sequence[Any]]:
    rows = engine.query(query)
    assert rows is not None
    return rows


def _whole(column: str, written: Any, count: int) -> int:
    """Return a whole number of 0..count-1 that is written as no other text would be."""
    if isinstance(written, str) and written.isascii() and written.isdigit() and len(written) < 16:
        number = int(written)
        if str(number) == written and number < count:
            return number
    raise DataError(f"{column}: expected whole numbers of 0..{count - 1}, got {shown(written)}")
