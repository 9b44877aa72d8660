"""The noise of tallies of randomized reports: its covariance between cells."""

from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints


@dataclass(frozen=True)
class Chances:
    """The probabilities that a report counts for a cell that its value supports, or does not.

    Each pair holds the probability that a cell is counted if it is supported, then if it is not.
    With `one_symbol` a report counts for one cell of its cohort, and the pairs are those of k-ary
    randomized response. Otherwise each cell is drawn independently, like the bits of RAPPOR.

    Parameters
    ----------
    permanent : (float, float)
        The probabilities of the draw that is made once for a person and kept; (1, 0) if there is
        none.
    instant : (float, float)
        The probabilities of the draw for each report, given the permanent draw; (1, 0) if there is
        none.
    one_symbol : bool
        Whether a report counts for one cell.
    repeats : float
        The number of reports of one person, which share a permanent draw. If persons sent R_1, R_2,
        ... reports, it is the sum of R_i^2 over the sum of R_i.
    """

    permanent: tuple[float, float]
    instant: tuple[float, float] = (1.0, 0.0)
    one_symbol: bool = False
    repeats: float = 1.0

    @property
    def p(self) -> float:
        """The probability that a report counts for a cell that its value supports."""
        first, second = self.permanent, self.instant
        return first[0] * second[0] + (1 - first[0]) * second[1]

    @property
    def q(self) -> float:
        """The probability that a report counts for a cell that its value does not support."""
        first, second = self.permanent, self.instant
        return first[1] * second[0] + (1 - first[1]) * second[1]


@dataclass(frozen=True)
class Background:
    """Strings that are not candidates. They hit cells at random, since their hashes are random.

    `mean` is the probability that such a string supports a given cell, and `both` that it supports
    two given cells.
    """

    mean: float
    both: float

    @classmethod
    def of(cls, cells: int, hashes: int) -> "Background":
        """Return the background of `hashes` draws from `cells` cells. Equal draws count once."""
        none, neither = (1 - 1 / cells) ** hashes, max(0.0, 1 - 2 / cells) ** hashes
        return cls(1 - none, 1 - 2 * none + neither)

    def covariance(self, cells: int) -> Floats:
        """Return the (cells, cells) covariance of indicators that such a string supports a cell."""
        apart = np.full((cells, cells), self.both - self.mean**2)
        np.fill_diagonal(apart, self.mean * (1 - self.mean))
        return apart


def covariance(single: Floats, pairs: Floats | None, reports: Ints, chances: Chances) -> Floats:
    """Return the covariance of a cohort's debiased tallies ``(count / reports - q) / (p - q)``.

    It includes sampling and both draws. More reports of the same person reduce only the part of the
    instant draw.

    Parameters
    ----------
    single : (cohorts, cells) array
        The share of people whose value supports a cell.
    pairs : (cohorts, cells, cells) array, or None
        The share of people whose value supports both cells. The diagonal is not used. With
        `one_symbol`, the whole array is not used.
    reports : (cohorts,) array
        How many reports each cohort made, at least 1.
    chances : Chances
        Those of the reports.

    Returns
    -------
    (cohorts, cells, cells) array
        The covariance. With `one_symbol` its rows sum to 0.
    """
    if pairs is None or chances.one_symbol:
        known, drawn, fresh, reported = _one_symbol(single, reports, chances)
        columns = np.stack([known * drawn, fresh * reported], axis=2)
        spread = -columns @ np.stack([drawn, reported], axis=1)
        spread /= (chances.p - chances.q) ** 2
    else:
        spread = pairs - single[:, :, None] * single[:, None, :]
        spread /= (reports / chances.repeats)[:, None, None]
    np.einsum("cii->ci", spread)[:] = variances(single, reports, chances)
    return np.asarray(spread)


def variances(single: Floats, reports: Ints, chances: Chances) -> Floats:
    """Return the (cohorts, cells) diagonals of `covariance`."""
    (p2, q2), people = chances.instant, reports[:, None] / chances.repeats
    width = (p2 - q2) ** 2
    if chances.one_symbol:
        known, drawn, fresh, reported = _one_symbol(single, reports, chances)
        spread = width * drawn / people + (reported - width * drawn) * fresh
        spread -= known * drawn**2 + fresh * reported**2
    else:
        drawn = _drawn(single, chances)
        spread = width * drawn * (1 - drawn) / people
        spread += (drawn * p2 * (1 - p2) + (1 - drawn) * q2 * (1 - q2)) / reports[:, None]
    return np.asarray(spread / (chances.p - chances.q) ** 2)


def _drawn(single: Floats, chances: Chances) -> Floats:
    """Return (cohorts, cells) the probability that a permanent draw has a cell."""
    p, q = chances.permanent
    return q + (p - q) * single


def _one_symbol(
    single: Floats, reports: Ints, chances: Chances
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the parts of the covariance of two cells, -(known xy + fresh XY).

    The fresh part of a report has the products XY = (q2 + (p2 - q2) x)(q2 + (p2 - q2) y) of the
    instant draws, less those of the permanent draws. The four results are `known`, x, `fresh`, X.
    """
    p, q = chances.instant
    drawn, fresh = _drawn(single, chances), 1 / reports[:, None]
    known = (p - q) ** 2 * (chances.repeats - 1) * fresh
    return known, drawn, fresh, q + (p - q) * drawn
