"""Trends of a share or a mean over waves, or over ordered groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.estimate.columns import Column, check_columns
from analysis.estimate.columns.estimate import support_of
from analysis.estimate.intervals import FEW, Interval, check_level, normal_interval
from analysis.estimate.quantity import possible_share
from analysis.mechanisms.base import Share
from analysis.study.crosstab.association import debiased_powers
from analysis.study.crosstab.pairs import MOST_VALUES
from analysis.study.crosstab.quotient import FEWEST
from analysis.study.resampling import MANY, permutation_p_value
from analysis.study.scores import likeliest_shares, of_one_design

Array = NDArray[np.float64]

#: Variances below this fraction of a squared amount are rounding noise.
_LEAST = 1e-18


@dataclass(frozen=True)
class Trend:
    """A line through the estimates of the waves.

    `slope` is the change for each unit of `places`. Waves are weighted by the error that they would
    have if all waves had the same shares. `std_error` and the normal interval use each wave's own
    reports, or all reports if few of a wave matter. `p_value` tests whether the slope is 0, with
    the error under equal shares. If few reports matter for that, they are shuffled among waves of
    one design. If all reports are alike and show no error, the interval is the whole possible
    range, with the method ``none``, and `p_value` is 1. `n` counts all respondents. `flag` is
    ``few`` if a wave has fewer than 100 respondents, or fewer than 5 reports that matter.
    """

    slope: float
    std_error: float
    interval: Interval
    p_value: float
    n: int
    flag: str


def trend(
    columns: Sequence[Column],
    value: str | None = None,
    places: Sequence[float] | None = None,
    confidence_level: float = 0.95,
) -> Trend:
    """Return the slope of a share or of a mean by weighted least squares; docs/methods.md, (16).

    Parameters
    ----------
    columns : sequence of Column
        Two or more columns of one question, each of different respondents. If the same people
        answered in all and noise was drawn anew, the slope's true error is smaller than
        `std_error`.
    value : str, optional
        The value whose share is meant; by default, the mean of the amounts.
    places : sequence of float, optional
        The position of each column, such as years; by default 0, 1, 2, ....
    confidence_level : float
        The level of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If there is only one column, or all have the same position; if a column does not have the
        value, or has no amounts; if a column has fewer than two respondents; or if, with several
        designs, a column has only equal reports, which show no error.
    """
    (line,) = trends(columns, [value], places, confidence_level)
    return line


def trends(
    columns: Sequence[Column],
    values: Iterable[str | None],
    places: Sequence[float] | None = None,
    confidence_level: float = 0.95,
) -> list[Trend]:
    """Return the trend of each of some values; see `trend`."""
    check_level(confidence_level)
    check_columns(*columns)
    where = np.array(range(len(columns)) if places is None else places, float)
    if where.shape != (len(columns),) or not np.isfinite(where).all() or len(np.unique(where)) < 2:
        raise ValueError(
            f"a trend needs two columns or more, each with its place in time, and at least two "
            f"different places; got {len(columns)} columns and {where.tolist()}"
        )
    of_values = [[_level(column, value) for column in columns] for value in values]
    shares = _shares_of_all(columns)
    return [_line(columns, levels, shares, where, confidence_level) for levels in of_values]


def _line(
    columns: Sequence[Column],
    levels: "Sequence[_Level]",
    shares: Array | None,
    where: Array,
    confidence_level: float,
) -> Trend:
    """Return the line through these levels; `shares` are the likeliest of all columns, or None."""
    alike, effective = _if_alike(columns, levels, shares)
    least = _LEAST * max(level.reach for level in levels) ** 2
    own = np.array([level.variance for level in levels])
    unsure = (effective < FEWEST) | (own <= least)
    by_reports = np.where(unsure, np.maximum(own, alike), own)
    known = alike > least
    if known.any() and not known.all():
        column = columns[int(np.argmin(known))]
        raise ValueError(
            f"{column.name}: expected reports that differ, or there is no standard error"
        )
    weights = 1 / alike if known.all() else np.array([float(column.n) for column in columns])
    apart = where - weights @ where / weights.sum()
    factors = weights * apart / float(weights @ apart**2)
    slope = float(factors @ [level.estimate for level in levels])
    error = float(factors**2 @ by_reports) ** 0.5
    most = float(np.maximum(0.0, factors).sum()) * max(level.reach for level in levels)
    p_value, interval = 1.0, Interval(-most, most, "none")
    if known.all():
        p_value = float(2 * ndtr(-abs(slope) / float(factors**2 @ alike) ** 0.5))
        if effective.min() < MANY and of_one_design(*columns):
            p_value = _by_shuffling(levels, factors)
        # Half of the possible changes are falls, by symmetry, as for a share.
        halved = normal_interval((slope / most + 1) / 2, error / most / 2, confidence_level)
        low, high = (most * (2 * end - 1) for end in (halved.low, halved.high))
        interval = Interval(low, high, halved.method)
    few = min(column.n for column in columns) < FEW or effective.min() < FEWEST
    n = sum(column.n for column in columns)
    return Trend(slope, error, interval, p_value, n, "few" if few else "")


@dataclass(frozen=True)
class _Level:
    """The estimate of a value's share, or of the mean of those who answered.

    `present` and `scores` are the (rows,) contributions of debiased reports to its denominator and
    numerator, and `counts` says how often each report was made. `support` is the rule of the share,
    if each report either supports it or not. `reach` is the distance between the largest and the
    smallest possible estimate.
    """

    present: Array
    scores: Array
    counts: Array
    reach: float
    support: Share | None

    @property
    def estimate(self) -> float:
        """The estimate, which is unbiased or a ratio of unbiased estimates."""
        return float(self.counts @ self.scores) / float(self.counts @ self.present)

    @property
    def variance(self) -> float:
        """The variance by the column's own reports; see docs/methods.md, (4) or (11)."""
        if self.support is not None:
            number = round(float(self.counts.sum()))
            likely = possible_share(self.estimate, number)
            return self.support.std_error(likely, number) ** 2
        n, there = float(self.counts.sum()), float(self.counts @ self.present)
        apart = self.scores - self.estimate * self.present
        return float(self.counts @ apart**2) / there**2 * n / (n - 1)


