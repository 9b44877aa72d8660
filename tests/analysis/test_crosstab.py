"""Check crosstabs by exact sums over all pairs of reports, by plain tables, and by repetition."""

import sys
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.stats import norm

from analysis.estimate.columns import Column, from_matrix
from analysis.study.crosstab import CannotTell, Crosstab, crosstab
from analysis.study.crosstab.association import association_rows, correlation
from analysis.study.crosstab.groups import contrasts, group_share
from analysis.study.crosstab.pairs import Pairs, pairs_of
from analysis.study.crosstab.row import Row

Array = NDArray[np.float64]
TABLE = np.array([[0.3, 0.1, 0.1], [0.05, 0.2, 0.25]])


def krr(k: int, epsilon: float) -> Array:
    e = np.exp(epsilon)
    return np.asarray(np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1))


def column(name: str, matrix: Array, amounts: bool = False) -> Column:
    """Return a column without respondents, as a law alone."""
    k = matrix.shape[1]
    steps = tuple(range(1, k + 1)) if amounts else None
    values = [f"{name}{place}" for place in range(k)]
    return from_matrix(name, values, np.zeros(0, dtype=np.int64), matrix, steps)


def bits(k: int, p: float, q: float) -> Array:
    """Return bits, one for each value: its own is kept 1 with p, those of others are 1 with q."""
    reports = np.array(list(product((0, 1), repeat=k)))
    rates = np.where(np.eye(k, dtype=bool), p, q)
    return np.asarray(np.prod(np.where(reports[:, None, :] == 1, rates, 1 - rates), axis=2))


def law(first: Column, second: Column, table: Array) -> Array:
    return np.asarray(first.chances @ table @ second.chances.T)


def expected(first: Column, second: Column, table: Array, n: int) -> Pairs:
    """Return each pair of reports exactly as often as it is expected."""
    counts = n * law(first, second, table)
    return Pairs(first, second, counts, counts, n)


def known(table: list[list[int]], amounts: bool = False) -> tuple[Column, Column]:
    """Return two columns that are not randomized, with this plain table."""
    counts = np.array(table)
    codes = [np.repeat(places.ravel(), counts.ravel()) for places in np.indices(counts.shape)]
    first, second = (
        replace(column(name, np.eye(k), amounts), codes=own)
        for name, k, own in zip("ab", counts.shape, codes, strict=True)
    )
    return first, second


CHANNELS = {
    "k-RR": (krr(2, 1), krr(3, 1)),
    "bits": (krr(2, 1), bits(3, 0.5, 0.25)),
    "known": (np.eye(2), krr(3, 2)),
}
channels = pytest.mark.parametrize("pair", CHANNELS.values(), ids=CHANNELS)


@channels
def test_expected_reports_give_the_true_shares(pair: tuple[Array, Array]) -> None:
    first, second = column("a", pair[0]), column("b", pair[1])
    table = Crosstab(expected(first, second, TABLE, 10_000), 0.95)
    assert table.shares == pytest.approx(TABLE)
    assert table.likeliest == pytest.approx(TABLE, abs=2e-3)
    assert table.shares.sum() == pytest.approx(1)
    for group in range(2):
        found = group_share(table.pairs, group, 1)
        assert found.estimate == pytest.approx(TABLE[group, 1] / TABLE[group].sum())
    difference, ratio = contrasts(table.pairs, (1, 0), 2)
    assert difference.estimate == pytest.approx(0.5 - 0.2)
    assert ratio.estimate == pytest.approx(0.5 / 0.2)


@channels
def test_errors_are_those_of_repetition(pair: tuple[Array, Array]) -> None:
    first, second = column("a", pair[0]), column("b", pair[1])
    table = Crosstab(expected(first, second, TABLE, 1000), 0.95)
    chances = law(first, second, TABLE)
    drawn = np.random.default_rng(1).multinomial(1000, chances.ravel(), 4000)
    shares = [
        Pairs(first, second, one.reshape(chances.shape), None, 1000).averages(
            first.scores, second.scores
        )
        for one in drawn
    ]
    # Of 4000 draws, the ratio of two deviations is within 4.5 / sqrt(8000) of 1, except with 7e-6.
    assert np.std(shares, axis=0) == pytest.approx(table.std_errors, rel=0.05)
    together = np.cov(np.reshape(shares, (4000, -1)).T)
    scale = np.outer(table.std_errors, table.std_errors)
    assert np.abs(together - table.covariance).max() < 0.1 * scale.max()
    assert table.covariance.diagonal() == pytest.approx(table.std_errors.ravel() ** 2)


