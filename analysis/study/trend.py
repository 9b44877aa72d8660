"""Whether a share or a mean rises or falls over waves, or over groups in order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from analysis.estimate.columns import Column
from analysis.estimate.intervals import FEW, Interval, check_level
from analysis.study.crosstab.association import debiased_powers


@dataclass(frozen=True)
class Trend:
    """A line through the estimates of the waves.

    `slope` is the change for each unit of `places`; its interval is normal, and `p_value` tests
    whether it is 0. `n` counts all respondents. `flag` is ``few`` if a wave has too few.
    """

    slope: float
    std_error: float
    interval: Interval
    p_value: float
    n: int
    flag: str


def trend(
    columns: Sequence[Column],
    value: str | None = None,
    places: Sequence[float] | None = None,
    confidence_level: float = 0.95,
) -> Trend:
    """Return the slope of a share, or of a mean, by weighted least squares.

    Parameters
    ----------
    columns : sequence of Column
        Of one question, two or more, each of other respondents. If the same people answered in all
        and noise was drawn anew, the slope's true error is smaller than `std_error`.
    value : str, optional
        Whose share; the mean of the amounts if left out.
    places : sequence of float, optional
        Where each column stands, such as years; 0, 1, 2 .. if left out.
    confidence_level : float
        Of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If there is one column only, or all have the same place; if the value is none of a column's,
        or amounts are missing; if a column's reports do not differ, so that no error is known.
    """
    check_level(confidence_level)
    where = np.array(range(len(columns)) if places is None else places, float)
    if where.shape != (len(columns),) or not np.isfinite(where).all() or len(np.unique(where)) < 2:
        raise ValueError(
            f"a trend needs two columns or more, each with its place, not all the same; got "
            f"{len(columns)} columns and {where.tolist()}"
        )
    levels, variances = np.array([_level(column, value) for column in columns]).T
    weights = 1 / variances
    apart = where - weights @ where / weights.sum()
    spread = float(weights @ apart**2)
    slope, error = float(weights * apart @ levels) / spread, spread**-0.5
    reach = float(ndtri((1 + confidence_level) / 2)) * error
    return Trend(
        slope,
        error,
        Interval(slope - reach, slope + reach, "normal"),
        float(2 * ndtr(-abs(slope) / error)),
        sum(column.n for column in columns),
        "few" if min(column.n for column in columns) < FEW else "",
    )


def _level(column: Column, value: str | None) -> tuple[float, float]:
    """Return the estimate of a value's share, or of the mean, and its variance."""
    if value is not None and value not in column.values:
        raise ValueError(f"{column.name}: value must be one of {column.values}, got {value!r}")
    if value is not None:
        scores = column.scores[:, column.values.index(value)]
        present = np.ones_like(scores)
    else:
        powers = debiased_powers(column)
        if powers is None or column.amounts is None:
            raise ValueError(f"{column.name}: its values must amount to something to have a mean")
        present, scores = powers[:, 0], powers[:, 1]
    often = column.counts()
    there = float(often @ present)
    if there <= 0 or column.n < 2:
        raise ValueError(f"{column.name}: expected 2 respondents or more who answered")
    estimate = float(often @ scores) / there
    apart = scores - estimate * present
    variance = float(often @ apart**2) / there**2 * column.n / (column.n - 1)
    if variance < 1e-18:
        raise ValueError(f"{column.name}: expected reports that differ, to tell an error by")
    return estimate, variance
