"""Tests of hypotheses: Pearson's where those are right, sizes by simulation where not."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, chi2_contingency, chisquare

from analysis.columns import Column, from_matrix
from analysis.hypotheses import changes_of_shares, difference, goodness_of_fit, independence
from analysis.trend import trend

K, N = 4, 1000
SHARES = np.array([0.5, 0.3, 0.2, 0.0])


def krr(k: int, epsilon: float) -> NDArray[np.float64]:
    e = np.exp(epsilon)
    return np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1)


def bits(k: int) -> NDArray[np.float64]:
    """Optimized unary encoding at ε = 1."""
    reports = np.array(list(product((0, 1), repeat=k)))
    rates = np.where(np.eye(k, dtype=bool), 0.5, 1 / (np.e + 1))
    return np.prod(np.where(reports[:, None, :] == 1, rates, 1 - rates), axis=2)


def subsets(k: int) -> NDArray[np.float64]:
    """Sets of two, e times as likely if they hold the value."""
    holds = np.array([[value in one for value in range(k)] for one in combinations(range(k), 2)])
    chances = np.where(holds, np.e, 1.0)
    return chances / chances.sum(axis=0)


def hashes(k: int) -> NDArray[np.float64]:
    """k-RR of a bit of the value, or of whether both bits are the same; a third of people each."""
    symbols = np.array(
        [[value % 2, value // 2 % 2, (value + value // 2) % 2] for value in range(k)]
    )
    cohorts = [krr(2, 1)[:, symbols[:, cohort]] / 3 for cohort in range(3)]
    return np.vstack(cohorts)


CHANNELS = {"k-RR": krr(K, 1), "bits": bits(K), "subsets": subsets(K), "hashes": hashes(K)}
channels = pytest.mark.parametrize("matrix", CHANNELS.values(), ids=CHANNELS)


def sample(
    matrix: NDArray[np.float64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
    name: str = "a",
    n: int = N,
    *,
    listed: bool = True,
) -> Column:
    """Reports of n people; unless `listed`, chances are known up to factors alone."""
    codes = rng.choice(len(matrix), n, p=matrix @ shares)
    values = [str(place) for place in range(matrix.shape[1])]
    column = from_matrix(name, values, codes, matrix, tuple(map(float, range(len(values)))))
    if listed:
        return column
    factors = np.linspace(0.5, 3, len(matrix))[:, None]
    return replace(column, chances=matrix * factors, whole=False)


def test_independence_of_one_symbol_is_pearsons_test_of_the_reports() -> None:
    rng = np.random.default_rng(1)
    first = sample(krr(3, 1), np.array([0.5, 0.3, 0.2]), rng)
    second = sample(krr(2, 1), np.array([0.6, 0.4]), rng, "b")
    table = np.zeros((3, 2))
    np.add.at(table, (first.codes, second.codes), 1)
    found, plain = independence(first, second), chi2_contingency(table, correction=False)
    assert (found.statistic, found.df) == (pytest.approx(plain.statistic), plain.dof)
    assert found.p_value == pytest.approx(plain.pvalue)
    assert (found.test, found.n, found.flag) == ("independence", N, "")


def test_fit_of_one_symbol_is_pearsons_test_of_the_reports() -> None:
    column = sample(krr(K, 1), SHARES, np.random.default_rng(2))
    found = goodness_of_fit(column, SHARES)
    plain = chisquare(column.counts(), N * krr(K, 1) @ SHARES)
    assert (found.statistic, found.df) == (pytest.approx(plain.statistic), K - 1)
    assert found.p_value == pytest.approx(plain.pvalue)


@channels
def test_factors_of_chances_do_not_matter(matrix: NDArray[np.float64]) -> None:
    one, other = (
        [
            sample(matrix, SHARES, np.random.default_rng(seed), str(seed), listed=listed)
            for seed in (3, 4)
        ]
        for listed in (True, False)
    )
    assert independence(*one).statistic == pytest.approx(independence(*other).statistic, rel=1e-3)
    fits = [goodness_of_fit(columns[0], SHARES).p_value for columns in (one, other)]
    assert fits[0] == pytest.approx(fits[1], abs=0.1)


TESTS: dict[str, Callable[[Column, Column], float]] = {
    "independence": lambda one, other: independence(one, other).p_value,
    "fit": lambda one, other: goodness_of_fit(one, SHARES).p_value,
    "difference": lambda one, other: difference(one, other).p_value,
    "trend": lambda one, other: trend([one, other], "1").p_value,
}


@channels
@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_sizes_are_what_they_should_be(matrix: NDArray[np.float64], listed: bool) -> None:
    rng = np.random.default_rng(7)
    pairs = [
        [sample(matrix, SHARES, rng, name, listed=listed) for name in "ab"] for _ in range(200)
    ]
    for test in TESTS.values():
        rejected = sum(test(*pair) < 0.05 for pair in pairs)
        # At .05 of 200 it is in 1..22 but with chance 5e-4.
        assert 1 <= rejected <= 22


@channels
def test_what_is_not_true_is_found(matrix: NDArray[np.float64]) -> None:
    rng = np.random.default_rng(8)
    values = rng.choice(K, 3 * N, p=[0.25] * K)
    bounds = matrix.cumsum(axis=0)[:-1].T[values]
    first, second = (
        replace(
            sample(matrix, SHARES, rng, name),
            codes=(rng.random((3 * N, 1)) > bounds).sum(axis=1),
        )
        for name in "ab"
    )
    assert independence(first, second).p_value < 1e-3
    assert goodness_of_fit(first, SHARES).p_value < 1e-6
    other = sample(matrix, SHARES, rng, n=3 * N)
    assert difference(first, other).p_value < 1e-6
    last = {one.value: one for one in changes_of_shares(first, other)}["3"]
    assert last.interval.low < -0.25 < last.interval.high < 0
    assert last.p_value <= last.p_holm < 0.01


def test_waves_of_other_noise_can_be_compared() -> None:
    rng = np.random.default_rng(9)
    reject = 0
    for _ in range(200):
        before = sample(krr(K, 2), SHARES, rng)
        after = sample(bits(K), SHARES, rng, listed=False)
        reject += difference(before, after).p_value < 0.05
    # As in the test of sizes.
    assert 1 <= reject <= 22


def test_without_noise_changes_are_of_plain_shares() -> None:
    before, after = (
        from_matrix("a", "xyz", np.repeat([0, 1, 2], counts), np.eye(3))
        for counts in ([60, 30, 10], [30, 30, 40])
    )
    changes = changes_of_shares(before, after)
    assert [one.estimate for one in changes] == pytest.approx([-0.3, 0, 0.3])
    assert changes[0].std_error == pytest.approx((0.24 / 99 + 0.21 / 99) ** 0.5)
    # Of equal chances of 1e-6 or so the smaller is taken three times, the larger not less.
    smaller, larger = sorted((changes[0], changes[2]), key=lambda one: one.p_value)
    assert smaller.p_holm == pytest.approx(3 * smaller.p_value)
    assert larger.p_holm == pytest.approx(max(2 * larger.p_value, smaller.p_holm))
    assert changes[1].p_holm == changes[1].p_value == pytest.approx(1)
    found = difference(before, after)
    plain = chi2_contingency([[60, 30, 10], [30, 30, 40]], correction=False)
    assert found.df == plain.dof
    # Variances of each sample, not of both: Wald's test beside Pearson's.
    assert found.statistic == pytest.approx(plain.statistic, rel=0.2)


def test_impossible_reports_refute() -> None:
    column = from_matrix("a", "xy", np.array([0] * 99 + [1]), np.eye(2))
    found = goodness_of_fit(column, [1, 0])
    assert (found.statistic, found.p_value, found.flag) == (np.inf, 0, "")
    assert goodness_of_fit(column.of(np.arange(50)), [1, 0]).p_value == 1


def test_few_respondents_are_flagged() -> None:
    first, second = (
        sample(krr(3, 1), np.full(3, 1 / 3), np.random.default_rng(9), name, 50) for name in "ab"
    )
    assert independence(first, second).flag == "few"
    assert goodness_of_fit(first, [0.2, 0.3, 0.5]).flag == "few"
    assert difference(first, second).flag == "few"
    assert trend([first, second]).flag == "few"


def test_reports_that_are_all_alike_tell_nothing_of_dependence() -> None:
    first, second = (from_matrix(name, "xy", np.zeros(200, np.int64), krr(2, 1)) for name in "ab")
    found = independence(first, second)
    assert (found.statistic, found.df, found.p_value) == (0, 0, 1)


def test_a_trend_without_noise_is_a_weighted_line() -> None:
    places, counts = [2019, 2021, 2022], [(70, 30), (50, 50), (45, 55)]
    columns = [
        from_matrix("a", "ny", np.repeat([0, 1], times), np.eye(2), (0.0, 1.0)) for times in counts
    ]
    shares = np.array([yes / 100 for _, yes in counts])
    errors = (shares * (1 - shares) / 99) ** 0.5
    (slope, _), covariance = np.polyfit(places, shares, 1, w=1 / errors, cov="unscaled")
    for found in (trend(columns, "y", places), trend(columns, None, places)):
        assert found.slope == pytest.approx(slope)
        assert found.std_error == pytest.approx(covariance[0, 0] ** 0.5)
        assert found.p_value == pytest.approx(chi2.sf((slope / found.std_error) ** 2, 1))
        assert found.interval.low < slope < found.interval.high
        assert found.n == 300


ONE = sample(krr(3, 1), np.full(3, 1 / 3), np.random.default_rng(10))
TWO = sample(krr(2, 1), np.full(2, 1 / 2), np.random.default_rng(10), "b")
WIDE = from_matrix("w", map(str, range(80)), np.arange(N) % 80, np.eye(80))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: independence(ONE, TWO.of([1, 2])), "same respondents, got 1000 of a and 2 of b"),
        (lambda: independence(ONE, WIDE), "w: a test takes at most 64 values, got 80"),
        (lambda: independence(ONE.of([]), TWO.of([])), "needs respondents who reported on both"),
        (lambda: independence(ONE.of([1]), TWO.of([1])), "needs 2 respondents at least, got 1"),
        (lambda: goodness_of_fit(ONE, [0.5, 0.5]), "shares must be 3 numbers, got"),
        (lambda: goodness_of_fit(ONE, [0.5, 0.7, 0.2]), "shares must be at least 0 and sum to 1"),
        (lambda: goodness_of_fit(ONE, [0.5, np.nan, 0.5]), "shares must be at least 0"),
        (lambda: goodness_of_fit(ONE.of([]), [0.5, 0.2, 0.3]), "2 respondents at least, got 0"),
        (lambda: difference(ONE, TWO), "must have the same values, got 0, 1, 2 and 0, 1"),
        (lambda: difference(ONE, ONE.of([1])), "needs 2 respondents at least, got 1"),
        (lambda: trend([ONE]), "a trend needs two columns or more"),
        (lambda: trend([ONE, ONE], "1", [3, 3]), "not all the same"),
        (lambda: trend([ONE, ONE], "1", [3]), "a trend needs two columns"),
        (lambda: trend([ONE, ONE], "9"), "value must be one of"),
        (lambda: trend([WIDE, WIDE]), "must amount to something to have a mean"),
        (lambda: trend([ONE, ONE.of([1])], "1"), "expected 2 respondents or more"),
        (lambda: trend([ONE, ONE.of([1, 1])], "1"), "expected reports that differ"),
    ],
)
def test_what_cannot_be_tested_is_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask()
