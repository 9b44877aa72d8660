"""The likeliest weights of a mixture: shares of values that nobody reported as they are."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.estimate import Floats

#: Log-likelihood that may be missing from its maximum. At 1e-4 the shares are within 0.015 standard
#: errors of the likeliest ones.
GAP = 1e-4
ROUNDS = 50_000


@dataclass(frozen=True)
class Mixture:
    """Weights of parts that make the reports likeliest.

    Attributes
    ----------
    likelihood : (groups, parts) array
        Chance of each group's report under each part, as a part of its largest.
    times : (groups,) array
        Reports of each group, above 0.
    weights : (parts,) array
        They sum to 1.
    height : float
        The log-likelihood of `weights`, summed over reports, with the chances as they were given.
    converged : bool
        Whether it is at most `GAP` below the maximum.
    rounds : int
        Steps taken.
    """

    likelihood: Floats
    times: Floats
    weights: Floats
    height: float
    converged: bool
    rounds: int

    @cached_property
    def ratios(self) -> Floats:
        """(groups, parts) chance under each part, as a multiple of that under the mixture."""
        return self.likelihood / (self.likelihood @ self.weights)[:, None]


def mixture(likelihood: Floats, times: Floats, rounds: int = ROUNDS) -> Mixture:
    """Maximum likelihood by EM, faster where it creeps.

    Parameters
    ----------
    likelihood : (groups, parts) array
        Chance of each group's report under each part, up to a factor for each row.
    times : (groups,) array
        As of `Mixture`.
    rounds : int
        At most.

    Raises
    ------
    ValueError
        If a report is impossible under every part, or there is none.

    References
    ----------
    Fanti, Pihur and Erlingsson, PoPETs 2016 (EM over reports); Varadhan and Roland, Scandinavian
    Journal of Statistics 2008 (its acceleration, SqS3).
    """
    if not len(likelihood) or not likelihood.any(axis=1).all():
        raise ValueError("expected reports that some value can make, got none or others")
    # Parts of the largest chance: products of many bits would underflow.
    scale = likelihood.max(axis=1)
    scaled = likelihood / scale[:, None]
    weights, taken, converged = _climb(scaled, times, rounds)
    height = float(times @ np.log((scaled @ weights) * scale))
    return Mixture(scaled, times, weights, height, converged, taken)


def _climb(likelihood: Floats, times: Floats, rounds: int) -> tuple[Floats, int, bool]:
    """Weights of the mixture that make the reports likeliest; steps taken; if they are there."""
    total = times.sum()
    parts = times / total

    def step(weights: Floats) -> tuple[Floats, float, float]:
        """A step of EM; the log-likelihood before it, and a bound of what is missing."""
        mixed = likelihood @ weights
        slope = (parts / mixed) @ likelihood
        # The log-likelihood is concave: its maximum is below every tangent's, at a corner.
        return weights * slope, float(parts @ np.log(mixed)), total * float(slope.max() - 1)

    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for turn in range(0, rounds, 3):
        one, height, missing = step(weights)
        if missing < GAP:
            return weights, turn, True
        two, _, _ = step(one)
        change, bend = one - weights, (two - one) - (one - weights)
        size = float(np.sqrt((change @ change) / max(bend @ bend, 1e-300)))
        far = weights + 2 * size * change + size**2 * bend
        far = np.maximum(far, 1e-3 * two)
        third, reached, _ = step(far / far.sum())
        weights = third if size > 1 and reached >= height else two
    return weights, rounds, False
