"""Where numbers can be, and how likely each makes a report: the channel after its rounding."""

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

#: More kinds of reports are taken together with their neighbors: what that loses of the place of a
#: number is far less than what noise hides of it.
REPORTS = 128


@dataclass(frozen=True)
class Places:
    """The channel of a number, of up to `REPORTS` classes of reports.

    Attributes
    ----------
    at_points : (reports, points) array
        The chance of each class of reports at the points of the encoder's grid.
    skipped : (reports, 0 or 1) array
        The same of no-answer, if it can be given.
    starts : (reports,) array
        The first symbol of each class.
    """

    at_points: Floats
    skipped: Floats
    starts: Ints

    @property
    def steps(self) -> int:
        """Of the encoder's grid."""
        return int(self.at_points.shape[1]) - 1

    def chances(self, places: Floats) -> Floats:
        """(reports, places) chance of each class of reports at places in [0, 1]."""
        position = places * self.steps
        left = np.minimum(position.astype(np.int64), self.steps - 1)
        part = position - left
        return self.at_points[:, left] * (1 - part) + self.at_points[:, left + 1] * part

    def classes(self, counts: Ints) -> Floats:
        """(reports,) how many reports of each class are in a (1, symbols) tally."""
        return np.add.reduceat(counts.reshape(-1), self.starts).astype(np.float64)


def tells_distribution(randomizer: Randomizer[Any, Any], domain: Numbers) -> bool:
    """Whether reports tell more of the numbers than their mean.

    Rounded to the ends of the range, they do so only if no other numbers are possible.
    """
    return bool(randomizer.encoder.steps > 1 or domain.steps == 1)


@lru_cache(maxsize=32)
def places(randomizer: Randomizer[Any, Any]) -> Places:
    """Of a randomizer of numbers, with encoder `grid` and a channel that a table describes."""
    encoder, channel = randomizer.encoder, randomizer.channel
    inputs = [
        *range(encoder.steps + 1),
        *[encoder.inputs - 1] * (encoder.inputs > encoder.steps + 1),
    ]
    size = -(-channel.symbols // REPORTS)
    starts = np.arange(0, channel.symbols, size)
    # Row by row: the whole table of a fine channel takes more room than all that is kept of it.
    rows = [np.add.reduceat(channel.weights(one), starts) for one in inputs]
    table = np.array(rows, dtype=float).T / sum(channel.weights(0))
    at_points, skipped = np.hsplit(table, [encoder.steps + 1])
    return Places(at_points, skipped, starts)


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


def middles(cell: range) -> Floats:
    """The numbers of a cell, or of many the middles of equally many each."""
    parts = min(len(cell), _SOME)
    return cell.start + (np.arange(parts) + 0.5) * len(cell) / parts - 0.5
