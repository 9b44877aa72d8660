"""Maximization of a likelihood, in all directions or in some."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.study.regression.likelihood import Likelihood, Point

Array = NDArray[np.float64]

ROUNDS = 200
#: A climb ends if a further step would gain less log-likelihood than this. Parameters are then
#: within 5e-5 of their standard errors of the maximum.
GAIN = 1e-9
#: The number of other starts, and the information (a standard error of 0.2) below which they are
#: tried. With less information there are often several maxima. With more, none were seen.
_STARTS, WEAK = 4, 25.0
#: After this many rounds, this precision of the log-likelihood is enough. A maximum at infinity,
#: for example if a number separates those who gave no answer, may be approached forever. The finite
#: parameters are then within 0.015 of their standard errors.
_PATIENCE, _ENOUGH = 60, 1e-4
#: The longest first step, an odds ratio of e^8 for a usual respondent. A step from a flat region of
#: the likelihood must not end where it is flat forever. The next step may be twice as long as a
#: step that was cut.
_FARTHEST = 8.0
#: Other starts climb until a step would gain less log-likelihood than the first of these numbers,
#: and go on if they are then less than the second below the best.
_ROUGH, _HOPE = 1e-3, 0.1
#: A negligible share; the share to which it is raised if the likelihood rises with it by more than
#: the third number, as a factor; and the most such raises.
_NOTHING, _LIFTED, _RISING, _LIFTS = 1e-4, 1e-3, 1.01, 4
_TINY = 1e-30
#: The number of further steps that a climb is assumed to need at most.
_MORE = 8
#: A longer step consists of rounding errors in directions without curvature.
_ENDLESS = 1e4
#: The least curvature that is used, as a fraction of that if latent values were observed.
_LEAST = 1e-4
#: The least curvature if latent values were observed, and how often it is raised a hundredfold
#: until equations with it can be solved. A step of 0 then ends the climb before a maximum.
_FLAT, _RAISES = 1e-300, 200


def climb(
    likelihood: Likelihood,
    start: Array,
    progress: Callable[[float], None] | None = None,
) -> tuple[Point, bool]:
    """Return the likeliest parameters that were found, and whether they are at a maximum.

    Parameters are in units of `analysis.study.regression.units`. The likelihood must be finite at
    `start`. `progress` is called with the fraction of the most steps that were taken.
    """
    advance = progress or (lambda part: None)
    best, reached = climb_from(likelihood.at(start), advance=lambda part: advance(part / 2))
    if not reached or np.linalg.eigvalsh(best.information)[0] < WEAK:
        indices = np.arange(1, len(start) + 1)
        for turn in range(1, _STARTS + 1):
            # These directions differ like random ones, and are the same in every run.
            trial, there = climb_from(likelihood.at(start + np.cos(turn * indices)), None, _ROUGH)
            if trial.value > best.value - _HOPE:
                trial, there = climb_from(trial)
            if trial.value > best.value + GAIN * (there <= reached):
                best, reached = trial, there
            advance((1 + turn / _STARTS) / 2)
    advance(1.0)
    return best, reached


def climb_from(
    point: Point,
    ways: Array | None = None,
    gain_at_end: float = GAIN,
    least: float = -np.inf,
    advance: Callable[[float], None] = lambda part: None,
) -> tuple[Point, bool]:
    """Climb from a point by Newton's method; return the end, and whether it is a maximum.

    Parameters
    ----------
    point : Point
        A point where the likelihood is finite.
    ways : (parameters, directions) array, optional
        Orthonormal columns whose combinations are the possible steps. By default, all steps are
        possible. All steps of the shares of latent values must be possible.
    gain_at_end : float
        The climb ends if a step would gain less than half of this log-likelihood, or less than half
        of `_ENOUGH` after many steps.
    least : float
        The climb is given up if a few more steps like the next would not reach this log-likelihood.
    advance : function, optional
        A function that is called with the fraction of the most steps that were taken.
    """
    ways = np.eye(len(point.parameters)) if ways is None else ways
    for _ in range(_LIFTS):
        point, reached = _climb_once(point, ways, gain_at_end, least, advance)
        lifted = _lifted(point) if reached else None
        if lifted is None:
            break
        point = lifted
    return point, reached


def _climb_once(
    point: Point,
    ways: Array,
    gain_at_end: float,
    least: float,
    advance: Callable[[float], None],
) -> tuple[Point, bool]:
    """Climb until a step gains little, which can also happen because a share is negligible."""
    farthest = _FARTHEST
    for turn in range(ROUNDS):
        gradient = ways.T @ point.gradient
        step = _step(point, gradient, ways)
        gain = float(step @ gradient)
        slack = point.likelihood.rounding * abs(point.value)
        end = max(gain_at_end, slack, _ENOUGH if turn >= _PATIENCE else 0.0)
        if not gain >= end:
            return point, abs(gain) < end
        if point.value + _MORE * gain < least:
            return point, False
        size = float(np.linalg.norm(step))
        length = most = min(1.0, farthest / size)
        along = ways @ step
        ahead = point.likelihood.at(point.parameters + length * along)
        while not ahead.value >= point.value + 1e-4 * length * gain - slack:
            length /= 2
            if length < 1e-9:
                return point, False
            ahead = point.likelihood.at(point.parameters + length * along)
        point = ahead
        farthest = max(_FARTHEST, length * size * (2 if length == most < 1 else 1))
        advance((turn + 1) / ROUNDS)
    return point, False


def _lifted(point: Point) -> Point | None:
    """Return a likelier point at which a negligible share is raised; None if there is none.

    The likelihood rises with such a share but hardly with its log-odds, so that no step leads away.
    """
    likelihood = point.likelihood
    before, after = (likelihood.times @ shares for shares in (point.shares, point.given))
    n = float(likelihood.times.sum())
    low = (before < _NOTHING * n) & (after > _RISING * before)
    if not low.any():
        return None
    # The columns of a design are linearly independent, and some combination of them is 1.
    shares = likelihood.shares
    ones = np.linalg.lstsq(shares, np.ones(len(shares)))[0]
    up = np.where(low, np.log(_LIFTED * n / np.maximum(before, _TINY * n)), 0.0)
    parameters = point.parameters.copy()
    parameters[-len(ones) * (len(up) - 1) :] += np.outer(up[1:] - up[0], ones).reshape(-1)
    lifted = likelihood.at(parameters)
    return lifted if lifted.value > point.value else None


def _step(point: Point, gradient: Array, ways: Array) -> Array:
    """Return Newton's step. Where the likelihood is convex, curvatures change their sign."""
    information = ways.T @ point.information @ ways
    try:
        np.linalg.cholesky(information)
        step = np.linalg.solve(information, gradient)
    except scipy.linalg.LinAlgError:
        step = np.full_like(gradient, np.inf)
    if np.abs(step).max(initial=0.0) < _ENDLESS:
        return np.asarray(step, dtype=np.float64)
    most = point.most
    # If the outcome hardly depends on a parameter any more, it has no curvature at all.
    # Beyond log-odds of 745, not even its bound has any.
    least = max(1e-12 * np.trace(most) / len(most), _FLAT)
    most = ways.T @ most @ ways
    for _ in range(_RAISES):
        try:
            bends, directions = scipy.linalg.eigh(information, most + least * np.eye(len(most)))
            break
        except scipy.linalg.LinAlgError:  # by rounding errors
            least *= 100
    else:
        return np.zeros_like(gradient)
    lengths = (directions.T @ gradient) / np.maximum(np.abs(bends), _LEAST)
    # A direction without end must not shorten the steps in others.
    sizes = np.maximum(np.abs(lengths) * np.linalg.norm(directions, axis=0), _FARTHEST)
    return np.asarray(directions @ (lengths * _FARTHEST / sizes))
