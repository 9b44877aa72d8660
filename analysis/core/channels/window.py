"""Window channel: the `width` symbols from the input on are likelier than the other symbols.

    P[y | x] = near / total  if x <= y < x + width,  and  far / total  otherwise

Width 1 is k-ary randomized response (Warner, JASA 1965; Kairouz, Oh and Viswanath, JMLR 2016,
section 4.1). Wider windows give the Square Wave mechanism on a grid (Li et al., SIGMOD 2020).
By hand: 2 inputs, width 1, near 3, far 1 gives p = 3/4, q = 1/4, ratio 3, ε = ln 3 = 1.0986.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import ClassVar

import numpy as np

from analysis.core.channels.one_symbol import OneSymbol
from analysis.core.types import Apart, Array, Floats
from analysis.core.words import Block, below, below_many, check_total, parts


@dataclass(frozen=True)
class Window(OneSymbol):
    """The channel with these whole numbers: ``inputs >= 2``, the others at least 1."""

    inputs: int
    width: int
    near: int
    far: int

    name: ClassVar[str] = "window"

    @property
    def symbols(self) -> int:
        """The number of outputs. There are more than inputs if the width is above 1."""
        return self.inputs + self.width - 1

    @property
    def total(self) -> int:
        """The sum of the weights, the same for every input."""
        return self.width * self.near + (self.inputs - 1) * self.far

    @cached_property
    def p(self) -> Fraction:
        """The probability of each output in the input's window."""
        return Fraction(self.near, self.total)

    @cached_property
    def q(self) -> Fraction:
        """The probability of each output outside the input's window."""
        return Fraction(self.far, self.total)

    @property
    def can_be_kept(self) -> bool:
        return self.width == 1

    def check(self) -> None:
        if self.inputs < 2:
            raise ValueError(f"window: inputs must be at least 2, got {self.inputs}")
        check_total(self.name, self.total)

    def ratio(self, apart: Apart = ()) -> Fraction:
        """Return the larger of near/far and far/near.

        For any two inputs, some output lies in the window of one and outside that of the other.
        """
        return max(Fraction(self.near, self.far), Fraction(self.far, self.near))

    def contrasts(self, apart: Apart = ()) -> Floats:
        # The farther apart two windows are, the fewer outputs are in both.
        outputs = min(self.width, self.inputs - 1)
        near, far = outputs * self.near, outputs * self.far
        alike = self.total - near - far
        return np.array([[(near, far), (far, near), (alike, alike)]]) / self.total

    def randomize(self, symbol: int, words: Iterator[int]) -> int:
        draw = below(self.total, words)
        inside = self.width * self.near
        if draw < inside:
            return symbol + draw // self.near
        outside = (draw - inside) // self.far
        return outside if outside < symbol else outside + self.width

    def followed_by(self, instant: "Window") -> "Window":
        """Return this channel followed by another as one channel, whose total may exceed 2^32.

        Preconditions: both have width 1, and equally many inputs.
        """
        near = self.near * instant.near + (self.inputs - 1) * self.far * instant.far
        far = self.near * instant.far + self.far * instant.near
        far += (self.inputs - 2) * self.far * instant.far
        common = gcd(near, far)
        return Window(self.inputs, 1, near // common, far // common)

    def remember(self, symbol: int, words: Callable[[int], Iterator[int]]) -> int:
        """Return the report that the `words` of this input draw. Equal words draw equal reports."""
        return self.randomize(symbol, words(symbol))

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        reports = np.empty(len(symbols), dtype=self.dtype)
        inside = np.uint32(self.width * self.near)
        for part in parts(len(symbols)):
            starts = symbols[part].astype(np.uint32)
            draws = below_many(self.total, len(starts), block)
            # Where the report is inside the window, the number in `outside` is not used.
            outside = (draws - inside) // np.uint32(self.far)
            outside += (outside >= starts) * np.uint32(self.width)
            starts += draws // np.uint32(self.near)
            reports[part] = np.where(draws < inside, starts, outside)
        return reports

    def bounds(self) -> tuple[Floats, Floats]:
        # Each output lies in some window. It lies in all windows if it lies in those of the last
        # and of the first input. The rows are not listed, since there can be thousands.
        outputs = np.arange(self.symbols)
        in_all = (outputs >= self.inputs - 1) & (outputs < self.width)
        near, far = float(self.p), float(self.q)
        other = np.where(in_all, near, far)
        return np.minimum(near, other), np.maximum(near, other)

    def chances(self) -> Floats:
        # The rows are not listed through `weights`, since there can be thousands.
        offset = np.arange(self.symbols) - np.arange(self.inputs)[:, None]
        near = (offset >= 0) & (offset < self.width)
        return np.where(near, float(self.p), float(self.q))

    def weights(self, symbol: int) -> list[int]:
        row = [self.far] * self.symbols
        row[symbol : symbol + self.width] = [self.near] * self.width
        return row