@pytest.mark.more
def test_intervals_cover_with_most_cells_empty() -> None:
    diagonal = np.diag([0.5, 0.3, 0.15, 0.05])
    first, second = column("a", krr(4, 2)), column("b", krr(4, 2))
    chances = law(first, second, diagonal)
    hits = np.zeros(diagonal.shape)
    for one in np.random.default_rng(2).multinomial(800, chances.ravel(), 100):
        counts = one.reshape(chances.shape).astype(float)
        found = Crosstab(Pairs(first, second, counts, counts, 800), 0.95).intervals
        hits += [
            [one.low - 1e-9 <= true <= one.high + 1e-9 for one, true in zip(*row, strict=True)]
            for row in zip(found, diagonal, strict=True)
        ]
    # At .95 each of 16 cells has 86 hits or fewer with probability 3e-4, and all four that are not
    # 0 have 364 or fewer of 400 with 8e-4. With other shares held at 0 and above, .80 of them are
    # covered.
    assert hits.min() > 86
    assert hits.diagonal().sum() > 364


def rare(epsilon: float, share: float) -> tuple[Column, Column, Array]:
    table = np.array([[0.9 - share, 0.05], [0.05, share]])
    return column("a", krr(2, epsilon)), column("b", krr(2, epsilon)), table


@pytest.mark.more
@pytest.mark.parametrize(("epsilon", "share"), [(4, 0.001), (6, 0.001), (6, 0.002)])
def test_intervals_cover_where_the_rarest_pair_of_reports_is_not_seen(
    epsilon: float, share: float
) -> None:
    first, second, table = rare(epsilon, share)
    hits = np.zeros(3)
    group, base = share / (0.05 + share), 0.05 / (0.95 - share)
    for one in np.random.default_rng(12).multinomial(500, law(first, second, table).ravel(), 120):
        counts = one.reshape(2, 2).astype(float)
        pairs = Pairs(first, second, counts, counts, 500)
        cell = Crosstab(pairs, 0.95).intervals[1][1]
        difference, ratio = (found.interval for found in contrasts(pairs, (1, 0), 1))
        hits += [
            cell.low <= share <= cell.high,
            difference.low <= group - base <= difference.high,
            ratio.low <= group / base <= ratio.high,
        ]
        assert cell.high > 1e-3
    # At .95, 104 or fewer of 120 have a probability of 4e-4. Without the kinds that were not seen,
    # .43 to .75 of cells are covered, and by Fieller's interval .72 to .75 of differences.
    assert hits.min() > 104


def test_pairs_of_reports_that_are_too_rare_are_flagged() -> None:
    first, second, table = rare(6, 0.004)
    rows = Crosstab(expected(first, second, table, 500), 0.95).rows()
    flagged = {(row.quantity, row.first, row.second) for row in rows if "few" in row.flag}
    assert flagged >= {("share", "a1", "b1"), ("difference", "a1", "b1"), ("ratio", "a1", "b1")}
    assert flagged.isdisjoint({("share", "a0", "b0"), ("share", "a1", "b0")})
    rows = Crosstab(expected(first, second, table, 5000), 0.95).rows()
    assert not any("few" in row.flag for row in rows)


