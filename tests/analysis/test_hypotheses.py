"""Tests of hypotheses are Pearson's if that is right; otherwise their size is simulated."""

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare

from analysis.estimate.columns import Column, from_matrix
from analysis.study.changes import changes_of_shares, difference
from analysis.study.hypotheses import goodness_of_fit, independence, widening
from analysis.study.trend import trend

sys.path.insert(0, str(Path(__file__).parent))
from designs import bits, hashes, krr, rare, sample, subsets

K, N = 4, 1000
SHARES = np.array([0.5, 0.3, 0.2, 0.0])


CHANNELS = {"k-RR": krr(K, 1), "bits": bits(K), "subsets": subsets(K), "hashes": hashes(K)}
channels = pytest.mark.parametrize("matrix", CHANNELS.values(), ids=CHANNELS)


def test_independence_of_one_symbol_is_pearsons_test_of_the_reports() -> None:
    rng = np.random.default_rng(1)
    first = sample(krr(3, 1), np.array([0.5, 0.3, 0.2]), rng)
    second = sample(krr(2, 1), np.array([0.6, 0.4]), rng, "b")
    table = np.zeros((3, 2))
    np.add.at(table, (first.codes, second.codes), 1)
    found, plain = independence(first, second), chi2_contingency(table, correction=False)
    assert (found.statistic, found.df) == pytest.approx((plain.statistic, plain.dof))
    assert found.p_value == pytest.approx(plain.pvalue)
    assert (found.test, found.n, found.flag) == ("independence", N, "")


def test_fit_of_one_symbol_is_pearsons_test_of_the_reports() -> None:
    column = sample(krr(K, 1), SHARES, np.random.default_rng(2))
    found = goodness_of_fit(column, SHARES)
    plain = chisquare(column.counts(), N * krr(K, 1) @ SHARES)
    assert (found.statistic, found.df) == pytest.approx((plain.statistic, K - 1))
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


@pytest.mark.more
@pytest.mark.parametrize(
    ("matrix", "listed"),
    [(krr(K, 1), True), (krr(K, 1), False), (hashes(K), True), (bits(K), False)],
)
def test_sizes_are_what_they_should_be(matrix: NDArray[np.float64], listed: bool) -> None:
    rng = np.random.default_rng(7)
    pairs = [
        [sample(matrix, SHARES, rng, name, listed=listed) for name in "ab"] for _ in range(200)
    ]
    for test in TESTS.values():
        rejected = sum(test(*pair) < 0.05 for pair in pairs)
        # Of 200 at .05, it lies in 1..22 except with probability 5e-4.
        assert 1 <= rejected <= 22


@channels
def test_false_hypotheses_are_rejected(matrix: NDArray[np.float64]) -> None:
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
    assert not_none(last.p_value) <= not_none(last.p_holm) < 0.01


def test_waves_of_other_noise_can_be_compared() -> None:
    rng = np.random.default_rng(9)
    reject = 0
    for _ in range(200):
        before = sample(krr(K, 2), SHARES, rng)
        after = sample(bits(K), SHARES, rng, listed=False)
        reject += difference(before, after).p_value < 0.05
    # The limits are those of the test of sizes.
    assert 1 <= reject <= 22


def test_without_noise_changes_are_of_plain_shares() -> None:
    before, after = (
        from_matrix("a", "xyz", np.repeat([0, 1, 2], counts), np.eye(3))
        for counts in ([60, 30, 10], [30, 30, 40])
    )
    changes = changes_of_shares(before, after)
    assert [one.estimate for one in changes] == pytest.approx([-0.3, 0, 0.3])
    assert changes[0].std_error == pytest.approx((0.24 / 100 + 0.21 / 100) ** 0.5)
    # If two probabilities are near 1e-6, the smaller is taken three times, the larger not less
    # often.
    pairs = [(not_none(one.p_value), not_none(one.p_holm)) for one in (changes[0], changes[2])]
    (smaller, thrice), (larger, other) = sorted(pairs)
    assert thrice == pytest.approx(3 * smaller)
    assert other == pytest.approx(max(2 * larger, thrice))
    assert changes[1].p_holm == changes[1].p_value == pytest.approx(1)
    found = difference(before, after)
    plain = chi2_contingency([[60, 30, 10], [30, 30, 40]], correction=False)
    assert found.df == plain.dof
    assert found.statistic == pytest.approx(plain.statistic)


RARE = {
    "k-RR": (krr(5, 4), 200, True),
    "bits": (bits(5, 3), 200, False),
    "hashes": (hashes(4, 3), 200, False),
    "subsets": (subsets(5, 3), 200, False),
}
#: One case runs always, the others with `make test-more`.
_RARE = [
    pytest.param(*each, id=name, marks=[pytest.mark.more] * (name != "k-RR"))
    for name, each in RARE.items()
]


