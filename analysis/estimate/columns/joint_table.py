"""The shares of all combinations of the values of any number of columns."""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from analysis.estimate import Floats
from analysis.estimate.columns import Column
from analysis.estimate.columns.sample import effective_size
from analysis.estimate.columns.together import drawn_together
from analysis.estimate.intervals import FEW, check_level
from analysis.estimate.intervals.empirical import empirical_interval
from analysis.estimate.joint import BORDER
from analysis.estimate.mixture import mixture

#: The most combinations of values, and of kinds of reports times these: 128 MB.
MOST_CELLS, _MOST_CHANCES = 1024, 2**24
#: An interval this wide has half of all that a share can be.
_NOTHING = 0.5


@dataclass(frozen=True)
class JointShare:
    """The share of one combination of values.

    `estimate` is unbiased and may lie outside [0, 1]; `likeliest` is by maximum likelihood over all
    combinations, for display: none is below 0, and they sum to 1. `flag` holds words joined by
    ``;``: ``out-of-range``, ``boundary`` (the likeliest share is 0 or 1, or within .05 standard
    errors), ``few`` (fewer than 100 respondents, effectively), ``not-converged`` (of the
    likelihood), ``unreliable`` (the interval has half of [0, 1]).
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

    Debiased reports of columns that were randomized apart multiply: the product of their scores has
    the expectation 1 for the true combination, and 0 for every other. Each column multiplies the
    variance, so that tables of many columns take many respondents. Intervals are of the empirical
    likelihood of these products (Owen, Biometrika 1988).

    Parameters
    ----------
    columns : list of Column
        One or more, of the same respondents in the same order, each randomized by itself.
    confidence_level : float
        Of every interval by itself, in (0, 1).
    weights : (n,) array, optional
        Of respondents; standard errors are then linearized.

    Raises
    ------
    ValueError
        If columns are of different respondents, come from one draw, or have too many combinations;
        or if there are fewer than two respondents.
    """
    check_level(confidence_level)
    n, sizes = columns[0].n, [len(column.values) for column in columns]
    names = [column.name for column in columns]
    if any(column.n != n for column in columns) or n < 2:
        raise ValueError(
            f"expected columns of the same respondents, two or more, got {[c.n for c in columns]}"
        )
    if len(set(names)) < len(names) or len(
        drawn_together([column.place for column in columns])
    ) < len(names):
        raise ValueError(f"expected columns that were randomized apart, got {', '.join(names)}")
    if prod(sizes) > MOST_CELLS:
        raise ValueError(
            f"{', '.join(names)}: a table takes at most {MOST_CELLS} combinations of values, got "
            f"{prod(sizes)}"
        )
    codes = np.column_stack([column.codes for column in columns])
    kinds, where = np.unique(codes, axis=0, return_inverse=True)
    if len(kinds) * prod(sizes) > _MOST_CHANCES:
        raise ValueError(
            f"{', '.join(names)}: too many kinds of reports ({len(kinds)}) for {prod(sizes)} "
            "combinations of values: take fewer columns"
        )
    parts = np.ones(n) if weights is None else weights
    effective = effective_size(parts)
    times = np.bincount(where.ravel(), parts, len(kinds)) * (effective / parts.sum())
    squares = np.bincount(where.ravel(), parts**2, len(kinds)) * (effective / (parts**2).sum())
    chances = _products([c.chances[kinds[:, at]] for at, c in enumerate(columns)])
    scores = _products([c.scores[kinds[:, at]] for at, c in enumerate(columns)])
    fitted = mixture(chances[times > 0], times[times > 0])
    rows = []
    for cell, combination in enumerate(product(*map(range, sizes))):
        own = scores[:, cell]
        share = float(times @ own) / effective
        variance = float(squares @ (own - share) ** 2) / effective**2 * n / (n - 1)
        # Kinds at the corners of what is possible; all others have scores in between.
        corners = np.ones(1)
        for column, value in zip(columns, combination, strict=True):
            ends = column.scores[:, value]
            corners = np.outer(corners, [ends.min(), ends.max()]).ravel()
        nobody = np.zeros(len(corners))
        above = np.append(own, corners)
        interval = empirical_interval(
            np.append(times, nobody),
            above,
            np.ones_like(above),
            (0.0, 1.0),
            confidence_level,
            np.append(squares, nobody),
        )
        likeliest, error = float(fitted.weights[cell]), max(variance, 0.0) ** 0.5
        flags = ["out-of-range"] * (not 0 <= share <= 1)
        flags += ["boundary"] * (not BORDER * error <= likeliest <= 1 - BORDER * error)
        flags += ["few"] * (effective < FEW) + ["not-converged"] * (not fitted.converged)
        flags += ["unreliable"] * (interval.high - interval.low >= _NOTHING)
        row = JointShare(
            questions=names,
            values=[c.values[at] for c, at in zip(columns, combination, strict=True)],
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
        rows.append(row)
    return rows


def _products(parts: list[Floats]) -> Floats:
    """Return (kinds, cells) products of an entry of each part; the last changes fastest."""
    result = np.ones((len(parts[0]), 1))
    for part in parts:
        result = (result[:, :, None] * part[:, None, :]).reshape(len(part), -1)
    return result
