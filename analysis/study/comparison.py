"""Tables of comparisons between two waves, between groups of another question, and over waves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column, check_columns
from analysis.estimate.intervals import FEW, Interval, check_level, mover_difference
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.changes import changes_of_shares, holm_adjusted
from analysis.study.crosstab.association import (
    debiased_powers,
    group_mean,
    possible_amounts,
)
from analysis.study.crosstab.groups import Finding, contrasts, delta_error
from analysis.study.crosstab.pairs import MOST_VALUES, Pairs, pairs_of
from analysis.study.shown import Results, draw_differences
from analysis.study.trend import trend, trends

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """A difference of shares or means: that in `second` less that in `first`.

    `quantity` is ``share`` (of `term`) or ``mean``. `estimate` and `std_error` are None if reports
    do not show that a group exists. `p_value` is that of this quantity alone. `p_holm` is adjusted
    for all shares (Holm, Scandinavian Journal of Statistics 1979). Both are None if reports carry
    no information, and for groups, whose test is that of independence. Words in `flag` are ``few``
    and ``unreliable`` (the interval has half of the possible range, or reports do not show that a
    group exists).
    """

    quantity: str
    term: str
    first: str
    second: str
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    p_value: float | None
    p_holm: float | None
    n: int
    flag: str


@dataclass(frozen=True)
class Slope:
    """The rise of a share (of `term`) or a mean for each unit of the positions of waves.

    `waves` is their number. All else is as in a `Comparison`.
    """

    quantity: str
    term: str
    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    conf_level: float
    conf_method: str
    p_value: float
    p_holm: float | None
    waves: int
    n: int
    flag: str


def compare_waves(
    first: Column,
    second: Column,
    names: tuple[str, str],
    confidence_level: float = 0.95,
    *,
    has_shares: bool = True,
) -> Results[Comparison]:
    """Return the differences of all shares, and of the mean, between two waves or known groups.

    Parameters
    ----------
    first, second : Column
        Columns of one question and of different respondents; see `difference`.
    names : pair of str
        The names of the two.
    confidence_level : float
        Of every interval by itself, in (0, 1).
    has_shares : bool
        Whether the values are answers, so that shares are compared. It is False for a number, whose
        values are grid points.

    Raises
    ------
    ValueError
        As `difference` does, or if a mean has no respondents who answered.
    """
    check_level(confidence_level)
    check_columns(first, second)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must be two names, one for each column, got {names!r}")
    rows = []
    row_of = partial(_row, confidence_level=confidence_level, n=first.n + second.n)
    if has_shares:
        rows = [
            row_of(
                "share",
                change.value,
                names,
                Finding(change.estimate, change.std_error, change.interval, bool(change.flag)),
                reach=2.0,
                p_values=(change.p_value, change.p_holm),
            )
            for change in changes_of_shares(first, second, confidence_level)
        ]
    if first.amounts is not None:
        line = trend([first, second], confidence_level=confidence_level)
        low, high = possible_amounts(first)
        row = row_of(
            "mean",
            "mean",
            names,
            Finding(line.slope, line.std_error, line.interval, bool(line.flag)),
            reach=2 * (high - low),
            p_values=(line.p_value, None),
        )
        rows.append(row)
    return Results(rows, draw_differences)


def compare_groups(
    groups: Column,
    column: Column,
    reference: str | None = None,
    confidence_level: float = 0.95,
    *,
    has_shares: bool = True,
) -> Results[Comparison]:
    """Return the differences of shares, and of the mean, between groups of another question.

    Nobody knows who is in a group, so shares within groups are ratios of debiased pairs. Intervals
    are Fieller's or, if reports are few, combine those of both groups (MOVER); see `crosstab`.

    Parameters
    ----------
    groups, column : Column
        Columns of the same respondents in the same order, randomized independently or in one draw.
    reference : str, optional
        The value of `groups` with which others are compared; by default, the first.
    confidence_level : float
        Of every interval by itself, in (0, 1).
    has_shares : bool
        As in `compare_waves`.

    Raises
    ------
    ValueError
        If the columns have different respondents or share reports, if there are too many groups, or
        if the reference is not a group.
    """
    check_level(confidence_level)
    check_columns(groups, column)
    if len(groups.values) > MOST_VALUES:
        raise ValueError(
            f"{groups.name}: expected at most {MOST_VALUES} groups, got {len(groups.values)}"
        )
    if reference is not None and reference not in groups.values:
        raise ValueError(
            f"{groups.name}: reference must be one of {', '.join(groups.values)}, got {reference!r}"
        )
    base = groups.values.index(reference) if reference is not None else 0
    pairs, rows = pairs_of(groups, column), []
    row_of = partial(_row, confidence_level=confidence_level, n=pairs.n)
    for group, name in enumerate(groups.values):
        if group == base:
            continue
        names = groups.values[base], name
        for value, term in enumerate(column.values if has_shares else ()):
            found, _ = contrasts(pairs, (group, base), value, confidence_level)
            rows.append(row_of("share", term, names, found, reach=2.0))
        if column.amounts is not None:
            low, high = possible_amounts(column)
            found = difference_of_means(pairs, (group, base), confidence_level)
            rows.append(row_of("mean", "mean", names, found, reach=2 * (high - low)))
    return Results(rows, draw_differences)


def slopes(
    columns: Sequence[Column],
    values: Iterable[str] | None = None,
    places: Sequence[float] | None = None,
    confidence_level: float = 0.95,
    *,
    has_shares: bool = True,
) -> list[Slope]:
    """Return the trends of all shares and of the mean, or of some values; see `trend`.

    `has_shares` is as in `compare_waves`.
    """
    column, n = columns[0], sum(each.n for each in columns)
    wanted = values
    if wanted is None:
        wanted = column.values if has_shares else ()
    wanted = list(wanted)
    lines = trends(columns, wanted, places, confidence_level)
    found = [("share", value, line) for value, line in zip(wanted, lines, strict=True)]
    holm = holm_adjusted(np.array([line.p_value for _, _, line in found])).tolist()
    if values is None and column.amounts is not None:
        found.append(("mean", "mean", trend(columns, None, places, confidence_level)))
        holm.append(None)
    return [
        Slope(
            quantity=quantity,
            term=term,
            estimate=line.slope,
            std_error=line.std_error,
            conf_low=line.interval.low,
            conf_high=line.interval.high,
            conf_level=confidence_level,
            conf_method=line.interval.method,
            p_value=line.p_value,
            p_holm=p_holm,
            waves=len(columns),
            n=n,
            flag=line.flag,
        )
        for (quantity, term, line), p_holm in zip(found, holm, strict=True)
    ]


def difference_of_means(
    pairs: Pairs, groups: tuple[int, int], confidence_level: float = 0.95
) -> Finding:
    """Return the mean of the second question in a group of the first, less that in another.

    Both are ratios of debiased sums over those who answered. The interval is Fieller's or, if
    reports are few, combines both means' intervals (MOVER); see `contrasts`.

    Raises
    ------
    ValueError
        If the values of the second question have no amounts.
    """
    powers = debiased_powers(pairs.second)
    top, bottom = (group_mean(pairs, group, confidence_level) for group in groups)
    if powers is None or top is None or bottom is None:
        raise ValueError(f"{pairs.second.name}: its values must be amounts to have a mean")
    low, high = possible_amounts(pairs.second)
    scores = pairs.first.scores[:, list(groups)], powers[:, [1, 0]]
    total, there, others, base = map(float, pairs.averages(*scores).ravel())
    few = top.few or bottom.few
    if there <= 0 or base <= 0:
        return Finding(None, None, Interval(low - high, high - low, "none"), few)
    slopes = np.array([[base, -others, -there, total], [0, base, 0, there]])
    joint = slopes @ pairs.covariance(*scores) @ slopes.T
    above, below = total * base - others * there, there * base
    estimate = above / below
    error = delta_error(np.array([1, -estimate]) / below, joint)
    possible = low - high, high - low
    interval = fieller_interval(above, below, joint, possible, confidence_level)
    if few and interval.method != "none":
        mean, other = np.clip([total / there, others / base], low, high).tolist()
        interval = mover_difference(mean, top.interval, other, bottom.interval, possible)
    return Finding(estimate, error, interval, few)


def _row(
    quantity: str,
    term: str,
    names: tuple[str, str],
    found: Finding,
    *,
    reach: float,
    confidence_level: float,
    n: int,
    p_values: tuple[float | None, float | None] = (None, None),
) -> Comparison:
    """Return a row. Its interval is unreliable if it has half of `reach`, the possible range."""
    interval = found.interval
    unreliable = interval.method == "none" or interval.high - interval.low >= reach / 2
    return Comparison(
        quantity,
        term,
        *names,
        estimate=found.estimate,
        std_error=found.std_error,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=confidence_level,
        conf_method=interval.method,
        p_value=p_values[0],
        p_holm=p_values[1],
        n=n,
        flag=";".join(["few"] * (found.few or n < FEW) + ["unreliable"] * unreliable),
    )
