"""δ, σ or ε of unbounded Gaussian noise from the other two, and the σ of several reports.

σ is in units of the sensitivity, the largest difference between two answers of one respondent. For
a single number this is its range. For a sum it is twice the change if one person is left out.
"""

from collections.abc import Sequence
from math import exp, fsum, sqrt

import scipy
from scipy.special import log_ndtr, ndtr

from analysis.core.errors import check_delta, check_positive


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """Return the δ of one report at this ε, both above 0.

    Φ(1/(2σ) - εσ) - e^ε Φ(-1/(2σ) - εσ)

    It bounds a difference of probabilities, and is not the probability of a total leak: at
    σ = 3.731 and ε = 1 it is 1e-5.
    Source: Balle and Wang, "Improving the Gaussian mechanism", ICML 2018, theorem 8.
    """
    return _delta(check_positive(sigma, "sigma"), check_positive(epsilon))


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the least σ of Gaussian noise for sensitivity 1 (Balle and Wang 2018, theorem 8).

    The classic sqrt(2 ln(1.25/δ)) / ε is proved for ε < 1 only. For ε = 1 and δ = 1e-5 it is 4.845,
    where this is 3.731. For ε = 15 it is 0.323, which is too small, where this is 0.362.
    """
    check_positive(epsilon)
    check_delta(delta)
    least, most = 1e-3, 1e6
    if not _delta(most, epsilon) < delta < _delta(least, epsilon):
        raise ValueError(
            f"sigma must be {least:g} to {most:g}, got another for epsilon {epsilon:g} "
            f"and delta {delta:g}"
        )
    return float(
        scipy.optimize.brentq(lambda sigma: _delta(sigma, epsilon) - delta, least, most, xtol=1e-12)
    )


def gaussian_epsilon(sigma: float, delta: float) -> float:
    """Return the least ε of one report for this δ, rounded up; 0 if δ alone is enough."""
    if check_positive(sigma, "sigma") < 1e-6:
        raise ValueError(f"sigma must be at least 1e-06, got {sigma:g}")
    check_delta(delta)
    if _delta(sigma, 0.0) <= delta:
        return 0.0
    high = 1.0
    while _delta(sigma, high) > delta:
        high *= 2
    root = scipy.optimize.brentq(
        lambda epsilon: _delta(sigma, epsilon) - delta, 0, high, xtol=1e-14
    )
    return float(root) * (1 + 1e-12) + 1e-13


def gaussian_sum(sigmas: Sequence[float]) -> float:
    """Return the σ of one report that reveals as much as all of these: 1/σ² adds up.

    By hand: four reports of σ = 6 reveal as much as one of σ = 3.

    Raise ValueError if there is no σ, or if one is not above 0.
    """
    if not len(sigmas):
        raise ValueError("sigmas must be at least one, got none")
    return 1 / sqrt(fsum(check_positive(sigma, "sigma") ** -2 for sigma in sigmas))


def _delta(sigma: float, epsilon: float) -> float:
    half = 1 / (2 * sigma)
    shared = epsilon + float(log_ndtr(-half - epsilon * sigma))
    return float(ndtr(half - epsilon * sigma)) - exp(shared)
