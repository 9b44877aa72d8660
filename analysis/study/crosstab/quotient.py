"""A ratio of two averages over pairs of reports, its interval, and whether reports are few."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.intervals import Interval
from analysis.estimate.intervals.empirical import empirical_interval
from analysis.study.crosstab.pairs import Pairs

Array = NDArray[np.float64]

#: A smaller number of reports is not nearly normal (Cochran, Biometrics 1954).
FEWEST = 5


@dataclass(frozen=True)
class Quotient:
    """The ratio of the expectations of two scores of a pair of reports.

    Attributes
    ----------
    times, squares : (kinds,) arrays
        Sums of weights of respondents, and of their squares, by the kind of pair. Both sum to
        `n_effective`. Kinds with the least and the largest scores are listed even if nobody made
        them.
    above, below : (kinds,) arrays
        The scores of the numerator and of the denominator.
    """

    times: Array
    squares: Array
    above: Array
    below: Array

    def interval(self, possible: tuple[float, float], confidence_level: float) -> Interval:
        """Return the empirical-likelihood interval; see `empirical_interval`."""
        return empirical_interval(
            self.times, self.above, self.below, possible, confidence_level, self.squares
        )

    @property
    def few(self) -> bool:
        """Return whether fewer than 5 reports have over half of the largest or the least score."""
        group = float(self.times @ self.below)
        if group <= 0:
            return False
        apart = self.above - float(self.times @ self.above) / group * self.below
        ends = (apart / end for end in (apart.max(), apart.min()) if end)
        return any(float(self.times[parts > 0.5].sum()) < FEWEST for parts in ends)


def quotient(pairs: Pairs, group: Array, above: Array, below: Array | None = None) -> Quotient:
    """Return the ratio of the expectations of ``group * above`` and ``group * below``.

    `group` has a score for each report of the first question, `above` and `below` for each of the
    second. Without `below`, it is the expectation of ``group * above`` alone.
    """
    rows, columns, times = pairs.seen
    # These kinds are at the corners of the possible scores. All others lie between.
    first, second = pairs.first.chances.any(axis=1), pairs.second.chances.any(axis=1)
    ends = np.array([group[first].min(), group[first].max()])[:, None]
    # Two scores are one complex number, since numpy sorts these ten times as fast as rows of two.
    corners = np.unique(above[second] + 1j * (above if below is None else below)[second])

    def scores(of_values: Array, at_corners: Array) -> Array:
        """Return the debiased products of the group's score and another score, for all kinds."""
        means = group[-1], of_values[-1]
        made = pairs.debiased(group[rows], of_values[columns], means)
        return np.append(made, pairs.debiased(ends, at_corners, means).ravel())

    over, nobody = scores(above, corners.real), np.zeros(ends.size * corners.size)
    return Quotient(
        np.append(times, nobody),
        np.append(pairs.squares_seen, nobody),
        over,
        np.ones_like(over) if below is None else scores(below, corners.imag),
    )
