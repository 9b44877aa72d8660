"""The interval of a share, by any of several methods for the chance that a report supports it."""

from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv, ndtri

from analysis.estimate import Floats
from analysis.estimate.intervals.feldman_cousins import feldman_cousins
from analysis.estimate.intervals.likelihood import profile_likelihood
from analysis.estimate.intervals.normal import Interval, Numbers, check_level, shares_between


def clopper_pearson(
    count: Numbers, n: float, p: float, q: float, confidence_level: float
) -> tuple[Numbers, Numbers]:
    """Shares not refused by a test of either side: never covers less often than the level.

    References
    ----------
    Clopper and Pearson, Biometrika 1934.
    """
    tail = (1 - confidence_level) / 2
    # Where the beta distribution is a point, scipy gives no number: at the counts 0 and n.
    bottom: Numbers = np.fmax(betaincinv(count, n - count + 1, tail), 0.0)
    top: Numbers = np.fmin(betaincinv(count + 1, n - count, 1 - tail), 1.0)
    return shares_between(bottom, top, p, q)


def wilson(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Shares not refused by the score test: covers as often as the level on average over shares.

    References
    ----------
    Wilson, Journal of the American Statistical Association 1927.
    """
    z = float(ndtri((1 + confidence_level) / 2))
    support = count / n
    center = (support + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * (support * (1 - support) / n + z**2 / (4 * n**2)) ** 0.5 / (1 + z**2 / n)
    # At the ends both are equal but for rounding, which must not leave out a share of 0 or 1.
    bottom = center - reach if count else 0.0
    top = center + reach if count < n else 1.0
    return shares_between(bottom, top, p, q)


#: By name: from count, n, p, q and level to the ends, within [0, 1]; perhaps twice the same end.
INTERVALS: dict[str, Callable[[float, float, float, float, float], tuple[float, float]]] = {
    "clopper-pearson": clopper_pearson,
    "wilson": wilson,
    "profile-likelihood": profile_likelihood,
    "feldman-cousins": feldman_cousins,
}


def share_interval(
    count: float,
    n: float,
    p: float,
    q: float,
    confidence_level: float = 0.95,
    method: str = "clopper-pearson",
) -> Interval:
    """Interval for the share of a value, of which `count` reports among `n` are a sign.

    That for the probability of support, mapped through ``support = q + (p - q) share``. Clopper
    and Pearson's is clipped to [0, 1]: its coverage is at least the level at every share and every
    n. So is that of Feldman and Cousins, who heed that shares lie in [0, 1]; Wilson's (clipped)
    and the profile likelihood's can be lower: .93 instead of .95 at n = 100, .94 at 500. Where all
    of it lies outside [0, 1] (the reports are further off than noise explains at this level), the
    profile-likelihood interval is given instead, and named, so that it never shrinks to a point;
    coverage can only rise by that.

    Parameters
    ----------
    count, n : float
        ``0 <= count <= n``; whole, but for reports that `analysis.estimate.columns.sample` weighs.
        With ``n = 0`` the interval is all of [0, 1].
    p, q : float
        Probability that a report supports the value if it is the true one, and if another is.
    confidence_level : float
        In (0, 1).
    method : str
        One of `INTERVALS`.

    Raises
    ------
    ValueError
        If the method is none of these, p and q are equal or no probabilities, or count or level
        are out of range.
    """
    if method not in INTERVALS:
        raise ValueError(f'method must be one of {", ".join(INTERVALS)}, got "{method}"')
    if not (0 <= p <= 1 and 0 <= q <= 1 and p != q):
        raise ValueError(f"p and q must be different probabilities, got {p} and {q}")
    if not 0 <= count <= n:
        raise ValueError(f"count must be from 0 to n = {n}, got {count}")
    check_level(confidence_level)
    if n == 0:
        return Interval(0.0, 1.0, method)
    low, high = INTERVALS[method](count, n, p, q, confidence_level)
    if low < high:
        return Interval(float(low), float(high), method)
    low, high = profile_likelihood(count, n, p, q, confidence_level)
    return Interval(float(low), float(high), "profile-likelihood")


def share_intervals(
    counts: Floats, n: float, p: float, q: float, confidence_level: float
) -> tuple[Floats, Floats]:
    """Return the ends of `share_interval` of each count, by its default method.

    Preconditions: what `share_interval` checks, and ``n > 0``.
    """
    low, high = clopper_pearson(counts, n, p, q, confidence_level)
    outside = low >= high
    if outside.any():
        other = profile_likelihood(counts[outside], n, p, q, confidence_level)
        low[outside], high[outside] = other
    return low, high
