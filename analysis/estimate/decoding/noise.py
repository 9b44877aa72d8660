"""How far tallies of randomized reports are from what the shares would give, cell by cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Chances:
    """What a report says of a person whose value supports a cell, and of one whose does not.

    Each pair holds the chance that the cell is counted if it is supported, then if it is not.
    With `one_symbol` a report counts for one cell of its cohort, and the pairs are those of k-ary
    randomized response; else each cell is drawn by itself, as the bits of RAPPOR are.

    Parameters
    ----------
    permanent : (float, float)
        Of what is drawn once for a person and remembered; (1, 0) if nothing is.
    instant : (float, float)
        Of what is drawn for each report, from what was remembered; (1, 0) if nothing is.
    one_symbol : bool
        Whether a report counts for one cell.
    repeats : float
        Reports that share a person, and so a permanent draw; if persons sent R_1, R_2, ... of
        them, the sum of R_i^2 over the sum of R_i.
    """

    permanent: tuple[float, float]
    instant: tuple[float, float] = (1.0, 0.0)
    one_symbol: bool = False
    repeats: float = 1.0

    @property
    def p(self) -> float:
        """Chance that a report counts for a cell that its value supports."""
        first, second = self.permanent, self.instant
        return first[0] * second[0] + (1 - first[0]) * second[1]

    @property
    def q(self) -> float:
        """Chance that a report counts for a cell that its value does not support."""
        first, second = self.permanent, self.instant
        return first[1] * second[0] + (1 - first[1]) * second[1]


@dataclass(frozen=True)
class Background:
    """What strings that are no candidates do to the cells, their hashes being as good as random.

    `mean` is the chance that one supports a cell, `both` that it supports two given ones.
    """

    mean: float
    both: float

    @classmethod
    def of(cls, cells: int, hashes: int) -> "Background":
        """Of `hashes` cells drawn out of `cells`, equal ones counting once."""
        none, neither = (1 - 1 / cells) ** hashes, max(0.0, 1 - 2 / cells) ** hashes
        return cls(1 - none, 1 - 2 * none + neither)

    def covariance(self, cells: int) -> NDArray[np.float64]:
        """(cells, cells) covariance of which cells of a cohort such a string supports."""
        apart = np.full((cells, cells), self.both - self.mean**2)
        np.fill_diagonal(apart, self.mean * (1 - self.mean))
        return apart


def covariance(
    single: NDArray[np.float64],
    pairs: NDArray[np.float64],
    reports: NDArray[np.int64],
    chances: Chances,
) -> NDArray[np.float64]:
    """Covariance of the debiased tallies ``(count / reports - q) / (p - q)`` of a cohort's cells.

    Who is in the sample is part of it, as are both draws; only the instant draw gets less with
    reports of the same person.

    Parameters
    ----------
    single : (cohorts, cells) array
        Share of people whose value supports a cell.
    pairs : (cohorts, cells, cells) array
        Share of people whose value supports both cells; its diagonal is not read.
    reports : (cohorts,) array
        At least 1 each.
    chances : Chances
        Of the reports.

    Returns
    -------
    (cohorts, cells, cells) array
        With `one_symbol` the rows sum to 0.
    """
    (p1, q1), (p2, q2) = chances.permanent, chances.instant
    drawn = q1 + (p1 - q1) * single
    if chances.one_symbol:
        outer = drawn[:, :, None] * drawn[:, None, :]
        sides = drawn[:, :, None] + drawn[:, None, :]
        remembered = (p2 - q2) ** 2 * (_diagonal(drawn) - outer)
        reported = q2 + (p2 - q2) * drawn
        fresh = _diagonal(reported - (p2 - q2) ** 2 * drawn) - q2**2 - q2 * (p2 - q2) * sides
    else:
        outer = single[:, :, None] * single[:, None, :]
        remembered = (chances.p - chances.q) ** 2 * (pairs - outer)
        cells = np.arange(single.shape[1])
        remembered[:, cells, cells] = (p2 - q2) ** 2 * drawn * (1 - drawn)
        fresh = _diagonal(drawn * p2 * (1 - p2) + (1 - drawn) * q2 * (1 - q2))
    people = reports[:, None, None] / chances.repeats
    spread = remembered / people + fresh / reports[:, None, None]
    scaled: NDArray[np.float64] = spread / (chances.p - chances.q) ** 2
    return scaled


def _diagonal(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    square: NDArray[np.float64] = rows[:, :, None] * np.eye(rows.shape[1])
    return square
