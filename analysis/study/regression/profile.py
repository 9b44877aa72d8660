"""Profile-likelihood intervals and likelihood-ratio tests of linear functions of parameters.

The profile is ``l_p(t) = max l(phi)`` over all phi with ``c'phi = t``. The interval has all t with
``2 (l - l_p(t)) <= z^2``, where l is the maximum, and z is the normal quantile (docs/methods.md,
(29)). It need not be finite: if the likeliest share of a group is 0, its log-odds are minus
infinity, and so is one limit.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import copysign, inf, isfinite, isinf, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.study.regression.climbing import WEAK, climb_from
from analysis.study.regression.likelihood import Point
from analysis.study.regression.peaks import Peaks
from analysis.study.regression.result import quantile

Array = NDArray[np.float64]

#: The log-odds of a usual respondent beyond which nothing changes, since e^-30 is 1e-13.
_HORIZON = 30.0
#: The steps of the search for a limit. In each of the last, the bracket is at least halved.
_TURNS = 60
#: The error of a limit, as a fraction of its distance from the estimate.
_NEAR = 1e-4
#: A constrained climb ends if a step would gain less than this. That gain is added.
_GAIN = 1e-5
#: The number of steps with the information at the estimate, before it is computed anew.
_CHEAP = 4
#: A larger standard error, in log-odds of a usual respondent, is of no use.
_WIDEST = 10.0
#: The least information that is used.
_FREE = 1e-6
#: If the log-likelihood exceeds the maximum by this, that was not the maximum. If it is less than
#: this below the maximum at the horizon, the maximum is at infinity.
_HIGHER = 1e-4
#: Up to this standard error, in log-odds of a usual respondent, a profile has only one peak.
_SURE = 0.4
#: The log-odds of a usual respondent at which a profile that may have several peaks is looked at
#: beyond a limit, from outside.
_BEYOND = (6.0, 3.0, 1.0, -1.0, -3.0, -6.0)


class HigherError(Exception):
    """A point is likelier than the maximum that was found, and is the start of another climb."""

    def __init__(self, point: Point) -> None:
        super().__init__("a likelier point was found")
        self.point = point


@dataclass(frozen=True)
class Found:
    """The estimate and interval of a linear function of the likelihood's parameters.

    Attributes
    ----------
    estimate : float, optional
        Infinite if the likelihood grows forever to one side; None if the other side has no limit,
        either.
    root : float
        The signed root of the likelihood-ratio statistic against 0.
    p_value : float
        The p-value of that test, by the chi-square law with one degree of freedom.
    low, high : float
        The limits of the interval; infinite if the data set no limit.
    """

    estimate: float | None
    root: float
    p_value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Fixed:
    """The likeliest point with c'phi = `at`.

    `root` is the root of twice the log-likelihood's distance below the maximum, and `slope` is the
    derivative of `root`.
    """

    at: float
    point: Point
    root: float
    slope: float


@dataclass
class Profiled:
    """A maximum, with the profile likelihood of linear functions around it.

    Attributes
    ----------
    best : Point
        The maximum, or the end of the climb to a maximum at infinity.
    confidence_level : float
        The level of the intervals.
    rows : (terms, parameters) array
        The matrix that gives the printed coefficients.
    axes : (terms, parameters) array
        The derivatives of parameters by each of these coefficients, if all others stay.
    strict : bool
        Whether a likelier point raises `HigherError`. Otherwise it counts as the maximum.
    loose : bool
        Whether steep slopes are possible, so that there may be several peaks.
    possible : list of (parameters,) array
        Parameters within the quantile of the maximum, as far as they were found.

    References
    ----------
    Venzon and Moolgavkar, Applied Statistics 1988 (the interval; their Newton steps find its limits
    if the profile is nearly a parabola, and a bracket is kept if it is not); Wilks, Annals of
    Mathematical Statistics 1938 (the test).
    """

    best: Point
    confidence_level: float
    rows: Array
    axes: Array
    strict: bool = True
    loose: bool = True
    possible: list[Array] = field(default_factory=list)
    _sharp: bool = field(init=False)
    _several: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note whether all parameters are known well, and whether there can be several peaks."""
        known = np.linalg.eigvalsh(self.best.information)[0] >= WEAK
        self._sharp = bool(known or self.best.likelihood.one_peak)
        errors = [sqrt(_tangent(row, self.best)[1]) / np.linalg.norm(row) for row in self.rows]
        self._several = self.loose and not self._sharp and bool(max(errors) > _SURE)

    def of(self, row: Array) -> Found:
        """Return the estimate, limits and test of ``row @ parameters``.

        Raises
        ------
        HigherError
            If a point is likelier than the maximum.
        """
        return _Search(self, np.asarray(row, dtype=np.float64)).found()

    def of_scale(self, row: Array) -> Found:
        """Return the result for a standard deviation, which is at least 0; its sign has no effect.

        At 0, the likelihood-ratio statistic is 0 in half of the samples (Self and Liang 1987), so
        that the p-value is half of that by chi-square.
        """
        return _Search(self, np.asarray(row, dtype=np.float64)).found_scale()

    @property
    def quantile(self) -> float:
        """The largest absolute root within the interval."""
        return quantile(self.confidence_level)