def test_without_noise_the_table_is_a_plain_table() -> None:
    counts = [[30, 10, 20], [5, 15, 40]]
    first, second = known(counts, amounts=True)
    rows = crosstab(first, second).rows()
    plain = np.array(counts) / 120
    by_kind = {(row.quantity, row.first, row.second): row.estimate for row in rows}
    assert by_kind["share", "a1", "b2"] == pytest.approx(plain[1, 2])
    assert by_kind["row-share", "a1", "b2"] == pytest.approx(40 / 60)
    assert by_kind["column-share", "a1", "b2"] == pytest.approx(40 / 60)
    assert by_kind["difference", "a1", "b0"] == pytest.approx(5 / 60 - 30 / 60)
    assert by_kind["ratio", "a1", "b0"] == pytest.approx(5 / 30)
    assert by_kind["mean", "a0", "mean"] == pytest.approx((30 + 20 + 60) / 60)
    assert by_kind["mean", "mean", "b0"] == pytest.approx((30 + 10) / 35)
    plainly = np.corrcoef(first.codes, second.codes)[0, 1]
    assert by_kind["correlation", "", ""] == pytest.approx(plainly)
    share = next(row for row in rows if row.quantity == "row-share")
    assert share.std_error == pytest.approx((0.5 * 0.5 / 60) ** 0.5, rel=0.01)


def test_without_noise_errors_are_those_of_textbooks() -> None:
    first, second = known([[300, 100], [50, 450]])
    pairs = pairs_of(first, second)
    one, other = 50 / 500, 300 / 400
    difference, ratio = contrasts(pairs, (1, 0), 0)
    parts = one * (1 - one) / 500, other * (1 - other) / 400
    assert difference.std_error == pytest.approx(sum(parts) ** 0.5, rel=2e-3)
    relative = parts[0] / one**2 + parts[1] / other**2
    assert ratio.std_error == pytest.approx(one / other * relative**0.5, rel=2e-3)
    found = correlation(pairs)
    assert found is not None
    # The jackknife leaves out one respondent of each of the four cells, as often as there are such.
    values, times = [], np.array([300, 100, 50, 450])
    for cell in range(4):
        keep = np.delete(np.arange(900), times[:cell].sum())
        values.append(np.corrcoef(first.codes[keep], second.codes[keep])[0, 1])
    spread = times @ (np.array(values) - times @ values / 900) ** 2
    assert found.std_error == pytest.approx((899 / 900 * spread) ** 0.5, rel=5e-3)


def test_rows_come_in_order_and_are_complete() -> None:
    first, second = column("a", krr(2, 1)), column("b", krr(3, 1), amounts=True)
    rows = Crosstab(expected(first, second, TABLE, 5000), 0.9).rows()
    names = [row.quantity for row in rows]
    wanted = {"share": 6, "row-share": 6, "difference": 3, "ratio": 3, "column-share": 6}
    wanted |= {"correlation": 1, "mean": 2}
    assert {name: names.count(name) for name in dict.fromkeys(names)} == wanted
    assert all(row.conf_low < row.conf_high and row.conf_level == 0.9 for row in rows)
    assert [row.flag for row in rows] == [""] * len(rows)
    assert all((row.likeliest is None) != row.quantity.endswith("share") for row in rows)


def test_correlation_has_the_error_of_repetition() -> None:
    first, second = column("a", krr(2, 2)), column("b", krr(3, 2), amounts=True)
    pairs = expected(first, second, TABLE, 4000)
    found = correlation(pairs)
    assert found is not None
    x, y = np.array([0, 1]), np.array([1, 2, 3])
    covariance = x @ TABLE @ y - (TABLE.sum(1) @ x) * (TABLE.sum(0) @ y)
    spread = TABLE.sum(0) @ y**2 - (TABLE.sum(0) @ y) ** 2
    assert found.estimate == pytest.approx(covariance / (0.25 * spread) ** 0.5)
    chances = law(first, second, TABLE)
    draws = []
    for one in np.random.default_rng(3).multinomial(4000, chances.ravel(), 600):
        counts = one.reshape(chances.shape).astype(float)
        again = correlation(Pairs(first, second, counts, counts, 4000))
        assert again is not None
        draws.append(again.estimate)
    # Of 600 draws, the ratio is within 4.5 / sqrt(1200) of 1, except with probability 7e-6.
    assert np.std(np.array(draws, dtype=float)) == pytest.approx(found.std_error, rel=0.13)


