"""Intervals of averages in [0, 1] by the range of their scores, where no normal one would hold."""

import numpy as np
from numpy.typing import NDArray

from analysis.intervals.interval import Interval
from analysis.intervals.shares import share_interval


def average_interval(
    scores: NDArray[np.float64], average: float, n: int, confidence_level: float
) -> Interval:
    """Clopper and Pearson's interval for the mean of any scores, by their range.

    Of all scores in a range, those at its ends spread the most; so the interval for the share of
    upper ends is taken with the count, here no whole number, that has this average. With two scores
    it is exact; with more it is wide, but holds where few reports have scores far from the others.

    Parameters
    ----------
    scores : (symbols,) array
        Of every report that there can be.
    average : float
        Over the reports that were made.
    n, confidence_level
        As of `share_interval`.
    """
    # What is in [0, 1] on average has scores on both sides of it, or at its ends, but for rounding.
    low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))
    gap = high - low
    count = min(float(n), max(0.0, n * (average - low) / gap))
    nearest = round(count)
    count = nearest if abs(count - nearest) < 1e-6 else count
    found = share_interval(count, n, (1 - low) / gap, -low / gap, confidence_level)
    return Interval(found.low, found.high, f"bounded-{found.method}")


def quotient_interval(
    scores: NDArray[np.float64],
    present: NDArray[np.float64],
    averages: tuple[float, float],
    n: int,
    confidence_level: float,
) -> Interval:
    """Of the ratio of two averages in [0, 1]: from the intervals of both.

    Each misses half as often (Bonferroni), so that both hold together at the level. The two ends
    are the same if all ratios that both allow are above 1.
    """
    level = (1 + confidence_level) / 2
    above = average_interval(scores, averages[0], n, level)
    below = average_interval(present, averages[1], n, level)
    high = min(1.0, above.high / below.low) if below.low > 0 else 1.0
    return Interval(min(above.low / below.high, high), high, above.method)
