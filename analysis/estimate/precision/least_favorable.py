"""The least favorable truths of an estimate, at which its interval is widest."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.core.domain import Domain, Estimand, Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate.intervals import normal_intervals
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.truth import Truth, every_value
from analysis.mechanisms.base import Mean, Mechanism
from analysis.mechanisms.one_of_texts import text_share

_Floats = NDArray[np.float64]

#: The shares at which variances are compared.
_GRID = np.linspace(0, 1, 101)
#: The number of rounds of a search, and of shares in a round. Each round is ten times as fine.
_ROUNDS, _SHARES = 5, 21
#: The points of a standard normal law for sums, and their weights.
_PLACES = np.linspace(-6, 6, 241)
_WEIGHTS = np.exp(-(_PLACES**2) / 2) / np.exp(-(_PLACES**2) / 2).sum()


def widest_at(width: Callable[[_Floats], _Floats]) -> float:
    """Return the share, to five digits, at which a smooth width is largest.

    The variance is often largest at 0 or 1, but half of the interval is clipped there.
    """
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        shares = np.round(np.linspace(low, high, _SHARES), 9)
        widths = width(shares)
        # If several widths are equal up to rounding, this takes the share nearest to the middle.
        widest = shares[widths >= (1 - 1e-9) * widths.max()]
        best = float(widest[np.abs(widest - 0.5).argmin()])
        step = (high - low) / (_SHARES - 1)
        low, high = max(0.0, best - step), min(1.0, best + step)
    return best


def normal_half_width(variance: float, n: int, confidence_level: float) -> float:
    """Return the half-width of the usual interval, from the variance of one report.

    By hand: Warner's design at ε = 1 has .25 / .4621² = 1.1707 at one half, and with 1,000
    respondents 1.96 sqrt(1.1707/1000) = .0671.
    """
    return float(ndtri((1 + confidence_level) / 2)) * math.sqrt(variance / n)


def normal_half_widths(shares: _Floats, errors: _Floats, level: float) -> _Floats:
    """Return expected half-widths of `normal_intervals` of estimates that are normal.

    By hand: with a standard error of 1/4 at one half, and 95 %, it is .490 without clipping. Within
    [0, 1], .402 is left.
    """
    errors = errors[:, None]
    low, high = normal_intervals(shares[:, None] + errors * _PLACES, errors, level)
    return np.asarray((high - low) @ _WEIGHTS / 2)


def mean_variance(mean: Mean, law: Law) -> tuple[float, float]:
    """Return a mean in 0..1, and the variance of one report's estimate of it, to first order."""
    scores, present = mean.floats
    there = law.first(present)
    middle = law.first(scores) / there
    apart = scores - middle * present
    return middle, law.second(apart, apart) / there**2


@lru_cache(maxsize=128)
def worst_numbers(
    mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Numbers
) -> tuple[Mean, Truth]:
    """Return the mean of a number, and the truth at which its variance is largest.

    At this truth, half of all have a number, and half have its mirror image, by the exact variance.
    Usually the worst truth is the two ends, with the variance (E[score²] at an end) - 1/4 if the
    middle is 1/2, or everybody at the middle.
    """
    (mean,) = mechanism.means(randomizer, domain)
    parts = min(domain.steps, 8)
    candidates = []
    for part in range(parts // 2 + 1):
        place = Fraction(round(Fraction(domain.steps * part, parts)), domain.steps)
        truth = Truth((place, 1 - place), (0.5, 0.5))
        candidates.append((mean_variance(mean, Law(randomizer, domain, truth))[1], truth))
    largest = max(variance for variance, _ in candidates)
    return mean, next(t for variance, t in candidates if variance >= largest * (1 - 1e-9))


def two_values(
    mean: Mean, randomizer: Randomizer[Any, Any], domain: Domain, n: int, level: float
) -> Truth:
    """Return the least favorable truth of a share: some have its value, all others the worst other.

    Let a score have the expectation 1 for the value and 0 for others, with the mean squares a and
    b. If a proportion t has the value, its variance is ``t a + (1 - t) b - t^2``.
    """
    (a, b), (value, other) = _worst_squares(mean, randomizer, domain)
    part = widest_at(
        lambda at: normal_half_widths(at, np.sqrt((at * a + (1 - at) * b - at**2) / n), level)
    )
    return Truth.of([(value, part), (other, 1 - part)])


def _worst_squares(
    mean: Mean, randomizer: Randomizer[Any, Any], domain: Domain
) -> tuple[tuple[float, float], tuple[Any, Any]]:
    """Return a score's largest mean squares, of a value that counts and another, and both."""
    values = every_value(domain)
    scores = mean.floats[0]
    laws = [Law(randomizer, domain, Truth((value,), (1.0,))) for value in values]
    squares = np.array([law.second(scores, scores) for law in laws])
    there = np.array([law.first(scores) > 0.5 for law in laws])
    first = int(np.where(there, squares, -1.0).argmax())
    other = int(np.where(there, -1.0, squares).argmax())
    return (float(squares[first]), float(squares[other])), (values[first], values[other])


def worst_variance(mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Domain) -> float:
    """Return the variance of a report's worst share, or of a number's mean, at the worst truth.

    For a number it is relative to the squared range. Estimates are not clipped to possible values.
    """
    match domain.estimand:
        case Estimand.TEXTS:
            at = np.zeros(1) if domain.is_open else _GRID
            return float(text_share(randomizer).variance(at).max())
        case Estimand.MEAN:
            mean, truth = worst_numbers(mechanism, randomizer, domain)
            return mean_variance(mean, Law(randomizer, domain, truth))[1]
        case Estimand.SHARES:
            return _worst_of_shares(mechanism, randomizer, domain)
        case _:
            assert_never(domain.estimand)


def _worst_of_shares(
    mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Domain
) -> float:
    shares = mechanism.shares(randomizer, domain).values
    if shares:
        return max(float(share.variance(_GRID).max()) for share in shares)
    means = mechanism.means(randomizer, domain)
    shares_alone = [mean for mean in means if domain.is_share(mean.term)]
    squares = [_worst_squares(mean, randomizer, domain)[0] for mean in shares_alone]
    return max(float((_GRID * a + (1 - _GRID) * b - _GRID**2).max()) for a, b in squares)
