"""Shares within groups whose members are not known, and differences between groups."""

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.intervals import Interval, mover_difference
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab.pairs import Pairs
from analysis.study.crosstab.quotient import Quotient, quotient

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """An estimate of a share, mean, difference, ratio or correlation, with its interval.

    `estimate` is made of unbiased estimates, and may be impossible. It and its error are None if
    the denominator, such as the share of a group, is not above 0. The method of `interval` is
    ``none`` if reports do not show that the denominator is above 0. `few` says whether the interval
    depends on a kind of report that is too rare.
    """

    estimate: float | None
    std_error: float | None
    interval: Interval
    few: bool = False


def group_share(pairs: Pairs, group: int, value: int, confidence_level: float = 0.95) -> Finding:
    """Return the share of a value of the second question among those with a value of the first.

    `group` is the index of the value of the first question, and `value` that of the second. Use
    `Pairs.turned` for groups by the second question. The interval is by empirical likelihood; see
    docs/methods.md, (19).
    """
    (among, there), covariance = _moments(pairs, [group], value)
    estimate = std_error = None
    if there > 0:
        estimate = float(among / there)
        std_error = delta_error(np.array([1, -estimate]) / there, covariance)
    part = _part(pairs, group, value)
    return Finding(estimate, std_error, part.interval((0.0, 1.0), confidence_level), few=part.few)


def contrasts(
    pairs: Pairs, groups: tuple[int, int], value: int, confidence_level: float = 0.95
) -> tuple[Finding, Finding]:
    """Return the difference and the ratio of a value's shares in a group and in a reference group.

    Both are ratios of products of unbiased shares, and have Fieller's interval. At borders it
    covers .94 or more, while an interval made of those of both shares (MOVER) covers .90. But if
    reports are few, Fieller's covers .72, and MOVER's, which is then given, covers .95. The upper
    end of the interval of a ratio may be infinite. `groups` are the indices of the group and its
    reference among the values of the first question. `value` is the index of a value of the second.
    """
    (share, size, reference, base), covariance = _moments(pairs, list(groups), value)
    product, cross, cross_reference = size * base, share * base, reference * size
    slope_product, slope_cross = np.array([0, base, 0, size]), np.array([base, 0, 0, share])
    slope_reference = np.array([0, reference, size, 0])
    parts = [_part(pairs, group, value) for group in groups]
    few = any(part.few for part in parts)

    def ratio_of(
        above: float, below: float, slopes: list[Array], possible: tuple[float, float]
    ) -> Finding:
        """Return a ratio of two estimates, with its Fieller interval (delta method)."""
        joint = np.array(slopes) @ covariance @ np.array(slopes).T
        ratio = float(above / below)
        interval = fieller_interval(float(above), float(below), joint, possible, confidence_level)
        return Finding(ratio, delta_error(np.array([1, -ratio]) / below, joint), interval, few)

    difference = Finding(None, None, Interval(-1.0, 1.0, "none"))
    ratio = Finding(None, None, Interval(0.0, inf, "none"))
    if min(size, base) > 0:
        slopes = [slope_cross - slope_reference, slope_product]
        difference = ratio_of(cross - cross_reference, product, slopes, (-1.0, 1.0))
    if min(size, base, reference) > 0:
        ratio = ratio_of(cross, cross_reference, [slope_cross, slope_reference], (0.0, inf))
    if few:
        shares = np.clip([share / size, reference / base], 0.0, 1.0)
        intervals = [part.interval((0.0, 1.0), confidence_level) for part in parts]
        if difference.interval.method != "none":
            interval = mover_difference(
                float(shares[0]), intervals[0], float(shares[1]), intervals[1], (-1.0, 1.0)
            )
            difference = replace(difference, interval=interval)
        if ratio.interval.method != "none":
            ratio = replace(ratio, interval=_mover_ratio(shares, intervals))
    return difference, ratio


def _mover_ratio(shares: Array, intervals: list[Interval]) -> Interval:
    """Combine both for a ratio (Donner and Zou, Statistical Methods in Medical Research 2012)."""
    (share, base), product = map(float, shares), float(shares[0]) * float(shares[1])
    (top_low, top_high), (base_low, base_high) = (
        (interval.low * (2 * at - interval.low), interval.high * (2 * at - interval.high))
        for at, interval in zip((share, base), intervals, strict=True)
    )
    root_low = sqrt(max(0.0, product**2 - top_low * base_high))
    root_high = sqrt(max(0.0, product**2 - top_high * base_low))
    low = top_low / (product + root_low) if top_low else 0.0
    return Interval(low, (product + root_high) / base_low if base_low else inf, "mover")


def _part(pairs: Pairs, group: int, value: int) -> Quotient:
    """Return the share of a value in a group as a quotient."""
    scores = pairs.second.scores[:, value]
    return quotient(pairs, pairs.first.scores[:, group], scores, np.ones_like(scores))


def _moments(pairs: Pairs, groups: list[int], value: int) -> tuple[Array, Array]:
    """Return the unbiased shares of (group, value) and of the group for each, and a covariance."""
    group_scores, value_scores = pairs.first.scores[:, groups], pairs.second.scores[:, [value]]
    value_scores = np.hstack([value_scores, np.ones_like(value_scores)])
    averages = pairs.averages(group_scores, value_scores).ravel()
    return averages, pairs.covariance(group_scores, value_scores)


def delta_error(slope: Array, covariance: Array) -> float:
    """Return a standard error by the delta method."""
    return sqrt(max(0.0, float(slope @ covariance @ slope)))
