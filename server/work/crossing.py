"""How the answers to two questions go together."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Estimand
from analysis.estimate.columns import Column
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import association_rows
from analysis.study.crosstab.pairs import pairs_of
from analysis.study.crosstab.row import Row
from analysis.study.hypotheses import HypothesisTest, independence
from analysis.study.infinities import without_infinities
from analysis.study.tally.pairs import CountedRows
from server.store import Store
from server.stored_results import StoredWave
from server.work import Progress


@dataclass(frozen=True)
class Crossed:
    """Two columns of a wave, and what is found in them once it is asked for."""

    first: Column
    second: Column
    notes: Sequence[str]
    #: Whether one is a number: its values are points to which it was rounded, so none is counted.
    has_number: bool
    level: float
    #: The weights of respondents, if they were not drawn alike.
    weights: NDArray[np.float64] | None = None

    @cached_property
    def rows(self) -> list[Row]:
        """All quantities; for a number only means in groups, and correlations."""
        if self.has_number:
            pairs = pairs_of(self.first, self.second, self.weights)
            return association_rows(pairs, self.level)
        table = crosstab(self.first, self.second, confidence_level=self.level, weights=self.weights)
        return table.rows()

    @cached_property
    def test(self) -> HypothesisTest:
        """The test of independence of the answers; with weights there is no such test."""
        if self.weights is not None:
            raise ValueError("the test of independence takes no weights")
        return independence(self.first, self.second)


def cross(stored: StoredWave | CountedRows, first: str, second: str, level: float) -> Crossed:
    """Return two columns of a wave together; errors are those of `StoredWave.columns`."""
    columns, notes = stored.columns((first, second))
    if len(columns) != 2:
        raise ValueError(f"expected two different questions, got {first} twice")
    numbers = {q.id for q in stored.survey.questions if q.domain.estimand is Estimand.MEAN}
    has_number = not numbers.isdisjoint(column.name for column in columns)
    return Crossed(columns[0], columns[1], notes, has_number, level)


@dataclass(frozen=True)
class Crossing:
    """The table of two questions that a researcher asked for.

    `reports` is how many are shown: once there are more, it is another table.
    """

    survey: str
    version: str
    wave: int
    reports: int
    level: float
    first: str
    second: str

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return the rows of the table, the test of independence, and notes."""
        stored = StoredWave(store, self.survey, self.wave, self.version, batch=True)
        crossed = cross(stored, self.first, self.second, self.level)
        progress(0.5)
        return {
            "names": [crossed.first.name, crossed.second.name],
            "rows": [without_infinities(asdict(row)) for row in crossed.rows],
            "test": asdict(crossed.test),
            "notes": list(crossed.notes),
        }
