"""Intervals of averages and of ratios of averages: by the range of scores, or by Fieller."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals.normal import Interval, within_border
from analysis.estimate.intervals.shares import Ends, share_intervals


def average_interval(scores: Floats, average: float, n: int, confidence_level: float) -> Interval:
    """Return Clopper and Pearson's interval for the mean of any scores, by their range.

    Of all scores in a range, those at its ends spread the most. So this is the interval for the
    share of upper ends. Its count is the one with this average, and need not be a whole number.
    With two scores the interval is exact. With more it is wide, but is valid if few reports have
    extreme scores (docs/methods.md, (13)).

    Parameters
    ----------
    scores : (symbols,) array
        The score of every possible report.
    average : float
        The average over the reports that were made.
    n, confidence_level
        See `share_interval`.
    """
    ends = _of_averages(scores, np.array([average]), n, confidence_level)
    return Interval(float(ends.low[0]), float(ends.high[0]), f"bounded-{ends.methods[0]}")


def _of_averages(scores: Floats, averages: Floats, n: int, confidence_level: float) -> Ends:
    """Return the ends of `average_interval` for many averages."""
    # Apart from rounding, there are scores at or beyond both ends of [0, 1].
    low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))
    gap = high - low
    counts = np.clip(n * (averages - low) / gap, 0.0, float(n))
    nearest = np.round(counts)
    counts = np.where(np.abs(counts - nearest) < 1e-6, nearest, counts)
    return share_intervals(counts, n, (1 - low) / gap, -low / gap, confidence_level)


def _of_quotients(
    scores: Floats, present: Floats, above: Floats, below: Floats, n: int, confidence_level: float
) -> Ends:
    """Return the ends of ratios of two averages in [0, 1], from the intervals of both.

    Each interval misses half as often (Bonferroni), so that both together have the level. The two
    ends agree if all ratios that both intervals allow are above 1.
    """
    level = (1 + confidence_level) / 2
    top = _of_averages(scores, above, n, level)
    bottom = _of_averages(present, below, n, level)
    high = np.ones(len(above))
    np.divide(top.high, bottom.low, out=high, where=bottom.low > 0)
    high = np.minimum(1.0, high)
    return Ends(np.minimum(top.low / bottom.high, high), high, top.exact)


def fieller_interval(
    above: float,
    below: float,
    covariance: Floats,
    possible: tuple[float, float],
    confidence_level: float = 0.95,
) -> Interval:
    """Return the interval of the ratio of two expectations, by Fieller's theorem.

    It is the whole possible range, with the method ``none``, if `below` is not significantly above
    0. If the whole interval is impossible, it is that of a normal mean that is known to lie within.

    Parameters
    ----------
    above, below : float
        The estimates of both expectations.
    covariance : (2, 2) array
        The covariance of these estimates.
    possible : pair of float
        The least and the largest value that the ratio can have, which may be infinite.
    confidence_level : float
        In (0, 1).

    References
    ----------
    Fieller, Journal of the Royal Statistical Society B 1954.
    """
    least, most = possible
    (var_above, both), (_, var_below) = covariance
    reach = float(ndtri((1 + confidence_level) / 2))
    is_told, *ends = _fieller(above, below, (var_above, both, var_below), reach)
    if not is_told:
        return Interval(least, most, "none")
    middle, half = map(float, ends)
    low, high = max(least, middle - half), min(most, middle + half)
    if low < high:
        return Interval(low, high, "fieller")
    if half == 0:
        return Interval(least, most, "none")
    width = float(within_border(max(least - middle, middle - most), half, most - least))
    if middle < least:
        return Interval(least, least + width, "constrained-likelihood")
    return Interval(most - width, most, "constrained-likelihood")


def _fieller(
    above: ArrayLike, below: ArrayLike, covariance: Sequence[ArrayLike], reach: float
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return the middles and the half-widths of Fieller's intervals of above / below.

    Before them stands whether each `below` is significantly above 0; otherwise the two numbers mean
    nothing. `covariance` has the variance of `above`, the covariance, and the variance of `below`,
    and `reach` is the quantile of the errors.
    """
    above, below, var_above, both, var_below = map(np.asarray, (above, below, *covariance))
    a = below**2 - reach**2 * var_below
    b = above * below - reach**2 * both
    c = above**2 - reach**2 * var_above
    is_told = (below > 0) & (a > 0)
    a = np.where(is_told, a, 1.0)
    return is_told, b / a, np.sqrt(np.maximum(0.0, b * b - a * c)) / a