class _Search:
    """The profile of one function, with the points where it was computed."""

    def __init__(self, profiled: Profiled, row: Array) -> None:
        self.best, self.reach = profiled.best, profiled.quantile
        self.row, self.size = row, float(np.linalg.norm(row))
        self.ways = scipy.linalg.null_space(row[None])
        self.tangent, variance = _tangent(row, self.best)
        self.known = sqrt(variance) < _WIDEST * self.size
        self.error = sqrt(variance)
        self.sharp, self.strict = profiled._sharp, profiled.strict
        self.several = profiled._several
        self.possible = profiled.possible
        self.peaks = Peaks(self.best, row, self.ways, self.tangent, profiled.axes)
        self.factor = None
        if self.sharp and self.ways.size:
            information = self.ways.T @ self.best.information @ self.ways
            # At a border there may be no curvature. Then steps are computed anew.
            with suppress(scipy.linalg.LinAlgError):
                self.factor = scipy.linalg.cho_factor(information)
        self.start = _Fixed(float(row @ self.best.parameters), self.best, 0.0, 0.0)
        self.seen = [self.start]

    def found(self) -> Found:
        """Return the estimate, the test and the interval."""
        low, high = self.limit(-1), self.limit(1)
        at = self.start.at
        tested = self.fixed(0.0)
        if self.several:
            tested = min(tested, self.highest(0.0, all_starts=True), key=lambda fixed: fixed.root)
        root = copysign(tested.root, at)
        estimate: float | None = at
        ends = [side for side, end in ((-1, low), (1, high)) if isinf(end) and self._grows(side)]
        if ends:
            # Without a limit on either side, nothing is known about the parameter.
            estimate = None if isinf(low) and isinf(high) else ends[0] * inf
        return Found(estimate, root, float(2 * ndtr(-abs(root))), low, high)

    def found_scale(self) -> Found:
        """Return the estimate, the test and the interval of a standard deviation."""
        side = -1 if self.start.at < 0 else 1
        zero, high = self.fixed(0.0), self.limit(side)
        if zero.root**2 < 2 * _HIGHER:
            return Found(0.0, 0.0, 1.0, 0.0, abs(high))
        low = 0.0
        if zero.root > self.reach:
            low = abs(self._crossing(self.start, zero, -side))
        return Found(abs(self.start.at), zero.root, float(ndtr(-zero.root)), low, abs(high))

    def _grows(self, side: int) -> bool:
        """Return whether the likelihood at the horizon is as high as at the maximum."""
        return self.fixed(self.horizon(side)).root ** 2 < 2 * _HIGHER

    def horizon(self, side: int) -> float:
        """Return the point beyond which nothing changes, on one side of the estimate and of 0."""
        return side * (max(side * self.start.at, 0.0) + _HORIZON * self.size)

    def limit(self, side: int) -> float:
        """Return the last point on one side where the root is the quantile, or infinity."""
        horizon = self.horizon(side)
        if any(side * (self.row @ one) >= side * horizon for one in self.possible):
            return side * inf
        limit = self._crossing(self.start, None, side)
        for _ in range(0 if self.sharp else _TURNS):
            if isinf(limit):
                return limit
            # A climb that stayed on a plateau would make a limit of any point.
            further = self.fixed(limit + side * max(self.size, abs(limit - self.start.at)))
            if further.root > self.reach * (1 - _NEAR):
                break
            limit = self._crossing(further, None, side)
        return limit if isinf(limit) or not self.several else self._last(side, limit, horizon)

    def _crossing(self, near: _Fixed, far: _Fixed | None, side: int) -> float:
        """Return the point where the root is the quantile, between points inside and outside.

        Without a point outside, the search goes as far as the horizon. Beyond, it is infinite.
        """
        horizon = self.horizon(side)
        at = near.at + side * (self.reach - near.root) * self.error
        if not self.known or abs(at - near.at) > _HORIZON * self.size:
            at = near.at + side * self.size
        if far is not None:
            at = self._next(near, far, near, side, horizon)
        for _ in range(_TURNS):
            fixed = self.fixed(at, [near] if far is None else [near, far])
            if abs(fixed.root - self.reach) < _NEAR * self.reach:
                return at
            if fixed.root < self.reach:
                near = fixed
                if at == horizon:
                    return side * inf
            else:
                far = fixed
            if far is not None and abs(far.at - near.at) < 1e-9 * self.size:
                return far.at
            at = self._next(near, far, fixed, side, horizon)
        return far.at if far is not None else side * inf

    def _last(self, side: int, limit: float, horizon: float) -> float:
        """Return a limit beyond another limit, if the profile rises again there.

        A profile that is not known well is the envelope of several peaks with different slopes.
        """
        places = (side * away * self.size for away in _BEYOND)
        outside: _Fixed | None = None
        for at in (horizon, *(at for at in places if side * limit < side * at), limit):
            fixed = self.highest(at)
            if fixed.root < self.reach * (1 - _NEAR):
                return side * inf if outside is None else self._crossing(fixed, outside, side)
            outside = fixed
        return limit

    def highest(self, at: float, all_starts: bool = False) -> _Fixed:
        """Return the likeliest point at a value, by climbs from many starts, or a point inside.

        With `all_starts` it is the likeliest even if it is inside.
        """
        near = min(self.seen, key=lambda fixed: abs(fixed.at - at)).point
        starts = self.peaks.moved(at, near.parameters, _tangent(self.row, near)[0])
        least = None if all_starts else self.best.value - self.reach**2 / 2
        point = self.peaks.highest(at, starts, self.possible, least)
        if point is None:
            return _Fixed(at, self.best, inf, 0.0)
        fixed = self._fitted(at, point)
        self.seen.append(fixed)
        return fixed

    def _next(
        self, near: _Fixed, far: _Fixed | None, last: _Fixed, side: int, horizon: float
    ) -> float:
        """Return Newton's step on the root, kept within the bracket."""
        rise = side * last.slope
        at = last.at + side * (self.reach - last.root) / rise if rise > 0 else inf * side
        if far is None:
            # From a plateau, the step would be infinite.
            most = near.at + side * max(self.size, 3 * abs(near.at - self.start.at))
            at = side * min(side * at, side * most, side * horizon)
            return at if side * at > side * near.at else most
        inside = side * near.at < side * at < side * far.at
        return at if inside else (near.at + far.at) / 2

    def fixed(self, at: float, around: Sequence[_Fixed] = ()) -> _Fixed:
        """Return the likeliest point at a value, by a climb from the nearest known point or others.

        These points belong to one peak, if there may be several.
        """
        nearest = min(self.seen, key=lambda fixed: abs(fixed.at - at))
        if nearest.at == at:
            return nearest
        near = [nearest] if self.sharp or not around else around
        starts = []
        for fixed in near:
            tangents = [self.tangent]
            if not self.sharp:
                # No climb leads out of a flat region, so this begins as high as possible.
                tangents += [_tangent(self.row, fixed.point)[0], self.row / self.size**2]
            starts += [
                self.best.likelihood.at(fixed.point.parameters + (at - fixed.at) * tangent)
                for tangent in tangents
            ]
        if not self.sharp:
            # Steep slopes that separate the reports do so at the same places if all parameters
            # change in proportion. Along a tangent, they would be lost.
            apart = [fixed.point.parameters * (at / fixed.at) for fixed in near if fixed.at]
            alone = self.row * (at / self.size**2)
            starts += [self.best.likelihood.at(parameters) for parameters in (*apart, alone)]
        point = max(starts, key=lambda start: start.value if isfinite(start.value) else -inf)
        if not isfinite(point.value):
            # The reports are impossible here, so no climb can begin, and the value is far off.
            return _Fixed(at, nearest.point, inf, 0.0)
        found = self._fitted(at, point)
        self.seen.append(found)
        return found

    def _fitted(self, at: float, point: Point) -> _Fixed:
        point, gain = self._cheap(point)
        if gain > _GAIN:
            point, _ = climb_from(point, self.ways, _GAIN)
            gain = 0.0
        below = self.best.value - point.value - gain / 2
        if below < -_HIGHER and self.strict:
            raise HigherError(point)
        root = sqrt(2 * max(below, 0.0))
        if root < self.reach and not self.sharp:
            self.possible.append(point.parameters)
        slope = -float(self.row @ point.gradient) / self.size**2
        return _Fixed(at, point, root, slope / root if root else 0.0)

    def _cheap(self, point: Point) -> tuple[Point, float]:
        """Take steps with the information at the maximum; return the gain of a further step.

        This is used if all parameters are known well, so that the information is similar here.
        """
        if not self.ways.size:
            return point, 0.0
        if self.factor is None:
            return point, inf
        last = inf
        for _ in range(_CHEAP):
            gradient = self.ways.T @ point.gradient
            step = scipy.linalg.cho_solve(self.factor, gradient)
            gain = float(step @ gradient)
            if gain <= _GAIN:
                return point, gain
            ahead = self.best.likelihood.at(point.parameters + self.ways @ step)
            if not (gain < last / 4 and ahead.value > point.value):
                break
            point, last = ahead, gain
        return point, inf


def _tangent(row: Array, point: Point) -> tuple[Array, float]:
    """Return the derivative of parameters by ``row @ parameters`` on the profile, and a variance.

    They move freely in directions without information.
    """
    information = point.information
    values, ways = np.linalg.eigh((information + information.T) / 2)
    along = ways.T @ row / np.maximum(values, _FREE)
    variance = float((ways.T @ row) @ along)
    return ways @ along / variance, variance
