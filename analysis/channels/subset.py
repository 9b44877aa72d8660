"""Subset channel: a random set of `size` symbols that is likelier to hold the input.

    P[S | x] = include / total / C(inputs-1, size-1)  if x in S
               exclude / total / C(inputs-1, size)    otherwise,   total = include + exclude

Subset selection (Ye and Barg, ISIT 2017; Wang et al., "Mutual information optimally local private
discrete distribution estimation", 2016). A pure ratio: include (inputs - size) / (exclude size).
By hand: 4 inputs, size 2, include 3, exclude 1 gives 3 * 2 / (1 * 2) = 3, ε = ln 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb
from typing import Any, ClassVar

from numpy.typing import NDArray

from analysis.errors import ReportError, shown
from analysis.words import WORD, below


@dataclass(frozen=True)
class Subset:
    """The channel with these whole numbers: ``1 <= size < inputs``, weights at least 1."""

    inputs: int
    size: int
    include: int
    exclude: int

    name: ClassVar[str] = "subset"

    @property
    def symbols(self) -> int:
        """A set counts for each of its members, so there are as many symbols as inputs."""
        return self.inputs

    def check(self) -> None:
        if not 1 <= self.size < self.inputs or min(self.include, self.exclude) < 1:
            raise ValueError("subset: size must be in 1..inputs-1, weights at least 1")
        if self.include + self.exclude > WORD:
            raise ValueError("subset: weights must sum to at most 2^32")

    def ratio(self) -> Fraction:
        """The ratio of the two probabilities above; the larger way round."""
        ratio = Fraction(self.include * (self.inputs - self.size), self.exclude * self.size)
        return max(ratio, 1 / ratio)

    def randomize(self, symbol: int, words: Iterator[int]) -> list[int]:
        """A sorted list: whether the input is a member, then the others by selection sampling.

        Selection sampling: Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S.
        """
        member = below(self.include + self.exclude, words) < self.include
        needed = self.size - member
        left = self.inputs - 1
        chosen = []
        for other in range(self.inputs):
            if other == symbol:
                if member:
                    chosen.append(other)
                continue
            if below(left, words) < needed:
                chosen.append(other)
                needed -= 1
            left -= 1
        return chosen

    def distribution(self, symbol: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        total = self.include + self.exclude
        within = Fraction(self.include, total) / comb(self.inputs - 1, self.size - 1)
        without = Fraction(self.exclude, total) / comb(self.inputs - 1, self.size)
        for members in combinations(range(self.inputs), self.size):
            yield members, within if symbol in members else without

    def check_report(self, report: Any, field: str) -> None:
        expected = f"{self.size} different integers of 0..{self.inputs - 1} in rising order"
        if (
            not isinstance(report, list)
            or len(report) != self.size
            or not all(type(member) is int and 0 <= member < self.inputs for member in report)
            or not all(first < second for first, second in pairwise(report))
        ):
            raise ReportError(field, expected, shown(report))

    def longest(self) -> list[int]:
        return list(range(self.inputs - self.size, self.inputs))

    def tallied(self, report: Any) -> tuple[int, ...]:
        return tuple(report)

    def reports_in(self, counts: NDArray[Any]) -> int:
        return int(counts.sum()) // self.size
