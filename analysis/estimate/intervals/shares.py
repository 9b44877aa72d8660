"""The interval of a share, by several methods for the probability that a report supports it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, chdtri, ndtri, xlog1py, xlogy

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals.feldman_cousins import feldman_cousins
from analysis.estimate.intervals.normal import (
    Interval,
    Numbers,
    check_level,
    clipped,
    shares_between,
)

#: The bounds of a probability of support in a logarithm, which is then never infinite.
_LEAST, _MOST = 1e-30, 1 - 1e-16
#: After this many bisections, the end of a likelihood interval is precise to the last digit.
_HALVINGS = 53


def clopper_pearson(
    count: Numbers, n: float | Floats, p: float, q: float, confidence_level: float
) -> tuple[Numbers, Numbers]:
    """Return the ends of the shares that no one-sided test rejects, which cover at every share.

    References
    ----------
    Clopper and Pearson, Biometrika 1934; docs/methods.md, (6).
    """
    tail = (1 - confidence_level) / 2
    # At the counts 0 and n, the beta distribution is a point, and scipy returns NaN.
    bottom: Numbers = np.fmax(betaincinv(count, n - count + 1, tail), 0.0)
    top: Numbers = np.fmin(betaincinv(count + 1, n - count, 1 - tail), 1.0)
    return shares_between(bottom, top, p, q)


def wilson(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of the shares that the score test does not reject, which cover on average.

    References
    ----------
    Wilson, Journal of the American Statistical Association 1927; docs/methods.md, (7).
    """
    z = float(ndtri((1 + confidence_level) / 2))
    support = count / n
    center = (support + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * (support * (1 - support) / n + z**2 / (4 * n**2)) ** 0.5 / (1 + z**2 / n)
    # At the counts 0 and n, rounding must not leave out a share of 0 or 1.
    bottom = center - reach if count else 0.0
    top = center + reach if count < n else 1.0
    return shares_between(bottom, top, p, q)


class _LikelihoodTest:
    """The likelihood-ratio test of a share, for each of several counts."""

    def __init__(
        self, count: Numbers, n: float | Floats, p: float, q: float, confidence_level: float
    ) -> None:
        self._count: Any = count
        self._n, self._p, self._q = n, p, q
        support: Any = count / n
        self.best: Any = clipped((support - q) / (p - q))
        self._least = self._height(self.best) - chdtri(1, 1 - confidence_level) / 2

    def allows(self, share: Any) -> Any:
        """Return whether the test does not reject a share, for each count."""
        return self._height(share) >= self._least

    def _height(self, share: Any) -> Any:
        support = np.minimum(_MOST, np.maximum(_LEAST, self._q + (self._p - self._q) * share))
        return xlogy(self._count, support) + xlog1py(self._n - self._count, -support)


def profile_likelihood(
    count: Numbers, n: float | Floats, p: float, q: float, confidence_level: float
) -> tuple[Numbers, Numbers]:
    """Return the ends of the shares that the likelihood-ratio test does not reject.

    The limit is the chi-square quantile, which is right for large n and interior shares. At 0 and 1
    the interval covers more often. It never shrinks to a point. Parameters are those of
    `share_interval`, with ``n > 0``. `count` may hold many counts.

    References
    ----------
    Wilks, Annals of Mathematical Statistics 1938; docs/methods.md, (8).
    """

    test = _LikelihoodTest(count, n, p, q, confidence_level)

    def end(border: float) -> Any:
        """Return an end by bisection, since the height falls from the best share to the border."""
        inside: Any = test.best
        outside: Any = np.full_like(test.best, border)
        beyond = ~test.allows(border)
        for _ in range(_HALVINGS if beyond.any() else 0):
            middle = (inside + outside) / 2
            likely = test.allows(middle)
            inside, outside = np.where(likely, middle, inside), np.where(likely, outside, middle)
        return np.where(beyond, outside, border)

    return end(0.0), end(1.0)


#: The methods by name: functions of count, n, p, q and level that return both ends, in [0, 1],
#: which may agree.
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
    """Return the interval of the share of a value that `count` reports of `n` support.

    It is the interval of the probability of support, mapped through ``support = q + (p - q)
    share``. Clopper and Pearson's interval is clipped to [0, 1]. Its coverage is at least the level
    at every share and every n. So is that of Feldman and Cousins, whose interval uses that shares
    lie in [0, 1]. The coverage of Wilson's (clipped) and of the profile likelihood can be lower:
    .93 instead of .95 at n = 100, .94 at 500. If the whole interval lies outside [0, 1], noise does
    not explain the reports at this level. The result is then the profile-likelihood interval, with
    that name, so that it never shrinks to a point. This can only raise coverage.

    Parameters
    ----------
    count, n : float
        ``0 <= count <= n``. They are whole unless `analysis.estimate.columns.sample` weights
        reports. With ``n = 0`` the interval is the whole of [0, 1].
    p, q : float
        The probabilities that a report supports the value if it is true, and if another is true.
    confidence_level : float
        In (0, 1).
    method : str
        One of `INTERVALS`.

    Raises
    ------
    ValueError
        If the method is unknown, if p and q are equal or not probabilities, or if the count or the
        level is out of range.
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


def sides_of_shares(
    share: float, counts: Floats, n: Floats, p: float, q: float, confidence_level: float
) -> NDArray[np.int64]:
    """Return on which side of a share each interval lies: -1 below, 1 above, 0 if it has the share.

    The intervals are those of `share_interval` by its default method, for each count of `n`
    reports. If an interval is the profile likelihood's, the test at the share decides. That is 50
    times faster than finding both ends.
    """
    low, high = clopper_pearson(counts, n, p, q, confidence_level)
    sides = (low > share).astype(np.int64) - (high < share)
    outside = low >= high
    if outside.any():
        test = _LikelihoodTest(counts[outside], n[outside], p, q, confidence_level)
        beyond = np.where(test.best > share, 1, -1)
        sides[outside] = np.where(test.allows(share), 0, beyond)
    return sides


@dataclass(frozen=True)
class Ends:
    """The ends of many intervals, and whether they are Clopper and Pearson's."""

    low: Floats
    high: Floats
    exact: NDArray[np.bool_]

    @property
    def methods(self) -> NDArray[np.object_]:
        """The method's name of each interval."""
        return np.where(self.exact, "clopper-pearson", "profile-likelihood").astype(object)


def share_intervals(
    counts: Floats, n: float | Floats | Ints, p: float, q: float, confidence_level: float
) -> Ends:
    """Return `share_interval` by its default method for each count of `n` reports.

    `n` is one number, or a number for each count. Preconditions: those that `share_interval`
    checks, and ``n > 0``.
    """
    of_counts = np.broadcast_to(np.asarray(n, dtype=np.float64), counts.shape)
    low, high = clopper_pearson(counts, of_counts, p, q, confidence_level)
    outside = low >= high
    if outside.any():
        ends = profile_likelihood(counts[outside], of_counts[outside], p, q, confidence_level)
        low[outside], high[outside] = ends
    return Ends(low, high, ~outside)
