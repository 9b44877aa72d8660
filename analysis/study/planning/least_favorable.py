"""The least favorable truths of an estimate: where its interval is the widest."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Domain, Estimand, Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate.intervals import normal_intervals
from analysis.mechanisms.base import Mean, Mechanism
from analysis.mechanisms.one_of_texts import text_share
from analysis.study.planning.law import Law
from analysis.study.planning.truth import Truth, every_value

_Floats = NDArray[np.float64]

#: Shares at which variances are compared.
_GRID = np.linspace(0, 1, 101)
#: How often the widest is looked for, among so many shares, each time ten times as near.
_ROUNDS, _SHARES = 5, 21
#: Places of a standard normal law that are summed over, and their weights.
_PLACES = np.linspace(-6, 6, 241)
_WEIGHTS = np.exp(-(_PLACES**2) / 2) / np.exp(-(_PLACES**2) / 2).sum()


def widest_at(width: Callable[[_Floats], _Floats]) -> float:
    """Return the share, to five digits, at which a smooth width is the largest.

    The largest variance alone is often at 0 or 1, where half of the interval is clipped.
    """
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        shares = np.round(np.linspace(low, high, _SHARES), 9)
        widths = width(shares)
        # If several are equally wide, but for rounding, take that nearest to the middle.
        widest = shares[widths >= (1 - 1e-9) * widths.max()]
        best = float(widest[np.abs(widest - 0.5).argmin()])
        step = (high - low) / (_SHARES - 1)
        low, high = max(0.0, best - step), min(1.0, best + step)
    return best


def normal_half_widths(shares: _Floats, errors: _Floats, level: float) -> _Floats:
    """Return expected half-widths of `normal_intervals` of estimates that are normal.

    By hand: with a standard error of 1/4 at one half, 95 % and nothing clipped it were .490; of
    that .402 is left within [0, 1].
    """
    errors = errors[:, None]
    low, high = normal_intervals(shares[:, None] + errors * _PLACES, errors, level)
    return np.asarray((high - low) @ _WEIGHTS / 2)


def mean_variance(mean: Mean, law: Law) -> tuple[float, float]:
    """Return a mean, in 0..1, and the variance of one report's estimate of it, to first order."""
    scores, present = mean.floats
    there = law.first(present)
    middle = law.first(scores) / there
    apart = scores - middle * present
    return middle, law.second(apart, apart) / there**2


@lru_cache(maxsize=128)
def worst_numbers(
    mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Numbers
) -> tuple[Mean, Truth]:
    """Return the mean of a number, and the truth at which its variance is the largest.

    That is half of all at a number, half at its mirror image, by the exact variance. Usually the
    worst are the two ends, where it is (E[score²] at an end) - 1/4 if the middle is 1/2; or
    everybody at the middle.
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
    """Return the least favorable truth of a share: a part has its value, the rest the worst other.

    A score whose expectation is 1 for the value and 0 for others, with mean squares a and b, has
    the variance ``t a + (1 - t) b - t^2`` where a part t has the value.
    """
    (a, b), (value, other) = _worst_squares(mean, randomizer, domain)
    part = widest_at(
        lambda at: normal_half_widths(at, np.sqrt((at * a + (1 - at) * b - at**2) / n), level)
    )
    return Truth.of([(value, part), (other, 1 - part)])


def _worst_squares(
    mean: Mean, randomizer: Randomizer[Any, Any], domain: Domain
) -> tuple[tuple[float, float], tuple[Any, Any]]:
    """Return the largest mean squares of a score, of a value that counts and another; and both."""
    values = every_value(domain)
    scores = mean.floats[0]
    laws = [Law(randomizer, domain, Truth((value,), (1.0,))) for value in values]
    squares = np.array([law.second(scores, scores) for law in laws])
    there = np.array([domain.counts_for(value, mean.term) for value in values])
    first = int(np.where(there, squares, -1.0).argmax())
    other = int(np.where(there, -1.0, squares).argmax())
    return (float(squares[first]), float(squares[other])), (values[first], values[other])


def worst_variance(mechanism: Mechanism, randomizer: Randomizer[Any, Any], domain: Domain) -> float:
    """Return the variance of one report's worst share, or of a number's mean, at its worst truth.

    A number's is a part of its squared range. Estimates are not clipped to what is possible.
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
    squares = [_worst_squares(mean, randomizer, domain)[0] for mean in means if mean.is_share]
    return max(float((_GRID * a + (1 - _GRID) * b - _GRID**2).max()) for a, b in squares)
