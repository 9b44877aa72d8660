"""The common base of channels whose report is one symbol, an integer of 0..symbols-1."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.errors import ReportError, shown
from analysis.core.types import Apart, Array, Floats, Integers

#: Comparing this many probabilities, over all pairs of inputs, takes a second and 200 MB.
_COMPARED = 2**21


class OneSymbol(ABC):
    """A channel that a table of weights describes completely, with a row for each input."""

    takes_bits: ClassVar[bool] = False
    ones: ClassVar[int | None] = None
    gives_one_symbol: ClassVar[bool] = True
    inputs: int

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of different reports."""

    @property
    def can_be_kept(self) -> bool:
        return False

    @abstractmethod
    def weights(self, symbol: int) -> list[int]:
        """Return the row of an input: the weight of each report. All rows have the same sum."""

    def chances(self) -> Floats:
        """Return the (inputs, symbols) probability of each report under each input."""
        rows = np.array([self.weights(symbol) for symbol in range(self.inputs)], dtype=float)
        return np.asarray(rows / rows[0].sum())

    def ratio(self, apart: Apart = ()) -> Fraction:
        """Return the largest ratio, over all columns, of a column's largest to its least weight."""
        columns = zip(*(self.weights(symbol) for symbol in range(self.inputs)), strict=True)
        return max(Fraction(max(column), min(column)) for column in columns)

    def delta(self, ratio: Fraction) -> Fraction:
        """Return the exact hockey-stick divergence of the worst two inputs.

        It is the most by which the probability of a set of reports under one input can exceed
        `ratio` times its probability under another.
        """
        top, bottom = ratio.numerator, ratio.denominator
        rows = [self.weights(symbol) for symbol in range(self.inputs)]
        worst = max(
            sum(max(0, bottom * a - top * b) for a, b in zip(row, other, strict=True))
            for row in rows
            for other in rows
        )
        return Fraction(worst, bottom * sum(rows[0]))

    def distribution(self, symbol: int) -> Iterator[tuple[int, Fraction]]:
        row = self.weights(symbol)
        total = sum(row)
        return ((output, Fraction(weight, total)) for output, weight in enumerate(row))

    def contrasts(self, apart: Apart = ()) -> Array | None:
        if self.inputs**2 * self.symbols > _COMPARED:
            return None
        rows = np.array(list({tuple(self.weights(symbol)) for symbol in range(self.inputs)}))
        pairs = list(permutations(range(len(rows)), 2)) or [(0, 0)]
        return np.asarray(np.moveaxis(rows[pairs], 1, 2))

    def moments(self, symbol: int) -> tuple[Floats, Floats]:
        row = np.array(self.weights(symbol), dtype=float)
        return row / row.sum(), np.diag(row / row.sum())

    def bounds(self) -> tuple[Floats, Floats]:
        row = np.array(self.weights(0))
        least, most, total = row, row, row.sum()
        for symbol in range(1, self.inputs):
            row = np.array(self.weights(symbol))
            least, most = np.minimum(least, row), np.maximum(most, row)
        return least / total, most / total

    def size_chances(self, ones: int) -> None:
        return None

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        return {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**53}

    def check_report(self, report: Any, field: str) -> None:
        if type(report) is not int or not 0 <= report < self.symbols:
            raise ReportError(field, f"an integer of 0..{self.symbols - 1}", shown(report))

    def longest(self) -> int:
        return self.symbols - 1

    def reports_in(self, counts: Array) -> int:
        return int(counts.sum())

    def report_of(self, symbol: int) -> int:
        return symbol

    def is_tally(self, counts: Array) -> bool:
        # Any counts are possible, since each report counts for one symbol.
        return True

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type of integer that holds every report."""
        return np.min_scalar_type(self.symbols - 1)

    def read_many(self, sent: Sequence[int]) -> Array:
        return np.array(sent, dtype=self.dtype)

    def count_many(self, reports: Array) -> Integers:
        return np.bincount(reports, minlength=self.symbols)

    def entries(self, reports: Array) -> tuple[Integers, Array]:
        return np.arange(len(reports)), reports

    def sizes_many(self, reports: Array) -> None:
        return None

    def holds_many(self, reports: Array, symbols: Sequence[int]) -> NDArray[np.bool_]:
        return np.asarray(reports[:, None] == np.asarray(symbols, dtype=np.int64))

    def log_chances(self, reports: Array, symbols: Sequence[int]) -> Floats:
        rows = np.log(self.chances()[np.asarray(symbols, dtype=np.int64)])
        return np.asarray(rows[:, reports].T)
