"""Shift channel: integer noise is added, and what leaves the range stays at its border.

    P[y | x] = weights[y - x + inputs - 1] / total  for 0 < y < inputs - 1;
    y = 0 and y = inputs - 1 take all of the noise that would lead to or beyond them

The report lies in the range of the inputs: a wider one gains nothing. It holds the discrete Laplace
mechanism (Ghosh, Roughgarden and Sundararajan, SIAM Journal on Computing 2012, where clamping makes
it the truncated geometric mechanism) and the discrete Gaussian.
By hand: 2 inputs, weights [1, 2, 1] give rows 3:1 and 1:3, ratio 3, ε = ln 3 = 1.0986.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar

import numpy as np

from analysis.core.arrays import Array
from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.words import WORD, Block, below, below_many


@dataclass(frozen=True)
class Shift(OneSymbol):
    """The channel with these weights of the noise -(inputs-1)..inputs-1, all at least 1."""

    inputs: int
    noise: tuple[int, ...]

    name: ClassVar[str] = "shift"

    @property
    def symbols(self) -> int:
        """As many as inputs."""
        return self.inputs

    @property
    def total(self) -> int:
        """Sum of the weights."""
        return sum(self.noise)

    def check(self) -> None:
        if self.inputs < 2 or len(self.noise) != 2 * self.inputs - 1:
            raise ValueError(
                f"shift: noise must have 2 inputs - 1 weights, inputs at least 2, "
                f"got {len(self.noise)}"
            )
        if self.total > WORD:
            raise ValueError(f"shift: weights must sum to at most 2^32, got {self.total}")

    def ratio(self, apart: tuple[tuple[int, int], ...] = ()) -> Fraction:
        """The largest weight of a column over its smallest, the largest of all columns."""
        columns = zip(*(self.weights(symbol) for symbol in range(self.inputs)), strict=True)
        return max(Fraction(max(column), min(column)) for column in columns)

    def randomize(self, symbol: int, words: Iterator[int]) -> int:
        draw = below(self.total, words)
        report = symbol - (self.inputs - 1)
        for weight in self.noise:
            if draw < weight:
                break
            draw -= weight
            report += 1
        return min(max(report, 0), self.inputs - 1)

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        draws = below_many(self.total, len(symbols), block)
        noise = np.searchsorted(list(accumulate(self.noise)), draws, side="right")
        last = self.inputs - 1
        return np.clip(symbols + noise - last, 0, last).astype(self.dtype)

    def weights(self, symbol: int) -> list[int]:
        last = self.inputs - 1
        row = list(self.noise[last - symbol : 2 * last - symbol + 1])
        row[0] += sum(self.noise[: last - symbol])
        row[last] += sum(self.noise[2 * last - symbol + 1 :])
        return row
