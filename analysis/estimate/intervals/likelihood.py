"""The profile-likelihood interval of a share known to lie in [0, 1]."""

from typing import Any

import numpy as np
from scipy.special import chdtri, xlog1py, xlogy

from analysis.estimate.intervals.normal import Numbers, clipped

#: Chances of support at which logarithms are taken, so that they are never infinite.
_LEAST, _MOST = 1e-30, 1 - 1e-16
#: After a step from where so little of the logarithm is missing, the end is known to 12 digits.
_NEAR, _STEPS = 1e-6, 60


def profile_likelihood(
    count: Numbers, n: float, p: float, q: float, confidence_level: float
) -> tuple[Numbers, Numbers]:
    """Shares nearly as likely as the likeliest: those that the likelihood-ratio test keeps.

    The limit is that of chi-square, which holds for large n and shares inside; at 0 and 1 the
    interval covers more often. It never shrinks to a point. Parameters as of `share_interval`,
    ``n > 0``; of many counts at once, too.

    References
    ----------
    Wilks, Annals of Mathematical Statistics 1938.
    """

    def chance(share: Any) -> Any:
        return np.minimum(_MOST, np.maximum(_LEAST, q + (p - q) * share))

    def height(support: Any) -> Any:
        return xlogy(count, support) + xlog1py(n - count, -support)

    best = clipped((count / n - q) / (p - q))
    reach = chdtri(1, 1 - confidence_level) / 2
    least = height(chance(best)) - reach

    def end(border: float) -> Any:
        """Newton's steps: as the height is concave, the first passes the end, and no other does."""
        missing = np.maximum(0.0, least - height(chance(border)))
        # Where the chord of the height falls as low, which is inside; or the border, if it is, too.
        share: Any = best + (border - best) * (reach / (reach + missing))
        beyond = missing > 0
        for _ in range(_STEPS if beyond.any() else 0):
            support = chance(share)
            slope = (p - q) * (count / support - (n - count) / (1 - support))
            missing = beyond * (least - height(support))
            share = clipped(share + missing / slope)
            if (abs(missing) <= _NEAR).all():
                break
        return share

    return end(0.0), end(1.0)
