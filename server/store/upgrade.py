"""The Python functions that bring a database of an earlier release to this one's schema."""

import json
import sqlite3
from collections import Counter
from functools import lru_cache

import numpy as np

from analysis.estimate.plausibility import sizes_of
from analysis.survey.freeze import thaw
from analysis.survey.survey import Survey
from server.store.blocks import BLOCK, answered_as, read_counts, written_counts


def prepare(connection: sqlite3.Connection) -> None:
    """Give a connection the functions that `server.store.schema.statements` call."""
    connection.create_function("terms_of", 2, _terms_of, deterministic=True)
    connection.create_function("sizes_of", 3, _sizes_of, deterministic=True)
    # The typed interface knows only aggregates of one column, which give a whole number.
    connection.create_aggregate("answered_as", 2, _Answered)  # type: ignore[arg-type]
    connection.create_aggregate("counts_of", 2, _Counts)  # type: ignore[arg-type]
    connection.create_aggregate("reports_in", 6, _Reports)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _thawed(spec: str, version: str) -> Survey:
    return thaw(json.loads(spec), version)


def _terms_of(spec: str, version: str) -> bytes:
    """Return `Survey.terms` of a stored version, as the ledger has them."""
    return bytes.fromhex(_thawed(spec, version).terms)


def _sizes_of(spec: str, version: str, payload: str) -> str:
    """Return for how many symbols each report of a payload counts, of those that differ in it."""
    sizes = sizes_of(_thawed(spec, version), [json.loads(payload)])
    return json.dumps({name: int(counts.argmax()) for name, counts in sizes.items()})


class _Counts:
    """`written_counts` of the rows of a block."""

    def __init__(self) -> None:
        self._counts = Counter[int]()

    def step(self, offset: int, n: int) -> None:
        self._counts[offset] += n

    def finalize(self) -> bytes:
        return written_counts(list(self._counts), list(self._counts.values()))


class _Reports:
    """The number of reports in the tally of a version and wave, as an aggregate function of SQL."""

    def __init__(self) -> None:
        self._survey: Survey | None = None
        self._blocks: list[tuple[int, int, bytes]] = []

    def step(
        self, spec: str, version: str, question: str, cohort: int, block: int, counts: bytes
    ) -> None:
        self._survey = _thawed(spec, version)
        if question == self._survey.questions[0].id:  # every report answers all of them
            self._blocks.append((cohort, block, counts))

    def finalize(self) -> int:
        if self._survey is None:
            return 0
        randomizer = self._survey.questions[0].randomizer
        tally = np.zeros(randomizer.shape, dtype=np.int64)
        for cohort, block, written in self._blocks:
            read = read_counts(written)
            tally[cohort, block * BLOCK : block * BLOCK + len(read)] = read
        return randomizer.reports_in(tally)


class _Answered:
    """`answered_as` of the rows of one respondent."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def step(self, terms: str, submissions: int) -> None:
        self._times[terms] = submissions

    def finalize(self) -> str:
        return answered_as(self._times.items())
