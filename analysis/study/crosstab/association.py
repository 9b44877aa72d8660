"""Correlation of two amounts, and means within groups, also of tables too large to print."""

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.estimate.intervals import Interval
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab.groups import Finding, delta_error
from analysis.study.crosstab.pairs import MOST_VALUES, Pairs
from analysis.study.crosstab.quotient import quotient
from analysis.study.crosstab.row import Row, make_row


def correlation(pairs: Pairs, confidence_level: float = 0.95) -> Finding | None:
    """Return the correlation of the true amounts; None if the values have no amounts.

    It is made of debiased moments. The interval is Fieller's for the covariance and the product of
    the standard deviations. It has all values if noise leaves open whether answers differ at all.

    References
    ----------
    Fox and Tracy, Social Science Research 1984; Fieller, JRSS B 1954.
    """
    first, second = debiased_powers(pairs.first), debiased_powers(pairs.second)
    if first is None or second is None:
        return None
    averages, covariance = pairs.averages(first, second), pairs.covariance(first, second)
    return correlation_of_moments(averages, covariance, confidence_level)


def correlation_of_moments(
    averages: NDArray[np.float64], covariance: NDArray[np.float64], confidence_level: float
) -> Finding:
    """Return the correlation that follows from the averages of products of 1, x, x² and 1, y, y².

    Parameters
    ----------
    averages : (3, 3) array
        The averages over everybody. Those who did not answer both count as 0.
    covariance : (9, 9) array
        The covariance of the raveled averages.
    confidence_level : float
        In (0, 1).
    """
    (there, y, y2), (x, xy, _), (x2, _, _) = averages
    unknown = Finding(None, None, Interval(-1.0, 1.0, "none"))
    if there <= 0:
        return unknown
    mean_x, mean_y = x / there, y / there
    spread_x, spread_y = x2 / there - mean_x**2, y2 / there - mean_y**2
    if spread_x <= 0 or spread_y <= 0:
        return unknown
    both, deviations = float(xy / there - mean_x * mean_y), float(np.sqrt(spread_x * spread_y))
    # The derivatives of the covariance, and of the product of deviations, by the nine averages.
    slope_both = np.array(
        [[2 * mean_x * mean_y - xy / there, -mean_x, 0], [-mean_y, 1, 0], [0, 0, 0]]
    )
    slope_x = np.array([[2 * mean_x**2 - x2 / there, 0, 0], [-2 * mean_x, 0, 0], [1, 0, 0]])
    slope_y = np.array([[2 * mean_y**2 - y2 / there, -2 * mean_y, 1], [0, 0, 0], [0, 0, 0]])
    slope_deviations = deviations / 2 * (slope_x / spread_x + slope_y / spread_y)
    slopes = np.array([slope_both.ravel(), slope_deviations.ravel()]) / there
    covariance = slopes @ covariance @ slopes.T
    value = both / deviations
    std_error = delta_error(np.array([1, -value]) / deviations, covariance)
    interval = fieller_interval(both, deviations, covariance, (-1.0, 1.0), confidence_level)
    return Finding(float(value), std_error, interval)


def group_mean(pairs: Pairs, group: int, confidence_level: float = 0.95) -> Finding | None:
    """Return the mean amount of the second question in a group; None if values have no amounts.

    It is the mean over those who answered it and have the value with the index `group` of the first
    question. The interval is by empirical likelihood.
    """
    powers, amounts = debiased_powers(pairs.second), pairs.second.amounts
    if powers is None or amounts is None:
        return None
    inside, (answered, amount) = pairs.first.scores[:, [group]], powers[:, :2].T
    there, total = pairs.averages(inside, powers[:, :2])[0]
    covariance = pairs.covariance(inside, powers[:, :2])
    ratio = quotient(pairs, inside[:, 0], amount, answered)
    interval = ratio.interval(possible_amounts(pairs.second), confidence_level)
    if there <= 0:
        return Finding(None, None, interval, ratio.few)
    mean = float(total / there)
    std_error = delta_error(np.array([-mean, 1]) / there, covariance)
    return Finding(mean, std_error, interval, ratio.few)


def possible_amounts(column: Column) -> tuple[float, float]:
    """Return the least and the largest amount of a value."""
    amounts = np.array(column.amounts)
    return float(np.nanmin(amounts)), float(np.nanmax(amounts))


def association_rows(pairs: Pairs, confidence_level: float = 0.95) -> list[Row]:
    """Return the correlation, and the means of each question in the groups of the other.

    Rows without amounts are left out. Questions may have more values than a table takes.
    """
    rows = []
    together = correlation(pairs, confidence_level)
    if together is not None:
        row = make_row(
            pairs, confidence_level, "correlation", ("", ""), together, possible=(-1.0, 1.0)
        )
        rows.append(row)
    for turned in (False, True):
        shown = pairs.turned if turned else pairs
        groups = shown.first.values if len(shown.first.values) <= MOST_VALUES else ()
        for group, value in enumerate(groups):
            mean = group_mean(shown, group, confidence_level)
            if mean is not None:
                terms = ("mean", value) if turned else (value, "mean")
                possible = possible_amounts(shown.second)
                rows.append(
                    make_row(pairs, confidence_level, "mean", terms, mean, possible=possible)
                )
    return rows


def debiased_powers(column: Column) -> NDArray[np.float64] | None:
    """Return (reports, 3) debiased powers: 1, the amount and its square, or 0 without an answer.

    The result is None if the values have no amounts. Of two answers, the event has the amount 1,
    and the other 0.
    """
    known = column.amounts
    if known is None:
        if len(column.answers) != 2:
            return None
        by_value = {column.event: 1.0, NO_ANSWER: float("nan")}
        known = tuple(by_value.get(value, 0.0) for value in column.values)
    amounts = np.array(known)
    missing = np.isnan(amounts)
    amounts = np.where(missing, 0.0, amounts)
    # The scores of bits and hashes do not sum to 1. Only noise that answers share with their
    # amounts cancels in a mean.
    answered = np.ones(len(column.scores))
    if missing.any():
        answered = column.scores[:, ~missing].sum(axis=1)
    return np.column_stack([answered, column.scores @ amounts, column.scores @ amounts**2])