@dataclass(frozen=True)
class Ratio:
    """A ratio of two averages; `value` is None if the lower one is not above 0.

    `few` says that reports are too few, or too skewed, for a normal approximation. It follows
    Cochran's rule (Sampling Techniques, 3rd edition 1977, section 2.15: the number must exceed 25
    times the squared skewness). It also holds if a single report could move the ratio by 0.3
    standard errors.
    """

    value: float | None
    std_error: float | None
    interval: Interval
    few: bool = False


@dataclass(frozen=True)
class Ratios:
    """Many ratios: arrays with an entry for each `Ratio`. NaN stands for None."""

    values: Floats
    std_errors: Floats
    low: Floats
    high: Floats
    methods: NDArray[np.object_]
    few: NDArray[np.bool_]

    def at(self, place: int) -> Ratio:
        """Return the ratio at an index."""
        value, std_error = float(self.values[place]), float(self.std_errors[place])
        return Ratio(
            None if isnan(value) else value,
            None if isnan(std_error) else std_error,
            Interval(float(self.low[place]), float(self.high[place]), self.methods[place]),
            bool(self.few[place]),
        )

    def put(self, some: NDArray[np.bool_], ends: Ends) -> None:
        """Replace some of the intervals by those of counts, if the ends of these differ."""
        apart = ends.low < ends.high
        places = np.flatnonzero(some)[apart]
        self.low[places], self.high[places] = ends.low[apart], ends.high[apart]
        prefix = np.where(self.few[places], "bounded-", "").astype(object)
        self.methods[places] = prefix + ends.methods[apart]


def ratio_interval(
    counts: Ints,
    scores: Floats,
    present: Floats,
    confidence_level: float = 0.95,
    n: int | None = None,
    second: Floats | None = None,
) -> Ratio:
    """Return the ratio of the averages of two scores over reports, which lies in [0, 1].

    The interval is Fieller's (Journal of the Royal Statistical Society B, 1954; docs/methods.md,
    (12)) with Student's t, clipped to [0, 1]. If `present` is constant, it is the ordinary t
    interval of a mean. It is the whole of [0, 1] if the lower average is not significantly above 0,
    or if no two reports differ. If it lies outside [0, 1], it is replaced by the likelihood
    interval of a normal mean that is known to lie within.

    Parameters
    ----------
    counts : (symbols,) array
        How often each symbol was reported.
    scores, present : (symbols,) arrays
        The upper and the lower score of each symbol.
    confidence_level : float
        In (0, 1).
    n, second : int and (symbols, symbols) array, optional
        These are given if a report counts for several symbols: the number of reports, and the
        average of the products of one report's counts for two symbols. A report's scores are then
        the sums over its symbols.
    """
    n = int(counts.sum()) if n is None else n
    products = None if second is None else second[None]
    return ratio_intervals(counts[None], scores, present, confidence_level, n, products).at(0)


