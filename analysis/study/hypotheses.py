"""Tests of independence and of fit that take noise into account.

Pearson's statistic of debiased counts takes noise for an effect: at ε = 1 it calls independent
answers dependent 95 times in 100, instead of 5. So reports are tested by their efficient scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, chdtrc, fdtrc

from analysis.core.channels.pattern import Pattern
from analysis.estimate.columns import Column, check_columns
from analysis.estimate.intervals import FEW
from analysis.study.crosstab.pairs import Pairs, pairs_of
from analysis.study.resampling import (
    MANY,
    can_be_listed,
    multinomial_p_value,
    permutation_p_value,
    square_root,
)
from analysis.study.scores import (
    ALONE,
    Scored,
    check_column,
    few_flag,
    inverse_and_rank,
    likeliest_shares,
    peak,
)

Array = NDArray[np.float64]

#: If the statistic's variance exceeds that of chi-square by this factor, few pairs of reports
#: decide.
_WIDEST = 2.0
#: If the variance exceeds that of chi-square by this factor, reports are shuffled if kinds are few.
_WIDE = 1.05
#: The most pairs of different reports that are shuffled.
_MOST_PAIRS = 10_000


@dataclass(frozen=True)
class HypothesisTest:
    """The result of a test. A small `p_value` speaks against the hypothesis that names the test.

    `method` says how `p_value` was computed. With many reports, `statistic` is compared with
    ``chi-square`` on `df` degrees of freedom; for independence it is scaled to the variance under
    shuffling. If not all possible reports are known, it is compared with Hotelling's T²
    (``hotelling``). If few reports decide, all outcomes are listed (``exact``) or drawn
    (``simulated``), or reports are ``shuffled`` among respondents: at most 9,999 times, always with
    the same result. If not all possible reports are known, the number that supports each value is
    tested (``binomial``, Bonferroni) if fewer than 50 are expected to support it, or not to support
    it. `statistic` is infinite if an impossible report was made. It is 0, with `p_value` 1, if no
    reports could have spoken against the hypothesis.

    `n` counts all respondents. `flag` is ``few`` if nothing could be compared, or if the
    approximation that was used may be wrong: with fewer than 100 respondents; if fewer than 5
    reports decide, or fewer than 50 if only reports give the covariance; or, for independence, if
    the variance of the statistic is over twice that of chi-square.
    """

    test: str
    statistic: float
    df: int
    p_value: float
    method: str
    n: int
    flag: str

    @property
    def sentence(self) -> str:
        """The result in words, for messages."""
        return (
            f"test of {self.test}: statistic {self.statistic:.4g}, df = {self.df}, "
            f"p = {self.p_value:.2g} ({self.method}{'; few reports: unreliable' * bool(self.flag)})"
        )


def independence(first: Column, second: Column) -> HypothesisTest:
    """Test whether the answers to two questions are independent; see docs/methods.md, (22).

    Independent noise keeps independent answers independent. So reports are tested, by the
    correlations of the scores of both (Pillai's trace). The statistic is compared with that of
    shuffled reports or, if there are many reports, with chi-square.

    If both come from one draw, reports on independent answers are not independent. Then the test is
    whether the debiased covariances of the answers are 0, by their exact covariance under
    independent answers with the likeliest shares.

    Parameters
    ----------
    first, second : Column
        Columns of the same respondents in the same order, randomized independently or in one draw.

    Raises
    ------
    ValueError
        If the columns have different respondents or share reports, if there are fewer than two
        respondents, or if a question has more than 64 values.
    """
    check_columns(first, second)
    n, pairs = first.n, pairs_of(first, second)
    if pairs.together is not None:
        for column in (first, second):
            check_column(column)
        return _of_one_draw(pairs, pairs.together)
    left, right = sides = [Scored(column, likeliest_shares(column)) for column in (first, second)]
    cross = pairs.averages(left.ratios, right.ratios) - np.outer(left.mean, right.mean)
    inverses, ranks = zip(*(inverse_and_rank(side.covariance) for side in sides), strict=True)
    statistic = max(0.0, n * float(np.trace(inverses[0] @ cross @ inverses[1] @ cross.T)))
    squares = []
    for side, inverse in zip(sides, inverses, strict=True):
        leverages = ((side.centered @ inverse) * side.centered).sum(axis=1)
        squares.append(float(side.column.counts() @ (leverages / n) ** 2))
    df, wide = ranks[0] * ranks[1], widening(n, ranks, squares)
    name, table = "independence", pairs.counts
    if df and (n < FEW or wide > _WIDE) and table.shape[0] * table.shape[1] <= _MOST_PAIRS:
        scores = (s.centered @ square_root(inv) for s, inv in zip(sides, inverses, strict=True))
        p_value, method = permutation_p_value(table, *scores)
        return HypothesisTest(name, statistic, df, p_value, method, n, "")
    p_value = float(chdtrc(df / wide, statistic / wide)) if df else 1.0
    flag = "few" if n < FEW or not df or wide > _WIDEST else ""
    return HypothesisTest(name, statistic, df, p_value, "chi-square", n, flag)


def _of_one_draw(pairs: Pairs, channel: Pattern) -> HypothesisTest:
    """Test whether the debiased covariances of the answers are 0.

    Their covariance is that of independent answers with the likeliest shares, since a few reports
    would estimate it too poorly.
    """
    n, columns = pairs.n, (pairs.first, pairs.second)
    shares = [likeliest_shares(column) for column in columns]
    # The covariances of the last value follow from the others.
    left, right = ((col.scores - col.counts() @ col.scores / n)[:, :-1] for col in columns)
    apart = pairs.averages(left, right).ravel()
    covariance, kurtosis = null_law(channel, pairs.excess, shares)
    inverse, rank = inverse_and_rank(covariance)
    statistic = n * float(apart @ inverse @ apart)
    return chi_square_test("independence", statistic, rank, n, n / kurtosis)


def null_law(channel: Pattern, excess: float, shares: Sequence[Array]) -> tuple[Array, float]:
    """Return the covariance of a respondent's debiased covariances, and their largest kurtosis.

    Answers are independent and have these shares. Reports depend on each other only by which of
    them agree. Given that, they are independent, too.
    """
    parts = [_Agreeing(channel, part, share) for part, share in enumerate(shares)]
    factors = np.array([1.0, excess])
    cells = (len(shares[0]) - 1) * (len(shares[1]) - 1)
    covariance, fourth = np.zeros((cells, cells)), np.zeros(cells)
    total = sum(channel.patterns)
    for pattern, weight in enumerate(channel.patterns):
        one, other = (part.second[pattern >> i & 1] for i, part in enumerate(parts))
        chance = weight / total
        for t, u in product(range(2), repeat=2):
            covariance += chance * factors[t] * factors[u] * np.kron(one[t, u], other[t, u])
        ends = [part.ends(pattern >> i & 1) for i, part in enumerate(parts)]
        for (held, first), (also, second) in product(*ends):
            made = sum(f * np.outer(a, b) for f, a, b in zip(factors, first, second, strict=True))
            fourth += chance * (np.outer(held, also) * made**4).ravel()
    spread = np.diag(covariance) ** 2
    return covariance, float((fourth / np.where(spread > 0, spread, np.inf)).max())


@dataclass(frozen=True)
class _Agreeing:
    """The law of a part's debiased reports, given whether they agree with its answers.

    A report has two scores: its deviation from the shares, and that from even shares.
    """

    channel: Pattern
    part: int
    shares: Array

    @cached_property
    def _numbers(self) -> tuple[int, int, float, Array]:
        k, size = self.channel.inputs[self.part], self.channel.sizes[self.part]
        # A member's score exceeds that of another value by 1 / gap.
        gap = float(self.channel.contrast(self.part)) * k / (k - 1)
        even = size / k / gap - 1 / k
        return k, size, gap, np.array([even + self.shares, np.full(k, even + 1 / k)])

    def _chances(self, disagrees: int) -> tuple[Array, Array]:
        """Return the probabilities that a value, and that two values, are in the set."""
        k, size, _, _ = self._numbers
        needed = size - 1 + disagrees
        other = needed / (k - 1)
        own = self.shares * (1 - disagrees)
        one = own + (1 - self.shares) * other
        both = needed * (needed - 1) / ((k - 1) * (k - 2)) if k > 2 else 0.0
        two = np.add.outer(own, own) * other
        two += (1 - np.add.outer(self.shares, self.shares)) * both
        np.fill_diagonal(two, one)
        return one, two

    @cached_property
    def second(self) -> Array:
        """(2, 2, 2, k-1, k-1) mean products of two scores, by disagreement and by both scores."""
        _, _, gap, less = self._numbers
        found = []
        for disagrees in range(2):
            one, two = self._chances(disagrees)
            found.append(
                [
                    [
                        two / gap**2
                        - np.outer(one, less[u]) / gap
                        - np.outer(less[t], one) / gap
                        + np.outer(less[t], less[u])
                        for u in range(2)
                    ]
                    for t in range(2)
                ]
            )
        return np.array(found)[..., :-1, :-1]

    def ends(self, disagrees: int) -> list[tuple[Array, Array]]:
        """Return the probabilities that values are, and are not, in the set, with both scores."""
        _, _, gap, less = self._numbers
        one, _ = self._chances(disagrees)
        return [(one[:-1], (1 / gap - less)[:, :-1]), (1 - one[:-1], -less[:, :-1])]


def widening(n: int, ranks: tuple[int, ...], squares: list[float]) -> float:
    """Return the statistic's variance under shuffling as a multiple of chi-square's, at least 1.

    One question's reports are shuffled among respondents. Chi-square assumes that products of
    scores are normal. It is too narrow if few reports have large scores, and few pairs have two of
    them.

    Parameters
    ----------
    n : int
        The number of respondents.
    ranks, squares : pairs
        The rank of each question's scores, and the sum of the respondents' squared leverages.

    References
    ----------
    Kazi-Aoual, Hitier, Sabatier and Lebreton, Computational Statistics & Data Analysis 1995.
    """
    if n < 4 or not all(ranks):
        return 1.0
    plain = [rank * (n - 1 - rank) for rank in ranks]
    peaked = [
        n * (n + 1) * square - (n - 1) * rank * (rank + 2)
        for rank, square in zip(ranks, squares, strict=True)
    ]
    variance = 2 * plain[0] * plain[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += peaked[0] * peaked[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return max(1.0, variance * n**2 / (2 * ranks[0] * ranks[1]))


def goodness_of_fit(
    column: Column, shares: Sequence[float] | NDArray[np.float64]
) -> HypothesisTest:
    """Test whether the true shares are these; see docs/methods.md, (23).

    Parameters
    ----------
    column : Column
    shares : (k,) sequence
        The shares of the column's values, in order, including no-answer. They sum to 1.

    Raises
    ------
    ValueError
        If the shares are not of this form, or if there are fewer than two respondents.

    References
    ----------
    Gaboardi and Rogers, ICML 2018 (the noise as part of the covariance).
    """
    check_columns(column)
    check_column(column)
    try:
        wanted = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        told = f"shares must be {len(column.values)} numbers, got {shares!r}"
        raise ValueError(told) from None
    if wanted.shape != (len(column.values),):
        raise ValueError(f"shares must be {len(column.values)} numbers, got {wanted.shape}")
    if not (np.isfinite(wanted).all() and (wanted >= 0).all() and abs(wanted.sum() - 1) < 1e-6):
        raise ValueError(f"shares must be at least 0 and sum to 1, got {wanted.tolist()}")
    name, n, counts, scored = "goodness-of-fit", column.n, column.counts(), Scored(column, wanted)
    law, ratios = scored.law, scored.ratios
    if counts[law <= 0].any():
        return HypothesisTest(name, float("inf"), len(wanted) - 1, 0.0, "exact", n, "")
    away = scored.mean - 1
    if column.whole:
        covariance = (ratios * law[:, None]).T @ ratios - 1
        inverse, rank = inverse_and_rank(covariance)
        effective = n / peak(law, ratios - 1, covariance)
        statistic = n * float(away @ inverse @ away)
        if rank and (effective < MANY or can_be_listed(n, int((law > 0).sum()))):
            p_value, method = multinomial_p_value(law, (ratios - 1) @ square_root(inverse), counts)
            return HypothesisTest(name, statistic, rank, p_value, method, n, "")
        return chi_square_test(name, statistic, rank, n, effective)
    inverse, rank = inverse_and_rank(scored.covariance)
    effective = n / peak(counts, scored.centered, scored.covariance) / ALONE
    statistic = (n - 1) * float(away @ inverse @ away)
    supports = _of_supports(column, wanted)
    if supports:
        # The covariance has no part of reports that nobody made, so supports are tested, too.
        effective = min(effective, min(rarer for _, rarer in supports) / ALONE)
    elif (wanted > 0).any():
        effective = min(effective, n * float(wanted[wanted > 0].min()))
    flag = few_flag(n, effective)
    if flag and supports:
        p_value = min(1.0, len(supports) * min(chance for chance, _ in supports))
        return HypothesisTest(name, statistic, rank, p_value, "binomial", n, "")
    p_value = 1.0
    if 0 < rank < n:
        p_value = float(fdtrc(rank, n - rank, statistic * (n - rank) / rank / (n - 1)))
    return HypothesisTest(name, statistic, rank, p_value, "hotelling", n, flag)


def _of_supports(column: Column, shares: Array) -> list[tuple[float, float]]:
    """Return the exact p-value of each value's support, and the expected number of reports.

    The expected number is that of the rarer reports: those that support the value, or those that do
    not. The list is empty if some report does neither. If reports support a value or not, its
    debiased reports are two numbers. Their mean is 1 if the value is true, and 0 if another is,
    which gives the probabilities of support. If all reports support a value, or none does, these
    are unknown. Then the p-value is 1, and the expected number is 0.
    """
    counts, found = column.counts(), []
    for scores, share in zip(column.scores[counts > 0].T, shares, strict=True):
        low, high = float(scores.min()), float(scores.max())
        middle = (low + high) / 2
        if not np.isclose(scores, np.where(scores > middle, high, low), 1e-9, 1e-9).all():
            return []
        if high - low < 1:
            found.append((1.0, 0.0))
            continue
        support = (share - low) / (high - low)
        often = float(counts[counts > 0][scores > middle].sum())
        tails = bdtr(often, column.n, support), bdtrc(often - 1, column.n, support)
        p_value = min(1.0, 2 * float(min(tails)))
        found.append((p_value, column.n * min(support, 1 - support)))
    return found


def chi_square_test(
    test: str, statistic: float, df: int, n: int, effective: float, fewest: int | None = None
) -> HypothesisTest:
    """Return a test by chi-square; `fewest` is the size of the smaller of two groups, if any."""
    p_value = float(chdtrc(df, max(0.0, statistic))) if df else 1.0
    flag = few_flag(n if fewest is None else fewest, effective if df else 0.0)
    return HypothesisTest(test, max(0.0, statistic), df, p_value, "chi-square", n, flag)
