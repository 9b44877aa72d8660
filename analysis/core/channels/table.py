"""Table channel: any weights, a row for each input and a column for each report.

    P[y | x] = weights[x][y] / total,  the same total for every x

It serves mechanisms without a simpler form: classic designs with unequal answers (Greenberg et al.,
JASA 1969), the exponential mechanism (McSherry and Talwar, FOCS 2007), and designs by linear
programming.
By hand: weights [[5, 1], [1, 5]] keep the input 5 times in 6; ratio 5, ε = ln 5 = 1.609.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np

from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.types import Array
from analysis.core.words import Block, below_many, by_weight, check_total


@dataclass(frozen=True)
class Table(OneSymbol):
    """The channel with these weights: at least 2 rows and 2 columns, all at least 1."""

    inputs: int
    rows: tuple[tuple[int, ...], ...]

    name: ClassVar[str] = "table"

    @property
    def symbols(self) -> int:
        """The number of the table's columns."""
        return len(self.rows[0])

    @property
    def total(self) -> int:
        """The sum of a row's weights."""
        return sum(self.rows[0])

    def check(self) -> None:
        if self.inputs < 2 or len(self.rows) != self.inputs:
            raise ValueError(
                f"table: rows must be as many as inputs, at least 2, got {len(self.rows)}"
            )
        for row in self.rows:
            if len(row) != len(self.rows[0]):
                raise ValueError(f"table: rows must be equally long, got {len(row)}")
            if sum(row) != self.total:
                raise ValueError(
                    f"table: rows must have equal sums, got {self.total} and {sum(row)}"
                )
        check_total(self.name, self.total)

    def randomize(self, symbol: int, words: Iterator[int]) -> int:
        return by_weight(self.rows[symbol], words)

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        draws = below_many(self.total, len(symbols), block).astype(np.int64)
        reports = np.empty(len(symbols), dtype=self.dtype)
        for symbol, row in enumerate(self.rows):
            places = np.flatnonzero(symbols == symbol)
            reports[places] = np.searchsorted(list(accumulate(row)), draws[places], side="right")
        return reports

    def weights(self, symbol: int) -> list[int]:
        return list(self.rows[symbol])
