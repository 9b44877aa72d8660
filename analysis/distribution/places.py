"""Where numbers can be, and how likely each makes a report: the channel after its rounding."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.domain import Numbers
from analysis.randomizer import Randomizer

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

    at_points: NDArray[np.float64]
    skipped: NDArray[np.float64]
    starts: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Of the encoder's grid."""
        return int(self.at_points.shape[1]) - 1

    def chances(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """(reports, places) chance of each class of reports at places in [0, 1]."""
        position = places * self.steps
        left = np.minimum(position.astype(np.int64), self.steps - 1)
        part = position - left
        return self.at_points[:, left] * (1 - part) + self.at_points[:, left + 1] * part

    def classes(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
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
