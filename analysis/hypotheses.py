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
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.special import chdtrc, fdtrc, ndtr, ndtri

from analysis.columns import Column
from analysis.crosstab.pairs import MOST_VALUES, pairs_of
from analysis.intervals import FEW, Interval
from analysis.mixture import mixture

#: Directions with less than this part of the largest variance have none, but for rounding.
_NOTHING = 1e-9


@dataclass(frozen=True)
class HypothesisTest:
    """The result of a test; small values of `p_value` speak against what it is named after.

    `statistic` is compared with chi-square on `df` degrees of freedom; of the fit of reports that
    cannot all be listed, with Hotelling's T² that is nearly so. It is infinite if a report was made
    that was impossible, and 0, with `p_value` 1, if no reports could have spoken against it. `n`
    counts all respondents. `flag` is ``few`` if they are too few for the approximation.
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
    tested, by the correlations of the scores of both (Pillai's trace).

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
    return _chi_square("independence", statistic, rank * other_rank, first.n)


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
            "goodness-of-fit", float("inf"), len(wanted) - 1, 0.0, column.n, _few(column.n)
        )
    ratios = _ratios(column, wanted)
    mean, covariance = _moments(column, ratios)
    away, n = mean - 1, column.n
    if column.whole:
        inverse, rank = _inverse((ratios * law[:, None]).T @ ratios - 1)
        return _chi_square("goodness-of-fit", n * float(away @ inverse @ away), rank, n)
    inverse, rank = _inverse(covariance)
    statistic = (n - 1) * float(away @ inverse @ away)
    chance = 1.0
    if 0 < rank < n:
        chance = float(fdtrc(rank, n - rank, statistic * (n - rank) / rank / (n - 1)))
    return HypothesisTest("goodness-of-fit", statistic, rank, chance, n, _few(n))


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
    apart, covariance = _apart(first, second)
    inverse, rank = _inverse(covariance)
    n = first.n + second.n
    statistic = float(apart @ inverse @ apart)
    return _chi_square("difference", statistic, rank, n, min(first.n, second.n))


@dataclass(frozen=True)
class Change:
    """How much the share of a value differs between two waves, or groups: second less first.

    The interval is normal, and within [-1, 1]; `p_value` is of this value alone, and `p_holm` of it
    as one of all values (Holm, Scandinavian Journal of Statistics 1979).
    """

    value: str
    estimate: float
    std_error: float
    interval: Interval
    p_value: float
    p_holm: float


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
    apart, covariance = _apart(first, second)
    errors = np.sqrt(covariance.diagonal())
    chances = 2 * ndtr(-np.abs(apart) / np.maximum(errors, 1e-300))
    reach = float(ndtri((1 + confidence_level) / 2)) * errors
    order = np.argsort(chances)
    stepped = np.maximum.accumulate(chances[order] * np.arange(len(order), 0, -1))
    holm = np.empty(len(order))
    holm[order] = np.minimum(1.0, stepped)
    return tuple(
        Change(
            value,
            float(apart[place]),
            float(errors[place]),
            Interval(
                max(-1.0, float(apart[place] - reach[place])),
                min(1.0, float(apart[place] + reach[place])),
                "normal",
            ),
            float(chances[place]),
            float(holm[place]),
        )
        for place, value in enumerate(first.values)
    )


def _apart(first: Column, second: Column) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased difference of all shares, and its covariance; best where there is none."""
    if first.values != second.values:
        raise ValueError(
            f"both must have the same values, got {', '.join(first.values)} and "
            f"{', '.join(second.values)}"
        )
    pooled = _likeliest(first, second)
    apart, covariance = np.zeros(len(pooled)), np.zeros((len(pooled), len(pooled)))
    for column, sign in ((first, -1), (second, 1)):
        mean, own = _moments(column, _efficient_scores(column, pooled))
        apart += sign * mean
        covariance += own / (column.n - 1)
    return apart, covariance


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


def _efficient_scores(column: Column, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(reports, k) debiased reports with the least error at these shares; each row sums to 1."""
    ratios = _ratios(column, shares)
    if column.whole:
        return ratios @ np.linalg.inv(ratios.T @ column.chances)
    # The second moment, with the mean that is expected: with that of the reports themselves, their
    # debiased mean would be `shares`, whatever they are.
    return ratios @ np.linalg.inv(_moments(column, ratios)[1] + 1)


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
    inverse, rank = pinvh(covariance, 1e-15, _NOTHING, return_rank=True)
    return inverse, int(rank)


def _chi_square(
    test: str, statistic: float, df: int, n: int, fewest: int | None = None
) -> HypothesisTest:
    chance = float(chdtrc(df, max(0.0, statistic))) if df else 1.0
    return HypothesisTest(
        test, max(0.0, statistic), df, chance, n, _few(n if fewest is None else fewest)
    )


def _few(n: int) -> str:
    return "few" if n < FEW else ""
