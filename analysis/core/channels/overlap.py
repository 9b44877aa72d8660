"""Overlap channel: a random set of `size` symbols, likelier if it shares more with the input.

The input is a set of exactly `ones` of `inputs` symbols. The number of them that the report holds
is drawn by weights. The report is then drawn uniformly among the sets that hold that number:

    P[S | x] = weights[j - least] / Σ weights / (C(ones, j) C(inputs-ones, size-j)),  j = |S ∩ x|

with j from least = max(0, size + ones - inputs) to min(size, ones). The channel's ratio is the
largest of these probabilities over the least, since one report can have any two values of j under
two inputs. PrivSet has one probability for j = 0, and e^ε times it for all others (Wang et al.,
"PrivSet: Set-Valued Data Analyses with Locale Differential Privacy", INFOCOM 2018). With ones = 1
it is subset selection.
By hand: 4 inputs, 2 ones, size 1, weights 1 3. A report with a hit has the probability 3/4 / 2, and
one without a hit has 1/4 / 2, so ε = ln 3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.set_reports import MOST_INPUTS, SetReports
from analysis.core.packed import Packed, pack, unpack
from analysis.core.types import Apart, Floats
from analysis.core.words import (
    Block,
    below_many,
    by_weight,
    by_weight_many,
    check_total,
    chosen,
    parts,
)


@dataclass(frozen=True)
class Overlap(SetReports):
    """The channel with these whole numbers: ``ones < inputs``, ``size < inputs``, weights >= 1."""

    inputs: int
    ones: int
    size: int
    weights: tuple[int, ...]

    name: ClassVar[str] = "overlap"
    takes_bits: ClassVar[bool] = True
    gives_one_symbol: ClassVar[bool] = False
    can_be_kept: ClassVar[bool] = False

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @property
    def hits(self) -> range:
        """The possible numbers of the input's symbols in a report."""
        return range(max(0, self.size + self.ones - self.inputs), min(self.size, self.ones) + 1)

    def check(self) -> None:
        if self.inputs > MOST_INPUTS or max(self.ones, self.size) >= self.inputs:
            raise ValueError(
                f"overlap: ones and size must be less than inputs, these at most {MOST_INPUTS}, "
                f"got {self.ones}, {self.size}, {self.inputs}"
            )
        if len(self.weights) != len(self.hits):
            raise ValueError(
                f"overlap: weights must be {len(self.hits)}, one for each number of hits, "
                f"got {len(self.weights)}"
            )
        check_total(self.name, self.total)

    def cells(self, hits: int) -> int:
        """Return the number of reports that hold this number of an input's symbols."""
        return comb(self.ones, hits) * comb(self.inputs - self.ones, self.size - hits)

    @cached_property
    def likelihoods(self) -> tuple[Fraction, ...]:
        """The probability of a single report, by its number of hits."""
        return tuple(
            Fraction(weight, self.total * self.cells(hits))
            for hits, weight in zip(self.hits, self.weights, strict=True)
        )

    def ratio(self, apart: Apart = ()) -> Fraction:
        return max(self.likelihoods) / min(self.likelihoods)

    def contrasts(self, apart: Apart = ()) -> None:
        return None

    def _moment(self, of_ones: int, of_others: int) -> Fraction:
        """Return the probability that some symbols are in the report.

        `of_ones` of them are in the input, and `of_others` are not. There are one or two symbols in
        all, and the input must have that many of each kind.
        """
        others, total = self.inputs - self.ones, self.total
        in_all = Fraction(0)
        for hits, weight in zip(self.hits, self.weights, strict=True):
            inside, outside = comb(hits, of_ones), comb(self.size - hits, of_others)
            in_all += Fraction(weight * inside * outside, total)
        return in_all / (comb(self.ones, of_ones) * comb(others, of_others))

    @cached_property
    def p(self) -> Fraction:
        """The probability that a given symbol of the input is in the report."""
        return self._moment(1, 0)

    @cached_property
    def q(self) -> Fraction:
        """The probability that a given symbol outside the input is in the report."""
        return self._moment(0, 1)

    def chance_of_two(self, first: bool, second: bool) -> Floats:
        """Return (2, 2) probabilities that a first and a second symbol are in the report, or not.

        The entry (0, 0) is that both are. `first` and `second` say whether they are in the input.
        """
        both = float(self._moment(first + second, 2 - first - second))
        one, other = (float(self.p if own else self.q) for own in (first, second))
        return np.array([[both, one - both], [other - both, 1 - one - other + both]])

    def randomize(self, symbol: tuple[int, ...], words: Iterator[int]) -> list[int]:
        """Return a sorted list: the number of hits is drawn first, then symbols in rising order."""
        hits = self.hits[by_weight(self.weights, words)]
        inside = chosen(hits, self.ones, words)
        outside = chosen(self.size - hits, self.inputs - self.ones, words)
        return [
            place for place in range(self.inputs) if next(inside if place in symbol else outside)
        ]

    def distribution(self, symbol: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        for members in combinations(range(self.inputs), self.size):
            hits = len(set(members) & set(symbol))
            yield members, self.likelihoods[hits - self.hits.start]

    def moments(self, symbol: tuple[int, ...]) -> tuple[Floats, Floats]:
        own = np.isin(np.arange(self.inputs), symbol)
        mean = np.where(own, float(self.p), float(self.q))
        kinds = own[:, None].astype(int) + own
        pairs = [
            self._moment(count, 2 - count) if self._has_two(count) else 0 for count in (0, 1, 2)
        ]
        second = np.array(pairs, dtype=np.float64)[kinds]
        np.fill_diagonal(second, mean)
        return mean, second

    def _has_two(self, of_ones: int) -> bool:
        return of_ones <= self.ones and 2 - of_ones <= self.inputs - self.ones

    def bounds(self) -> tuple[Floats, Floats]:
        chances = float(self.p), float(self.q)
        return np.full(self.inputs, min(chances)), np.full(self.inputs, max(chances))

    def randomize_many(self, symbols: Packed, block: Block) -> Packed:
        reports = np.empty_like(symbols)
        for part in parts(len(symbols)):
            own = unpack(symbols[part], self.inputs) == 1
            hits = self.hits.start + by_weight_many(self.weights, len(own), block)
            # An input's symbols come first, in rising order, and then all others.
            order = np.argsort(~own, axis=1, kind="stable")
            drawn = np.empty(own.shape, dtype=np.uint8)
            for start, count, needed in (
                (0, self.ones, hits),
                (self.ones, self.inputs - self.ones, self.size - hits),
            ):
                for place in range(count):
                    is_in = below_many(count - place, len(own), block) < needed
                    drawn[:, start + place] = is_in
                    needed = needed - is_in
            flags = np.empty_like(drawn)
            np.put_along_axis(flags, order, drawn, axis=1)
            reports[part] = pack(flags)
        return reports

    def holds_many(self, reports: Packed, symbols: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        flags = unpack(reports, self.inputs)
        return np.asarray(flags[:, [place for (place,) in symbols]] == 1)

    def log_chances(self, reports: Packed, symbols: Sequence[tuple[int, ...]]) -> Floats:
        own = np.zeros((self.inputs, len(symbols)))
        for column, places in enumerate(symbols):
            own[list(places), column] = 1
        hits = (unpack(reports, self.inputs) @ own).astype(np.int64)
        logs = np.array([log(v.numerator) - log(v.denominator) for v in self.likelihoods])
        return np.asarray(logs[hits - self.hits.start])
