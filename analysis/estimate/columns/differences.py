"""The difference between two columns of the same values, of the same people or of others.

An example is a direct question less a randomized one, which shows how much people hide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from analysis.core.errors import DataError
from analysis.estimate import Floats
from analysis.estimate.columns.data_file import Data
from analysis.estimate.columns.measured import IntervalOptions, Measured
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.estimate.estimates import Estimate
from analysis.estimate.intervals import Interval, error_of_difference, mover_difference


@dataclass(frozen=True)
class Difference:
    """A share or mean of the second column less that of the first.

    `n_both` counts those who reported on both. `flag` joins the flags of both estimates.
    """

    first: str
    second: str
    term: str
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    n_first: int
    n_second: int
    n_both: int
    flag: str


def differences(
    first: Data, second: Data, whole: Data, wanted: IntervalOptions
) -> list[Difference]:
    """Return the differences of all terms that two columns have in common.

    The interval combines the intervals of both columns, and takes into account that some people
    reported on both (MOVER: Zou, Psychological Methods 2007; Newcombe, Statistics in Medicine 1998;
    docs/methods.md, (44)).

    Parameters
    ----------
    first, second : Data
        The data of one column each, of all who reported on it.
    whole : Data
        The data of everybody, without columns.
    wanted : IntervalOptions
        The options of the intervals.

    Raises
    ------
    DataError
        If the columns have no term in common, or if a column has no estimate.
    """
    (one,), (other,) = first.measured.values(), second.measured.values()
    rows = [_by_term(each, data, wanted) for each, data in ((one, first), (other, second))]
    terms = [term for term in rows[0] if term in rows[1]]
    if not terms:
        raise DataError(
            f"{one.name} and {other.name}: expected columns with the same values, got "
            f"{', '.join(rows[0])} and {', '.join(rows[1])}"
        )
    places = {int(line): at for at, line in enumerate(whole.lines)}
    where = [[places[int(line)] for line in data.lines] for data in (first, second)]
    everybody = len(whole.lines)
    drawn = one_by_one(np.ones(everybody)) if whole.sample is None else whole.sample
    both = len(set(where[0]) & set(where[1]))
    found = []
    for term in terms:
        influences = np.zeros((2, everybody))
        for at, (each, data) in enumerate(((one, first), (other, second))):
            of_column = each.influences(term, data.sample)
            if of_column is not None:
                influences[at, where[at]] = of_column
        left, right = rows[0][term], rows[1][term]
        correlation = _correlation(influences, drawn)
        found.append(_difference(left, right, correlation, wanted, both))
    return found


def _by_term(measured: Measured, data: Data, wanted: IntervalOptions) -> Mapping[str, Estimate]:
    return {row.term: row for row in measured.estimates(wanted, data.sample)}


def _correlation(influences: Floats, drawn: Sample) -> float:
    """Return the correlation of two estimates, from each respondent's influence on them."""
    first, second, difference = (
        drawn.variance_of_scores(drawn.scores_of(each))
        for each in (influences[0], influences[1], influences[1] - influences[0])
    )
    if min(first, second) <= 0:
        return 0.0
    correlation = (first + second - difference) / (2 * sqrt(first * second))
    return min(1.0, max(-1.0, correlation))


def _difference(
    first: Estimate,
    second: Estimate,
    correlation: float,
    wanted: IntervalOptions,
    both: int,
) -> Difference:
    value = error = None
    low, high = second.conf_low - first.conf_high, second.conf_high - first.conf_low
    interval = Interval(low, high, "none")
    if first.estimate is not None and second.estimate is not None:
        value = second.estimate - first.estimate
        if first.std_error is not None and second.std_error is not None:
            error = error_of_difference(second.std_error, first.std_error, correlation)
        parts: list[tuple[float, Interval]] = []
        for row in (second, first):
            within = min(max(float(row.estimate or 0.0), row.conf_low), row.conf_high)
            parts.append((within, Interval(row.conf_low, row.conf_high, row.conf_method)))
        interval = mover_difference(*parts[0], *parts[1], (low, high), correlation)
    words = [word for row in (first, second) for word in row.flag.split(";") if word]
    return Difference(
        first=first.question,
        second=second.question,
        term=first.term,
        estimate=value,
        std_error=error or None,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=wanted.confidence_level,
        conf_method=interval.method,
        n_first=first.n,
        n_second=second.n,
        n_both=both,
        flag=";".join(dict.fromkeys(words)),
    )
