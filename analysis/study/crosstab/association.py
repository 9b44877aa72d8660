"""How two amounts go together, and means within groups: of tables too large to be told as well."""

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import Column
from analysis.estimate.intervals import Interval
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab.groups import Finding
from analysis.study.crosstab.pairs import MOST_VALUES, Pairs
from analysis.study.crosstab.quotient import quotient
from analysis.study.crosstab.row import Row, RowMaker


def amounts_of(column: Column) -> tuple[float, ...] | None:
    """What values amount to: of two answers 1 for the event, 0 for the other; None if to nothing.

    NaN for no-answer.
    """
    if column.amounts is not None or len(column.answers) != 2:
        return column.amounts
    by_value = {column.event: 1.0, NO_ANSWER: float("nan")}
    return tuple(by_value.get(value, 0.0) for value in column.values)


def correlation(pairs: Pairs, confidence_level: float = 0.95) -> Finding | None:
    """Correlation of the true amounts, from debiased moments; None if values amount to nothing.

    The interval is Fieller's of the covariance and the product of the deviations: it is as wide as
    everything where noise leaves open whether answers differ at all.

    Parameters
    ----------
    pairs : Pairs
    confidence_level : float
        In (0, 1).

    References
    ----------
    Fox and Tracy, Social Science Research 1984; Fieller, JRSS B 1954.
    """
    one, other = debiased_powers(pairs.first), debiased_powers(pairs.second)
    if one is None or other is None:
        return None
    # Averages of 1, x, x^2 times 1, y, y^2, of those who answered both.
    (there, y, y2), (x, xy, _), (x2, _, _) = pairs.averages(one, other)
    nothing = Interval(-1.0, 1.0, "none")
    if there <= 0:
        return Finding(None, None, nothing)
    mean_x, mean_y = x / there, y / there
    spread_x, spread_y = x2 / there - mean_x**2, y2 / there - mean_y**2
    if spread_x <= 0 or spread_y <= 0:
        return Finding(None, None, nothing)
    both, deviations = float(xy / there - mean_x * mean_y), float(np.sqrt(spread_x * spread_y))
    # How the covariance, and the product of deviations, change with each of the nine averages.
    slope_both = np.array(
        [[2 * mean_x * mean_y - xy / there, -mean_x, 0], [-mean_y, 1, 0], [0, 0, 0]]
    )
    slope_x = np.array([[2 * mean_x**2 - x2 / there, 0, 0], [-2 * mean_x, 0, 0], [1, 0, 0]])
    slope_y = np.array([[2 * mean_y**2 - y2 / there, -2 * mean_y, 1], [0, 0, 0], [0, 0, 0]])
    slope_deviations = deviations / 2 * (slope_x / spread_x + slope_y / spread_y)
    slopes = np.array([slope_both.ravel(), slope_deviations.ravel()]) / there
    covariance = slopes @ pairs.covariance(one, other) @ slopes.T
    value = both / deviations
    apart = np.array([1, -value]) / deviations
    std_error = float(np.sqrt(max(0.0, apart @ covariance @ apart)))
    interval = fieller_interval(both, deviations, covariance, (-1.0, 1.0), confidence_level)
    return Finding(float(value), std_error, interval)


def group_mean(pairs: Pairs, group: int, confidence_level: float = 0.95) -> Finding | None:
    """Mean amount of the second question, of those who answered it and have a value of the first.

    With an empirical-likelihood interval. None if values amount to nothing.

    Parameters
    ----------
    pairs : Pairs
        Turn them for groups by the second question: see `turned`.
    group : int
        Place of a value of the first question.
    confidence_level : float
        In (0, 1).
    """
    powers, amounts = debiased_powers(pairs.second), pairs.second.amounts
    if powers is None or amounts is None:
        return None
    inside, (answered, amount) = pairs.first.scores[:, [group]], powers[:, :2].T
    (there, total), covariance = (
        pairs.averages(inside, powers[:, :2])[0],
        pairs.covariance(inside, powers[:, :2]),
    )
    ratio = quotient(pairs, inside[:, 0], amount, answered)
    interval = ratio.interval(possible_amounts(pairs.second), confidence_level)
    if there <= 0:
        return Finding(None, None, interval, ratio.few)
    mean = float(total / there)
    slope = np.array([-mean, 1]) / there
    std_error = float(np.sqrt(max(0.0, slope @ covariance @ slope)))
    return Finding(mean, std_error, interval, ratio.few)


def possible_amounts(column: Column) -> tuple[float, float]:
    """The least and the largest amount of a value."""
    amounts = np.array(column.amounts)
    return float(np.nanmin(amounts)), float(np.nanmax(amounts))


def association_rows(pairs: Pairs, confidence_level: float = 0.95) -> list[Row]:
    """Correlation, and means of each question in the groups of the other, as far as there are any.

    They can be told of questions with more values than a table takes.

    Parameters
    ----------
    pairs : Pairs
        See `analysis.study.crosstab.pairs.pairs_of`.
    confidence_level : float
        In (0, 1).
    """
    make = RowMaker(pairs, confidence_level)
    rows = []
    together = correlation(pairs, confidence_level)
    if together is not None:
        rows.append(make.row("correlation", ("", ""), together, possible=(-1.0, 1.0)))
    for turned in (False, True):
        shown = pairs.turned if turned else pairs
        groups = shown.first.values if len(shown.first.values) <= MOST_VALUES else ()
        for group, value in enumerate(groups):
            mean = group_mean(shown, group, confidence_level)
            if mean is not None:
                terms = ("mean", value) if turned else (value, "mean")
                possible = possible_amounts(shown.second)
                rows.append(make.row("mean", terms, mean, possible=possible))
    return rows


def debiased_powers(column: Column) -> NDArray[np.float64] | None:
    """(reports, 3) debiased: whether an answer was given; its amount, and that squared; else 0."""
    known = amounts_of(column)
    if known is None:
        return None
    amounts = np.array(known)
    missing = np.isnan(amounts)
    amounts = np.where(missing, 0.0, amounts)
    answered = 1 - column.scores[:, missing].sum(axis=1)
    return np.column_stack([answered, column.scores @ amounts, column.scores @ amounts**2])
