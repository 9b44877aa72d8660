"""Differences between two waves, or two known groups: all shares together, and each share.

The test of all shares scores both columns against the likeliest shares of both together, as if
nothing had changed. The difference of one share is that of the estimates of each wave.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.estimate.columns import Column, check_columns
from analysis.estimate.intervals import FEW, Interval, check_level
from analysis.study.hypotheses import HypothesisTest, chi_square_test
from analysis.study.resampling import (
    MANY,
    p_value_of_difference,
    permutation_p_value,
    square_root,
)
from analysis.study.scores import (
    ALONE,
    Scored,
    inverse_and_rank,
    likeliest_shares,
    of_one_design,
    peak,
)
from analysis.study.trend import trends


def difference(first: Column, second: Column) -> HypothesisTest:
    """Test whether the shares of two waves, or of two known groups, are the same.

    Parameters
    ----------
    first, second : Column
        Columns of different respondents with the same values. Their mechanisms may differ. If the
        same people answered both times, and mostly did not change their answers, the test finds
        differences too seldom.

    Raises
    ------
    ValueError
        If the values differ, or if a column has fewer than two respondents.
    """
    check_columns(first, second)
    earlier, later = _compared(first, second)
    inverse, rank = inverse_and_rank(earlier.alike + later.alike)
    apart = later.away - earlier.away
    name, n, statistic = "difference", first.n + second.n, float(apart @ inverse @ apart)
    fewest, effective = min(first.n, second.n), min(earlier.effective, later.effective)
    if rank and (effective < MANY or fewest < FEW):
        turned = square_root(inverse)
        scores = earlier.scores @ turned, later.scores @ turned
        counts = first.counts(), second.counts()
        if of_one_design(first, second):
            # The different reports are the columns of a table, and the groups are its rows.
            table = scipy.linalg.block_diag(*counts)
            signs = np.array([[-1 / first.n], [1 / second.n]])
            p_value, method = permutation_p_value(table, signs, np.vstack(scores))
            return HypothesisTest(name, statistic, rank, p_value, method, n, "")
        if first.whole and second.whole:
            p_value, method = p_value_of_difference((earlier.law, later.law), scores, counts)
            return HypothesisTest(name, statistic, rank, p_value, method, n, "")
    return chi_square_test(name, statistic, rank, n, effective, fewest)


@dataclass(frozen=True)
class Change:
    """The difference of a value's share between two waves or groups, second less first.

    `estimate`, `std_error` and `interval` are those of a trend of two waves. `p_value` is that of
    this value alone, with the standard error under the hypothesis that nothing changed. If no
    reports concern the value, the interval is the whole of [-1, 1], with the method ``none``, and
    there is no `p_value`. `p_holm` is adjusted for all values (Holm, Scandinavian Journal of
    Statistics 1979). `flag` is ``few`` under the same condition as for a test.
    """

    value: str
    estimate: float
    std_error: float
    interval: Interval
    p_value: float | None
    p_holm: float | None
    flag: str


def changes_of_shares(
    first: Column, second: Column, confidence_level: float = 0.95
) -> tuple[Change, ...]:
    """Return the difference of each share; see docs/methods.md, (15).

    Parameters
    ----------
    first, second : Column
        See `difference`.
    confidence_level : float
        The level of each single interval, in (0, 1).

    Raises
    ------
    ValueError
        As `difference` does, or if the designs differ and all reports of one column are alike.
    """
    check_level(confidence_level)
    check_columns(first, second)
    _check_values(first, second)
    lines = trends([first, second], first.values, None, confidence_level)
    known = np.array([line.interval.method != "none" for line in lines])
    p_holm = np.full(len(lines), np.nan)
    p_holm[known] = holm_adjusted(np.array([line.p_value for line in lines])[known])
    return tuple(
        Change(
            value=value,
            estimate=line.slope,
            std_error=line.std_error,
            interval=line.interval,
            p_value=line.p_value if known[index] else None,
            p_holm=float(p_holm[index]) if known[index] else None,
            flag=line.flag,
        )
        for index, (value, line) in enumerate(zip(first.values, lines, strict=True))
    )


def holm_adjusted(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values that are adjusted for all of these tests together (Holm 1979)."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    return np.minimum(1.0, adjusted)


@dataclass(frozen=True)
class _Side:
    """The shares of one of two columns less those of both, with the error under equal shares.

    `alike` is the covariance of `away` under the shares of both. `effective` is the number of
    reports that matter, by the kurtosis of their scores. `law` has the probabilities of the
    column's reports under equal shares, and `away` is the mean of their `scores`.
    """

    law: NDArray[np.float64]
    scores: NDArray[np.float64]
    away: NDArray[np.float64]
    alike: NDArray[np.float64]
    effective: float


def _check_values(first: Column, second: Column) -> None:
    if first.values != second.values:
        raise ValueError(
            f"both must have the same values, got {', '.join(first.values)} and "
            f"{', '.join(second.values)}"
        )


def _compared(first: Column, second: Column) -> tuple[_Side, _Side]:
    """Compare both columns with the likeliest shares of both together."""
    _check_values(first, second)
    pooled = likeliest_shares(first, second)
    scored = [Scored(column, pooled) for column in (first, second)]
    alone = first.whole or not of_one_design(first, second)
    left, right = (_side(side, [side] if alone else scored) for side in scored)
    return left, right


def _side(scored: Scored, peers: list[Scored]) -> _Side:
    """Return one side. If the law of its scores is unknown, its peers' reports estimate it."""
    column = scored.column
    kinds, often, freedom = scored.ratios, scored.law, 1.0
    if not column.whole:
        kinds = np.vstack([peer.ratios for peer in peers])
        often = np.concatenate([peer.column.counts() for peer in peers])
        freedom = often.sum() / (often.sum() - 1)
        often = often / often.sum()
    centered = kinds - often @ kinds
    alike = (centered * often[:, None]).T @ centered
    # A value's probabilities sum to 1, unless no report can come from the value.
    expected = kinds[often > 0].any(axis=0).astype(float)
    debiased, _ = inverse_and_rank(alike + np.outer(expected, expected))
    errors = debiased @ alike @ debiased * freedom
    scores = centered @ debiased
    alone = 1.0 if column.whole or len(peers) > 1 else ALONE
    return _Side(
        law=scored.law,
        scores=(scored.ratios - expected) @ debiased,
        away=debiased @ (scored.mean - expected),
        alike=errors / column.n,
        effective=column.n / peak(often, scores, errors) / alone,
    )