def _level(column: Column, value: str | None) -> _Level:
    if value is not None and value not in column.values:
        raise ValueError(f"{column.name}: value must be one of {column.values}, got {value!r}")
    reach, counts = 1.0, column.counts()
    support: Share | None = None
    if value is not None:
        support, _ = support_of(column, column.values.index(value))
        scores = column.scores[:, column.values.index(value)]
        present = np.ones_like(scores)
    else:
        powers = debiased_powers(column)
        if powers is None or column.amounts is None:
            raise ValueError(f"{column.name}: its values must be amounts to have a mean")
        present, scores = powers[:, 0], powers[:, 1]
        reach = float(np.nanmax(column.amounts) - np.nanmin(column.amounts))
    if float(counts @ present) <= 0 or column.n < 2:
        raise ValueError(f"{column.name}: expected at least 2 respondents who answered")
    return _Level(present, scores, counts, reach, support)


def _shares_of_all(columns: Sequence[Column]) -> Array | None:
    """Return the likeliest shares of all columns together; None if there is no estimate."""
    values = columns[0].values
    same = all(column.values == values for column in columns)
    if same and any(column.whole for column in columns) and len(values) <= MOST_VALUES:
        return likeliest_shares(*columns)
    return None


def _pooled(levels: Sequence[_Level]) -> float:
    """Return the estimate of all columns together."""
    total = sum(float(level.counts @ level.scores) for level in levels)
    return total / sum(float(level.counts @ level.present) for level in levels)


def _if_alike(
    columns: Sequence[Column], levels: Sequence[_Level], shares: Array | None
) -> tuple[Array, Array]:
    """Return each level's variance under equal shares, and the number of reports that matter.

    The likeliest shares of all columns together give the probabilities of reports. If not all
    reports are listed, their frequencies in the columns of the same design do.
    """
    pooled, found = _pooled(levels), []
    for column, level in zip(columns, levels, strict=True):
        peers = [
            other
            for peer, other in zip(columns, levels, strict=True)
            if of_one_design(column, peer)
        ]
        often = np.concatenate([peer.counts for peer in peers])
        present = np.concatenate([peer.present for peer in peers])
        scores = np.concatenate([peer.scores for peer in peers])
        freedom = often.sum() / (often.sum() - 1)
        if column.whole and shares is not None:
            often, present, scores = column.chances @ shares, level.present, level.scores
            freedom = 1.0
        law, apart = often / often.sum(), scores - pooled * present
        apart = apart - float(law @ apart)
        spread, fourth = float(law @ apart**2), float(law @ apart**4)
        there = max(float(law @ present), 1e-9)
        effective = column.n * spread**2 / max(fourth, 1e-300)
        found.append((spread * freedom / there**2 / column.n, effective))
    alike, effective = np.array(found).T
    return alike, effective


def _by_shuffling(levels: Sequence[_Level], factors: Array) -> float:
    """Return the p-value of a slope by shuffling respondents among waves."""
    pooled = _pooled(levels)
    table = scipy.linalg.block_diag(*(level.counts for level in levels))
    apart = np.concatenate([level.scores - pooled * level.present for level in levels])
    sizes = np.array([float(level.counts @ level.present) for level in levels])
    p_value, _ = permutation_p_value(table, (factors / sizes)[:, None], apart[:, None])
    return p_value
