"""Power: the probability that a survey shows a share, or a difference of two shares."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri, stdtrit

from analysis.core.options import MOST_RESPONDENTS
from analysis.estimate import Floats
from analysis.estimate.intervals import check_level
from analysis.estimate.precision.check import check_respondents
from analysis.study.planning.check import OutOfReach
from analysis.study.planning.needed import least
from analysis.study.planning.one_sample import Side, TrueShares, share_powers
from analysis.survey.question import Question

#: A function that returns the powers of some numbers of respondents.
Powers = Callable[[Sequence[int]], Sequence[float] | Floats]

_TOO_MANY = (
    f"power takes more than {MOST_RESPONDENTS} respondents: expected a larger difference, or less "
    "power"
)
#: The most pairs of counts that are summed over. With more, the normal law is within .002.
_PAIRS = 250_000
#: The relative precision of respondents if tallies are drawn, and the root of the factor to the
#: next number that is tried.
_DRAWN, _FURTHEST = 0.02, 3.0
#: The number of values of n that are looked at where power rises and falls.
_LOOKED = 400
#: The rows of pairs that are compared at a time, so few that they stay in the processor's cache.
_BLOCK = 64


def power_of_share(
    question: Question,
    term: str,
    truth: TrueShares,
    null: float,
    respondents: int,
    confidence_level: float = 0.95,
    *,
    rng: Generator,
) -> float:
    """Return the probability that the printed interval excludes `null`.

    For shares with support counts, it is an exact sum over these, by the default interval. For
    other shares, and for means, that interval is computed for 4,000 drawn tallies, with a standard
    error of at most .008. Means of reports that are sets follow the normal law with their exact
    variance.

    Parameters
    ----------
    question : Question
        A question of any kind except texts.
    term : str
        The term of the estimate: a value, ``no-answer``, ``a>b``, or ``mean``.
    truth : float or mapping
        The true share, with even shares of the others; or the shares of all answers, see
        `truth_of`.
    null : float
        The value that should be excluded, in the unit of the estimate. A share is in [0, 1].
    respondents : int
        The number of respondents, at least 1.
    confidence_level : float
        The level of the interval, in (0, 1).
    rng : Generator
        The generator of tallies. Its state is not changed.

    Raises
    ------
    ValueError
        If an argument is out of range, or if there is no such term.
    """
    check_level(confidence_level)
    check_respondents(respondents)
    side = Side.of(question, term, truth)
    side.check(null, "null")
    return _power_of_share(side, null, respondents, confidence_level, rng)


def _power_of_share(side: Side, null: float, n: int, level: float, rng: Generator) -> float:
    if side.share is not None:
        return float(share_powers(side.share, side.value, null, np.array([n]), level)[0])
    if side.is_drawn:
        return side.left_out(null, n, level, deepcopy(rng))
    if n < 2:
        return 0.0
    error = math.sqrt(side.variance / n)
    return _beyond(side.value - null, error, float(stdtrit(n - 1, (1 + level) / 2)))


def power_of_change(
    question: Question,
    term: str,
    truth: tuple[TrueShares, TrueShares],
    respondents: tuple[int, int],
    confidence_level: float = 0.95,
    *,
    rng: Generator,
) -> float:
    """Return the probability that the interval of the difference of two estimates excludes 0.

    The parameters are those of `power_of_share`. `truth` and `respondents` are pairs, of two waves
    (`analysis.estimate.change`) or two known groups in which different people answer. If the same
    people answer in both waves and most keep their answer, the power is larger. For shares with
    support counts, it is an exact sum over both counts up to some thousand respondents, and follows
    the normal law beyond. For other shares, and for means, it is that of all pairs of 1,500 drawn
    tallies each, to within about .01.
    """
    check_level(confidence_level)
    for n in respondents:
        check_respondents(n)
    first, second = (Side.of(question, term, shares) for shares in truth)
    return _power_of_change((first, second), respondents, confidence_level, rng)


def _power_of_change(
    sides: tuple[Side, Side], respondents: tuple[int, int], level: float, rng: Generator
) -> float:
    z = float(ndtri((1 + level) / 2))
    rng = deepcopy(rng) if any(side.is_drawn for side in sides) else rng
    left, right = (
        side.possible(n, rng) if side.is_drawn or n <= _PAIRS else None
        for side, n in zip(sides, respondents, strict=True)
    )
    if left and right and (sides[0].is_drawn or len(left.weights) * len(right.weights) <= _PAIRS):
        of_left, of_right = z**2 * left.variances, z**2 * right.variances
        chances, block = np.empty(len(of_left)), np.empty((_BLOCK, len(of_right)))
        for start in range(0, len(chances), _BLOCK):
            some = slice(start, start + _BLOCK)
            # The arrays are reused, since new ones for each step would take longer than the steps.
            cells = block[: len(of_left[some])]
            np.subtract(right.values, left.values[some, None], out=cells)
            np.multiply(cells, cells, out=cells)
            np.subtract(cells, of_right, out=cells)
            np.greater(cells, of_left[some, None], out=cells)
            chances[some] = cells @ right.weights
        return float(left.weights @ chances)
    variance = sum(side.variance / n for side, n in zip(sides, respondents, strict=True))
    return _beyond(sides[1].value - sides[0].value, math.sqrt(variance), z)


def respondents_for_share(
    question: Question,
    term: str,
    truth: TrueShares,
    null: float,
    power: float = 0.8,
    confidence_level: float = 0.95,
    *,
    rng: Generator,
) -> int:
    """Return the number of respondents from which on `power_of_share` is at least `power`.

    Exact power rises and falls as counts become whole, so that the first number that reaches
    `power` may be followed by some that do not. Above some ten thousand, the result may be slightly
    too large. If tallies are drawn, it is within about 4 %, since power is within .015.

    Raises
    ------
    ValueError
        As `power_of_share` does; or if `power` is not above 1 - `confidence_level` and below 1, if
        `truth` is `null`, or if more than `MOST_RESPONDENTS` are needed.
    """
    check_power(power, confidence_level)
    side = Side.of(question, term, truth)
    side.check(null, "null")

    def power_at(respondents: Sequence[int]) -> Sequence[float] | Floats:
        if side.share is not None:
            numbers = np.array(respondents)
            return share_powers(side.share, side.value, null, numbers, confidence_level)
        return [_power_of_share(side, null, n, confidence_level, rng) for n in respondents]

    difference = side.value - null
    return _least(power_at, power, confidence_level, difference, side.variance, side.is_drawn)


def respondents_for_change(
    question: Question,
    term: str,
    truth: tuple[TrueShares, TrueShares],
    power: float = 0.8,
    confidence_level: float = 0.95,
    ratio: float = 1.0,
    *,
    rng: Generator,
) -> tuple[int, int]:
    """Return the numbers of both groups or waves from which on `power_of_change` is reached.

    The parameters are those of `power_of_change`, and `power`, above 1 - `confidence_level` and
    below 1. The second group or wave has `ratio` times as many respondents as the first, rounded
    up.
    """
    check_power(power, confidence_level)
    if not (math.isfinite(ratio) and ratio > 0):
        raise ValueError(f"ratio must be a number above 0, got {ratio:g}")
    first, second = (Side.of(question, term, shares) for shares in truth)

    def pair(n: int) -> tuple[int, int]:
        return n, math.ceil(n * ratio - 1e-9)

    def power_at(respondents: Sequence[int]) -> list[float]:
        sides = first, second
        return [_power_of_change(sides, pair(n), confidence_level, rng) for n in respondents]

    difference, variance = second.value - first.value, first.variance + second.variance / ratio
    return pair(_least(power_at, power, confidence_level, difference, variance, first.is_drawn))


def _least(
    power_at: Powers,
    wanted: float,
    level: float,
    difference: float,
    variance: float,
    is_drawn: bool,
) -> int:
    """Return the n from which on a power is reached, starting at a guess by the normal law.

    The guess is the squared sum of both quantiles times the variance, over the squared difference.
    By hand: Warner's design at ε = 1 (variance 1.1707 at one half), a difference of .1, a power of
    .8 and 95 % give (1.960 + .842)² 1.1707 / .01 = 919.
    """
    if difference == 0:
        raise ValueError("true shares must differ from the null hypothesis, got the same")
    reach = float(ndtri((1 + level) / 2) + ndtri(wanted))
    start = min(MOST_RESPONDENTS, reach**2 * variance / difference**2)
    if not is_drawn:
        return least_for_power(power_at, wanted, start)

    def ratio(n: int) -> float:
        """Return the wanted sum of quantiles divided by that at n, which grows as √n."""
        reached = float(ndtri((1 + level) / 2) + ndtri(power_at([n])[0]))
        return reach / min(max(reached, reach / _FURTHEST), reach * _FURTHEST)

    return least(ratio, _DRAWN, max(2, round(start)), _TOO_MANY)


def least_for_power(powers: Powers, wanted: float, start: float) -> int:
    """Return the least n from which on a power that rises in the long run is at least `wanted`.

    `start` is a guess of n. Raise `OutOfReach` if n is more than `MOST_RESPONDENTS`.
    """

    def power(n: int) -> float:
        return float(powers([n])[0])

    low, high = 0, max(2, round(start))
    while power(high) < wanted:
        low, high = high, round(high * 1.1) + 1
        if high > MOST_RESPONDENTS:
            raise OutOfReach(_TOO_MANY)
    while high - low > 1:
        n = (low + high) // 2
        low, high = (low, n) if power(n) >= wanted else (n, high)
    # The power jumps around here. The range to look at follows from the size of the jumps over the
    # next numbers, and from its slope.
    some = min(24, MOST_RESPONDENTS - high)
    near = np.array(powers(range(high, high + some + 1)))
    further = max(1, high // 8)
    slope = (power(high + further) - float(near[0])) / further
    jump = float(np.max(np.maximum.accumulate(near) - near))
    window = math.ceil(min(high, 2 * jump / slope)) + some if slope > 0 else some
    step = -(-window // _LOOKED)
    looked = range(high, min(high + window, MOST_RESPONDENTS), step)
    known = near[::step][: len(looked)]
    few = np.flatnonzero(np.append(known, powers(looked[len(known) :])) < wanted)
    return looked[int(few[-1])] + step if few.size else high


def _beyond(difference: float, error: float, reach: float) -> float:
    """Return the probability that a normal estimate is more than `reach` errors off, either way."""
    shift = abs(difference) / error
    return float(ndtr(shift - reach) + ndtr(-shift - reach))


def check_power(power: float, level: float) -> None:
    """Raise `ValueError` unless a test of this level can have this power."""
    check_level(level)
    if not 1 - level < power < 1:
        raise ValueError(f"power must be above {1 - level:.3g} and below 1, got {power:g}")
