"""Efficient scores of reports, from which tests of the reports are made.

A report's score for a value is its probability under the value divided by its overall probability.
These are the efficient scores of shares in a mixture. For k-RR, the tests of independence and of
fit are then Pearson's tests of the table of reports. For reports of several symbols, of hashes or
of bits, that table has too many cells for Pearson's tests, or does not exist.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.estimate.intervals import FEW
from analysis.estimate.mixture import mixture
from analysis.study.crosstab.pairs import MOST_VALUES
from analysis.study.crosstab.quotient import FEWEST

Array = NDArray[np.float64]

#: Directions with less than this fraction of the largest variance have only rounding noise.
_NOTHING = 1e-9
#: The factor of the reports needed if the covariance is estimated from the same reports.
ALONE = 10.0


@dataclass(frozen=True)
class Scored:
    """The reports of a column, scored against (k,) shares that are assumed to be true."""

    column: Column
    shares: Array

    @cached_property
    def law(self) -> Array:
        """(reports,) the probability of each report if the shares are true."""
        return self.column.chances @ self.shares

    @cached_property
    def ratios(self) -> Array:
        """(reports, k) scores: the probability of a report under each value, divided by `law`."""
        return self.column.chances / np.where(self.law > 0, self.law, np.inf)[:, None]

    @cached_property
    def mean(self) -> Array:
        """(k,) the mean score of the respondents' reports."""
        return self.column.counts() / self.column.n @ self.ratios

    @cached_property
    def centered(self) -> Array:
        """(reports, k) scores less their mean."""
        return self.ratios - self.mean

    @cached_property
    def covariance(self) -> Array:
        """(k, k) the covariance of the scores of a respondent's report."""
        parts = self.column.counts() / self.column.n
        return (self.centered * parts[:, None]).T @ self.centered


def likeliest_shares(*columns: Column) -> Array:
    """Return the shares that make the reports of all columns likeliest.

    Raises
    ------
    ValueError
        If a column has more than `MOST_VALUES` values, or fewer than two respondents.
    """
    for column in columns:
        check_column(column)
    counts = np.concatenate([column.counts() for column in columns])
    chances = np.vstack([column.chances for column in columns])
    return mixture(chances[counts > 0], counts[counts > 0]).weights


def of_one_design(*columns: Column) -> bool:
    """Return whether columns with equal shares have the same law of reports."""
    designs = {(column.whole, column.mechanism, column.epsilon) for column in columns}
    if len(designs) > 1:
        return False
    first = columns[0]
    return not first.whole or all(np.array_equal(first.chances, c.chances) for c in columns)


def check_column(column: Column) -> None:
    """Raise `ValueError` unless a column can be tested."""
    if len(column.values) > MOST_VALUES:
        raise ValueError(
            f"{column.name}: a test takes at most {MOST_VALUES} values, got {len(column.values)}"
        )
    if column.n < 2:
        raise ValueError(f"{column.name}: a test needs at least 2 respondents, got {column.n}")


def inverse_and_rank(covariance: Array) -> tuple[Array, int]:
    """Return the pseudo-inverse of a covariance matrix, and its rank."""
    inverse, rank = scipy.linalg.pinvh(covariance, 1e-15, _NOTHING, return_rank=True)
    return inverse, int(rank)


def peak(often: Array, centered: Array, covariance: Array) -> float:
    """Return the largest kurtosis of scores along the principal directions of their covariance.

    If a fraction p of the reports has a score, its kurtosis is about 1 / p. So fewer than 5 of n
    reports have it if n is below five times the kurtosis.
    """
    sizes, directions = np.linalg.eigh(covariance)
    along = centered @ directions[:, sizes > _NOTHING * max(float(sizes[-1]), 1e-300)]
    if not along.size:
        return np.inf
    parts = often / often.sum()
    return float(((parts @ along**4) / (parts @ along**2) ** 2).max())


def few_flag(n: int, effective: float) -> str:
    """Return ``few`` if there are too few respondents, or too few reports that matter."""
    return "few" if n < FEW or effective < FEWEST else ""
