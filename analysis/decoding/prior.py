"""How shares of candidates are spread, learned from all of them, and what that says of each."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

#: Points of the spread beside 0, in equal ratios. With half of them results differ by less than a
#: tenth of a standard error.
POINTS = 40


@dataclass(frozen=True)
class Spread:
    """A distribution of shares over candidates: `weights`, which sum to 1, at `points`."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def between(cls, finest: float, largest: float, before: "Spread | None") -> "Spread":
        """At 0 and from a tenth of the finest standard error to the largest share; the weights are
        equal, or those of the one before, whose points are near."""
        above = np.geomspace(finest / 10, max(largest, 3 * finest), POINTS)
        weights = np.full(POINTS + 1, 1 / (POINTS + 1)) if before is None else before.weights
        return cls(np.append(0.0, above), weights)

    def learn(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64], steps: int
    ) -> "Spread":
        """The spread that makes normal estimates likelier, by `steps` of the EM algorithm.

        Its mean is kept to at most 1 / candidates, as shares sum to at most 1.

        References
        ----------
        Kiefer and Wolfowitz, Annals of Mathematical Statistics 1956; Jiang and Zhang, Annals of
        Statistics 2009 (EM on a grid).
        """
        density = self._density(estimate, variance)
        weights, most = self.weights, 1 / len(estimate)
        for _ in range(steps):
            weights = weights * (density.T @ (1 / (density @ weights))) / len(estimate)
            if weights @ self.points > most:
                weights = _kept(weights, self.points - most)
        return Spread(self.points, weights)

    def posterior(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each candidate's share, given its normal estimate."""
        chances = self._density(estimate, variance) * self.weights
        chances /= chances.sum(axis=1, keepdims=True)
        mean = chances @ self.points
        return mean, np.maximum(chances @ self.points**2 - mean**2, 0)

    def _density(
        self, estimate: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        apart = (estimate[:, None] - self.points) ** 2 / (2 * variance[:, None])
        # From its own maximum, so that an estimate far below 0 does not underflow at all points.
        density: NDArray[np.float64] = np.exp(apart.min(axis=1, keepdims=True) - apart)
        return density


def _kept(weights: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all weights with mean `above` 0 those of the greatest ``sum(weights * log(new))``.

    They are ``weights / (1 + b above)``, with b of the constraint.
    """
    # Some weight at 0 is needed for that; less than this moves no share by anything.
    weights = np.append(max(float(weights[0]), 1e-6), weights[1:])
    end = (1 - 1e-9) / -above[0]
    if weights @ above > 0:
        slope = scipy.optimize.brentq(
            lambda b: float((weights * above / (1 + b * above)).sum()), 0, end
        )
        weights = weights / (1 + slope * above)
    scaled: NDArray[np.float64] = weights / weights.sum()
    return scaled