def test_no_answer_has_no_part_in_means_and_correlation() -> None:
    values = ("1", "2", "no-answer")
    first = replace(column("a", np.eye(2)), codes=np.array([0, 0, 0, 1, 1, 1] * 30))
    second = Column(
        "b",
        values,
        np.array([0, 1, 2, 1, 1, 2] * 30),
        np.eye(3),
        np.eye(3),
        True,
        (1.0, 2.0, float("nan")),
        np.inf,
        "none",
    )
    rows = {
        (row.quantity, row.first): row.estimate for row in association_rows(pairs_of(first, second))
    }
    assert rows["mean", "a0"] == pytest.approx(1.5)
    assert rows["mean", "a1"] == pytest.approx(2)
    plainly = np.corrcoef([0, 0, 1, 1], [1, 2, 2, 2])[0, 1]
    assert rows["correlation", ""] == pytest.approx(plainly)


def sampled(n: int, seed: int = 4) -> tuple[Column, Column]:
    rng = np.random.default_rng(seed)
    first, second = column("a", krr(2, 1)), column("b", bits(3, 0.5, 0.25))
    chances = law(first, second, TABLE)
    one, other = np.divmod(rng.choice(chances.size, n, p=chances.ravel()), chances.shape[1])
    return replace(first, codes=one), replace(second, codes=other)


def test_few_kinds_of_pairs_give_the_same_as_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sampled(600)
    weights = np.random.default_rng(5).random(600)
    plain = [crosstab(first, second, weights=given).rows() for given in (None, weights)]
    monkeypatch.setattr(sys.modules[Pairs.__module__], "_DENSE", 0)
    assert issparse(pairs_of(first, second).counts)
    for given, rows in zip((None, weights), plain, strict=True):
        for one, other in zip(crosstab(first, second, weights=given).rows(), rows, strict=True):
            assert one.estimate == pytest.approx(other.estimate)
            assert one.conf_high == pytest.approx(other.conf_high)


def test_very_large_tables_have_normal_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    likely = crosstab(*sampled(800)).intervals
    monkeypatch.setattr(sys.modules[Crosstab.__module__], "MOST_PROFILED", 10)
    normal = crosstab(*sampled(800)).intervals
    for one, other in zip(chain(*likely), chain(*normal), strict=True):
        assert (one.method, other.method) == ("empirical-likelihood", "normal")
        assert [other.low, other.high] == pytest.approx([one.low, one.high], abs=0.01)


def test_weights_count_as_they_should() -> None:
    first, second = sampled(800)
    plain, same = crosstab(first, second), crosstab(first, second, weights=np.full(800, 3.0))
    assert same.shares == pytest.approx(plain.shares)
    assert same.covariance == pytest.approx(plain.covariance)
    assert same.intervals[0][0].low == pytest.approx(plain.intervals[0][0].low)
    weights = np.random.default_rng(6).integers(0, 3, 800).astype(float)
    scores = first.scores[first.codes][:, :, None] * second.scores[second.codes][:, None, :]
    found = crosstab(first, second, weights=weights)
    mean = np.tensordot(weights, scores, 1) / weights.sum()
    assert found.shares == pytest.approx(mean)
    spread = np.tensordot(weights**2, (scores - mean) ** 2, 1) * 800 / 799 / weights.sum() ** 2
    assert found.std_errors == pytest.approx(spread**0.5)
    assert (found.std_errors > plain.std_errors).mean() > 0.5


@pytest.mark.parametrize("other", [0.02, 0.07, 0.7])
def test_identical_reports_of_a_one_sided_design_have_intervals(other: float) -> None:
    # The least score is 0, up to rounding.
    one_sided = np.array([[1, other], [0, 1 - other]])
    first, second = (replace(column(n, one_sided), codes=np.zeros(90, np.int64)) for n in "ab")
    found = crosstab(first, second).intervals
    assert all(0 <= one.low < one.high <= 1 for one in chain(*found))


def test_the_other_order_is_the_same_table() -> None:
    first, second = sampled(800)
    one, other = crosstab(first, second), crosstab(second, first)
    # On some processors, sums in another order differ in their last digits, which does not matter.
    near = 1e-6 * one.std_errors.min()
    assert one.shares == pytest.approx(other.shares.T, abs=near)
    assert one.std_errors == pytest.approx(other.std_errors.T, abs=near)
    turned = zip(chain(*one.intervals), chain(*zip(*other.intervals, strict=True)), strict=True)
    for interval, same in turned:
        assert same.method == interval.method
        assert [same.low, same.high] == pytest.approx([interval.low, interval.high], abs=near)


