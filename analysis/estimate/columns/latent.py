"""Reports of designs with unknown probabilities: maximum likelihood, profiles, and tests of fit.

Everybody belongs to one of k classes, the values. A cell is a report to a question in a sample. Its
probability under each class is a sum of products of unknown probabilities, none of which appears
twice in a product. So the law of reports is a mixture over classes and over all ways in which the
unknowns could be 0 or 1 (corners),

    P(cell) = Σ_v share(v) Σ_c Π_j u_j^c_j (1 - u_j)^(1 - c_j) · P(cell | v, c).

Warner's design in one sample is the simplest case. Two samples can identify one more unknown (see
docs/methods.md, (41)).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

import numpy as np
import scipy
from scipy.special import chdtri

from analysis.estimate import Floats, Ints

#: The least probability of a report in a likelihood, and the steps of EM before Newton's method.
_LEAST, _STEPS = 1e-12, 60
#: A direction along which probabilities of reports change by less than this is not identified.
_UNIDENTIFIED = 1e-7
#: A probability within this of 0 or 1 is at the border.
BORDER = 1e-6


@dataclass(frozen=True)
class Law:
    """The probability of each report in each class, as a function of unknown probabilities.

    Attributes
    ----------
    corners : (2^m, cells, k) array
        The probability of each cell in each class, where the m unknowns are 0 or 1. The last
        unknown changes fastest.
    blocks : (cells,) array
        The question and sample of each cell. The probabilities of a block sum to 1.
    """

    corners: Floats
    blocks: Ints

    @property
    def classes(self) -> int:
        """The number k of classes."""
        return int(self.corners.shape[2])

    @cached_property
    def bits(self) -> Floats:
        """(2^m, m) which unknowns are 1 in each corner."""
        m = int(np.log2(len(self.corners)))
        return (np.arange(2**m)[:, None] >> np.arange(m)[::-1] & 1).astype(np.float64)

    @property
    def size(self) -> int:
        """The number of parameters: k shares, and then m unknowns."""
        return self.classes + int(self.bits.shape[1])

    def weights(self, unknowns: Floats) -> Floats:
        """Return (2^m,) the weight of each corner."""
        return np.asarray(np.where(self.bits == 1, unknowns, 1 - unknowns).prod(axis=1))

    def chances(self, parameters: Floats) -> Floats:
        """Return (cells,) the probability of each report within its block."""
        shares, unknowns = parameters[: self.classes], parameters[self.classes :]
        return np.asarray(np.tensordot(self.weights(unknowns), self.corners, 1) @ shares)

    def slopes(self, parameters: Floats) -> Floats:
        """Return (cells, k + m) the derivatives of `chances`."""
        shares, unknowns = parameters[: self.classes], parameters[self.classes :]
        by_class = np.tensordot(self.weights(unknowns), self.corners, 1)
        of_corner = self.corners @ shares
        columns = []
        for j in range(len(unknowns)):
            ends = []
            for end in (0.0, 1.0):
                moved = unknowns.copy()
                moved[j] = end
                ends.append(self.weights(moved) @ of_corner)
            columns.append(ends[1] - ends[0])
        return np.column_stack([by_class, *columns])

    @cached_property
    def ways(self) -> Floats:
        """(k + m, k - 1 + m) an orthonormal basis of directions that keep the shares' sum."""
        k = self.classes
        centered = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1]
        result = np.zeros((self.size, self.size - 1))
        result[:k, : k - 1] = centered
        result[k:, k - 1 :] = np.eye(self.size - k)
        return result

    @cached_property
    def center(self) -> Floats:
        """An interior point where all classes differ, and all unknowns differ."""
        shares = np.arange(self.classes, 0, -1.0) + 0.3
        unknowns = 0.31 + 0.37 * (np.arange(self.size - self.classes) * 0.618 % 1)
        return np.append(shares / shares.sum(), unknowns)

    @property
    def identified(self) -> int:
        """The number of the ``k - 1 + m`` free parameters that reports identify at `center`."""
        return _rank(self.slopes(self.center) @ self.ways)

    @property
    def equations(self) -> int:
        """The number of free probabilities of reports."""
        return len(self.blocks) - len(np.unique(self.blocks))

    def only(self, cells: Ints) -> "Law":
        """Return the law of some cells, which must be whole blocks."""
        return Law(self.corners[:, cells], self.blocks[cells])

    def epsilon(self) -> float:
        """Return the worst ε of a report, whatever the unknowns are; infinite if there is no bound.

        A ratio of two probabilities is monotonic in each unknown, so that a corner is the worst.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.corners[..., :, None] / self.corners[..., None, :]
        return float(np.log(np.nanmax(ratios))) if not np.isnan(ratios).all() else 0.0


def _rank(slopes: Floats) -> int:
    """Return the rank of derivatives, whose largest are about 1."""
    sizes = np.linalg.svd(slopes, compute_uv=False)
    return int((sizes > _UNIDENTIFIED * max(1.0, sizes[0])).sum())


@dataclass(frozen=True)
class Fitted:
    """The likeliest shares and unknowns of reports.

    Attributes
    ----------
    law : Law
    counts : (cells,) array
        How often each report was made, or the sums of weights.
    parameters : (k + m,) array
        Shares, which sum to 1, and then unknowns, each in [0, 1].
    height : float
        The log-likelihood there.
    """

    law: Law
    counts: Floats
    parameters: Floats
    height: float
    _points: list[Floats] = field(default_factory=list, compare=False)

    @cached_property
    def chances(self) -> Floats:
        """(cells,) the fitted probabilities."""
        return np.maximum(self.law.chances(self.parameters), _LEAST)

    @cached_property
    def totals(self) -> Floats:
        """(cells,) the number of reports in the block of each cell."""
        return np.asarray(np.bincount(self.law.blocks, self.counts)[self.law.blocks], dtype=float)

    @cached_property
    def deviance(self) -> float:
        """Twice the excess of the largest log-likelihood of any law of reports over this one."""
        seen = self.counts > 0
        often, expected = self.counts[seen], (self.totals * self.chances)[seen]
        return max(0.0, float(2 * often @ np.log(often / expected)))

    @property
    def freedom(self) -> int:
        """The number of equations beyond the number of parameters."""
        return self.law.equations - self.law.identified

    @cached_property
    def information(self) -> Floats:
        """The square (k - 1 + m) expected information along the directions `Law.ways`."""
        slopes = self.law.slopes(self.parameters) @ self.law.ways
        # A report of probability 0 would have infinite information.
        chances = np.maximum(self.law.chances(self.parameters), 0.5 / np.maximum(self.totals, 1))
        return np.asarray((slopes * (self.totals / chances)[:, None]).T @ slopes)

    @cached_property
    def inverse(self) -> Floats | None:
        """The inverse of `information`; None if a direction is not identified here."""
        values = np.linalg.eigvalsh(self.information)
        if values[0] <= _UNIDENTIFIED**2 * values[-1]:
            return None
        return np.asarray(np.linalg.inv(self.information))

    @cached_property
    def covariance(self) -> Floats | None:
        """The square (k + m) covariance by the expected information; None if it has no inverse."""
        ways = self.law.ways
        return None if self.inverse is None else np.asarray(ways @ self.inverse @ ways.T)

    @cached_property
    def influences(self) -> Floats | None:
        """(cells, k + m) the influence of one report in each cell on the parameters."""
        if self.inverse is None:
            return None
        slopes = self.law.slopes(self.parameters) @ self.law.ways
        return np.asarray((slopes / self.chances[:, None]) @ self.inverse @ self.law.ways.T)

    def fall(self, row: Floats, at: float) -> float:
        """Return twice the loss of log-likelihood by the constraint ``row @ parameters == at``."""
        return self._fall(row, at)[0]

    def _fall(self, row: Floats, at: float) -> tuple[float, Floats]:
        """Return that loss, and the likeliest point under the constraint."""
        starts = sorted(
            [*self._points, self.parameters], key=lambda point: abs(float(row @ point) - at)
        )
        value, point = -inf, self.parameters
        for start in starts[:2]:
            begin = _moved(self.law, start, row, at)
            value, point = _climb(self.law, self.counts, begin, row, at)
            if value > -inf:
                self._points.append(point)
                break
        return max(0.0, 2 * (self.height - value)), point

    def allows(self, row: Floats, at: float, confidence_level: float, scale: float = 1.0) -> bool:
        """Return whether the likelihood-ratio test keeps ``row @ parameters == at``.

        If r other parameters are not identified at that point, the statistic does not have the
        chi-square law of one degree of freedom (Davies, Biometrika 1977). It does not exceed the
        quantile for 1 + r degrees of freedom too often.
        """
        fall, most = self._test(row, at, confidence_level)
        return fall <= scale * most

    def _test(self, row: Floats, at: float, confidence_level: float) -> tuple[float, float]:
        """Return the statistic, and the largest value that the test keeps."""
        fall, point = self._fall(row, at)
        slopes = self.law.slopes(point) @ self.law.ways
        within = np.linalg.svd((self.law.ways.T @ row)[None])[2][1:].T
        unidentified = within.shape[1] - (_rank(slopes @ within) if within.size else 0)
        return fall, float(chdtri(1 + unidentified, 1 - confidence_level))

    def interval(
        self,
        row: Floats,
        confidence_level: float = 0.95,
        scale: float = 1.0,
        possible: tuple[float, float] = (0.0, 1.0),
    ) -> tuple[float, float]:
        """Return the ends of the profile-likelihood interval of ``row @ parameters``.

        See docs/methods.md, (42).

        Parameters
        ----------
        row : (k + m,) array
        confidence_level : float
            In (0, 1).
        scale : float
            The variance divided by that of reports of different people of weight 1.
        possible : pair of float
            The least and the largest value.
        """
        here, reach = float(row @ self.parameters), sqrt(scale * chdtri(1, 1 - confidence_level))
        ends = []
        for border in possible:
            self._points.clear()
            if abs(border - here) < BORDER:
                ends.append(border)
                continue
            fall, most = self._test(row, border, confidence_level)
            if fall <= scale * most:
                ends.append(border)
                continue
            known = {here: -reach, border: sqrt(fall) - reach}

            def over(at: float, known: dict[float, float] = known) -> float:
                # Its root is nearly linear, which suits the search.
                return known[at] if at in known else sqrt(self.fall(row, at)) - reach

            ends.append(float(scipy.optimize.brentq(over, here, border, xtol=1e-6, rtol=1e-8)))
        return ends[0], ends[1]


def fitted(law: Law, counts: Floats) -> Fitted:
    """Return the likeliest shares and unknowns.

    The likelihood may have several maxima, so EM and sequential programming have several starts.

    Parameters
    ----------
    law : Law
    counts : (cells,) array
        How often each report was made. Each block has at least one report.

    References
    ----------
    Dempster, Laird and Rubin, JRSS B 1977 (EM).
    """
    best, value = law.center, -inf
    for start in _starts(law):
        found, point = _climb(law, counts, _em(law, counts, start))
        if found > value + 1e-9:
            best, value = point, found
        if Fitted(law, counts, best, value).deviance < 1e-8:
            break
    return Fitted(law, counts, best, value)


def _starts(law: Law) -> Sequence[Floats]:
    """Return starts: the middle, and points at which unknowns are small or large."""
    k, m = law.classes, law.size - law.classes
    rare = np.append(np.full(1, 0.8), np.full(k - 1, 0.2 / (k - 1)))
    sides = (0.15 + 0.7 * law.bits) if m <= 2 else np.array([np.full(m, 0.2), np.full(m, 0.8)])
    return [law.center, *(np.append(rare, side) for side in sides if m)]


def _em(law: Law, counts: Floats, start: Floats) -> Floats:
    """Return the point after some steps of EM. Its shares and unknowns are within [0, 1]."""
    k, point = law.classes, start
    for _ in range(_STEPS):
        weights = law.weights(point[k:])[:, None, None] * law.corners * point[:k]
        ratios = counts / np.maximum(weights.sum(axis=(0, 2)), _LEAST)
        parts = np.einsum("crv,r->cv", weights, ratios)
        parts /= parts.sum()
        moved = np.append(parts.sum(axis=0), law.bits.T @ parts.sum(axis=1))
        if np.abs(moved - point).max() < 1e-9:
            return moved
        point = moved
    return point


def _moved(law: Law, start: Floats, row: Floats, at: float) -> Floats:
    """Return a point near a start with ``row @ point == at``, if there is one in the interior."""
    inner = law.ways.T @ row
    step = law.ways @ inner / max(float(inner @ inner), 1e-300)
    point = np.clip(start + (at - float(row @ start)) * step, 0.0, 1.0)
    point[: law.classes] /= max(point[: law.classes].sum(), 1e-300)
    return np.asarray(point)


def _climb(
    law: Law, counts: Floats, start: Floats, row: Floats | None = None, at: float = 0.0
) -> tuple[float, Floats]:
    """Return the largest log-likelihood, and its point. With `row`, ``row @ point == at`` holds."""
    total, seen = counts.sum(), counts > 0
    often, k = counts[seen] / total, law.classes

    def value(point: Floats) -> float:
        return -float(often @ np.log(np.maximum(law.chances(point)[seen], _LEAST)))

    def slope(point: Floats) -> Floats:
        chances = np.maximum(law.chances(point)[seen], _LEAST)
        return -np.asarray((often / chances) @ law.slopes(point)[seen])

    sums = np.append(np.ones(k), np.zeros(law.size - k))
    rows, ends = [sums], [1.0]
    if row is not None:
        rows, ends = [sums, row], [1.0, at]
    table, right = np.array(rows), np.array(ends)
    found = scipy.optimize.minimize(
        value,
        np.clip(start, 0.0, 1.0),
        jac=slope,
        bounds=[(0.0, 1.0)] * law.size,
        constraints=[{"type": "eq", "fun": lambda x: table @ x - right, "jac": lambda _: table}],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 200},
    )
    points = [np.clip(point, 0.0, 1.0) for point in (found.x, start) if np.isfinite(point).all()]
    allowed = [point for point in points if np.abs(table @ point - right).max() < 1e-6]
    if not allowed:
        return -inf, start
    point = min(allowed, key=value)
    return -float(total) * value(point), point