def ratio_intervals(
    counts: Ints,
    scores: Floats,
    present: Floats,
    confidence_level: float,
    n: int,
    second: Floats | None = None,
) -> Ratios:
    """Return `ratio_interval` of each of many samples of `n` reports; see docs/methods.md, (11).

    Parameters
    ----------
    counts : (samples, symbols) array
    second : (samples, symbols, symbols) array, optional
    scores, present, confidence_level, n
        See `ratio_interval`.
    """
    samples, one_symbol = len(counts), second is None
    nothing = np.full(samples, np.nan)
    above, below = counts @ scores / max(1, n), counts @ present / max(1, n)
    values = np.divide(above, below, out=nothing.copy(), where=below > 0)
    if n < 2:
        none, no = np.full(samples, "none", dtype=object), np.zeros(samples, dtype=bool)
        return Ratios(values, nothing, np.zeros(samples), np.ones(samples), none, no)
    if second is None:
        upper, lower = scores - above[:, None], present - below[:, None]
        products = upper * upper, lower * lower, upper * lower
        var_above, var_below, both = ((counts * x).sum(axis=1) / (n - 1) / n for x in products)
    else:
        upper, lower = second @ scores, second @ present
        var_above = np.maximum(0.0, upper @ scores - above**2) / (n - 1)
        var_below = np.maximum(0.0, lower @ present - below**2) / (n - 1)
        both = (upper @ present - above * below) / (n - 1)
    # If everybody answers, every report has 1 here, apart from rounding.
    always = var_below < 1e-18
    var_below, both = np.where(always, 0.0, var_below), np.where(always, 0.0, both)
    student = float(stdtrit(n - 1, (1 + confidence_level) / 2))
    told, middle, half = _fieller(above, below, (var_above, both, var_below), student)
    divisor, value = (np.where(told, each, 1.0) for each in (below, values))
    apart = scores - above[:, None] - value[:, None] * (present - below[:, None])
    spread = (counts * apart**2).sum(axis=1) / n
    # This is a share, which reports of the upper score support. Its interval can be exact.
    shares = told & always & one_symbol & (len(np.unique(scores)) == 2)
    # Every channel has some spread, so reports without any are too few.
    alike = told & ~shares & ((half < 1e-9) | (one_symbol & (spread < 1e-18)))
    usual = told & ~shares & ~alike
    errors = np.sqrt(np.maximum(0.0, var_above - 2 * value * both + value**2 * var_below)) / divisor
    few = _furthest(apart, one_symbol) > 0.3 * n * errors * below
    if one_symbol:
        skewness = (counts * apart**3).sum(axis=1) / n / np.where(usual, spread, 1.0) ** 1.5
        few |= n < 25 * skewness**2
    few &= usual
    low = np.where(usual, np.maximum(0.0, middle - half), 0.0)
    high = np.where(usual, np.minimum(1.0, middle + half), 1.0)
    methods = np.where(usual & always, "student-t", "fieller").astype(object)
    methods[alike] = "none"
    outside = low >= high
    border = np.where(value < 0, 0.0, 1.0)
    inside = np.abs(border - within_border(np.abs(value - border), half))
    low = np.where(outside, np.minimum(border, inside), low)
    high = np.where(outside, np.maximum(border, inside), high)
    methods[outside] = "constrained-likelihood"
    std_errors = np.where(usual, errors, nothing)
    std_errors[shares] = np.sqrt(np.where(var_above > 0, var_above, np.nan))[shares]
    found = Ratios(values, std_errors, low, high, methods, few)
    if one_symbol:
        of_average, of_quotient = shares | few & always, few & ~always
        found.put(of_average, _of_averages(scores, above[of_average], n, confidence_level))
        averages = above[of_quotient], below[of_quotient]
        found.put(of_quotient, _of_quotients(scores, present, *averages, n, confidence_level))
    return found


def _furthest(apart: Floats, one_symbol: bool) -> Floats:
    """Return a bound of the distance between the mean and the score of a possible report.

    The scores of a report that counts for several symbols add up. The sum of all scores of one sign
    is a bound.
    """
    if one_symbol:
        return np.asarray(np.abs(apart).max(axis=1))
    return np.asarray(
        np.maximum(np.maximum(apart, 0).sum(axis=1), -np.minimum(apart, 0).sum(axis=1))
    )
