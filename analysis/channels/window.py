"""Window channel: of `outputs` symbols, the `width` ones from the input on are likelier.

    P[y | x] = near / total  if x <= y < x + width,  else  far / total

Width 1 is k-ary randomized response (Warner, JASA 1965; Kairouz, Oh and Viswanath, JMLR 2016,
section 4.1); wider ones are the Square Wave mechanism on a grid (Li et al., SIGMOD 2020).
By hand: 2 inputs, width 1, near 3, far 1 gives ratio 3, ε = ln 3 = 1.0986.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from analysis.errors import ReportError, shown
from analysis.words import WORD, below


@dataclass(frozen=True)
class Window:
    """The channel with these whole numbers: ``inputs >= 2``, the others at least 1."""

    inputs: int
    width: int
    near: int
    far: int

    name: ClassVar[str] = "window"

    @property
    def symbols(self) -> int:
        """Number of outputs: the last input has a whole window too."""
        return self.inputs + self.width - 1

    @property
    def total(self) -> int:
        """Sum of the weights, the same for every input."""
        return self.width * self.near + (self.inputs - 1) * self.far

    def check(self) -> None:
        if self.inputs < 2 or min(self.width, self.near, self.far) < 1:
            raise ValueError("window: inputs must be at least 2, width and weights at least 1")
        if self.total > WORD:
            raise ValueError(f"window: weights must sum to at most 2^32, got {self.total}")

    def ratio(self) -> Fraction:
        """near/far or its inverse: any two inputs have outputs in one window and not the other."""
        return max(Fraction(self.near, self.far), Fraction(self.far, self.near))

    def randomize(self, symbol: int, words: Iterator[int]) -> int:
        draw = below(self.total, words)
        inside = self.width * self.near
        if draw < inside:
            return symbol + draw // self.near
        outside = (draw - inside) // self.far
        return outside if outside < symbol else outside + self.width

    def distribution(self, symbol: int) -> Iterator[tuple[int, Fraction]]:
        for output in range(self.symbols):
            inside = symbol <= output < symbol + self.width
            yield output, Fraction(self.near if inside else self.far, self.total)

    def check_report(self, report: Any, field: str) -> None:
        if type(report) is not int or not 0 <= report < self.symbols:
            raise ReportError(field, f"an integer of 0..{self.symbols - 1}", shown(report))

    def longest(self) -> int:
        return self.symbols - 1

    def tallied(self, report: Any) -> tuple[int, ...]:
        return (report,)

    def reports_in(self, counts: NDArray[Any]) -> int:
        return int(counts.sum())