def test_a_value_that_nobody_has_is_flagged_unreliable_in_its_group() -> None:
    first, second = known([[30, 20], [0, 0]])
    rows = crosstab(first, second).rows()
    assert all(row.conf_low < row.conf_high for row in rows)
    empty = [row for row in rows if row.first == "a1" and row.quantity != "share"]
    assert {row.quantity for row in empty} >= {"row-share", "difference", "ratio"}
    for row in empty:
        assert row.quantity == "column-share" or (row.estimate is None and "unreliable" in row.flag)
    shares = [row for row in rows if (row.quantity, row.first) == ("share", "a1")]
    assert [row.conf_low for row in shares] == [0, 0]
    # Clopper and Pearson's upper limit for 0 of 50.
    assert shares[0].conf_high == pytest.approx(1 - 0.025 ** (1 / 50), abs=1e-6)


def test_flags_say_what_is_wrong() -> None:
    first, second = sampled(90)
    flags = ";".join(row.flag for row in crosstab(first, second).rows())
    assert {"few", "unreliable", "out-of-range", "boundary"} <= set(flags.split(";"))


def test_too_much_noise_is_refused_with_the_number_it_takes() -> None:
    first, second = column("a", krr(5, 0.5)), column("b", krr(5, 0.5))
    few, more = (replace(one, codes=np.arange(300) % 5) for one in (first, second))
    with pytest.raises(CannotTell, match=r"a by b: too few .* 300 .* it takes \d+") as caught:
        crosstab(few, more)
    # With this number, the interval of the worst cell of an even table is as wide as was stated.
    even = Crosstab(expected(first, second, np.full((5, 5), 0.04), caught.value.needed), 0.95)
    assert norm.ppf(0.975) * even.std_errors.max() == pytest.approx(0.1, rel=0.01)
    assert caught.value.n == 300
    with pytest.raises(CannotTell):
        crosstab(few, more, 0.99)


def test_a_usual_survey_is_not_refused() -> None:
    first, second = sampled(2000)
    assert crosstab(first, second).rows()


PAIR, NOBODY = sampled(100), np.arange(0)
WIDE = from_matrix("w", map(str, range(80)), np.arange(100) % 80, np.eye(80), tuple(range(80)))


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (PAIR[0].of(np.arange(50)), PAIR[1], {}, "same respondents, got 50 of a and 100 of b"),
        (PAIR[0], PAIR[0], {}, "randomized separately, got a and a"),
        (PAIR[0].of(NOBODY), PAIR[1].of(NOBODY), {}, "needs respondents who reported on both"),
        (*PAIR, {"weights": np.ones(3)}, "expected 100 weights, got"),
        (*PAIR, {"weights": np.full(100, np.nan)}, "weights must be numbers of at least 0"),
        (*PAIR, {"weights": np.zeros(100)}, "weights must be numbers of at least 0, not all 0"),
        (*PAIR, {"weights": np.eye(100)[0]}, "with 1 a share is known to"),
        (*PAIR, {"confidence_level": 95}, "confidence_level must be between 0 and 1, got 95"),
        (PAIR[0].of(np.array([3])), PAIR[1].of(np.array([3])), {}, "too few respondents"),
        (PAIR[0], WIDE, {}, "w: a table takes at most 64 values, got 80"),
    ],
)
def test_questions_without_a_table_are_refused(
    first: Column, second: Column, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        crosstab(first, second, **options)


def test_many_values_have_means_and_a_correlation() -> None:
    rows = association_rows(pairs_of(PAIR[0], WIDE))
    assert [(row.quantity, row.first, row.second) for row in rows] == [
        ("correlation", "", ""),
        ("mean", "a0", "mean"),
        ("mean", "a1", "mean"),
    ]
    assert all(isinstance(row, Row) and row.conf_low < row.conf_high for row in rows)
