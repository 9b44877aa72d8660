"""Estimates of one randomized column, weighted or not: for data that no collector tallied."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from analysis.core.domain import NO_ANSWER
from analysis.estimate import Floats
from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import Sample
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import Interval, normal_interval, ratio_interval, share_interval
from analysis.estimate.quantity import Quantity, people_directly, share_quantity
from analysis.mechanisms.base import Share


def column_estimates(
    column: Column, confidence_level: float = 0.95, sample: Sample | None = None
) -> list[Estimate]:
    """The mean of what its values amount to, if anything, and the share of each value.

    With a `sample`, shares and means are of the population that it was drawn from. Shares whose
    reports support them or not have Korn and Graubard's interval then: Clopper and Pearson's with
    the effective number of respondents; others a normal one with Student's t.

    Parameters
    ----------
    column : Column
        Of at least one respondent.
    confidence_level : float
        Of every interval by itself, in (0, 1).
    sample : Sample, optional
        How respondents were drawn; one by one from a large population if left out.

    References
    ----------
    Korn and Graubard, Survey Methodology 1998, 24:193-201.
    """
    found = [_share(column, place, confidence_level, sample) for place in range(len(column.values))]
    if column.amounts is not None:
        found = [_mean(column, confidence_level, sample), *found]
    return [_row(column, quantity, confidence_level) for quantity in found]


def _row(column: Column, quantity: Quantity, level: float) -> Estimate:
    labels = {NO_ANSWER: "No answer", "mean": "Mean"}
    return Estimate(
        question=column.name,
        kind="choice" if column.amounts is None else "scale",
        term=quantity.term,
        label=labels.get(quantity.term, quantity.term),
        estimate=quantity.value,
        std_error=quantity.std_error,
        conf_low=quantity.interval.low,
        conf_high=quantity.interval.high,
        conf_level=level,
        conf_method=quantity.interval.method,
        n=column.n,
        n_eff=quantity.n_eff,
        epsilon=column.epsilon,
        mechanism=column.mechanism,
        flag=";".join(quantity.flags),
    )


def _share(column: Column, place: int, level: float, sample: Sample | None) -> Quantity:
    term, scores = column.values[place], column.scores[:, place]
    high, low = float(scores.max()), float(scores.min())
    supports = np.isclose(scores, high, rtol=1e-9, atol=1e-12)
    two = bool((supports | np.isclose(scores, low, rtol=1e-9, atol=1e-12)).all())
    # Of designs that leave one answer untouched, rounding may put these a little outside.
    q = max(0.0, -low / (high - low))
    p = min(1.0, (1 - low) / (high - low))
    if sample is None:
        counts = column.counts().astype(np.int64)
        if two:
            share = Share(term, Fraction(p), Fraction(q))
            return share_quantity(share, int(counts[supports].sum()), column.n, level)
        ratio = ratio_interval(counts, scores, np.ones(len(scores)), level)
        flags = ("few",) * ratio.few
        return _share_of(column, term, ratio.value, ratio.std_error, ratio.interval, flags)
    own = scores[column.codes]
    # Of an indicator r is debiased, and it is its own square: r^2 - r is unbiased for the noise.
    value, variance = sample.ratio(own, np.ones(column.n), own**2 - own)
    std_error = _error(variance)
    if not two:
        interval = _student(value, std_error, sample, level)
        flags = ("few",) * sample.is_few(own - value)
        return _share_of(column, term, value, std_error, interval, flags)
    rate = min(1.0, max(0.0, q + (p - q) * value))
    flags = ("few",) * sample.has_few_clusters
    interval = _korn_graubard(rate, (std_error or 0.0) * (p - q), (p, q), level, sample)
    return _share_of(column, term, value, std_error, interval, flags)


def _korn_graubard(
    rate: float, error: float, chances: tuple[float, float], level: float, sample: Sample
) -> Interval:
    """Clopper and Pearson's, with as many respondents as have the standard error of the rate.

    They are no more than were asked, or were asked of an infinite population; and if all reports
    are alike, which tells no error, no more than could differ.
    """
    p, q = chances
    people = sample.independent
    if error > 0 and 0 < rate < 1:
        wide, usual = (
            float(stdtrit(m, (1 + level) / 2)) for m in (sample.freedom, len(sample.weights) - 1)
        )
        people = rate * (1 - rate) / error**2 * (usual / wide) ** 2
        people = max(1.0, min(people, sample.most_people))
    found = share_interval(rate * people, people, p, q, level)
    return replace(found, method=found.method.replace("clopper-pearson", "korn-graubard"))


def _error(variance: float) -> float | None:
    """None for what is nothing but rounding: then nothing is known of the error."""
    return variance**0.5 if variance > 1e-18 else None


def _share_of(
    column: Column,
    term: str,
    value: float | None,
    std_error: float | None,
    interval: Interval,
    flags: tuple[str, ...] = (),
) -> Quantity:
    """A share with the flags that follow from its numbers, and with who would tell as much."""
    if value is not None and not 0 <= value <= 1:
        flags = ("out-of-range", *flags)
    if interval.method.endswith("likelihood"):
        flags = (*flags, "boundary")
    n_eff = None
    if value is not None and std_error:
        n_eff = people_directly(value, std_error, column.n)
    return Quantity(term, value, std_error, interval, n_eff, flags)


def _mean(column: Column, level: float, sample: Sample | None) -> Quantity:
    """Over those who answered, in the unit of the amounts."""
    amounts = np.array(column.amounts, dtype=np.float64)
    there = np.isfinite(amounts)
    bottom, width = float(amounts[there].min()), float(np.ptp(amounts[there]))
    places = np.where(there, (np.nan_to_num(amounts) - bottom) / width, 0.0)
    scores, present = column.scores @ places, column.scores @ there.astype(np.float64)
    if there.all():
        present = np.ones(len(scores))
    if sample is None:
        counts = column.counts().astype(np.int64)
        ratio = ratio_interval(counts, scores, present, level)
        value, std_error, interval, few = ratio.value, ratio.std_error, ratio.interval, ratio.few
    else:
        value, std_error, interval = _sampled_mean(
            column, (scores, present), places, there, level, sample
        )
        few = value is not None and sample.is_few((scores - value * present)[column.codes])
    flags = ("few",) * few
    if value is not None:
        value = bottom + width * value
    if std_error is not None:
        std_error *= width
    low, high = bottom + width * interval.low, bottom + width * interval.high
    if interval.method.endswith("likelihood"):
        flags = (*flags, "boundary")
    return Quantity("mean", value, std_error, Interval(low, high, interval.method), None, flags)


def _sampled_mean(
    column: Column,
    scores: tuple[Floats, Floats],
    places: Floats,
    there: NDArray[np.bool_],
    level: float,
    sample: Sample,
) -> tuple[float | None, float | None, Interval]:
    above, below = scores[0][column.codes], scores[1][column.codes]
    value, _ = sample.ratio(above, below, np.zeros(column.n))
    if not np.isfinite(value):
        return None, None, Interval(0.0, 1.0, "none")
    # The square of what the true value amounts to, debiased, has the same expectation.
    squares = column.scores @ (there * (places - value) ** 2)
    noise = (above - value * below) ** 2 - squares[column.codes]
    _, variance = sample.ratio(above, below, noise)
    std_error = _error(variance)
    return value, std_error, _student(value, std_error, sample, level)


def _student(value: float, std_error: float | None, sample: Sample, level: float) -> Interval:
    """A normal interval within [0, 1], as wide as Student's t makes it."""
    if std_error is None:
        return Interval(0.0, 1.0, "none")
    wide, usual = float(stdtrit(sample.freedom, (1 + level) / 2)), float(ndtri((1 + level) / 2))
    found = normal_interval(value, std_error * wide / usual, level)
    method = found.method.replace("normal", "student-t")
    return replace(found, method=method)
