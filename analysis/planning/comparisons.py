"""How likely it is that a survey will show what is true: a share, or a difference of two."""

import math
from collections.abc import Callable
from math import isfinite

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from analysis.intervals import check_level
from analysis.planning.limits import MOST_RESPONDENTS, OutOfReach, check_respondents
from analysis.planning.sides import Side, TrueShares, share_power
from analysis.survey import Question

#: Pairs of counts that are summed over; beyond, the normal law is within .002.
_PAIRS = 250_000
#: Values of n that are looked at where power rises and falls.
_LOOKED = 400


def power_of_share(
    question: Question,
    term: str,
    true: TrueShares,
    null: float,
    respondents: int,
    level: float = 0.95,
) -> float:
    """The chance that the printed interval leaves out `null`.

    For shares that reports support or not it is an exact sum over counts, by the default interval;
    for others, and means, the normal law of the estimate with its exact variance.

    Parameters
    ----------
    question : Question
        Of any kind but texts.
    term : str
        Of the estimate: a value, ``no-answer``, ``a>b``, or ``mean``.
    true : float or mapping
        The true share, others being even; or of all answers, as of `truth_of`.
    null : float
        What is to be shown to be false, in the unit of the estimate; of a share in [0, 1].
    respondents : int
        At least 1.
    level : float
        Of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If one of these is out of range, or there is no such term.
    """
    check_level(level)
    check_respondents(respondents)
    side = Side.of(question, term, true)
    side.check(null, "null")
    if side.share is not None:
        return share_power(side.share, side.value, null, respondents, level)
    error = math.sqrt(side.variance / respondents)
    if respondents < 2:
        return 0.0
    return _beyond(side.value - null, error, float(stdtrit(respondents - 1, (1 + level) / 2)))


def power_of_change(
    question: Question,
    term: str,
    true: tuple[TrueShares, TrueShares],
    respondents: tuple[int, int],
    level: float = 0.95,
) -> float:
    """The chance that the interval of the difference of two estimates leaves out 0.

    Of two waves (`analysis.estimate.change`), or of two groups that are known apart, of which
    others answer in each. Where the same people answer in both waves and most keep their answer, it
    is larger. For shares that reports support or not the sum over both counts is exact, up to some
    thousand respondents; beyond and for others the normal law is taken.

    Parameters
    ----------
    question, term, level
        As of `power_of_share`.
    true : pair
        As there, of the earlier wave or the first group, and of the other.
    respondents : pair of int
        In each, at least 1.
    """
    check_level(level)
    for n in respondents:
        check_respondents(n)
    sides = [Side.of(question, term, one) for one in true]
    z = float(ndtri((1 + level) / 2))
    one, two = (
        side.told(n) if n <= _PAIRS else None for side, n in zip(sides, respondents, strict=True)
    )
    if one and two and len(one.weights) * len(two.weights) <= _PAIRS:
        errors = np.sqrt(one.variances[:, None] + two.variances)
        apart = np.abs(two.values - one.values[:, None]) > z * errors
        return float(one.weights @ apart @ two.weights)
    variance = sum(side.variance / n for side, n in zip(sides, respondents, strict=True))
    return _beyond(sides[1].value - sides[0].value, math.sqrt(variance), z)


def respondents_for_share(
    question: Question,
    term: str,
    true: TrueShares,
    null: float,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """The number of respondents from which on `power_of_share` stays at `power` or above.

    Exact power rises and falls as counts become whole; the first number that reaches `power` may be
    followed by some that do not. Above some ten thousand it may be a few too many.

    Raises
    ------
    ValueError
        As there; or if `power` is not above 1 - `level` and below 1, `true` is `null`, or more than
        `MOST_RESPONDENTS` are needed.
    """
    check_power(power, level)
    side = Side.of(question, term, true)
    side.check(null, "null")
    start = _start(side.value - null, side.variance, power, level)
    return least_for_power(
        lambda n: power_of_share(question, term, true, null, n, level), power, start
    )


def respondents_for_change(
    question: Question,
    term: str,
    true: tuple[TrueShares, TrueShares],
    power: float = 0.8,
    level: float = 0.95,
    ratio: float = 1.0,
) -> tuple[int, int]:
    """The numbers of both groups or waves from which on `power_of_change` stays there or above.

    Parameters
    ----------
    question, term, true, level
        As of `power_of_change`.
    power : float
        Above 1 - `level`, below 1.
    ratio : float
        How many times as many the second has, above 0; rounded up.
    """
    check_power(power, level)
    if not (isfinite(ratio) and ratio > 0):
        raise ValueError(f"ratio must be a number above 0, got {ratio:g}")
    one, two = (Side.of(question, term, shares) for shares in true)
    variance = one.variance + two.variance / ratio
    start = _start(two.value - one.value, variance, power, level)

    def pair(n: int) -> tuple[int, int]:
        return n, math.ceil(n * ratio - 1e-9)

    found = least_for_power(
        lambda n: power_of_change(question, term, true, pair(n), level), power, start
    )
    return pair(found)


def least_for_power(power: Callable[[int], float], wanted: float, start: float) -> int:
    """The least n from which on a power, which rises in the long run, is not below `wanted`.

    Parameters
    ----------
    power : callable
        Of n.
    wanted : float
        Below 1.
    start : float
        A guess of n.

    Raises
    ------
    ValueError
        If it is more than `MOST_RESPONDENTS`.
    """
    low, high = 0, max(2, round(start))
    while power(high) < wanted:
        low, high = high, round(high * 1.1) + 1
        if high > MOST_RESPONDENTS:
            raise OutOfReach(
                f"power {wanted:g} takes more than {MOST_RESPONDENTS} respondents: expected a "
                "larger difference, or less power"
            )
    while high - low > 1:
        n = (low + high) // 2
        low, high = (low, n) if power(n) >= wanted else (n, high)
    # Around here it jumps: by as much as it does over the next numbers, against its slope.
    some = min(24, MOST_RESPONDENTS - high)
    near = np.array([power(high + more) for more in range(some + 1)])
    further = max(1, high // 8)
    slope = (power(high + further) - float(near[0])) / further
    jump = float(np.max(np.maximum.accumulate(near) - near))
    window = math.ceil(min(high, 2 * jump / slope)) + some if slope > 0 else some
    step = -(-window // _LOOKED)
    last = high - 1
    for n in range(high, min(high + window, MOST_RESPONDENTS), step):
        if power(n) < wanted:
            last = n + step - 1
    return last + 1


def _beyond(difference: float, error: float, reach: float) -> float:
    """The chance that a normal estimate is more than so many errors off, either way."""
    shift = abs(difference) / error
    return float(ndtr(shift - reach) + ndtr(-shift - reach))


def check_power(power: float, level: float) -> None:
    check_level(level)
    if not 1 - level < power < 1:
        raise ValueError(f"power must be above {1 - level:.3g} and below 1, got {power:g}")


def _start(difference: float, variance: float, power: float, level: float) -> float:
    """n by the normal law: the squared sum of both quantiles times the variance, over the square.

    By hand: Warner at ε = 1 (variance 1.1707 at one half), a difference of .1, power .8, 95 %:
    (1.960 + .842)² 1.1707 / .01 = 919.
    """
    if difference == 0:
        raise ValueError("true shares must differ from what is to be left out, got the same")
    z = float(ndtri((1 + level) / 2) + ndtri(power))
    return min(MOST_RESPONDENTS, z**2 * variance / difference**2)
