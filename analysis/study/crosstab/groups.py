"""Shares within groups that nobody was seen to be in, and how far groups are apart."""

from dataclasses import dataclass, replace
from math import hypot, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.intervals import Interval
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab.pairs import Pairs
from analysis.study.crosstab.quotient import Quotient, quotient


@dataclass(frozen=True)
class Finding:
    """What reports tell of a share, mean, difference, ratio or correlation.

    `estimate` is made of unbiased ones, and may be impossible. It is None with its error where what
    it is divided by, as the share of a group, is not above 0. The method of `interval` is ``none``
    where that is not told to be above 0. `few` tells that reports of a kind that the interval
    depends on are too few for it.
    """

    estimate: float | None
    std_error: float | None
    interval: Interval
    few: bool = False


def group_share(pairs: Pairs, group: int, value: int, confidence_level: float = 0.95) -> Finding:
    """Share of a value of the second question among those with a value of the first.

    With an empirical-likelihood interval.

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
    part = _part(pairs, group, value)
    return Finding(estimate, std_error, part.interval((0.0, 1.0), confidence_level), few=part.few)


def contrasts(
    pairs: Pairs, groups: tuple[int, int], value: int, confidence_level: float = 0.95
) -> tuple[Finding, Finding]:
    """The difference and the ratio of a value's share in a group, and in the one to compare with.

    Both are ratios of products of unbiased shares, and have Fieller's interval: at borders, where
    those made of the intervals of both shares (MOVER) hold .90, it holds .94 and more. But where
    reports are few it holds .72, and the latter, which then holds .95, is given. Of a ratio the
    upper end may be infinite.

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
    parts = [_part(pairs, group, value) for group in groups]
    few = any(part.few for part in parts)
    difference = _contrast(
        cross - cross_other,
        product,
        np.array([slope_cross - slope_other, slope_product]),
        covariance,
        (-1.0, 1.0),
        confidence_level,
        min(size, base) > 0,
        few,
    )
    ratio = _contrast(
        cross,
        cross_other,
        np.array([slope_cross, slope_other]),
        covariance,
        (0.0, inf),
        confidence_level,
        min(size, base, other) > 0,
        few,
    )
    if few:
        shares = np.clip([one / size, other / base], 0.0, 1.0)
        intervals = [part.interval((0.0, 1.0), confidence_level) for part in parts]
        if difference.interval.method != "none":
            difference = replace(difference, interval=_mover_difference(shares, intervals))
        if ratio.interval.method != "none":
            ratio = replace(ratio, interval=_mover_ratio(shares, intervals))
    return difference, ratio


def _mover_difference(shares: NDArray[np.float64], intervals: list[Interval]) -> Interval:
    """From the interval of each share (Newcombe, Statistics in Medicine 1998, method 10)."""
    (one, other), (of_one, of_other) = map(float, shares), intervals
    low = one - other - hypot(one - of_one.low, of_other.high - other)
    high = one - other + hypot(of_one.high - one, other - of_other.low)
    return Interval(max(-1.0, low), min(1.0, high), "mover")


def _mover_ratio(shares: NDArray[np.float64], intervals: list[Interval]) -> Interval:
    """The same of a ratio (Donner and Zou, Statistical Methods in Medical Research 2012)."""
    (one, other), (of_one, of_other) = map(float, shares), intervals
    both = one * other
    least, most = of_one.low * (2 * one - of_one.low), of_one.high * (2 * one - of_one.high)
    base, top = (
        of_other.low * (2 * other - of_other.low),
        of_other.high * (2 * other - of_other.high),
    )
    low = least / (both + sqrt(max(0.0, both**2 - least * top))) if least else 0.0
    high = (both + sqrt(max(0.0, both**2 - most * base))) / base if base else inf
    return Interval(low, high, "mover")


def _contrast(
    above: float,
    below: float,
    slopes: NDArray[np.float64],
    covariance: NDArray[np.float64],
    possible: tuple[float, float],
    confidence_level: float,
    defined: bool,
    few: bool,
) -> Finding:
    """Of the ratio of two numbers, from how they change with what has this covariance."""
    if not defined:
        return Finding(None, None, Interval(*possible, "none"))
    own = slopes @ covariance @ slopes.T
    ratio = float(above / below)
    interval = fieller_interval(float(above), float(below), own, possible, confidence_level)
    return Finding(ratio, _error(np.array([1, -ratio]) / below, own), interval, few)


def _part(pairs: Pairs, group: int, value: int) -> Quotient:
    """The share of a value in a group."""
    scores = pairs.second.scores[:, value]
    return quotient(pairs, pairs.first.scores[:, group], scores, np.ones_like(scores))


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
