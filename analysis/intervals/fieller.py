"""Fieller's interval for a ratio of two nearly normal estimates that correlate."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.intervals.interval import Interval
from analysis.intervals.normal import within_border


def fieller_interval(
    above: float,
    below: float,
    covariance: NDArray[np.float64],
    possible: tuple[float, float],
    confidence_level: float = 0.95,
) -> Interval:
    """Interval of ``above / below``, the expectations of both.

    All that is possible, with the method ``none``, if `below` cannot be told from 0, or is less.
    Where all of the interval is impossible, that of a normal mean known to lie within is given.

    Parameters
    ----------
    above, below : float
        Estimates.
    covariance : (2, 2) array
        Of both.
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
