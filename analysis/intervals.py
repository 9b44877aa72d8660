"""Confidence intervals that hold what they say, for shares and means seen through a channel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, chdtri, ndtri, stdtrit, xlog1py, xlogy


@dataclass(frozen=True)
class Interval:
    """A confidence interval, ``low < high``, with the name of the method that gave it."""

    low: float
    high: float
    method: str


def share_interval(
    count: float, n: int, p: float, q: float, confidence_level: float = 0.95
) -> Interval:
    """Interval for the share of a value, of which `count` reports among `n` are a sign.

    Clopper and Pearson's interval (Biometrika 1934) for the probability of support, mapped through
    ``support = q + (p - q) share`` and clipped to [0, 1]: its coverage is at least the level at
    every share and every n. Where all of it lies outside [0, 1] (the reports are further off than
    noise explains at this level), the profile-likelihood interval at the border is given instead,
    so that it never shrinks to a point; coverage can only rise by that.

    Parameters
    ----------
    count, n : int
        ``0 <= count <= n``. With ``n = 0`` the interval is all of [0, 1].
    p, q : float
        Probability that a report supports the value if it is the true one, and if another is.
    confidence_level : float
        In (0, 1).
    """
    tail = (1 - confidence_level) / 2
    bottom = betaincinv(count, n - count + 1, tail) if count else 0.0
    top = betaincinv(count + 1, n - count, 1 - tail) if count < n else 1.0
    ends = sorted(((bottom - q) / (p - q), (top - q) / (p - q)))
    low, high = (min(1.0, max(0.0, float(end))) for end in ends)
    if low < high:
        return Interval(low, high, "clopper-pearson")
    return _border_interval(count, n, p, q, confidence_level, border=low)


def normal_intervals(
    estimates: NDArray[np.float64], std_errors: NDArray[np.float64], confidence_level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper ends for shares, from normal estimates of them, clipped to [0, 1].

    Where all of one lies outside, the likelihood interval of a normal mean known to lie within is
    given instead, so that it never shrinks to a point; coverage can only rise by that.

    Parameters
    ----------
    estimates, std_errors : (n,) arrays
        ``std_errors > 0``; estimates may lie outside [0, 1].
    confidence_level : float
        In (0, 1).
    """
    reach = float(ndtri((1 + confidence_level) / 2)) * std_errors
    low, high = estimates - reach, estimates + reach
    beyond = np.maximum(0.0, np.maximum(-estimates, estimates - 1))
    width = np.minimum(1.0, np.hypot(reach, beyond) - beyond)
    return (
        np.where(low >= 1, 1 - width, np.maximum(low, 0.0)),
        np.where(high <= 0, width, np.minimum(high, 1.0)),
    )


def normal_interval(estimate: float, std_error: float, confidence_level: float) -> Interval:
    """As `normal_intervals`, of one share, with the name of the method."""
    ends = normal_intervals(np.array([estimate]), np.array([std_error]), confidence_level)
    low, high = (float(end[0]) for end in ends)
    reach = float(ndtri((1 + confidence_level) / 2)) * std_error
    usual = -reach < estimate < 1 + reach
    return Interval(low, high, "normal" if usual else "constrained-likelihood")


def _border_interval(
    count: float, n: int, p: float, q: float, confidence_level: float, border: float
) -> Interval:
    """Shares whose likelihood is near that of `border`, 0 or 1, the likeliest in [0, 1]."""

    def fall(share: float) -> float:
        support = q + (p - q) * share
        return float(xlogy(count, support) + xlog1py(n - count, -support))

    most = chdtri(1, 1 - confidence_level) / 2
    other = 1.0 - border
    if fall(border) - fall(other) <= most:
        return Interval(0.0, 1.0, "profile-likelihood")
    end = brentq(lambda share: fall(border) - fall(share) - most, border, other)
    return Interval(min(border, end), max(border, end), "profile-likelihood")


def _bounded(
    scores: NDArray[np.float64], average: float, n: int, confidence_level: float
) -> Interval:
    """Clopper and Pearson's interval for the mean of any scores, by their range.

    Of all scores in a range, those at its ends spread the most; so the interval for the share of
    upper ends is taken with the count, here no whole number, that has this average. With two scores
    it is exact; with more it is wide, but holds where few reports have scores far from the others.
    """
    low, gap = float(scores.min()), float(np.ptp(scores))
    count = min(float(n), max(0.0, n * (average - low) / gap))
    nearest = round(count)
    count = nearest if abs(count - nearest) < 1e-6 else count
    found = share_interval(count, n, (1 - low) / gap, -low / gap, confidence_level)
    return Interval(found.low, found.high, f"bounded-{found.method}")


