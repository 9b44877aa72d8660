"""Differences between two waves, or two known groups: of all shares together, and of each.

Both columns are scored against the likeliest shares of both together, as if nothing had changed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import ndtr

from analysis.estimate.columns import Column
from analysis.estimate.intervals import FEW, Interval, check_level, normal_interval
from analysis.study.crosstab.quotient import FEWEST
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
    few_flag,
    inverse_and_rank,
    likeliest_shares,
    peak,
)

#: Errors of a share below this are rounding.
_LEAST = 1e-9


def difference(first: Column, second: Column) -> HypothesisTest:
    """Test whether the shares of two waves, or of two known groups, are the same.

    Parameters
    ----------
    first, second : Column
        Of different respondents, with the same values. Their mechanisms may differ. If the same
        people answered in both, and mostly as before, differences are found too seldom.

    Raises
    ------
    ValueError
        If the values differ, or one has fewer than two respondents.
    """
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
            # Both groups' different reports are columns of a table, and the groups its rows.
            table = block_diag(*counts)
            signs = np.array([[-1 / first.n], [1 / second.n]])
            p_value, method = permutation_p_value(table, signs, np.vstack(scores))
            return HypothesisTest(name, statistic, rank, p_value, method, n, "")
        if first.whole and second.whole:
            p_value, method = p_value_of_difference((earlier.law, later.law), scores, counts)
            return HypothesisTest(name, statistic, rank, p_value, method, n, "")
    return chi_square_test(name, statistic, rank, n, effective, fewest)


@dataclass(frozen=True)
class Change:
    """How much the share of a value differs between two waves, or groups: second less first.

    `std_error` is at least that of no change where few reports concern the value. The interval is
    that of a normal estimate of what lies within [-1, 1]. If no reports concern the value, it is
    all of [-1, 1], with the method ``none``, and there is no `p_value`. `p_value` is of this value
    alone, with the error there is if nothing changed; `p_holm` is of it as one of all values (Holm,
    Scandinavian Journal of Statistics 1979). `flag` is ``few`` as for a test.
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
    """Return the difference of each share, with the least error where all are the same.

    Parameters
    ----------
    first, second : Column
        See `difference`.
    confidence_level : float
        Of every interval by itself, in (0, 1).

    Raises
    ------
    ValueError
        As `difference`.
    """
    check_level(confidence_level)
    earlier, later = _compared(first, second)
    apart = later.away - earlier.away
    by_reports, if_alike = (
        np.sqrt(np.maximum(0.0, sum(covariance.diagonal() for covariance in covariances)))
        for covariances in ((earlier.by_reports, later.by_reports), (earlier.alike, later.alike))
    )
    known = if_alike > _LEAST
    effective = np.minimum(earlier.of_each, later.of_each)
    # From few reports on a value, or none, its error is hardly known; all reports know more of it.
    unsure = (effective < FEWEST) | (by_reports <= _LEAST)
    errors = np.where(unsure, np.maximum(by_reports, if_alike), by_reports)
    chances = 2 * ndtr(-np.abs(apart[known]) / if_alike[known])
    p_values, p_holm = np.full((2, len(apart)), np.nan)
    p_values[known], p_holm[known] = chances, holm_adjusted(chances)
    fewest = min(first.n, second.n)
    return tuple(
        Change(
            value=value,
            estimate=float(apart[index]),
            std_error=float(errors[index]),
            interval=_change_interval(float(apart[index]), float(errors[index]), confidence_level),
            p_value=float(p_values[index]) if known[index] else None,
            p_holm=float(p_holm[index]) if known[index] else None,
            flag=few_flag(fewest, float(effective[index])),
        )
        for index, value in enumerate(first.values)
    )


def holm_adjusted(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values adjusted for all of these together (Holm 1979)."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    return np.minimum(1.0, adjusted)


def _change_interval(estimate: float, std_error: float, confidence_level: float) -> Interval:
    """Return the interval of a difference, as that of a share: half its distance from -1."""
    if std_error <= _LEAST:
        return Interval(-1.0, 1.0, "none")
    halved = normal_interval((estimate + 1) / 2, std_error / 2, confidence_level)
    return Interval(2 * halved.low - 1, 2 * halved.high - 1, halved.method)


@dataclass(frozen=True)
class _Side:
    """The shares of one of two columns, less those of both, with the least error if all are alike.

    `by_reports` is the covariance of `away` by the column's reports, `alike` by the shares of both.
    `effective` and `of_each` are how many reports make a difference, to all of `away` and to each
    share, by the kurtosis of their scores. `law` is how likely the column's reports are if all are
    alike, and `away` is the mean of their `scores`.
    """

    law: NDArray[np.float64]
    scores: NDArray[np.float64]
    away: NDArray[np.float64]
    by_reports: NDArray[np.float64]
    alike: NDArray[np.float64]
    effective: float
    of_each: NDArray[np.float64]


def _compared(first: Column, second: Column) -> tuple[_Side, _Side]:
    """Compare both columns with the likeliest shares of both together."""
    if first.values != second.values:
        raise ValueError(
            f"both must have the same values, got {', '.join(first.values)} and "
            f"{', '.join(second.values)}"
        )
    pooled = likeliest_shares(first, second)
    scored = [Scored(column, pooled) for column in (first, second)]
    alone = first.whole or not of_one_design(first, second)
    left, right = (_side(side, [side] if alone else scored) for side in scored)
    return left, right


def of_one_design(*columns: Column) -> bool:
    """Return whether columns of equal shares have equally likely reports."""
    designs = {(column.whole, column.mechanism, column.epsilon) for column in columns}
    if len(designs) > 1:
        return False
    first = columns[0]
    return not first.whole or all(np.array_equal(first.chances, c.chances) for c in columns)


def _side(scored: Scored, peers: list[Scored]) -> _Side:
    """Return one side; the law of its scores is estimated from its peers' reports if not known."""
    column = scored.column
    kinds, often, freedom = scored.ratios, scored.law, 1.0
    if not column.whole:
        kinds = np.vstack([peer.ratios for peer in peers])
        often = np.concatenate([peer.column.counts() for peer in peers])
        freedom = often.sum() / (often.sum() - 1)
        often = often / often.sum()
    centered = kinds - often @ kinds
    alike = (centered * often[:, None]).T @ centered
    # A value's chances sum to 1; but none is counted where no report can be of the value.
    expected = kinds[often > 0].any(axis=0).astype(float)
    debiased, _ = inverse_and_rank(alike + np.outer(expected, expected))
    errors = debiased @ alike @ debiased * freedom
    scores = centered @ debiased
    spread, fourth = often @ scores**2, often @ scores**4
    alone = 1.0 if column.whole or len(peers) > 1 else ALONE
    return _Side(
        law=scored.law,
        scores=(scored.ratios - expected) @ debiased,
        away=debiased @ (scored.mean - expected),
        by_reports=debiased @ scored.covariance @ debiased / (column.n - 1),
        alike=errors / column.n,
        effective=column.n / peak(often, scores, errors) / alone,
        of_each=column.n * spread**2 / np.maximum(fourth, 1e-300) / alone,
    )
