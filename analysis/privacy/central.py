"""The precision of a trusted curator, who knows all answers and publishes sums with noise.

A published sum is at most e^ε times as likely under one answer of a person as under another. A
report has the same promise. But here, the curator who collects the answers sees them in the clear.
"""

import math

import numpy as np
import scipy
from scipy.special import log_ndtr, ndtri


def half_width_of_curator(direct: float, noise: float, confidence_level: float = 0.95) -> float:
    """Return half of the interval around a sum with Laplace noise on it.

    The sampling error is assumed to be normal, and independent of the noise.

    Parameters
    ----------
    direct : float
        Half of the interval without noise, 0 or more. It has the sampling error alone.
    noise : float
        The scale of the Laplace noise, above 0, in the same unit. It is the most by which
        another answer of one person can move the published sum, divided by ε (Dwork, McSherry,
        Nissim and Smith, TCC 2006, example 1 and proposition 1). Changes of counts that are
        published together add up.
    confidence_level : float
        In (0, 1).

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not (0 <= direct < math.inf and 0 < noise < math.inf and 0 < confidence_level < 1):
        raise ValueError(
            "expected direct of 0 or more, noise above 0 and a level between 0 and 1, got "
            f"{direct:g}, {noise:g} and {confidence_level:g}"
        )
    outside = 1 - confidence_level
    sd = direct / float(ndtri(1 - outside / 2))
    most = direct + noise * math.log(1 / outside)
    while _beyond(most, sd, noise) > outside:
        most *= 2
    return float(
        scipy.optimize.brentq(
            lambda half: _beyond(half, sd, noise) - outside, 0.0, most, xtol=1e-15
        )
    )


def _beyond(half: float, sd: float, noise: float) -> float:
    """Return the probability that the sum of a normal and a Laplace variable is beyond ± `half`."""
    if sd == 0:
        return math.exp(-half / noise)
    at, tilt = half / sd, sd / noise
    # These are the normal tail, and the probability that the Laplace variable moves over the border
    # from either side. Logarithms are added, since e to the squared tilt alone can be too large.
    logs = np.array(
        [
            math.log(2) + log_ndtr(-at),
            tilt**2 / 2 - half / noise + log_ndtr(at - tilt),
            tilt**2 / 2 + half / noise + log_ndtr(-at - tilt),
        ]
    )
    normal, inward, outward = np.exp(logs)
    return float(normal + inward - outward)
