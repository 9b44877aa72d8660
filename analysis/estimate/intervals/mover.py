"""Intervals of differences, made from the intervals of both parts (MOVER)."""

from math import hypot, sqrt

from analysis.estimate.intervals.normal import Interval


def error_of_difference(one: float, other: float, correlation: float = 0.0) -> float:
    """Return the standard error of a difference, from both errors and the correlation."""
    # This is the root of one^2 + other^2 - 2 correlation one other, without cancellation.
    return hypot(one - correlation * other, sqrt(1 - correlation**2) * other)


def mover_difference(
    value: float,
    interval: Interval,
    base: float,
    base_interval: Interval,
    possible: tuple[float, float],
    correlation: float = 0.0,
) -> Interval:
    """Return the interval of ``value - base``, at the level of both intervals.

    Parameters
    ----------
    value, base : float
        Estimates, each within its interval.
    interval, base_interval : Interval
    possible : pair of float
        The least and the largest difference.
    correlation : float
        The correlation of both estimates, in [-1, 1]; 0 if they are of different people.

    References
    ----------
    Newcombe, Statistics in Medicine 1998 (method 10 of independent shares); Zou, Psychological
    Methods 2007 (correlated estimates); docs/methods.md, (44).
    """
    below = value - interval.low, base_interval.high - base
    above = interval.high - value, base - base_interval.low
    low = value - base - error_of_difference(*below, correlation)
    high = value - base + error_of_difference(*above, correlation)
    return Interval(max(possible[0], low), min(possible[1], high), "mover")
