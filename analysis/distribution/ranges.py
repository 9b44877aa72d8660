"""Ranges of numbers for display, and the cells that they are made of."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from analysis.domain import Numbers

#: Cells of all ranges together, about: distributions are fitted no finer.
CELLS = 48
#: A cell's chances are the mean of those of so many of its numbers.
_SOME = 32
#: Ranges at most.
MOST = 100
_NICE = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


def edges(domain: Numbers, bins: int) -> tuple[Fraction, ...]:
    """Ends of about so many ranges: round numbers, but the first and the last end.

    Ranges are as wide as one of 1, 2, 2.5, 5, 10, ... if it is a multiple of the numbers' step, or
    so much wider that this does not matter; or as few steps. If as one step, then the last range is
    the last number alone.

    Raises
    ------
    ValueError
        If `bins` is less than 1 or more than `MOST`.
    """
    if not 1 <= bins <= MOST:
        raise ValueError(f"bins must be from 1 to {MOST}, got {bins}")
    span = domain.high - domain.low
    step = span / domain.steps
    power = floor(log10(span / bins))
    round_ones = (nice * Fraction(10) ** (power + up) for up in (-1, 0, 1) for nice in _NICE)
    widths = [step * some for some in (1, 2, 5, 10, 20)]
    widths += [one for one in round_ones if one > 20 * step or (one / step).denominator == 1]
    wide = min(widths, key=lambda width: abs(log10(span / width / bins)))
    if wide == step:
        return (*(domain.low + number * step for number in range(domain.steps + 1)), domain.high)
    inner = range(floor(domain.low / wide) + 1, ceil(domain.high / wide))
    return (domain.low, *(number * wide for number in inner), domain.high)


def cells(domain: Numbers, ends: tuple[Fraction, ...]) -> list[list[range]]:
    """For each range its cells: groups of neighboring numbers, each counted from 0."""
    step = (domain.high - domain.low) / domain.steps
    # The first number at or above each end but the last, which the last range includes.
    firsts = [-((domain.low - end) // step) for end in ends[:-1]]
    each = max(1, CELLS // len(firsts))
    found = []
    for start, stop in pairwise([*firsts, domain.steps + 1]):
        parts = min(each, stop - start)
        bounds = [start + (stop - start) * part // parts for part in range(parts + 1)]
        found.append([range(*own) for own in pairwise(bounds)])
    return found


def middles(cell: range) -> NDArray[np.float64]:
    """The numbers of a cell, or of many the middles of equally many each."""
    parts = min(len(cell), _SOME)
    return cell.start + (np.arange(parts) + 0.5) * len(cell) / parts - 0.5
