"""Intervals of averages, and of ratios of averages: by the range of their scores, or Fieller's."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals.normal import Interval, within_border
from analysis.estimate.intervals.shares import share_interval


def average_interval(scores: Floats, average: float, n: int, confidence_level: float) -> Interval:
    """Return Clopper and Pearson's interval for the mean of any scores, by their range.

    Of all scores in a range, those at its ends spread the most. So this is the interval for the
    share of upper ends with the count, here not a whole number, that has this average. With two
    scores it is exact; with more it is wide, but holds where few reports have extreme scores.

    Parameters
    ----------
    scores : (symbols,) array
        The score of every possible report.
    average : float
        The average over the reports that were made.
    n, confidence_level
        See `share_interval`.
    """
    # Apart from rounding, an average in [0, 1] has scores on both sides of [0, 1], or at its ends.
    low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))
    gap = high - low
    count = min(float(n), max(0.0, n * (average - low) / gap))
    nearest = round(count)
    count = nearest if abs(count - nearest) < 1e-6 else count
    interval = share_interval(count, n, (1 - low) / gap, -low / gap, confidence_level)
    return replace(interval, method=f"bounded-{interval.method}")


def quotient_interval(
    scores: Floats, present: Floats, averages: tuple[float, float], n: int, confidence_level: float
) -> Interval:
    """Return the interval of the ratio of two averages in [0, 1], from the intervals of both.

    Each misses half as often (Bonferroni), so that both hold together at the level. The two ends
    agree if all ratios that both allow are above 1.
    """
    level = (1 + confidence_level) / 2
    above = average_interval(scores, averages[0], n, level)
    below = average_interval(present, averages[1], n, level)
    high = min(1.0, above.high / below.low) if below.low > 0 else 1.0
    return Interval(min(above.low / below.high, high), high, above.method)


def fieller_interval(
    above: float,
    below: float,
    covariance: Floats,
    possible: tuple[float, float],
    confidence_level: float = 0.95,
) -> Interval:
    """Return the interval of the ratio of two expectations, by Fieller's theorem.

    It is all that is possible, with the method ``none``, if `below` is not significantly above 0.
    Where all of the interval is impossible, it is that of a normal mean known to lie within.

    Parameters
    ----------
    above, below : float
        The estimates of both expectations.
    covariance : (2, 2) array
        The covariance of these estimates.
    possible : pair of float
        The least and the largest value that the ratio can have; they may be infinite.
    confidence_level : float
        In (0, 1).

    References
    ----------
    Fieller, Journal of the Royal Statistical Society B 1954.
    """
    least, most = possible
    reach = float(ndtri((1 + confidence_level) / 2)) ** 2
    a = below**2 - reach * float(covariance[1, 1])
    b = above * below - reach * float(covariance[0, 1])
    c = above**2 - reach * float(covariance[0, 0])
    if below <= 0 or a <= 0:
        return Interval(least, most, "none")
    middle, half = b / a, max(0.0, b * b - a * c) ** 0.5 / a
    low, high = max(least, middle - half), min(most, middle + half)
    if low < high:
        return Interval(low, high, "fieller")
    if half == 0:
        return Interval(least, most, "none")
    width = float(within_border(max(least - middle, middle - most), half, most - least))
    if middle < least:
        return Interval(least, least + width, "constrained-likelihood")
    return Interval(most - width, most, "constrained-likelihood")


@dataclass(frozen=True)
class Ratio:
    """A ratio of two averages; `value` is None if the lower one is not above 0.

    `few` says that reports are too few, or too skewed, for a normal approximation: by Cochran's
    rule (Sampling Techniques, 3rd edition 1977, section 2.15: there must be more than 25 times the
    squared skewness), or because a single report could move the ratio by 0.3 standard errors.
    """

    value: float | None
    std_error: float | None
    interval: Interval
    few: bool = False


def ratio_interval(
    counts: Ints,
    scores: Floats,
    present: Floats,
    confidence_level: float = 0.95,
    n: int | None = None,
    second: Floats | None = None,
) -> Ratio:
    """Return the ratio of the averages of two scores over reports, known to lie in [0, 1].

    The interval is Fieller's (Journal of the Royal Statistical Society B, 1954) with Student's t,
    clipped to [0, 1]; with `present` constant it is the ordinary t interval of a mean. It is all of
    [0, 1] if the lower average is not significantly above 0, or no two reports differ. If it lies
    outside [0, 1], it is replaced by the likelihood interval of a normal mean known to lie within.

    Parameters
    ----------
    counts : (symbols,) array
        How often each symbol was reported.
    scores, present : (symbols,) arrays
        The upper and the lower score of each symbol.
    confidence_level : float
        In (0, 1).
    n, second : int and (symbols, symbols) array, optional
        If reports count for several symbols each: their number, and the average of the products of
        what one report counts for two symbols. Its scores are then the sums over its symbols.
    """
    n = int(counts.sum()) if n is None else n
    if n == 0:
        return Ratio(None, None, Interval(0.0, 1.0, "none"))
    above, below = float(counts @ scores) / n, float(counts @ present) / n
    value = above / below if below > 0 else None
    if n == 1:
        return Ratio(value, None, Interval(0.0, 1.0, "none"))
    if second is None:
        upper, lower = scores - above, present - below
        products = (upper * upper, lower * lower, upper * lower)
        var_above, var_below, both = (float(counts @ part) / (n - 1) / n for part in products)
    else:
        var_above = max(0.0, float(scores @ second @ scores) - above**2) / (n - 1)
        var_below = max(0.0, float(present @ second @ present) - below**2) / (n - 1)
        both = (float(scores @ second @ present) - above * below) / (n - 1)
    if var_below < 1e-18:
        # Everybody answers, so that every report has 1 here, apart from rounding.
        var_below = both = 0.0
    student = float(stdtrit(n - 1, (1 + confidence_level) / 2))
    a = below**2 - student**2 * var_below
    if value is None or a <= 0:
        return Ratio(value, None, Interval(0.0, 1.0, "fieller"))
    b = above * below - student**2 * both
    c = above**2 - student**2 * var_above
    root = max(0.0, b * b - a * c) ** 0.5
    levels = np.unique(scores)
    if len(levels) == 2 and not var_below and second is None:
        # A share, which reports of the upper score support: its interval can be exact.
        std_error = max(0.0, var_above) ** 0.5 or None
        exact = average_interval(scores, above, n, confidence_level)
        method = exact.method.removeprefix("bounded-")
        return Ratio(value, std_error, replace(exact, method=method))
    apart, skewness = scores - above - value * (present - below), 0.0
    spread = float(counts @ apart**2) / n
    if root / a < 1e-9 or (second is None and spread < 1e-18):
        # Every channel has some spread, so reports that show none are too few.
        return Ratio(value, None, Interval(0.0, 1.0, "none"))
    std_error = max(0.0, var_above - 2 * value * both + value**2 * var_below) ** 0.5 / below
    if second is None:
        skewness = float(counts @ apart**3) / n / spread**1.5
    few = n < 25 * skewness**2 or _furthest(apart, second is None) > 0.3 * n * std_error * below
    if few and second is None:
        interval = average_interval(scores, above, n, confidence_level)
        if var_below:
            interval = quotient_interval(scores, present, (above, below), n, confidence_level)
        if interval.low < interval.high:
            return Ratio(value, std_error, interval, few)
    method = "fieller" if var_below else "student-t"
    low, high = max(0.0, (b - root) / a), min(1.0, (b + root) / a)
    if low < high:
        return Ratio(value, std_error, Interval(low, high, method), few)
    border = 0.0 if value < 0 else 1.0
    width = float(within_border(abs(value - border), root / a))
    low, high = sorted((border, abs(border - width)))
    return Ratio(value, std_error, Interval(low, high, "constrained-likelihood"), few)


def _furthest(apart: Floats, one_symbol: bool) -> float:
    """Return how far from the mean the score of any possible report can be, at most.

    The scores of a report that counts for several symbols add up; all of one sign are a bound.
    """
    if one_symbol:
        return float(np.abs(apart).max())
    return float(max(apart[apart > 0].sum(), -apart[apart < 0].sum()))
