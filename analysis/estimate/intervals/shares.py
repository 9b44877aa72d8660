"""The interval of a share, by any of several methods for the chance that a report supports it."""

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

#: Chances of support at which logarithms are taken, so that they are never infinite.
_LEAST, _MOST = 1e-30, 1 - 1e-16
#: Halvings after which the end of a likelihood interval is known to the last digit.
_HALVINGS = 53


def clopper_pearson(
    count: Numbers, n: float | Floats, p: float, q: float, confidence_level: float
) -> tuple[Numbers, Numbers]:
    """Return the ends of the shares that no one-sided test rejects: they cover at any share.

    References
    ----------
    Clopper and Pearson, Biometrika 1934; docs/methods.md, (6).
    """
    tail = (1 - confidence_level) / 2
    # At the counts 0 and n the beta distribution is a point, and scipy returns NaN.
    bottom: Numbers = np.fmax(betaincinv(count, n - count + 1, tail), 0.0)
    top: Numbers = np.fmin(betaincinv(count + 1, n - count, 1 - tail), 1.0)
    return shares_between(bottom, top, p, q)


def wilson(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of the shares that the score test does not reject: they cover on average.

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

    The limit is that of chi-square, which holds for large n and shares inside; at 0 and 1 the
    interval covers more often. It never shrinks to a point. Parameters are those of
    `share_interval`, ``n > 0``; `count` may hold many counts.

    References
    ----------
    Wilks, Annals of Mathematical Statistics 1938; docs/methods.md, (8).
    """

    test = _LikelihoodTest(count, n, p, q, confidence_level)

    def end(border: float) -> Any:
        """Return an end by halving, as the height falls from the best share to the border."""
        inside: Any = test.best
        outside: Any = np.full_like(test.best, border)
        beyond = ~test.allows(border)
        for _ in range(_HALVINGS if beyond.any() else 0):
            middle = (inside + outside) / 2
            likely = test.allows(middle)
            inside, outside = np.where(likely, middle, inside), np.where(likely, outside, middle)
        return np.where(beyond, outside, border)

    return end(0.0), end(1.0)


#: By name the function from count, n, p, q and level to both ends, in [0, 1], which may agree.
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

    It is that of the probability of support, mapped through ``support = q + (p - q) share``.
    Clopper and Pearson's is clipped to [0, 1]: its coverage is at least the level at every share
    and every n. So is that of Feldman and Cousins, who use that shares lie in [0, 1]. Wilson's
    (clipped) and the profile likelihood's can be lower: .93 instead of .95 at n = 100, .94 at 500.
    Where all of it lies outside [0, 1] (the reports are further off than noise explains at this
    level), the profile-likelihood interval is returned instead, with its name, so that it never
    shrinks to a point; this can only raise coverage.

    Parameters
    ----------
    count, n : float
        ``0 <= count <= n``; whole unless `analysis.estimate.columns.sample` weights reports.
        With ``n = 0`` the interval is all of [0, 1].
    p, q : float
        The probability that a report supports the value if it is the true one, and if another is.
    confidence_level : float
        In (0, 1).
    method : str
        One of `INTERVALS`.

    Raises
    ------
    ValueError
        If there is no such method, p and q are equal or no probabilities, or count or level are
        out of range.
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
    """Return -1 where all of `share_interval`, by its default method, is below a share, 1 if above.

    It is 0 if the interval of a count, of so many reports, has the share. Where the interval is the
    likelihood's, the test at the share decides, which is 50 times faster than to find both ends.
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
        """The name of the method of each."""
        return np.where(self.exact, "clopper-pearson", "profile-likelihood").astype(object)


def share_intervals(
    counts: Floats, n: float | Floats | Ints, p: float, q: float, confidence_level: float
) -> Ends:
    """Return `share_interval` of each count of `n` reports, one number or each one's, by default.

    Preconditions: what `share_interval` checks, and ``n > 0``.
    """
    of_counts = np.broadcast_to(np.asarray(n, dtype=np.float64), counts.shape)
    low, high = clopper_pearson(counts, of_counts, p, q, confidence_level)
    outside = low >= high
    if outside.any():
        ends = profile_likelihood(counts[outside], of_counts[outside], p, q, confidence_level)
        low[outside], high[outside] = ends
    return Ends(low, high, ~outside)
