"""Tests on the side of the reports, where noise is part of what is expected.

Pearson's statistic of debiased counts takes noise for a finding: at ε = 1 it calls independent
answers dependent 95 times in 100, instead of 5. Here each report is scored by how likely each value
makes it, as a multiple of how likely it is at all: the efficient scores of shares in a mixture. For
k-RR the tests of independence and of fit are then Pearson's, of the table of reports; for reports
of several symbols, of hashes or of bits, that table has too many cells for them, or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, ndtr

from analysis.estimate.columns import Column
from analysis.estimate.intervals import FEW, Interval, check_level, normal_interval
from analysis.estimate.mixture import mixture
from analysis.study.crosstab.pairs import MOST_VALUES, pairs_of
from analysis.study.crosstab.quotient import FEWEST
from analysis.study.crosstab.shuffle import widening

#: Directions with less than this part of the largest variance have none, but for rounding.
_NOTHING = 1e-9
#: So many times as many reports it takes where they alone tell the covariance, and not the noise.
_ALONE = 10.0
#: As a multiple of the variance of chi-square, more is told to come from few pairs of reports.
_WIDEST = 2.0
#: Errors of a share below that are rounding.
_LEAST = 1e-9


@dataclass(frozen=True)
class HypothesisTest:
    """The result of a test; small values of `p_value` speak against what it is named after.

    `statistic` is compared with chi-square on `df` degrees of freedom; of independence with one of
    the same mean and larger variance, where few pairs of reports make up most of it; of the fit of
    reports that cannot all be listed, with Hotelling's T² that is nearly so. It is infinite if a
    report was made that was impossible, and 0, with `p_value` 1, if no reports could have spoken
    against it. `n` counts all respondents. `flag` is ``few`` if the approximation does not hold: if
    there are fewer than 100; if what is compared hangs on fewer than 5 reports, or 50 where these
    alone tell the covariance; of independence, if its variance is over twice that of chi-square;
    or if nothing could be compared.
    """

    test: str
    statistic: float
    df: int
    p_value: float
    n: int
    flag: str


def independence(first: Column, second: Column) -> HypothesisTest:
    """Whether the answers to two questions have nothing to do with each other.

    Noise that is drawn for each by itself keeps independent answers independent; so reports are
    tested, by the correlations of the scores of both (Pillai's trace). It is compared with
    chi-square, or one as wide as the statistic is if one question's reports are shuffled.

    Parameters
    ----------
    first, second : Column
        Of the same respondents, in the same order, each randomized by itself.

    Raises
    ------
    ValueError
        If the columns are of other respondents, or of one report, there are fewer than two, or a
        question has more than 64 values.
    """
    pairs = pairs_of(first, second)
    scores = [_ratios(column, _likeliest(column)) for column in (first, second)]
    means, covariances = zip(*map(_moments, (first, second), scores), strict=True)
    cross = pairs.averages(scores[0], scores[1]) - np.outer(means[0], means[1])
    (left, rank), (right, other_rank) = map(_inverse, covariances)
    statistic = first.n * float(np.trace(left @ cross @ right @ cross.T))
    df = rank * other_rank
    squares = [
        float(column.counts() @ (_leverages(ratios - mean, inverse) / first.n) ** 2)
        for column, ratios, mean, inverse in zip(
            (first, second), scores, means, (left, right), strict=True
        )
    ]
    wide = widening(first.n, (rank, other_rank), squares)
    chance = float(chdtrc(df / wide, max(0.0, statistic) / wide)) if df else 1.0
    flag = "few" if first.n < FEW or not df or wide > _WIDEST else ""
    return HypothesisTest("independence", max(0.0, statistic), df, chance, first.n, flag)


def goodness_of_fit(
    column: Column, shares: Sequence[float] | NDArray[np.float64]
) -> HypothesisTest:
    """Whether the true shares are these.

    Parameters
    ----------
    column : Column
    shares : (k,) sequence
        In the order of the column's values, no-answer included; they sum to 1.

    Raises
    ------
    ValueError
        If the shares are other than that, or there are fewer than two respondents.

    References
    ----------
    Gaboardi and Rogers, ICML 2018 (the noise as part of the covariance).
    """
    _check(column)
    wanted = np.asarray(shares, dtype=np.float64)
    if wanted.shape != (len(column.values),):
        raise ValueError(f"shares must be {len(column.values)} numbers, got {wanted.shape}")
    if not (np.isfinite(wanted).all() and (wanted >= 0).all() and abs(wanted.sum() - 1) < 1e-6):
        raise ValueError(f"shares must be at least 0 and sum to 1, got {wanted.tolist()}")
    law, often = column.chances @ wanted, column.counts()
    if often[law <= 0].any():
        return HypothesisTest(
            "goodness-of-fit", float("inf"), len(wanted) - 1, 0.0, column.n, _few(column.n, np.inf)
        )
    ratios = _ratios(column, wanted)
    mean, covariance = _moments(column, ratios)
    away, n = mean - 1, column.n
    if column.whole:
        covariance = (ratios * law[:, None]).T @ ratios - 1
        inverse, rank = _inverse(covariance)
        telling = n / _peak(law, ratios - 1, covariance)
        return _chi_square("goodness-of-fit", n * float(away @ inverse @ away), rank, n, telling)
    inverse, rank = _inverse(covariance)
    telling = n / _peak(often, ratios - mean, covariance) / _ALONE
    statistic = (n - 1) * float(away @ inverse @ away)
    chance = 1.0
    if 0 < rank < n:
        chance = float(fdtrc(rank, n - rank, statistic * (n - rank) / rank / (n - 1)))
    return HypothesisTest("goodness-of-fit", statistic, rank, chance, n, _few(n, telling))


def difference(first: Column, second: Column) -> HypothesisTest:
    """Whether the shares of two waves, or of two known groups, are the same.

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
    sides = _compared(first, second)
    inverse, rank = _inverse(sides[0].alike + sides[1].alike)
    apart = sides[1].away - sides[0].away
    statistic = float(apart @ inverse @ apart)
    fewest, telling = min(first.n, second.n), min(side.telling for side in sides)
    return _chi_square("difference", statistic, rank, first.n + second.n, telling, fewest)


@dataclass(frozen=True)
class Change:
    """How much the share of a value differs between two waves, or groups: second less first.

    `std_error` heeds that of no change where few reports tell of the value, if it is larger. The
    interval is of a normal estimate of what lies within [-1, 1]; it is all of that, with the
    method ``none``, if no reports tell of the value, and there is no `p_value` then. That is of
    this value alone, with the error there is if nothing changed; `p_holm` is of it as one of all
    values (Holm, Scandinavian Journal of Statistics 1979). `flag` is ``few`` as of a test.
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
    """The difference of each share, with the least error where all are the same.

    Parameters
    ----------
    first, second : Column
        As of `difference`.
    confidence_level : float
        Of every interval by itself, in (0, 1).

    Raises
    ------
    ValueError
        As `difference`.
    """
    check_level(confidence_level)
    sides = _compared(first, second)
    apart = sides[1].away - sides[0].away
    own, alike = (
        np.sqrt(np.maximum(0.0, sum(one.diagonal() for one in covariances)))
        for covariances in ([side.own for side in sides], [side.alike for side in sides])
    )
    known = alike > _LEAST
    telling = np.minimum(sides[0].of_each, sides[1].of_each)
    # A few reports, or none, of a value tell little of their own error, but more with the others'.
    errors = np.where((telling < FEWEST) | (own <= _LEAST), np.maximum(own, alike), own)
    chances = 2 * ndtr(-np.abs(apart[known]) / alike[known])
    p_values, p_holm = np.full((2, len(apart)), np.nan)
    p_values[known], p_holm[known] = chances, _stepped(chances)
    return tuple(
        Change(
            value=value,
            estimate=float(apart[place]),
            std_error=float(errors[place]),
            interval=_change_interval(float(apart[place]), float(errors[place]), confidence_level),
            p_value=float(p_values[place]) if known[place] else None,
            p_holm=float(p_holm[place]) if known[place] else None,
            flag=_few(min(first.n, second.n), float(telling[place])),
        )
        for place, value in enumerate(first.values)
    )


def _stepped(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's chances of all of these together."""
    order = np.argsort(chances)
    stepped = np.empty(len(chances))
    stepped[order] = np.maximum.accumulate(chances[order] * np.arange(len(order), 0, -1))
    return np.minimum(1.0, stepped)


def _change_interval(estimate: float, std_error: float, confidence_level: float) -> Interval:
    """Of what lies within [-1, 1]: as that of a share, which is half of it above -1."""
    if std_error <= _LEAST:
        return Interval(-1.0, 1.0, "none")
    found = normal_interval((estimate + 1) / 2, std_error / 2, confidence_level)
    return Interval(2 * found.low - 1, 2 * found.high - 1, found.method)


@dataclass(frozen=True)
class _Side:
    """The shares of one of two columns, less those of both, with the least error if all are alike.

    `own` is the covariance of `away` as the column's reports tell it, `alike` as it is if the
    shares are those of both; `telling` and `of_each` are how many reports make a difference, to
    all of it and to each share, by the kurtosis of their scores.
    """

    away: NDArray[np.float64]
    own: NDArray[np.float64]
    alike: NDArray[np.float64]
    telling: float
    of_each: NDArray[np.float64]


def _compared(first: Column, second: Column) -> tuple[_Side, _Side]:
    """Both columns beside the likeliest shares of both together."""
    if first.values != second.values:
        raise ValueError(
            f"both must have the same values, got {', '.join(first.values)} and "
            f"{', '.join(second.values)}"
        )
    pooled = _likeliest(first, second)
    same = not first.whole and (first.whole, first.mechanism, first.epsilon) == (
        second.whole,
        second.mechanism,
        second.epsilon,
    )
    both = [(column, _ratios(column, pooled)) for column in (first, second)]
    one, other = (
        _side(column, ratios, pooled, both if same else [(column, ratios)])
        for column, ratios in both
    )
    return one, other


def _side(
    column: Column,
    ratios: NDArray[np.float64],
    pooled: NDArray[np.float64],
    peers: list[tuple[Column, NDArray[np.float64]]],
) -> _Side:
    """A column; what its law does not tell of its scores, the reports of its peers do."""
    mean, covariance = _moments(column, ratios)
    kinds, often, freedom = ratios, column.chances @ pooled, 1.0
    if not column.whole:
        kinds = np.vstack([table for _, table in peers])
        often = np.concatenate([peer.counts() for peer, _ in peers])
        freedom = often.sum() / (often.sum() - 1)
        often = often / often.sum()
    centered = kinds - often @ kinds
    alike = (centered * often[:, None]).T @ centered
    # A value's chances sum to 1; but none is counted where no report can be of the value.
    expected = kinds[often > 0].any(axis=0).astype(float)
    debiased, _ = _inverse(alike + np.outer(expected, expected))
    errors = debiased @ alike @ debiased * freedom
    scores = centered @ debiased
    spread, fourth = often @ scores**2, often @ scores**4
    alone = 1.0 if column.whole or len(peers) > 1 else _ALONE
    return _Side(
        away=debiased @ (mean - expected),
        own=debiased @ covariance @ debiased / (column.n - 1),
        alike=errors / column.n,
        telling=column.n / _peak(often, scores, errors) / alone,
        of_each=column.n * spread**2 / np.maximum(fourth, 1e-300) / alone,
    )


def _likeliest(*columns: Column) -> NDArray[np.float64]:
    """The shares that make the reports of all columns likeliest."""
    for column in columns:
        _check(column)
    often = np.concatenate([column.counts() for column in columns])
    chances = np.vstack([column.chances for column in columns])
    return mixture(chances[often > 0], often[often > 0]).weights


def _check(column: Column) -> None:
    """Raise ValueError unless it can be tested."""
    if len(column.values) > MOST_VALUES:
        raise ValueError(
            f"{column.name}: a test takes at most {MOST_VALUES} values, got {len(column.values)}"
        )
    if column.n < 2:
        raise ValueError(f"{column.name}: a test needs 2 respondents at least, got {column.n}")


def _ratios(column: Column, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(reports, k) chance of each report under each value, as a multiple of that under all."""
    law = column.chances @ shares
    return column.chances / np.where(law > 0, law, np.inf)[:, None]


def _moments(
    column: Column, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and covariance of the scores of a respondent's report."""
    parts = column.counts() / column.n
    mean = parts @ scores
    centered = scores - mean
    return mean, (centered * parts[:, None]).T @ centered


def _inverse(covariance: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Generalized inverse, and rank."""
    inverse, rank = scipy.linalg.pinvh(covariance, 1e-15, _NOTHING, return_rank=True)
    return inverse, int(rank)


def _leverages(centered: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """(reports,) squared distances of scores from their mean."""
    return np.asarray(((centered @ inverse) * centered).sum(axis=1))


def _peak(
    often: NDArray[np.float64], centered: NDArray[np.float64], covariance: NDArray[np.float64]
) -> float:
    """The largest kurtosis of scores, over the principal directions of their covariance.

    Of what a part p of reports have it is about 1 / p: n reports less often than 5 kurtoses are
    those of which fewer than 5 have it.
    """
    sizes, directions = np.linalg.eigh(covariance)
    along = centered @ directions[:, sizes > _NOTHING * max(float(sizes[-1]), 1e-300)]
    if not along.size:
        return np.inf
    parts = often / often.sum()
    return float(((parts @ along**4) / (parts @ along**2) ** 2).max())


def _chi_square(
    test: str, statistic: float, df: int, n: int, telling: float, fewest: int | None = None
) -> HypothesisTest:
    chance = float(chdtrc(df, max(0.0, statistic))) if df else 1.0
    flag = _few(n if fewest is None else fewest, telling if df else 0.0)
    return HypothesisTest(test, max(0.0, statistic), df, chance, n, flag)


def _few(n: int, telling: float) -> str:
    return "few" if n < FEW or telling < FEWEST else ""
