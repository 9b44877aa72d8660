"""The privacy loss of reports: the log-ratio of their probabilities under two inputs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import exp, expm1, inf, log, log1p
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from analysis.core.errors import check_count, check_delta, check_order, check_positive
from analysis.core.joint_randomizer import AnyDraw
from analysis.core.types import Array
from analysis.privacy.accounting.lattice import ULP

#: The number of parts into which a continuous loss above 0 is cut.
_PARTS = 2000
#: The error of losses of reports with up to 400 bits each.
_PAD = 1e-12

_T = TypeVar("_T")


@dataclass(frozen=True)
class Total:
    """A proved total: several reports of one respondent together are (`epsilon`, `delta`)-DP.

    Neighbors are replace-one. `method` names the theorem: ``sum``, ``memory``, ``advanced``,
    ``convolution``, ``renyi`` or ``zcdp``. Several are joined by ``;``.
    """

    epsilon: float
    delta: float = 0.0
    method: str = "sum"


def check_reports(reports: Iterable[tuple[_T, int]]) -> list[tuple[_T, int]]:
    """Return pairs of anything and a number of reports; raise ValueError unless there are some."""
    checked = [(report, check_count(n, "reports")) for report, n in reports]
    if not checked:
        raise ValueError("reports must be at least one, got none")
    return checked


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """A dominating pair: two distributions at least as easy to distinguish as any two inputs.

    For all ε, the hockey-stick divergence of the pair, `delta`, is at least that of the reports for
    any two inputs in either order (replace-one: the inputs are two answers of one respondent). If
    that holds for single reports, it also holds for all reports together and the sum of their
    losses (Zhu, Dong and Wang, AISTATS 2022, theorem 10).

    Attributes
    ----------
    losses : (m,) array
        ln(P/Q) of the pair, in rising order.
    masses : (m,) array
        P of each loss.
    infinite : float
        P of all that is impossible under Q.
    plain : Total
        The total that basic composition proves; infinite for noise with a δ at every ε.
    rounding : float
        The relative error by which the masses may be too small.
    """

    losses: NDArray[np.float64]
    masses: NDArray[np.float64]
    infinite: float
    plain: Total
    rounding: float = 16 * ULP

    def __post_init__(self) -> None:
        assert (np.diff(self.losses) >= 0).all(), "losses must rise"

    @classmethod
    def of(cls, randomizer: AnyDraw) -> "PrivacyLoss":
        """Return the loss of a randomizer's report, from the exact probabilities of its channel.

        With a memory, it is the loss of one wave. Several waves are not a sum of such losses, but
        `pure` of what they are proved to cost together. If not all pairs of inputs can be compared,
        it is `pure` of the randomizer's ε.
        """
        return _of(randomizer)

    @classmethod
    def pure(cls, epsilon: float) -> "PrivacyLoss":
        """Return the loss of binary randomized response, which dominates all reports of this ε > 0.

        Kairouz, Oh and Viswanath, IEEE Transactions on Information Theory 2017, section 6. By hand:
        ε = ln 3 has the losses ±1.0986 with the masses 3/4 and 1/4.
        """
        return cls.krr(2, epsilon)

    @classmethod
    def krr(cls, k: int, epsilon: float) -> "PrivacyLoss":
        """Return the loss of k-ary randomized response.

        Its losses are ε, 0 and -ε, with masses proportional to e^ε, k - 2 and 1.
        """
        if check_count(k, "k") < 2:
            raise ValueError(f"k must be at least 2, got {k}")
        above = exp(-check_positive(epsilon))
        told = (1 + above) / (1 + (k - 1) * above)
        return _mixture(np.array([epsilon]), np.array([told]), Total(epsilon))

    @classmethod
    def laplace(cls, scale: float, sensitivity: float) -> "PrivacyLoss":
        """Return the loss of Laplace noise on a number that two answers change by <= `sensitivity`.

        The pure ε is sensitivity / scale. The loss is ε with mass 1/2, and has the density
        e^(-(ε - l)/2) / 4 below, which is cut into parts and rounded up. So δ(ε') is
        1 - e^((ε' - ε)/2).
        """
        epsilon = check_positive(sensitivity, "sensitivity") / check_positive(scale, "scale")
        edges = np.linspace(0, epsilon, _PARTS + 1)
        halves = np.expm1(np.diff(edges) / 2) / 2
        ps, qs = (
            halves * np.exp((edges[:-1] - epsilon) / 2),
            halves * np.exp(-(edges[1:] + epsilon) / 2),
        )
        at_end = np.append(np.zeros(_PARTS), (1 + exp(-epsilon)) / 2)
        return _mixture(edges, _cut(edges, ps, qs) + at_end, Total(epsilon))

    @classmethod
    def gaussian(cls, sigma: float, sensitivity: float) -> "PrivacyLoss":
        """Return the loss of unbounded Gaussian noise of standard deviation `sigma`.

        The loss is normal with mean μ²/2 and variance μ², where μ = sensitivity / sigma (Balle and
        Wang, ICML 2018). It is cut into parts and rounded up. Losses beyond 10.5 deviations are at
        infinity. The sensitivity is the whole range, by which two answers of a respondent can
        differ.
        """
        mu = check_positive(sensitivity, "sensitivity") / check_positive(sigma, "sigma")
        edges = np.linspace(0, mu * (mu / 2 + 10.5), _PARTS + 1)
        ps, qs = (-np.diff(ndtr(-edges / mu + shift)) for shift in (mu / 2, -mu / 2))
        beyond = float(ndtr(-10.5))
        return _mixture(edges, _cut(edges, ps, qs), Total(inf), beyond)

    def delta(self, epsilon: float) -> float:
        """Return the least δ that is proved for this ε in (0, ∞), rounded up."""
        delta = self._excess(check_positive(epsilon))
        return min(delta, self.plain.delta) if epsilon >= self.plain.epsilon else delta

    def epsilon(self, delta: float) -> float:
        """Return the least ε in total that is proved for this δ in (0, 1), rounded up.

        It is 0 if δ alone is enough, and infinite if a mass greater than δ is at infinity. It is
        never above `plain` if that needs no larger δ.
        """
        plain = self.plain.epsilon if self.plain.delta <= check_delta(delta) else inf
        return min(self._root(delta), plain)

    def beyond(self, epsilon: float) -> float:
        """Return the probability that a report reveals more than this ε in [0, ∞).

        It is the probability of reports that are more than e^ε times as likely under the first
        input of the pair as under the second. It is at least `delta`, which weighs them by the
        excess. By hand: for `pure(log(3))` it is 3/4 at ε = 1, and 0 at ε = 1.1.
        """
        off = 4 * ULP * float(np.abs(self.losses[[0, -1]]).max())
        first = int(np.searchsorted(self.losses, epsilon + off, side="right"))
        mass = self.infinite + float(self.masses[first:].sum())
        return min(1.0, mass * (1 + self.rounding + len(self.masses) * ULP))

    def renyi(self, order: float) -> float:
        """Return the Rényi divergence of an order above 1, rounded up.

        It is infinite if some mass is at infinity.

        The formula is ln(E e^((order - 1) loss)) / (order - 1). By hand: `pure(log(3))` at order 2
        has ln(3/4 * 3 + 1/4 / 3) = ln(7/3) = 0.8473.
        """
        power = check_order(order) - 1
        return float(self.cumulant(np.array([power]))[0]) / power if not self.infinite else inf

    def cumulant(self, powers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n,) values of ln(E e^(power * loss)) at (n,) powers above 0, rounded up."""
        top = float(np.abs(self.losses).max())
        logs = np.empty(len(powers))
        for index, power in enumerate(powers):
            if power * top < 1:
                # Adding the 1 of e^x = 1 + expm1(x) would lose the digits of small sums.
                logs[index] = log1p(float(self.masses @ np.expm1(power * self.losses)))
            else:
                scaled = np.exp(power * (self.losses - top))
                logs[index] = power * top + log(float(self.masses @ scaled))
        return logs + (np.abs(logs) + powers * top) * (self.rounding + 8 * ULP)

    @cached_property
    def key(self) -> bytes:
        """Return bytes that are equal for equal losses."""
        numbers = [self.infinite, self.plain.epsilon, self.plain.delta, self.rounding]
        return np.concatenate((self.losses, self.masses, numbers)).tobytes()

    def _excess(self, epsilon: float) -> float:
        """Return the hockey-stick divergence at this ε, rounded up."""
        # Losses may have the rounding error of a product.
        off = 4 * ULP * float(np.abs(self.losses[[0, -1]]).max())
        first = int(np.searchsorted(self.losses, epsilon - off, side="right"))
        gaps = epsilon - off - self.losses[first:]
        delta = self.infinite - float(self.masses[first:] @ np.expm1(gaps))
        return min(1.0, delta * (1 + self.rounding + len(gaps) * ULP))

    def _root(self, delta: float) -> float:
        """Return the least ε at which `_excess` is at most δ, rounded up."""
        if self.infinite >= delta or self._excess(float(self.losses[-1])) > delta:
            return inf
        if self._excess(0.0) <= delta:
            return 0.0
        ends = np.append(0.0, self.losses[self.losses > 0])
        low, high = 0, len(ends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if self._excess(float(ends[middle])) <= delta else (middle, high)
            )
        # Between two losses, δ is linear in e^ε.
        start, end = float(ends[low]), float(ends[high])
        left, right = self._excess(start), self._excess(end)
        part = (left - delta) / (left - right)
        epsilon = min(end, start + log1p(part * expm1(end - start)))
        step = ULP * end
        while self._excess(epsilon) > delta:
            epsilon, step = min(end, epsilon + step), 2 * step
        return epsilon


@lru_cache(maxsize=1024)
def _of(randomizer: AnyDraw) -> PrivacyLoss:
    plain = Total(randomizer.epsilon)
    pairs = randomizer.contrasts()
    if pairs is None:
        return PrivacyLoss.pure(plain.epsilon)
    ps, qs = _told_best(pairs)
    with np.errstate(divide="ignore", over="ignore"):
        losses = np.log1p((ps - qs) / qs)
    told = np.isfinite(losses)
    infinite = float(ps[~told].sum())
    # Ratios rise, but the floats of almost equal ones may not. With a δ, losses may exceed ε.
    losses = np.maximum.accumulate(losses[told] + _PAD)
    losses = np.minimum(losses, inf if plain.delta else plain.epsilon)
    return _mixture(losses, (ps + qs)[told], plain, infinite)


def _told_best(pairs: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities P > Q of a pair that dominates all of these (pairs, reports, 2).

    Ratios rise. The sets of reports whose ratio exceeds a bound give points (Q, P). Their upper
    hull over all pairs is the dominating pair, whose hockey-stick divergence is max(P - e^ε Q).
    Points are whole numbers: the rounding of sums would make edges between points that are equal,
    at any ratio.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(pairs[..., 0] > pairs[..., 1], pairs[..., 0] / pairs[..., 1], 0.0)
    order = np.argsort(-ratios, axis=1)
    sorted_ = np.where((ratios > 0)[..., None], pairs, 0)
    sorted_ = np.take_along_axis(sorted_, order[..., None], axis=1)
    total = float(pairs[0, :, 0].sum())
    if len(pairs) == 1:
        telling = sorted_[0][sorted_[0, :, 0] > 0][::-1] / total
        return telling[:, 0], telling[:, 1]
    whole, whole_total = _whole(sorted_, total)
    points = np.cumsum(whole, axis=1).reshape(-1, 2)
    points = points[np.lexsort((-points[:, 0], points[:, 1]))]
    rising = np.append(True, points[1:, 0] > np.maximum.accumulate(points[:, 0])[:-1])
    hull = [(0, 0)]
    for p, q in points[rising].tolist():
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], (p, q)):
            hull.pop()
        hull.append((p, q))
    edges = [(p - p0, q - q0) for (p0, q0), (p, q) in pairwise(hull)]
    told = np.array(
        [(p / whole_total, q / whole_total) for p, q in reversed(edges) if p > q]
    ).reshape(-1, 2)
    return told[:, 0], told[:, 1]


def _whole(weights: Array, total: float) -> tuple[Array, int]:
    """Return weights and their total as whole numbers in the same proportions, exactly."""
    if weights.dtype.kind == "i":
        return weights, int(total)
    parts, powers = np.frexp(np.append(weights, total))
    powers = np.where(parts > 0, powers - powers[parts > 0].min(), 0)
    whole = np.ldexp(parts, 53).astype(np.int64).astype(object) << powers.astype(object)
    return whole[:-1].reshape(weights.shape), whole[-1]


def _turns_left(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> bool:
    """Return whether the second of three points (P, Q) is not above the line through the others."""
    rise, run = second[0] - first[0], second[1] - first[1]
    return rise * (third[1] - first[1]) <= (third[0] - first[0]) * run


def _cut(
    edges: NDArray[np.float64], ps: NDArray[np.float64], qs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (parts + 1,) masses at ± the edges, from (parts,) masses between edges.

    Each part is split between its edges as `Lattice.of` splits a loss, so that P and Q are kept.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(ps > 0, qs / ps, 0.0)
    upper = (1 - ratios * np.exp(np.minimum(edges[:-1], 700))) / -np.expm1(-np.diff(edges))
    # That difference loses digits of floats.
    upper = np.clip(upper + 1e-9, 0, 1) * ps
    lower = ps - upper
    chances = np.append(lower * (1 + np.exp(-edges[:-1])), 0.0)
    chances[1:] += upper * (1 + np.exp(-edges[1:]))
    return np.asarray(chances)


def _mixture(
    epsilons: NDArray[np.float64], weights: NDArray[np.float64], plain: Total, infinite: float = 0.0
) -> PrivacyLoss:
    """Return the loss of a mixture of binary randomized responses. The rest reveals nothing.

    The ε rise, each with its weight. Every symmetric pair is such a mixture.
    """
    told = epsilons > 0
    epsilons, weights = epsilons[told], weights[told]
    # Reports of equal probabilities, whose floats differ, would count under both orders.
    beyond = np.cumsum(weights[::-1])[::-1] - (1 - infinite + 4 * ULP * len(weights))
    weights = np.where(beyond > 0, np.maximum(weights - beyond, 0), weights)
    ones, others = weights * expit(epsilons), weights * expit(-epsilons)
    nothing = 1.0 - infinite - float(weights.sum())
    # This bounds the rounding errors of the sum. At a δ of 1, nothing is left.
    nothing = nothing + 4 * ULP * len(weights) if nothing > 0 else 0.0
    losses = np.concatenate((-epsilons[::-1], [0.0], epsilons))
    masses = np.concatenate((others[::-1], [nothing], ones))
    some = (masses > 0) | (losses == 0)
    return PrivacyLoss(losses[some], masses[some], infinite, plain)
