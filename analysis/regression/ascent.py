"""Newton's method for likelihoods that are not concave everywhere."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.regression.likelihood import Likelihood, Point

ROUNDS = 200
#: Log-likelihood that a further step would gain: at 1e-9 parameters are within 5e-5 of their
#: standard errors of the maximum.
GAIN = 1e-9
#: Other starts that are tried, and information (a standard error of 0.2) below which they are: with
#: less, there are often several maxima, with more none was seen.
_STARTS, _WEAK = 4, 25.0
#: No step is longer, so that one from where the likelihood is flat does not end where it is flat
#: for ever: an odds ratio of e^8 for a usual respondent.
_FARTHEST = 8.0
#: The least curvature that is believed, as a part of what it were if latent values were seen.
_LEAST = 1e-4
#: Rounding errors of a sum of so many logarithms, as a part of it.
_ROUNDING = 1e-13


def climb(
    likelihood: Likelihood,
    start: NDArray[np.float64],
    progress: Callable[[float], None] | None = None,
) -> tuple[Point, bool]:
    """The likeliest parameters, as far as can be seen, and whether a maximum was reached.

    Parameters
    ----------
    likelihood : Likelihood
        Its parameters are in units of `analysis.regression.units`.
    start : (parameters,) array
        Where its value is finite.
    progress : function, optional
        Called with the part of the most steps that were taken.
    """
    tell = progress or (lambda part: None)
    best, reached = _climb(likelihood, start, lambda part: tell(part / 2))
    if not reached or np.linalg.eigvalsh(best.information)[0] < _WEAK:
        places = np.arange(1, len(start) + 1)
        for turn in range(1, _STARTS + 1):
            # Directions as different as random ones, and the same at every run.
            other, there = _climb(likelihood, start + np.cos(turn * places), lambda part: None)
            if other.value > best.value + GAIN * (there <= reached):
                best, reached = other, there
            tell((1 + turn / _STARTS) / 2)
    tell(1.0)
    return best, reached


def _climb(
    likelihood: Likelihood,
    start: NDArray[np.float64],
    tell: Callable[[float], None],
) -> tuple[Point, bool]:
    point = likelihood.at(start)
    for turn in range(ROUNDS):
        gradient = point.gradient
        step = _step(point, gradient)
        gain = float(step @ gradient)
        if not gain >= GAIN:
            return point, abs(gain) < GAIN
        length = min(1.0, _FARTHEST / float(np.linalg.norm(step)))
        slack = _ROUNDING * abs(point.value)
        ahead = likelihood.at(point.parameters + length * step)
        while not ahead.value >= point.value + 1e-4 * length * gain - slack:
            length /= 2
            if length < 1e-9:
                return point, False
            ahead = likelihood.at(point.parameters + length * step)
        point = ahead
        tell((turn + 1) / ROUNDS)
    return point, False


def _step(point: Point, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's step; where the likelihood bends upwards, as far as if it bent as much downwards."""
    information = point.information
    try:
        np.linalg.cholesky(information)
        return np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
    except scipy.linalg.LinAlgError:
        most = point.most
    # An outcome that hardly depends on a parameter any more leaves it no curvature at all.
    most += 1e-12 * np.trace(most) / len(most) * np.eye(len(most))
    bends, ways = scipy.linalg.eigh(information, most)
    return np.asarray(ways @ ((ways.T @ gradient) / np.maximum(np.abs(bends), _LEAST)))
