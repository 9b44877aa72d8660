"""Correlations of respondents' numbers, and their means in the groups of a question.

Amounts of few values make a table (`analysis.study.crosstab`). Known numbers of many values, and
scrambled numbers, have only debiased powers for each respondent: 1, the number, and its square.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import effective_size
from analysis.estimate.intervals import FEW, Interval
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab.association import (
    correlation_of_moments,
    debiased_powers,
    possible_amounts,
)
from analysis.study.crosstab.groups import Finding, delta_error
from analysis.study.crosstab.row import Row

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Amounts:
    """A number of n respondents.

    Attributes
    ----------
    name : str
    powers : (n, 3) array
        Debiased powers: 1, the number and its square, or 0 if no number was given.
    possible : pair of float
        The least and the largest possible number.
    """

    name: str
    powers: Array
    possible: tuple[float, float] = (-inf, inf)

    @classmethod
    def known(cls, name: str, numbers: Array) -> "Amounts":
        """Return numbers that were not randomized."""
        powers = np.column_stack([np.ones_like(numbers), numbers, numbers**2])
        return cls(name, powers, (float(numbers.min()), float(numbers.max())))

    @classmethod
    def of_column(cls, column: Column) -> "Amounts":
        """Return the amounts of a column's values. Of two values, one counts as 1.

        Raises
        ------
        ValueError
            If the values have no amounts.
        """
        powers = debiased_powers(column)
        if powers is None:
            raise ValueError(
                f"{column.name}: a correlation needs values with amounts, or exactly two values"
            )
        possible = (0.0, 1.0) if column.amounts is None else possible_amounts(column)
        return cls(column.name, powers[column.codes], possible)

    @property
    def scaled(self) -> Array:
        """The powers of the number, centered, and divided by about its standard deviation."""
        there, first, second = self.powers.mean(axis=0)
        if there <= 0:
            return self.powers
        mean = first / there
        spread = max(second / there - mean**2, 0.0) ** 0.5 or 1.0
        one, x, square = self.powers.T
        apart = (square - 2 * mean * x + mean**2 * one) / spread**2
        return np.column_stack([one, (x - mean * one) / spread, apart])


def _moments(products: Array, weights: Array | None) -> tuple[Array, Array]:
    """Return weighted averages of (n, m) products, and their linearized (m, m) covariance."""
    n = len(products)
    parts = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    averages = parts @ products
    apart = (products - averages) * parts[:, None]
    return averages, np.asarray(apart.T @ apart * (n / (n - 1)))


def correlation_of_numbers(
    first: Amounts, second: Amounts, confidence_level: float = 0.95, weights: Array | None = None
) -> Finding:
    """Return the correlation of two numbers of the same respondents.

    See `analysis.study.crosstab.association.correlation`. Standard errors with `weights` are
    linearized. Both numbers must be randomized independently, or known.
    """
    products = (first.scaled[:, :, None] * second.scaled[:, None, :]).reshape(-1, 9)
    averages, covariance = _moments(products, weights)
    return correlation_of_moments(averages.reshape(3, 3), covariance, confidence_level)


def mean_in_group(
    column: Column,
    group: int,
    numbers: Amounts,
    confidence_level: float = 0.95,
    weights: Array | None = None,
) -> Finding:
    """Return the mean of a number among those with a value of a randomized question.

    `group` is the index of the value. The interval is Fieller's.
    """
    inside = column.scores[column.codes, group]
    products = inside[:, None] * numbers.powers[:, :2]
    (there, total), covariance = _moments(products, weights)
    interval = fieller_interval(
        *(float(total), float(there)), covariance[::-1, ::-1], numbers.possible, confidence_level
    )
    if there <= 0:
        return Finding(None, None, interval)
    mean = float(total / there)
    return Finding(mean, delta_error(np.array([-mean, 1]) / there, covariance), interval)


def number_rows(
    first: Amounts | None,
    groups: Column | None,
    second: Amounts,
    confidence_level: float = 0.95,
    weights: Array | None = None,
) -> list[Row]:
    """Return the correlation with another number, and means in the groups of a question.

    Parameters
    ----------
    first : Amounts, optional
    groups : Column, optional
        A randomized question of the same respondents; `first` may be its amounts.
    second : Amounts
    confidence_level : float
        The level of each single interval, in (0, 1).
    weights : (n,) array, optional
        The weights of respondents.

    Raises
    ------
    ValueError
        If there are fewer than two respondents.
    """
    if len(second.powers) < 2:
        raise ValueError(f"expected at least 2 respondents, got {len(second.powers)}")
    named: list[tuple[str, tuple[str, str], Finding, tuple[float, float]]] = []
    if first is not None:
        found = correlation_of_numbers(first, second, confidence_level, weights)
        named.append(("correlation", ("", ""), found, (-1.0, 1.0)))
    if groups is not None:
        for group, value in enumerate(groups.values):
            found = mean_in_group(groups, group, second, confidence_level, weights)
            named.append(("mean", (value, "mean"), found, second.possible))
    n = len(second.powers)
    effective = n if weights is None else effective_size(weights)
    return [
        _row(quantity, terms, found, possible, confidence_level, n, effective)
        for quantity, terms, found, possible in named
    ]


def _row(
    quantity: str,
    terms: tuple[str, str],
    found: Finding,
    possible: tuple[float, float],
    level: float,
    n: int,
    effective: float,
) -> Row:
    interval: Interval = found.interval
    flags = ["few"] * (effective < FEW) + ["unreliable"] * (interval.method == "none")
    low, high = possible
    if found.estimate is not None and not low <= found.estimate <= high:
        flags.insert(0, "out-of-range")
    return Row(
        quantity,
        *terms,
        estimate=found.estimate,
        std_error=found.std_error,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=level,
        conf_method=interval.method,
        likeliest=None,
        n=n,
        flag=";".join(flags),
    )
