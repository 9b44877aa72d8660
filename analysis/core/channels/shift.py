"""Shift channel: integer noise is added, and a sum outside the range is moved to its border.

    P[y | x] = noise[y - x + inputs - 1] / total  for 0 < y < inputs - 1;
    y = 0 and y = inputs - 1 take all the noise that would lead to or beyond them

Reports lie in the range of the inputs, since a wider range gains nothing. The channel serves the
discrete Laplace mechanism (Ghosh, Roughgarden and Sundararajan, SIAM Journal on Computing 2012,
where clamping makes it the truncated geometric mechanism) and the discrete Gaussian.
By hand: 2 inputs with the noise [1, 2, 1] give rows 3:1 and 1:3, ratio 3, ε = ln 3 = 1.0986.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np

from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.types import Array
from analysis.core.words import Block, below, below_many, check_total


@dataclass(frozen=True)
class Shift(OneSymbol):
    """The channel that adds -(inputs-1)..inputs-1; `noise` has the weight of each, at least 1."""

    inputs: int
    noise: tuple[int, ...]

    name: ClassVar[str] = "shift"

    @property
    def symbols(self) -> int:
        """There are as many symbols as inputs."""
        return self.inputs

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.noise)

    def check(self) -> None:
        if self.inputs < 2 or len(self.noise) != 2 * self.inputs - 1:
            raise ValueError(
                f"shift: noise must have 2 inputs - 1 weights, inputs at least 2, "
                f"got {len(self.noise)}"
            )
        check_total(self.name, self.total)

    def randomize(self, symbol: int, words: Iterator[int]) -> int:
        noise = bisect_right(list(accumulate(self.noise)), below(self.total, words))
        last = self.inputs - 1
        return min(max(symbol + noise - last, 0), last)

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
