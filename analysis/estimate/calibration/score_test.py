"""The score test of a calibrated ratio, from debiased averages of products."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import chdtri

from analysis.estimate import Floats
from analysis.estimate.intervals import Interval
from analysis.estimate.intervals.empirical import end_of_interval

#: The method's name.
METHOD = "calibrated"


@dataclass(frozen=True)
class Calibrated:
    """A calibrated ratio. `estimate` is None if reports do not show that every group exists.

    `interval` has the method ``none`` and the whole possible range if nothing can be said.
    """

    estimate: float | None
    std_error: float | None
    interval: Interval


@dataclass(frozen=True)
class Moments:
    """Averages of x y, x z and x x' over respondents, debiased.

    Attributes
    ----------
    mean : (size,) array
        The average of x y, then that of x z, and then those of the products in `pairs`.
    covariance : (size, size) array
        The covariance of these averages.
    pairs : (2, pairs) array
        The pairs of regressors whose products are not 0 for everybody, the lower one first.
    regressors : int
        The number of regressors, the length of x.
    """

    mean: Floats
    covariance: Floats
    pairs: NDArray[np.int64]
    regressors: int

    @cached_property
    def second(self) -> Floats:
        """(regressors, regressors) A, the mean of x x'."""
        matrix = np.zeros((self.regressors, self.regressors))
        first, other = self.pairs
        matrix[first, other] = matrix[other, first] = self.mean[2 * self.regressors :]
        return matrix

    def calibrated(
        self, known: Floats, possible: tuple[float, float], confidence_level: float
    ) -> Calibrated:
        """Return the ratio; see `Calibration.ratio`."""
        nothing = Calibrated(None, None, Interval(*possible, "none"))
        if np.linalg.eigvalsh(self.second)[0] <= 0:
            return nothing
        tilt = np.linalg.solve(self.second, known)
        j = self.regressors
        above, below = float(tilt @ self.mean[:j]), float(tilt @ self.mean[j : 2 * j])
        if below <= 0:
            return nothing
        estimate = above / below
        goal = self.mean[:j] - estimate * self.mean[j : 2 * j]
        slopes = np.asarray(np.linalg.solve(self.second, goal), dtype=np.float64)
        error = float(tilt @ self._spread(estimate, slopes) @ tilt) ** 0.5 / below
        if error < 1e-9:
            return Calibrated(estimate, None, nothing.interval)
        try:
            interval = self._interval(estimate, known, possible, confidence_level)
        except np.linalg.LinAlgError:  # equal reports have no covariance
            interval = nothing.interval
        return Calibrated(estimate, error, interval)

    def _interval(
        self, estimate: float, known: Floats, possible: tuple[float, float], level: float
    ) -> Interval:
        free = scipy.linalg.null_space(known[None, :])

        def fall(ratio: float) -> float:
            return self._fall(ratio, free)

        reach = float(chdtri(1, 1 - level)) ** 0.5
        least, most = possible
        inside = min(most, max(least, estimate))
        if inside != estimate:
            reach = float(np.hypot(reach, fall(inside)))
        low, high = (end_of_interval(fall, inside, border, reach) for border in possible)
        return Interval(low, high, METHOD)

    def _jacobian(self, ratio: float, slopes: Floats) -> Floats:
        """Return (regressors, size) the matrix that gives g from the averages."""
        j, (first, other) = self.regressors, self.pairs
        rows = np.zeros((j, len(self.mean)))
        rows[:, :j], rows[:, j : 2 * j] = np.eye(j), -ratio * np.eye(j)
        at = 2 * j + np.arange(len(first))
        rows[first, at] = -slopes[other]
        rows[other, at] = -slopes[first]
        return rows

    def _spread(self, ratio: float, slopes: Floats) -> Floats:
        """Return (regressors, regressors) the covariance of the average g."""
        rows = self._jacobian(ratio, slopes)
        return np.asarray(rows @ self.covariance @ rows.T)

    def _fall(self, ratio: float, free: Floats) -> float:
        """Return the root of the least statistic over slopes in the span of `free`."""
        j, (first, other) = self.regressors, self.pairs

        def statistic(part: Floats) -> tuple[float, Floats]:
            slopes = free @ part
            rows = self._jacobian(ratio, slopes)
            apart, spread = rows @ self.mean, rows @ self.covariance
            solved = np.linalg.solve(spread @ rows.T, apart)
            # The averages of pairs, corrected by what the covariance predicts.
            left = (self.mean - solved @ spread)[2 * j :]
            slope = np.zeros(j)
            np.add.at(slope, other, -2 * solved[first] * left)
            off = first != other
            np.add.at(slope, first[off], -2 * solved[other[off]] * left[off])
            return float(apart @ solved), np.asarray(free.T @ slope)

        goal = self.mean[:j] - ratio * self.mean[j : 2 * j]
        start = free.T @ np.linalg.solve(self.second, goal)
        if not len(start):
            return float(statistic(start)[0] ** 0.5)
        for _ in range(2):
            # Least squares with a fixed covariance lead near the minimum.
            inverse = np.linalg.inv(self._spread(ratio, free @ start))
            moved = self.second @ free
            start = np.linalg.solve(moved.T @ inverse @ moved, moved.T @ inverse @ goal)
        found = scipy.optimize.minimize(
            statistic, start, jac=True, method="BFGS", options={"gtol": 1e-5}
        )
        return float(max(0.0, min(float(found.fun), statistic(start)[0])) ** 0.5)