@pytest.mark.more
@pytest.mark.parametrize(("matrix", "n", "listed"), _RARE)
def test_sizes_hold_with_little_noise_and_rare_values(
    matrix: NDArray[np.float64], n: int, listed: bool
) -> None:
    rng = np.random.default_rng(20)
    shares = rare(matrix.shape[1])
    reject = np.zeros(3)
    for _ in range(120):
        first, second, third = (
            sample(matrix, shares, rng, name, size, listed=listed)
            for name, size in (("a", n), ("b", n), ("c", n // 4 + 50))
        )
        chances = [one.p_holm for one in changes_of_shares(first, third)]
        reject += [
            independence(first, second).p_value < 0.05,
            difference(first, third).p_value < 0.05,
            min(one for one in chances if one is not None) < 0.05,
        ]
    # At .05, 16 or more of 120 have a probability of 3e-4. With each column's own covariance, and
    # the variance of chi-square, it was 16 to 25 for independence and 11 to 46 for the others.
    assert reject.max() <= 15


def test_changes_cover_with_little_noise_and_rare_values() -> None:
    rng = np.random.default_rng(21)
    told = hits = 0
    for _ in range(100):
        before, after = (sample(krr(5, 4), rare(5), rng, n=n) for n in (1000, 400))
        for one in changes_of_shares(before, after):
            assert one.interval.low < one.interval.high
            told += not one.flag
            hits += not one.flag and one.interval.low <= 0 <= one.interval.high
    # These are 400 or more at .95, which depend on each other: twice the variance, and 4
    # deviations.
    assert told > 400
    assert hits / told > 0.95 - 4 * (2 * 0.05 * 0.95 / told) ** 0.5


def test_changes_that_depend_on_few_reports_are_covered() -> None:
    rng = np.random.default_rng(23)
    hits = 0
    for _ in range(200):
        before, after = (sample(krr(2, 4), rare(2), rng, n=n) for n in (200, 50))
        change = changes_of_shares(before, after)[1]
        hits += change.interval.low <= 0 <= change.interval.high
    # At .93, 173 or fewer of 200 have a probability of 8e-4; with each column's own error .76
    # cover.
    assert hits > 173


def test_equal_reports_show_no_change() -> None:
    first, second = (from_matrix("a", "xy", np.zeros(50, np.int64), np.eye(2)) for _ in "ab")
    for change in changes_of_shares(first, second):
        assert (change.interval.low, change.interval.high) == (-1, 1)
        assert change.interval.method == "none"
        assert (change.p_value, change.p_holm, change.flag) == (None, None, "few")
    found = difference(first, second)
    assert (found.df, found.p_value, found.flag) == (0, 1, "few")


def test_opposite_reports_differ() -> None:
    first, second = (
        from_matrix("a", "xy", np.full(100, value, np.int64), np.eye(2)) for value in (0, 1)
    )
    found = difference(first, second)
    # Pearson's statistic of [[100, 0], [0, 100]].
    assert (found.statistic, found.df) == pytest.approx((200, 1))
    # The share of 0 or 1 is estimated by Laplace's rule of succession.
    errors = [one.std_error for one in changes_of_shares(first, second)]
    assert errors == pytest.approx([(2 * (1 / 102) * (101 / 102) / 100) ** 0.5] * 2)
    for change in changes_of_shares(first, second):
        assert -1 <= change.interval.low < change.interval.high <= 1
        assert not_none(change.p_value) < 1e-6


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_value_unseen_in_both_is_left_out(listed: bool) -> None:
    first, second = (
        replace(from_matrix("a", "xyz", np.repeat([0, 1], counts), np.eye(3)), whole=listed)
        for counts in ([60, 40], [30, 70])
    )
    found = difference(first, second)
    plain = chi2_contingency([[60, 40], [30, 70]], correction=False)
    assert (found.df, found.flag) == (1, "")
    # Unless the noise gives it, the variance is that of 200 people's reports, less one.
    assert found.statistic == pytest.approx(plain.statistic * (1 if listed else 199 / 200))
    changes = changes_of_shares(first, second)
    assert [one.estimate for one in changes] == pytest.approx([-0.3, 0.3, 0])
    assert [one.p_value is None for one in changes] == [False, False, True]


def test_shuffled_reports_have_the_stated_variance() -> None:
    # These are all 120 orders of five reports, whose scores are 1 for only one person.
    one, other = np.array([0, 0, 0, 0, 1.0]), np.array([0, 0, 0, 1.0, 2])
    x, y = ((each - each.mean()) / each.std() for each in (one, other))
    found = [5 * (x @ y[list(order)] / 5) ** 2 for order in permutations(range(5))]
    squares = [float(((each**2 / 5) ** 2).sum()) for each in (x, y)]
    assert widening(5, (1, 1), squares) == pytest.approx(max(1.0, np.var(found) / 2))
    # There are enough that the variance exceeds that of chi-square.
    peaked = np.array([0, 0, 0, 0, 0, 0, 1.0])
    z = (peaked - peaked.mean()) / peaked.std()
    found = [7 * (z @ z[list(order)] / 7) ** 2 for order in permutations(range(7))]
    squares = [float(((z**2 / 7) ** 2).sum())] * 2
    assert widening(7, (1, 1), squares) == pytest.approx(np.var(found) / 2)
    assert np.var(found) > 2


def test_impossible_reports_refute() -> None:
    column = from_matrix("a", "xy", np.array([0] * 99 + [1]), np.eye(2))
    found = goodness_of_fit(column, [1, 0])
    assert (found.statistic, found.p_value, found.flag) == (np.inf, 0, "")
    assert goodness_of_fit(column.of(np.arange(50)), [1, 0]).p_value == 1


def test_few_respondents_are_flagged() -> None:
    first, second = (
        sample(krr(3, 1), np.full(3, 1 / 3), np.random.default_rng(9), name, 50) for name in "ab"
    )
    assert (
        difference(
            *(replace(each, whole=False, mechanism=each.name) for each in (first, second))
        ).flag
        == "few"
    )
    assert {change.flag for change in changes_of_shares(first, second)} == {"few"}
    assert trend([first, second]).flag == "few"


def test_identical_reports_say_nothing_about_dependence() -> None:
    first, second = (from_matrix(name, "xy", np.zeros(200, np.int64), krr(2, 1)) for name in "ab")
    found = independence(first, second)
    assert (found.statistic, found.df, found.p_value) == (0, 0, 1)


ONE = sample(krr(3, 1), np.full(3, 1 / 3), np.random.default_rng(10))
TWO = sample(krr(2, 1), np.full(2, 1 / 2), np.random.default_rng(10), "b")
NOBODY = ONE.of(np.arange(0)), TWO.of(np.arange(0))
FIRST = ONE.of(np.array([1])), TWO.of(np.array([1]))
ALIKE = replace(ONE.of(np.array([1, 1])), whole=False, mechanism="other")
WIDE = from_matrix("w", map(str, range(80)), np.arange(N) % 80, np.eye(80))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: independence(ONE, FIRST[1]), "same respondents, got 1000 of a and 1 of b"),
        (lambda: independence(ONE, WIDE), "w: a test takes at most 64 values, got 80"),
        (lambda: independence(*NOBODY), "needs respondents who reported on both"),
        (lambda: independence(*FIRST), "needs at least 2 respondents, got 1"),
        (lambda: goodness_of_fit(ONE, [0.5, 0.5]), "shares must be 3 numbers, got"),
        (lambda: goodness_of_fit(ONE, [0.5, 0.7, 0.2]), "shares must be at least 0 and sum to 1"),
        (lambda: goodness_of_fit(ONE, [0.5, np.nan, 0.5]), "shares must be at least 0"),
        (lambda: goodness_of_fit(NOBODY[0], [0.5, 0.2, 0.3]), "at least 2 respondents, got 0"),
        (lambda: difference(ONE, TWO), "must have the same values, got 0, 1, 2 and 0, 1"),
        (lambda: difference(ONE, FIRST[0]), "needs at least 2 respondents, got 1"),
        (lambda: trend([ONE]), "a trend needs two columns or more"),
        (lambda: trend([ONE, ONE], "1", [3, 3]), "two different places"),
        (lambda: trend([ONE, ONE], "1", [3]), "a trend needs two columns"),
        (lambda: trend([ONE, ONE], "9"), "value must be one of"),
        (lambda: trend([WIDE, WIDE]), "its values must be amounts to have a mean"),
        (lambda: trend([ONE, FIRST[0]], "1"), "expected at least 2 respondents"),
        (lambda: trend([ONE, ALIKE], "1"), "expected reports that differ"),
    ],
)
def test_questions_that_cannot_be_tested_are_refused(
    ask: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ask()


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
def test_impossible_levels_are_refused(level: float) -> None:
    column = from_matrix(
        "a", ("no", "yes"), np.repeat([0, 1], 200), np.array([[0.7, 0.3], [0.3, 0.7]])
    )
    for told in (changes_of_shares, lambda a, b, level: trend([a, b], "yes", None, level)):
        with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
            told(column, column, level)
