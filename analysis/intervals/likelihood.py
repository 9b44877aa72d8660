"""The profile-likelihood interval of a share known to lie in [0, 1]."""

from math import exp

import scipy
from scipy.special import chdtri, xlog1py, xlogy


def profile_likelihood(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Shares nearly as likely as the likeliest: those that the likelihood-ratio test keeps.

    The limit is that of chi-square, which holds for large n and shares inside; at 0 and 1 the
    interval covers more often. It never shrinks to a point. Parameters as of `share_interval`,
    ``n > 0``.

    References
    ----------
    Wilks, Annals of Mathematical Statistics 1938.
    """
    limit = exp(-chdtri(1, 1 - confidence_level) / 2)

    def height(share: float) -> float:
        support = q + (p - q) * share
        return float(xlogy(count, support) + xlog1py(n - count, -support))

    best = min(1.0, max(0.0, (count / n - q) / (p - q)))
    top = height(best)

    def above(share: float) -> float:
        # Of likelihoods, not of their logarithms: these are infinite where no noise is added.
        return exp(height(share) - top) - limit

    low, high = (
        end if end == best or above(end) >= 0 else float(scipy.optimize.brentq(above, best, end))
        for end in (0.0, 1.0)
    )
    return low, high
