"""The channel of a number, including its rounding, and ranges between round numbers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np

from analysis.core.domain import Numbers
from analysis.core.randomizer import Randomizer
from analysis.estimate import Floats, Ints

#: The most classes of reports. If there are more reports, neighbors share a class, which hides far
#: less about a number than noise does.
REPORTS = 128


@dataclass(frozen=True)
class Places:
    """The channel of a number, with up to `REPORTS` classes of reports.

    Attributes
    ----------
    at_points : (reports, points) array
        The probability of each class of reports at the points of the encoder's grid.
    skipped : (reports, 0 or 1) array
        The probability of each class for no-answer, if it is possible.
    starts : (reports,) array
        The first symbol of each class.
    """

    at_points: Floats
    skipped: Floats
    starts: Ints

    @property
    def steps(self) -> int:
        """The number of steps of the encoder's grid."""
        return int(self.at_points.shape[1]) - 1

    def chances(self, places: Floats) -> Floats:
        """Return the (reports, places) probability of each class at positions in [0, 1]."""
        position = places * self.steps
        left = np.minimum(position.astype(np.int64), self.steps - 1)
        part = position - left
        return self.at_points[:, left] * (1 - part) + self.at_points[:, left + 1] * part

    def classes(self, counts: Ints) -> Floats:
        """Return (reports,) the number of reports of each class in a (1, symbols) tally."""
        return np.add.reduceat(counts.reshape(-1), self.starts).astype(np.float64)


def tells_distribution(randomizer: Randomizer[Any, Any], domain: Numbers) -> bool:
    """Return whether reports carry more information about the numbers than their mean.

    If numbers are rounded to the ends of the range, they do so only if no other number is possible.
    """
    return bool(randomizer.encoder.steps > 1 or domain.steps == 1)


@lru_cache(maxsize=32)
def places(randomizer: Randomizer[Any, Any]) -> Places:
    """Return the channel of a randomizer with the encoder `grid` and a channel of one symbol."""
    encoder, channel = randomizer.encoder, randomizer.channel
    skips = encoder.inputs > encoder.steps + 1
    inputs = [*range(encoder.steps + 1), *[encoder.inputs - 1] * skips]
    size = -(-channel.symbols // REPORTS)
    starts = np.arange(0, channel.symbols, size)
    # This goes row by row, since a fine channel's whole table would take more memory than the
    # result.
    rows = [np.add.reduceat(channel.weights(symbol), starts) for symbol in inputs]
    table = np.array(rows, dtype=float).T / sum(channel.weights(0))
    at_points, skipped = np.hsplit(table, [encoder.steps + 1])
    return Places(at_points, skipped, starts)


#: The approximate number of cells of all ranges together. Distributions are fitted to these.
CELLS = 48
#: A cell's probabilities are the mean over at most this many of its numbers.
_SOME = 32
#: The most ranges.
MOST = 100
_NICE = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


def edges(domain: Numbers, bins: int) -> tuple[Fraction, ...]:
    """Return the ends of about `bins` ranges. All but the first and the last are round numbers.

    The width of ranges is one of 1, 2, 2.5, 5, 10, ... that is a multiple of the numbers' step, or
    so much wider that this does not matter. Otherwise it is a few steps. If it is one step, the
    last range is the last number alone.

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
    widths = [step * steps for steps in (1, 2, 5, 10, 20)]
    widths += [wide for wide in round_ones if wide > 20 * step or (wide / step).denominator == 1]
    wide = min(widths, key=lambda width: abs(log10(span / width / bins)))
    if wide == step:
        return (*(domain.low + number * step for number in range(domain.steps + 1)), domain.high)
    inner = range(floor(domain.low / wide) + 1, ceil(domain.high / wide))
    return (domain.low, *(number * wide for number in inner), domain.high)


def cells(domain: Numbers, ends: tuple[Fraction, ...]) -> list[list[range]]:
    """Return the cells of each range: groups of neighboring numbers, by their index from 0."""
    step = (domain.high - domain.low) / domain.steps
    # The first number at or above each end, except the last end, which the last range includes.
    firsts = [-((domain.low - end) // step) for end in ends[:-1]]
    each = max(1, CELLS // len(firsts))
    grouped = []
    for start, stop in pairwise([*firsts, domain.steps + 1]):
        parts = min(each, stop - start)
        bounds = [start + (stop - start) * part // parts for part in range(parts + 1)]
        grouped.append([range(first, end) for first, end in pairwise(bounds)])
    return grouped


def middles(cell: range) -> Floats:
    """Return the numbers of a cell or, if it is large, the middles of equal groups of them."""
    parts = min(len(cell), _SOME)
    return cell.start + (np.arange(parts) + 0.5) * len(cell) / parts - 0.5
