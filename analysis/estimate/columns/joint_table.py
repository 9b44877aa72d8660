"""The shares of all combinations of the values of any number of columns."""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column, check_columns
from analysis.estimate.columns.sample import effective_size
from analysis.estimate.columns.together import drawn_together
from analysis.estimate.intervals import FEW, check_level
from analysis.estimate.intervals.empirical import empirical_interval
from analysis.estimate.joint import BORDER
from analysis.estimate.mixture import Mixture, mixture

#: The most combinations of values, and the most of these times kinds of reports, which take 128 MB.
MOST_CELLS, _MOST_CHANCES = 1024, 2**24
#: An interval of this width has half of all possible shares.
_NOTHING = 0.5


@dataclass(frozen=True)
class JointShare:
    """The share of one combination of values.

    `estimate` is unbiased and may lie outside [0, 1]. `likeliest` is by maximum likelihood over all
    combinations, for display: no such share is below 0, and they sum to 1. `flag` holds words
    joined by ``;``: ``out-of-range``, ``boundary`` (the likeliest share is 0 or 1, or within .05
    standard errors of it), ``few`` (the effective number of respondents is below 100),
    ``not-converged`` (the likelihood was not maximized), ``unreliable`` (the interval has half of
    [0, 1]).
    """

    questions: list[str]
    values: list[str]
    estimate: float
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    likeliest: float
    n: int
    flag: str


def joint_shares(
    columns: list[Column], confidence_level: float = 0.95, weights: Floats | None = None
) -> list[JointShare]:
    """Return the shares of all combinations of values.

    Debiased reports of columns that were randomized independently multiply: the product of their
    scores has the expectation 1 for the true combination, and 0 for every other. Each column
    multiplies the variance, so that tables of many columns take many respondents. Intervals are
    those of the empirical likelihood of these products (Owen, Biometrika 1988).

    Parameters
    ----------
    columns : list of Column
        One or more columns of the same respondents in the same order, randomized independently.
    confidence_level : float
        The level of each single interval, in (0, 1).
    weights : (n,) array, optional
        The weights of respondents. Standard errors are then linearized.

    Returns
    -------
    list of JointShare
        One for each combination of values. The value of the last column changes fastest.

    Raises
    ------
    ValueError
        If columns have different respondents, come from one draw, or have too many combinations; or
        if there are fewer than two respondents.
    """
    check_level(confidence_level)
    check_columns(*columns)
    _check(columns)
    reports = _reports(columns, np.ones(columns[0].n) if weights is None else weights)
    chances = _products([c.chances[reports.kinds[:, at]] for at, c in enumerate(columns)])
    scores = _products([c.scores[reports.kinds[:, at]] for at, c in enumerate(columns)])
    made = reports.times > 0
    fitted = mixture(chances[made], reports.times[made])
    combinations = product(*(range(len(column.values)) for column in columns))
    return [
        _joint_share(columns, values, scores[:, cell], reports, fitted, cell, confidence_level)
        for cell, values in enumerate(combinations)
    ]


def _check(columns: list[Column]) -> None:
    """Raise ValueError unless columns can make a table; see `joint_shares`."""
    n, names = columns[0].n, [column.name for column in columns]
    if any(column.n != n for column in columns) or n < 2:
        raise ValueError(
            f"expected columns of the same respondents, two or more, got {[c.n for c in columns]}"
        )
    draws = drawn_together([column.place for column in columns])
    if len(set(names)) < len(names) or len(draws) < len(names):
        raise ValueError(f"expected columns from separate draws, got {', '.join(names)}")
    if (cells := prod(len(column.values) for column in columns)) > MOST_CELLS:
        raise ValueError(
            f"{', '.join(names)}: a table takes at most {MOST_CELLS} combinations of values, got "
            f"{cells}"
        )


@dataclass(frozen=True)
class _Reports:
    """Respondents by what they reported on all columns.

    Attributes
    ----------
    kinds : (kinds, columns) array
        Each combination of reports that was made, as the code of each column.
    times, squares : (kinds,) arrays
        The sums of weights and of squared weights of those who made it. Each array sums to
        `effective`.
    effective : float
        The effective number of respondents.
    """

    kinds: Ints
    times: Floats
    squares: Floats
    effective: float


def _reports(columns: list[Column], weights: Floats) -> _Reports:
    """Return respondents by their reports; raise ValueError if there are too many kinds."""
    codes = np.column_stack([column.codes for column in columns])
    kinds, where = np.unique(codes, axis=0, return_inverse=True)
    cells = prod(len(column.values) for column in columns)
    if len(kinds) * cells > _MOST_CHANCES:
        raise ValueError(
            f"{', '.join(column.name for column in columns)}: too many kinds of reports "
            f"({len(kinds)}) for {cells} combinations of values: take fewer columns"
        )
    effective = effective_size(weights)
    times = np.bincount(where.ravel(), weights, len(kinds)) * (effective / weights.sum())
    squares = np.bincount(where.ravel(), weights**2, len(kinds))
    return _Reports(kinds, times, squares * (effective / (weights**2).sum()), effective)


def _joint_share(
    columns: list[Column],
    values: tuple[int, ...],
    scores: Floats,
    reports: _Reports,
    fitted: Mixture,
    cell: int,
    confidence_level: float,
) -> JointShare:
    """Return the share of one combination, whose debiased products are the (kinds,) `scores`."""
    n, effective = columns[0].n, reports.effective
    share = float(reports.times @ scores) / effective
    variance = float(reports.squares @ (scores - share) ** 2) / effective**2 * n / (n - 1)
    # These are the products of the columns' least and largest scores. All others lie between.
    corners = np.ones(1)
    for column, value in zip(columns, values, strict=True):
        ends = column.scores[:, value]
        corners = np.outer(corners, [ends.min(), ends.max()]).ravel()
    nobody = np.zeros(len(corners))
    above = np.append(scores, corners)
    interval = empirical_interval(
        np.append(reports.times, nobody),
        above,
        np.ones_like(above),
        (0.0, 1.0),
        confidence_level,
        np.append(reports.squares, nobody),
    )
    likeliest, error = float(fitted.weights[cell]), max(variance, 0.0) ** 0.5
    flags = ["out-of-range"] * (not 0 <= share <= 1)
    flags += ["boundary"] * (not BORDER * error <= likeliest <= 1 - BORDER * error)
    flags += ["few"] * (effective < FEW) + ["not-converged"] * (not fitted.converged)
    flags += ["unreliable"] * (interval.high - interval.low >= _NOTHING)
    return JointShare(
        questions=[column.name for column in columns],
        values=[column.values[at] for column, at in zip(columns, values, strict=True)],
        estimate=share,
        std_error=error or None,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=confidence_level,
        conf_method=interval.method,
        likeliest=likeliest,
        n=n,
        flag=";".join(flags),
    )


def _products(parts: list[Floats]) -> Floats:
    """Return (kinds, cells) products of an entry of each part. The last part changes fastest."""
    result = np.ones((len(parts[0]), 1))
    for part in parts:
        result = (result[:, :, None] * part[:, None, :]).reshape(len(part), -1)
    return result
