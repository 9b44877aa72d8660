"""Crosstabs of two questions: shares of all pairs of answers, within groups and between them.

If answers were randomized independently, debiased reports multiply: the expected product of two
scores is 1 for the true pair, and 0 for every other (Kronecker inversion; docs/methods.md, (17)).
If both answers come from one draw, the products are debiased in turn
(`analysis.estimate.columns.together`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.estimate.columns import Column, check_columns
from analysis.estimate.intervals import Interval, check_level, normal_interval
from analysis.estimate.intervals.ratio import average_interval
from analysis.privacy.meaning import rounded_up
from analysis.study.crosstab.association import association_rows
from analysis.study.crosstab.groups import Finding, contrasts, group_share
from analysis.study.crosstab.pairs import MOST_VALUES, Pairs, pairs_of
from analysis.study.crosstab.quotient import Quotient, quotient
from analysis.study.crosstab.row import Row, make_row
from analysis.study.frames import to_frame
from analysis.study.shown import draw_groups, html_pictures, html_table

Array = NDArray[np.float64]

#: The most kinds of pairs of reports times cells. With more, the likelihood takes over ten seconds.
MOST_PROFILED = 2**23
#: Half the width of an interval that has all shares from 0 to 1 if the share is one half.
NOTHING = 0.5
#: Half the width of an interval that is worth asking for.
WORTH = 0.1


class CannotTell(ValueError):
    """Respondents are too few for the noise: there are `n`, and it takes `needed`."""

    def __init__(self, message: str, n: float, needed: int) -> None:
        super().__init__(message)
        self.n, self.needed = n, needed


@dataclass(frozen=True)
class Crosstab:
    """The table of two questions. Each part is computed when it is first used, and kept."""

    pairs: Pairs
    confidence_level: float

    @cached_property
    def shares(self) -> Array:
        """(k of first, k of second) unbiased estimates, which may lie outside [0, 1]."""
        return self.pairs.averages(self.pairs.first.scores, self.pairs.second.scores)

    @cached_property
    def covariance(self) -> Array:
        """(cells, cells) covariance of the raveled `shares`."""
        return self.pairs.covariance(self.pairs.first.scores, self.pairs.second.scores)

    @cached_property
    def std_errors(self) -> Array:
        """(k of first, k of second) standard errors of `shares`."""
        variances = self.pairs.variances(self.pairs.first.scores, self.pairs.second.scores)
        return np.asarray(variances**0.5)

    @property
    def likeliest(self) -> Array:
        """Maximum-likelihood shares for display. They sum to 1, and none is below 0."""
        return self.pairs.likeliest.weights.reshape(self.shares.shape)

    @cached_property
    def intervals(self) -> tuple[tuple[Interval, ...], ...]:
        """Single intervals of shares, by empirical likelihood, or normal in very large tables."""
        high, wide = self.shares.shape
        return tuple(tuple(self._interval(a, b) for b in range(wide)) for a in range(high))

    def rows(self) -> list[Row]:
        """Return all rows: shares, also within groups, differences, ratios, correlation, means."""
        associations = association_rows(self.pairs, self.confidence_level)
        return [*self._shares(), *self._groups(), *self._turned_groups(), *associations]

    def to_frame(self) -> Any:
        """Return a DataFrame of `rows`."""
        return to_frame(self.rows())

    def _repr_html_(self) -> str:
        """Return the shares of the second question in the groups of the first, for a notebook."""
        shares = [row for row in self.rows() if row.quantity == "row-share"]
        return html_table(shares) + html_pictures(draw_groups(self.pairs.second.name, shares))

    def _interval(self, a: int, b: int) -> Interval:
        share, error = float(self.shares[a, b]), float(self.std_errors[a, b])
        if error < 1e-9:
            # All reports are alike, so only the range of scores bounds the share.
            ends = np.array([self._cell(a, b).above.min(), self._cell(a, b).above.max()])
            n = round(self.pairs.n_effective)
            return average_interval(ends, share, n, self.confidence_level)
        if len(self.pairs.seen[0]) * self.shares.size > MOST_PROFILED:
            return normal_interval(share, error, self.confidence_level)
        return self._cell(a, b).interval((0.0, 1.0), self.confidence_level)

    def _cell(self, a: int, b: int) -> Quotient:
        return quotient(self.pairs, self.pairs.first.scores[:, a], self.pairs.second.scores[:, b])

    @property
    def _make(self) -> Callable[..., Row]:
        return partial(make_row, self.pairs, self.confidence_level)

    @property
    def _values(self) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
        first, second = self.pairs.first.values, self.pairs.second.values
        return list(enumerate(first)), list(enumerate(second))

    def _shares(self) -> Iterator[Row]:
        for (a, first), (b, second) in product(*self._values):
            share, error = float(self.shares[a, b]), float(self.std_errors[a, b])
            finding = Finding(share, error, self.intervals[a][b], self._cell(a, b).few)
            likeliest = float(self.likeliest[a, b])
            yield self._make("share", (first, second), finding, likeliest=likeliest)

    def _groups(self) -> Iterator[Row]:
        firsts, seconds = self._values
        for b, second in seconds:
            for a, first in firsts:
                finding = group_share(self.pairs, a, b, self.confidence_level)
                likeliest = _part(self.likeliest[a], b)
                yield self._make("row-share", (first, second), finding, likeliest=likeliest)
            for a, first in firsts[1:]:
                difference, ratio = contrasts(self.pairs, (a, 0), b, self.confidence_level)
                yield self._make("difference", (first, second), difference, possible=(-1.0, 1.0))
                yield self._make("ratio", (first, second), ratio, possible=(0.0, inf))

    def _turned_groups(self) -> Iterator[Row]:
        turned = self.pairs.turned
        for (a, first), (b, second) in product(*self._values):
            finding = group_share(turned, b, a, self.confidence_level)
            likeliest = _part(self.likeliest[:, b], a)
            yield self._make("column-share", (first, second), finding, likeliest=likeliest)


def _part(shares: Array, value: int) -> float | None:
    """Return the share of a value in a group; None if nobody is in it."""
    group = float(shares.sum())
    return float(shares[value]) / group if group > 0 else None


def crosstab(
    first: Column,
    second: Column,
    confidence_level: float = 0.95,
    *,
    weights: Array | None = None,
) -> Crosstab:
    """Return the table of two questions that the same people answered.

    Parameters
    ----------
    first, second : Column
        Columns of the same respondents in the same order, randomized independently or in one draw.
        Two options that share a report are not.
    confidence_level : float
        The level of each single interval, in (0, 1).
    weights : (n,) array, optional
        The weights of respondents. Standard errors are linearized. Likelihoods count the effective
        number of respondents (Kish).

    Raises
    ------
    CannotTell
        If the noise hides everything. That is so if the interval of a share of one half would be
        [0, 1] in the noisiest cell when all pairs are equally common.
    ValueError
        If the columns have different respondents or share reports, if a question has more than 64
        values, or if weights are not numbers of at least 0.
    """
    check_level(confidence_level)
    check_columns(first, second)
    for column in (first, second):
        if len(column.values) > MOST_VALUES:
            raise ValueError(
                f"{column.name}: a table takes at most {MOST_VALUES} values, got "
                f"{len(column.values)}; its mean in groups and its correlation can be estimated"
            )
    pairs = pairs_of(first, second, weights)
    reach = float(ndtri((1 + confidence_level) / 2)) * _noise(pairs) ** 0.5
    half = reach / pairs.n_effective**0.5
    if half >= NOTHING or pairs.n < 2:
        needed = max(2, ceil((reach / WORTH) ** 2))
        raise CannotTell(
            f"{first.name} by {second.name}: too few respondents to distinguish the cells: with "
            f"{pairs.n_effective:.0f} a share is known to ± {half:.2f} only, at "
            f"ε = {rounded_up(first.epsilon)} and {rounded_up(second.epsilon)}; for ± {WORTH} it "
            f"takes {needed}",
            pairs.n_effective,
            needed,
        )
    return Crosstab(pairs, confidence_level)


def _noise(pairs: Pairs) -> float:
    """Return the largest mean square of a cell's scores if all pairs are equally common."""
    first, second = (
        float((_law(column) @ column.scores**2).max()) for column in (pairs.first, pairs.second)
    )
    # The variance of scores is their mean square less the square of their mean.
    means = 1 / len(pairs.first.values) ** 2, 1 / len(pairs.second.values) ** 2
    together = ((1 + pairs.excess) ** 2 - 1) * (first - means[0]) * (second - means[1])
    return first * second + together


def _law(column: Column) -> Array:
    """Return (reports,) the probability of each report if all values are equally common.

    If not all reports are listed, it is the frequency of each report.
    """
    return column.chances.mean(axis=1) if column.whole else column.counts() / column.n