def _bounded_ratio(
    scores: NDArray[np.float64],
    present: NDArray[np.float64],
    averages: tuple[float, float],
    n: int,
    confidence_level: float,
) -> Interval:
    """Of the ratio of two averages in [0, 1]: from the intervals of both, each missing half as
    often (Bonferroni), so that both hold together at the level."""
    level = (1 + confidence_level) / 2
    above = _bounded(scores, averages[0], n, level)
    below = _bounded(present, averages[1], n, level)
    high = min(1.0, above.high / below.low) if below.low > 0 else 1.0
    return Interval(min(above.low / below.high, high), high, above.method)


def _furthest(apart: NDArray[np.float64], one_symbol: bool) -> float:
    """How far from the mean the score of one report can be, whether such a report was seen or not.

    The scores of a report that counts for several symbols add up; all of one sign are a bound.
    """
    if one_symbol:
        return float(np.abs(apart).max())
    return float(max(apart[apart > 0].sum(), -apart[apart < 0].sum()))


@dataclass(frozen=True)
class Ratio:
    """A ratio of two averages; `value` is None if the lower one is not above 0.

    `few` tells that reports are too few, or too skewed, for a normal approximation: by Cochran's
    rule (Sampling Techniques, 3rd edition 1977, section 2.15: more than 25 times the squared
    skewness), or because a single report, seen or not, could move it by 0.3 standard errors.
    """

    value: float | None
    std_error: float | None
    interval: Interval
    few: bool = False


def ratio_interval(
    counts: NDArray[np.int64],
    scores: NDArray[np.float64],
    present: NDArray[np.float64],
    confidence_level: float = 0.95,
    n: int | None = None,
    second: NDArray[np.float64] | None = None,
) -> Ratio:
    """Ratio of the averages of two scores over reports, known to lie in [0, 1].

    Fieller's interval (Journal of the Royal Statistical Society B, 1954) with Student's t, clipped
    to [0, 1]; with `present` constant it is the ordinary t interval of a mean. All of [0, 1] if the
    lower average cannot be told from 0, or there are no two different reports. If the interval lies
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
        what one report counts, symbol by symbol. Its scores are then the sums over its symbols.
    """
    n = int(counts.sum()) if n is None else n
    if n == 0:
        return Ratio(None, None, Interval(0.0, 1.0, "none"))
    above, below = float(counts @ scores) / n, float(counts @ present) / n
    value = above / below if below > 0 else None
    if n == 1:
        return Ratio(value, None, Interval(0.0, 1.0, "none"))
    one, two = scores - above, present - below
    if second is None:
        var_above, var_below, both = (
            float(counts @ product) / (n - 1) / n for product in (one * one, two * two, one * two)
        )
    else:
        var_above = max(0.0, float(scores @ second @ scores) - above**2) / (n - 1)
        var_below = max(0.0, float(present @ second @ present) - below**2) / (n - 1)
        both = (float(scores @ second @ present) - above * below) / (n - 1)
    if var_below < 1e-18:
        # Everybody answers, so that every report has 1 here, but for rounding.
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
        # The place is a share, so its interval can be exact: reports of the upper score support it.
        std_error = max(0.0, var_above) ** 0.5 or None
        found = _bounded(scores, above, n, confidence_level)
        method = found.method.removeprefix("bounded-")
        return Ratio(value, std_error, Interval(found.low, found.high, method))
    if root / a < 1e-9:
        # Reports that show no spread at all, while every channel has some: too few, and alike.
        return Ratio(value, None, Interval(0.0, 1.0, "none"))
    std_error = max(0.0, var_above - 2 * value * both + value**2 * var_below) ** 0.5 / below
    apart, skewness = one - value * two, 0.0
    if second is None:
        skewness = float(counts @ apart**3) / n / (float(counts @ apart**2) / n) ** 1.5
    few = n < 25 * skewness**2 or _furthest(apart, second is None) > 0.3 * n * std_error * below
    if few and second is None:
        found = _bounded(scores, above, n, confidence_level)
        if var_below:
            found = _bounded_ratio(scores, present, (above, below), n, confidence_level)
        return Ratio(value, std_error, found, few)
    method = "fieller" if var_below else "student-t"
    low, high = max(0.0, (b - root) / a), min(1.0, (b + root) / a)
    if low < high:
        return Ratio(value, std_error, Interval(low, high, method), few)
    border = 0.0 if value < 0 else 1.0
    width = min(1.0, ((root / a) ** 2 + (value - border) ** 2) ** 0.5 - abs(value - border))
    ends = sorted((border, abs(border - width)))
    found = Interval(ends[0], ends[1], "constrained-likelihood")
    return Ratio(value, std_error, found, few)
