"""Shares within groups that nobody was seen to be in, and how far groups are apart."""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from analysis.crosstab.fieller import fieller_interval
from analysis.crosstab.pairs import Pairs
from analysis.crosstab.profile import profile_interval
from analysis.intervals import Interval


@dataclass(frozen=True)
class Finding:
    """What reports tell of a share, mean, difference, ratio or correlation.

    `estimate` is made of unbiased ones, and may be impossible. It is None with its error where what
    it is divided by, as the share of a group, is not above 0. The method of `interval` is ``none``
    where that is not told to be above 0.
    """

    estimate: float | None
    std_error: float | None
    interval: Interval


def group_share(pairs: Pairs, group: int, value: int, confidence_level: float = 0.95) -> Finding:
    """Share of a value of the second question among those with a value of the first.

    With a profile-likelihood interval.

    Parameters
    ----------
    pairs : Pairs
        Turn them for groups by the second question: see `turned`.
    group, value : int
        Places of a value of the first, and of the second.
    confidence_level : float
        In (0, 1).
    """
    (among, there), covariance = _moments(pairs, [group], value)
    estimate = std_error = None
    if there > 0:
        estimate = float(among / there)
        std_error = _error(np.array([1, -estimate]) / there, covariance)
    rows, columns, times = pairs.seen
    inside = pairs.first.scores[rows, group]
    interval = profile_interval(
        times, inside * pairs.second.scores[columns, value], inside, (0.0, 1.0), confidence_level
    )
    return Finding(estimate, std_error, interval)


def contrasts(
    pairs: Pairs, groups: tuple[int, int], value: int, confidence_level: float = 0.95
) -> tuple[Finding, Finding]:
    """The difference and the ratio of a value's share in a group, and in the one to compare with.

    Both are ratios of products of unbiased shares, and have Fieller's interval: at borders, where
    those made of the intervals of both shares (MOVER) hold .90, it holds .94 and more. Of a ratio
    the upper end may be infinite.

    Parameters
    ----------
    pairs : Pairs
    groups : pair of int
        Places of values of the first question: of the group, and of the one to compare with.
    value : int
        Place of a value of the second.
    confidence_level : float
        In (0, 1).
    """
    (one, size, other, base), covariance = _moments(pairs, list(groups), value)
    product, cross = size * base, one * base
    slope_product, slope_cross = np.array([0, base, 0, size]), np.array([base, 0, 0, one])
    cross_other, slope_other = other * size, np.array([0, other, size, 0])
    return (
        _contrast(
            cross - cross_other,
            product,
            np.array([slope_cross - slope_other, slope_product]),
            covariance,
            (-1.0, 1.0),
            confidence_level,
            min(size, base) > 0,
        ),
        _contrast(
            cross,
            cross_other,
            np.array([slope_cross, slope_other]),
            covariance,
            (0.0, inf),
            confidence_level,
            min(size, base, other) > 0,
        ),
    )


def _contrast(
    above: float,
    below: float,
    slopes: NDArray[np.float64],
    covariance: NDArray[np.float64],
    possible: tuple[float, float],
    confidence_level: float,
    defined: bool,
) -> Finding:
    """Of the ratio of two numbers, from how they change with what has this covariance."""
    if not defined:
        return Finding(None, None, Interval(*possible, "none"))
    own = slopes @ covariance @ slopes.T
    ratio = float(above / below)
    interval = fieller_interval(float(above), float(below), own, possible, confidence_level)
    return Finding(ratio, _error(np.array([1, -ratio]) / below, own), interval)


def _moments(
    pairs: Pairs, groups: list[int], value: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased shares of the pair (group, value) and of the group, for each; their covariance."""
    one = pairs.first.scores[:, groups]
    other = pairs.second.scores[:, [value]]
    other = np.hstack([other, np.ones_like(other)])
    return pairs.averages(one, other).ravel(), pairs.covariance(one, other)


def _error(slope: NDArray[np.float64], covariance: NDArray[np.float64]) -> float:
    return sqrt(max(0.0, float(slope @ covariance @ slope)))
