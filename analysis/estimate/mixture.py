"""The likeliest weights of a mixture: shares of values behind noisy reports."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.estimate import Floats

#: The most by which the log-likelihood may be below its maximum. At 1e-4 the shares are within
#: 0.015 standard errors of the likeliest shares.
GAP = 1e-4
#: The most steps of EM.
ROUNDS = 50_000


@dataclass(frozen=True)
class Mixture:
    """The weights of components that make the reports likeliest.

    Attributes
    ----------
    likelihood : (groups, components) array
        The probability of each group's report under each component, relative to its largest.
    weights : (components,) array
        The weights, which sum to 1.
    height : float
        The log-likelihood of `weights`, summed over reports, with the probabilities as given.
    converged : bool
        Whether the log-likelihood is at most `GAP` below the maximum.
    """

    likelihood: Floats
    weights: Floats
    height: float
    converged: bool

    @cached_property
    def ratios(self) -> Floats:
        """(groups, components) the probability of reports divided by that under the mixture."""
        return self.likelihood / (self.likelihood @ self.weights)[:, None]


def mixture(likelihood: Floats, times: Floats) -> Mixture:
    """Maximize the likelihood by EM, accelerated where it is slow; see docs/methods.md, (24).

    Parameters
    ----------
    likelihood : (groups, components) array
        The probability of each group's report under each component, up to a factor for each row.
    times : (groups,) array
        The number of reports of each group, above 0.

    Raises
    ------
    ValueError
        If a report is impossible under every component, or if there is no report.

    References
    ----------
    Fanti, Pihur and Erlingsson, PoPETs 2016 (EM over reports); Varadhan and Roland, Scandinavian
    Journal of Statistics 2008 (its acceleration, SqS3).
    """
    if not len(likelihood) or not likelihood.any(axis=1).all():
        raise ValueError("expected one or more reports, each possible under some value")
    # Probabilities are relative to the largest, since products of many bits would underflow.
    scale = likelihood.max(axis=1)
    scaled = likelihood / scale[:, None]
    weights, converged = _climb(scaled, times)
    height = float(times @ np.log((scaled @ weights) * scale))
    return Mixture(scaled, weights, height, converged)


def _climb(likelihood: Floats, times: Floats) -> tuple[Floats, bool]:
    """Return the likeliest weights, and whether EM converged."""
    total = times.sum()
    parts = times / total

    def step(weights: Floats) -> tuple[Floats, float, float]:
        """Return the weights after a step, the log-likelihood before it, and a bound of its gap."""
        mixed = likelihood @ weights
        slope = (parts / mixed) @ likelihood
        # The log-likelihood is concave, so its maximum is below that of a tangent, which is at a
        # corner.
        return weights * slope, float(parts @ np.log(mixed)), total * float(slope.max() - 1)

    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(0, ROUNDS, 3):
        first, height, missing = step(weights)
        if missing < GAP:
            return weights, True
        second, _, _ = step(first)
        change, bend = first - weights, (second - first) - (first - weights)
        size = float(np.sqrt((change @ change) / max(bend @ bend, 1e-300)))
        far = weights + 2 * size * change + size**2 * bend
        far = np.maximum(far, 1e-3 * second)
        third, reached, _ = step(far / far.sum())
        weights = third if size > 1 and reached >= height else second
    return weights, False
