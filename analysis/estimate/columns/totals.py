"""Totals of a randomized column: the number of people with a value, and the sum of amounts."""

from collections.abc import Iterable
from math import inf

import numpy as np
from scipy.special import stdtrit

from analysis.estimate import Floats
from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import Sample
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import Interval, alone, bonferroni_level, student_interval
from analysis.estimate.intervals.normal import within_border
from analysis.estimate.totals import MEAN, Average, PopulationTotal, check_population

#: Normalized weights sum to the number of respondents, up to this factor for rounding.
_NORMALIZED = 1.02


def column_totals(
    column: Column,
    rows: Iterable[Estimate],
    sample: Sample | None = None,
    population: int | None = None,
) -> dict[tuple[str, str], PopulationTotal]:
    """Return a column's totals by its name and term: counts of values, and the sum of amounts.

    Parameters
    ----------
    column : Column
    rows : iterable of Estimate
        The column's `column_estimates`. Each total has an interval of the same level.
    sample : Sample, optional
        How respondents were drawn. If the sample is not simple, intervals of counts are those of
        shares times the size of the population. If that size is unknown, weights must be numbers of
        people. Totals are then sums of weighted reports with Student's intervals.
    population : int, optional
        The size of the population, if `sample` does not have it. Without both, and without weights,
        totals are those of the respondents themselves.

    Raises
    ------
    ValueError
        If the population is smaller than the number of respondents, is stated twice, or cannot be
        determined.

    References
    ----------
    Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 5.5.
    """
    people, is_known = _people(column.n, sample, population)

    def total(row: Estimate) -> PopulationTotal:
        if sample is None or sample.is_simple:
            return _simple(column, row, max(column.n, round(people)))
        if is_known:
            return _known(column, row, sample, people)
        return _weighted(column, row, sample)

    return {(row.question, row.term): total(row) for row in rows}


def times_population(
    rows: Iterable[Estimate],
    n: int,
    sample: Sample | None = None,
    population: int | None = None,
) -> dict[tuple[str, str], PopulationTotal]:
    """Return totals: estimates, and the ends of their intervals, times the population's size.

    The finite population correction is not applied to these designs. `n` is the number of
    respondents; arguments and errors are those of `column_totals`.
    """
    people, is_known = _people(n, sample, population)
    if not is_known:
        raise ValueError(
            "totals of a design of several samples, or of a scrambled number, need the size of the "
            f"population: weights sum to {people:,.6g}, and the error of that sum is unknown; "
            "give --population N"
        )
    return {
        (row.question, row.term): PopulationTotal.of(
            people,
            row.estimate,
            row.std_error,
            Interval(row.conf_low, row.conf_high, row.conf_method),
        )
        for row in rows
    }


def _people(n: int, sample: Sample | None, population: int | None) -> tuple[float, bool]:
    """Return the population's size, and whether it is known. Otherwise it is the sum of weights."""
    people = None if sample is None else sample.people
    if population is not None and people is not None:
        raise ValueError(
            f"population must be stated once: the design file states {people:,.10g} people, and "
            f"--population {population:,}"
        )
    if population is not None:
        people = check_population(population, n)
    if people is not None or sample is None:
        return n if people is None else people, True
    weighed = float(sample.weights.sum())
    if weighed <= _NORMALIZED * n and not sample.is_simple:
        raise ValueError(
            f"totals need the size of the population: weights sum to {weighed:,.6g}, which is no "
            f"more than about the {n:,} respondents, so they do not count people; give "
            "--population N"
        )
    return weighed, False


def _amounts(column: Column, row: Estimate) -> Floats:
    """Return (k,) what each value adds to a total: its amount, or 1 if it is counted, else 0."""
    if row.term == MEAN and column.amounts is not None:
        return np.nan_to_num(np.array(column.amounts, dtype=np.float64))
    return np.array([float(value == row.term) for value in column.values])


def _simple(column: Column, row: Estimate, people: int) -> PopulationTotal:
    amounts, (_, is_one) = _amounts(column, row), alone(row.conf_method)
    together = len(column.values) if is_one else 1
    level = bonferroni_level(row.conf_level, together)
    scores, counts = column.scores @ amounts, column.counts()
    possible = float(amounts.min()), float(amounts.max())
    squares = column.scores @ amounts**2
    average = Average(
        counts,
        column.n,
        scores,
        squares,
        possible,
        second=None,
        rounding=0.0,
        is_share=row.term != MEAN,
        others=column.scores,
    )
    return average.total(people, level, "few" in row.flag.split(";")).one_of(together)


def _known(column: Column, row: Estimate, sample: Sample, people: float) -> PopulationTotal:
    """Return the total in a population of known size: that size times the weighted average."""
    if row.term != MEAN:
        interval = Interval(row.conf_low, row.conf_high, row.conf_method)
        return PopulationTotal.of(people, row.estimate, row.std_error, interval)
    amounts = _amounts(column, row)
    above, noise = _summands(column, amounts)
    average, variance = sample.ratio(above, np.ones(column.n), noise)
    low, width = float(amounts.min()), float(np.ptp(amounts))
    if not variance > 0:
        return PopulationTotal.of(people, average, None, Interval(low, low + width, "none"))
    error, part = variance**0.5, (average - low) / width
    within = student_interval(part, error / width, sample.freedom, row.conf_level)
    interval = Interval(low + width * within.low, low + width * within.high, within.method)
    return PopulationTotal.of(people, average, error, interval)


def _weighted(column: Column, row: Estimate, sample: Sample) -> PopulationTotal:
    """Return the sum of weighted debiased reports. The population's size is such a sum, too."""
    amounts = _amounts(column, row)
    above, noise = _summands(column, amounts)
    people, total = float(sample.weights.sum()), float(sample.weights @ above)
    error = max(0.0, sample.variance(above, noise)) ** 0.5
    reach = error * float(stdtrit(sample.freedom, (1 + row.conf_level) / 2))
    least = 0.0 if amounts.min() >= 0 else -inf
    low, high = max(least, total - reach), total + reach
    if high <= low:
        return PopulationTotal(
            population=people,
            total=total,
            total_error=error,
            total_low=least,
            total_high=least + float(within_border(least - total, reach, inf)),
            total_method="constrained-likelihood",
        )
    return PopulationTotal(people, total, error, low, high, "student-t")


def _summands(column: Column, amounts: Floats) -> tuple[Floats, Floats]:
    """Return (n,) debiased amounts, and unbiased estimates of the noise in their variance."""
    scores = column.scores @ amounts
    noise = scores**2 - column.scores @ amounts**2
    return scores[column.codes], noise[column.codes]
