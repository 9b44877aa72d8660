"""Estimates of one randomized column, weighted or not, for data that no collector tallied."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from analysis.core.domain import NO_ANSWER
from analysis.estimate import Floats
from analysis.estimate.columns import Column, check_columns
from analysis.estimate.columns.sample import Sample
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import (
    Interval,
    Ratio,
    bonferroni_level,
    ratio_interval,
    share_interval,
    student_interval,
)
from analysis.estimate.quantity import Quantity, people_directly, share_quantity, supporting
from analysis.mechanisms.base import Share


def column_estimates(
    column: Column,
    confidence_level: float = 0.95,
    sample: Sample | None = None,
    *,
    method: str = "clopper-pearson",
    simultaneous: bool = False,
) -> list[Estimate]:
    """Return the mean of a column's amounts, if it has amounts, and the share of each value.

    With a `sample`, shares and means are those of the population from which it was drawn. A share
    whose value each report either supports or not then has Korn and Graubard's interval, which is
    Clopper and Pearson's with the effective number of respondents. All others have a normal
    interval with Student's t.

    Parameters
    ----------
    column : Column
        The reports of at least one respondent.
    confidence_level : float
        The level of each single interval, in (0, 1).
    sample : Sample, optional
        How respondents were drawn. By default, one by one from a large population.
    method, simultaneous
        See `analysis.estimate.estimates.estimates`. With a `sample` there is only one method.

    Raises
    ------
    ValueError
        If another method is asked for with a sample.

    References
    ----------
    Korn and Graubard, Survey Methodology 1998, 24:193-201.
    """
    check_columns(column)
    values = range(len(column.values))
    if sample is not None and method != "clopper-pearson":
        raise ValueError(
            f"{column.name}: with a sample, shares have Korn and Graubard's intervals, which are "
            f"Clopper and Pearson's, got {method}"
        )
    together = len(values) if simultaneous else 1
    level = bonferroni_level(confidence_level, together)
    quantities = [_share(column, value, level, sample, method).one_of(together) for value in values]
    if column.amounts is not None:
        quantities = [_mean(column, confidence_level, sample), *quantities]
    labels = {NO_ANSWER: "No answer", "mean": "Mean"}
    return [
        Estimate.of(
            quantity,
            confidence_level,
            labels.get(quantity.term, quantity.term),
            question=column.name,
            kind="choice" if column.amounts is None else "scale",
            n=column.n,
            epsilon=column.epsilon,
            mechanism=column.mechanism,
        )
        for quantity in quantities
    ]


def _share(
    column: Column, value: int, level: float, sample: Sample | None, method: str
) -> Quantity:
    """Return the share of a value, with its flags."""
    term, scores = column.values[value], column.scores[:, value]
    share, supports = support_of(column, value)
    if sample is None:
        counts = column.counts().astype(np.int64)
        if share is not None:
            return share_quantity(share, int(counts[supports].sum()), column.n, level, method)
        ratio = ratio_interval(counts, scores, np.ones(len(scores)), level)
    else:
        r = scores[column.codes]
        # An indicator equals its square, and r estimates it without bias. So r^2 - r is unbiased
        # for the variance of the noise.
        estimate, variance = sample.ratio(r, np.ones(column.n), r**2 - r)
        std_error = _error(variance)
        if share is not None:
            p, q = share.chances
            rate = min(1.0, max(0.0, q + (p - q) * estimate))
            interval = _korn_graubard(rate, (std_error or 0.0) * (p - q), (p, q), level, sample)
            ratio = Ratio(estimate, std_error, interval, sample.has_few_clusters)
        else:
            interval = _student(estimate, std_error, sample, level)
            ratio = Ratio(estimate, std_error, interval, sample.is_few(r - estimate))
    n_eff, flags = None, ("few",) * ratio.few
    if ratio.value is not None and not 0 <= ratio.value <= 1:
        flags = ("out-of-range", *flags)
    if ratio.interval.method.endswith("likelihood"):
        flags = (*flags, "boundary")
    if ratio.value is not None and ratio.std_error:
        n_eff = people_directly(ratio.value, ratio.std_error, column.n)
    return Quantity(term, ratio.value, ratio.std_error, ratio.interval, n_eff, flags)


def support_of(column: Column, value: int) -> tuple[Share | None, NDArray[np.bool_]]:
    """Return how reports support a value, and which do; None if support is not yes or no."""
    simply = supporting(column.scores[:, value], column.scores)
    if simply is None:
        return None, np.zeros(len(column.scores), dtype=bool)
    supports, p, q = simply
    return Share(column.values[value], Fraction(p), Fraction(q)), supports


def _korn_graubard(
    rate: float, error: float, chances: tuple[float, float], level: float, sample: Sample
) -> Interval:
    """Return Clopper and Pearson's interval for the number of respondents with the rate's error.

    That number is at most that of an equally informative sample of an infinite population. If all
    reports are alike, which shows no error, it is at most the number of independent respondents.
    """
    p, q = chances
    people = sample.independent
    if error > 0 and 0 < rate < 1:
        wide, usual = (
            float(stdtrit(m, (1 + level) / 2)) for m in (sample.freedom, len(sample.weights) - 1)
        )
        people = rate * (1 - rate) / error**2 * (usual / wide) ** 2
        people = max(1.0, min(people, sample.most_people))
    interval = share_interval(rate * people, people, p, q, level)
    return replace(interval, method=interval.method.replace("clopper-pearson", "korn-graubard"))


def _error(variance: float) -> float | None:
    """Return the standard error; None if the variance is only rounding noise."""
    return variance**0.5 if variance > 1e-18 else None


def _mean(column: Column, level: float, sample: Sample | None) -> Quantity:
    """Return the mean over those who answered, in the unit of the amounts."""
    amounts = np.array(column.amounts, dtype=np.float64)
    there = np.isfinite(amounts)
    bottom, width = float(amounts[there].min()), float(np.ptp(amounts[there]))
    parts = np.where(there, (np.nan_to_num(amounts) - bottom) / width, 0.0)
    scores, present = column.scores @ parts, column.scores @ there.astype(np.float64)
    if there.all():
        present = np.ones(len(scores))
    if sample is None:
        ratio = ratio_interval(column.counts().astype(np.int64), scores, present, level)
    else:
        above, below = scores[column.codes], present[column.codes]
        ratio = _sampled_mean(column, above, below, (parts, there), level, sample)
    value, std_error, interval = ratio.value, ratio.std_error, ratio.interval
    low, high = bottom + width * interval.low, bottom + width * interval.high
    flags = ("few",) * ratio.few + ("boundary",) * interval.method.endswith("likelihood")
    return Quantity(
        "mean",
        None if value is None else bottom + width * value,
        None if std_error is None else std_error * width,
        Interval(low, high, interval.method),
        None,
        flags,
    )


def _sampled_mean(
    column: Column,
    above: Floats,
    below: Floats,
    values: tuple[Floats, NDArray[np.bool_]],
    level: float,
    sample: Sample,
) -> Ratio:
    """Return the ratio of two debiased scores; `values` are the parts and who is present."""
    value, _ = sample.ratio(above, below, np.zeros(column.n))
    if not np.isfinite(value):
        return Ratio(None, None, Interval(0.0, 1.0, "none"))
    # The debiased squared distance of the true value has the same expectation without the noise.
    parts, there = values
    squares = column.scores @ (there * (parts - value) ** 2)
    noise = (above - value * below) ** 2 - squares[column.codes]
    _, variance = sample.ratio(above, below, noise)
    std_error, few = _error(variance), sample.is_few(above - value * below)
    return Ratio(value, std_error, _student(value, std_error, sample, level), few)


def _student(value: float, std_error: float | None, sample: Sample, level: float) -> Interval:
    """Return a Student's t interval within [0, 1]."""
    if std_error is None:
        return Interval(0.0, 1.0, "none")
    return student_interval(value, std_error, sample.freedom, level)
