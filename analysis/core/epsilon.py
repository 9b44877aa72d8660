"""Conversion of a worst probability ratio of integers to ε and back, with proven bounds."""

import math
from fractions import Fraction

import numpy as np

#: ε is charged in whole millionths, so that three times 0.1 fits into 0.3.
MICRO = 1_000_000

#: The smallest and largest ε of one report that 32-bit weights can serve.
SMALLEST, LARGEST = Fraction(1, 1000), Fraction(20)

_SCALE = 2**128


class TooCoarse(ValueError):
    """Weights of 32 bits cannot serve so many values at so small an ε."""


def exp_lower(epsilon: Fraction) -> Fraction:
    """Return a rational lower bound of e^ε, with a relative error below 2^-100.

    Every term of the exponential series is positive and is rounded down. Omitted terms lower the
    sum further. Preconditions: ``0 <= epsilon <= LARGEST``.
    """
    term = total = _SCALE
    index = 1
    while term:
        term = term * epsilon.numerator // (epsilon.denominator * index)
        total += term
        index += 1
    return Fraction(total, _SCALE)


def log_ratio(ratio: Fraction) -> float:
    """Return ln(ratio) for people to read: the ε of a report with this worst probability ratio."""
    if ratio < 2**1000:
        return math.log1p(float(ratio - 1))
    # A float could not hold the ratio of many waves.
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def micro(ratio: Fraction) -> int:
    """Return the ε charged for a report: the fewest millionths that prove ``ratio <= e^ε``."""
    return fewest_parts(ratio, MICRO)


def millionths(epsilon: Fraction) -> int:
    """Return a limit on ε in whole millionths, rounded down."""
    return int(epsilon * MICRO)


def fewest_parts(ratio: Fraction, parts: int) -> int:
    """Return the least whole number that proves ``ratio <= e^(number/parts)``."""
    guess = max(0, math.ceil(log_ratio(ratio) * parts) - 2)
    while ratio > exp_lower(Fraction(guess, parts)):
        guess += 1
    return guess


def check_within(name: str, ratio: Fraction, asked: Fraction) -> None:
    """Raise ValueError unless `asked` is an allowed ε and a ratio is proved to be at most e^ε."""
    if not 0 < asked <= LARGEST:
        raise ValueError(f"epsilon must be above 0 and at most {LARGEST}, got {float(asked):g}")
    if ratio > exp_lower(asked):
        raise ValueError(f"{name} {ratio} must be at most e^{asked}")


def best_weights(bound: Fraction, largest_low: int) -> tuple[int, int]:
    """Return weights ``(high, low)`` with ``high/low <= bound``, as near to the bound as possible.

    The search tries the 2,000 largest values of `low`. Rounding at the largest alone would lose up
    to a hundred times as much ε.

    Preconditions: ``bound > 0``.

    Raise TooCoarse if there is no weight below `largest_low`.
    """
    if largest_low < 1:
        raise TooCoarse("so many values leave no weight of 32 bits for each")
    top, bottom = bound.numerator, bound.denominator

    def loss(low: int) -> int:
        return (low * top % bottom << 64) // low

    lows = np.arange(largest_low, max(0, largest_low - 2000), -1, dtype=np.uint64)
    # The loss by rounding at each value, in units of 2^-64, is at least this number and at most
    # this number plus `lows`, modulo 2^64.
    least = lows * np.uint64((top % bottom << 64) // bottom)
    most = (least + lows.astype(np.float64)) / lows
    near = (least / lows <= most.min() * (1 + 1e-12)) | (least > 2.0**64 - 2.0**34)
    low = min(lows[near].tolist(), key=loss)
    return low * top // bottom, low


def root_lower(bound: Fraction) -> Fraction:
    """Return a rational lower bound of the square root of `bound`, with a relative error below
    2^-60.

    Preconditions: ``bound >= 1``.
    """
    scale = 2**64
    return Fraction(math.isqrt(int(bound * scale**2)), scale)
