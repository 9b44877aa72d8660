"""Check several columns of data from elsewhere: differences, tables, correlations."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import binomtest

from analysis.core.errors import DataError
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.data_file import read_two
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.differences import Difference, differences
from analysis.estimate.columns.joint_table import joint_shares
from analysis.estimate.columns.measured import IntervalOptions
from analysis.study.crosstab import crosstab
from analysis.study.crosstab.association import correlation
from analysis.study.crosstab.numbers import Amounts, correlation_of_numbers, mean_in_group
from analysis.study.crosstab.pairs import pairs_of

WARNER = np.array([[0.7, 0.3], [0.3, 0.7]])
DIRECT = '[columns.a]\nvalues = ["0", "1"]\ndesign = "direct"\n'
FORCED = (
    '[columns.b]\nvalues = ["0", "1"]\ndesign = {name = "forced", p_yes = "1/6", p_no = "1/6"}\n'
)


def _column(name: str, codes: NDArray[np.int64], matrix: NDArray[np.float64] = WARNER) -> Column:
    values = tuple(map(str, range(matrix.shape[1])))
    return from_matrix(name, values, codes, matrix, tuple(map(float, values)))


def _differences(folder: Path, rows: str, design: str) -> dict[str, Difference]:
    data, path = folder / "data.csv", folder / "design.toml"
    data.write_text(rows)
    path.write_text(design)
    found = differences(*read_two(data, read_designs(path), "a", "b"), IntervalOptions())
    return {row.term: row for row in found}


def test_the_same_people_differ_as_by_mcnemar(tmp_path: Path) -> None:
    counts = {"0,0": 50, "0,1": 30, "1,0": 12, "1,1": 8}
    rows = "a,b\n" + "".join(f"{pair}\n" * times for pair, times in counts.items())
    design = DIRECT + DIRECT.replace("columns.a", "columns.b")
    row = _differences(tmp_path, rows, design)["1"]
    assert row.estimate == pytest.approx((30 - 12) / 100)
    assert row.std_error == pytest.approx(((30 + 12 - 18**2 / 100) / 100 / 100) ** 0.5)
    assert (row.n_first, row.n_second, row.n_both, row.conf_method) == (100, 100, 100, "mover")
    ends = {count: binomtest(count, 100).proportion_ci() for count in (20, 38)}
    rho = (0.08 - 0.2 * 0.38) / (0.2 * 0.8 * 0.38 * 0.62) ** 0.5
    down, up = 0.38 - ends[38].low, ends[20].high - 0.2
    assert row.conf_low == pytest.approx(
        0.18 - (down**2 + up**2 - 2 * rho * down * up) ** 0.5, rel=1e-6
    )


def test_other_people_differ_as_by_newcombe(tmp_path: Path) -> None:
    rows = "a,b\n" + "1,\n" * 12 + "0,\n" * 88 + ",1\n" * 90 + ",0\n" * 110
    row = _differences(tmp_path, rows, DIRECT + FORCED)["1"]
    share = (0.45 - 1 / 6) * 1.5
    assert row.estimate == pytest.approx(share - 0.12)
    # The error is that of two separate estimates, however many other people the file has.
    variance = 0.45 * 0.55 / 200 * 1.5**2 + 0.12 * 0.88 / 100
    assert row.std_error == pytest.approx(variance**0.5)
    assert (row.n_first, row.n_second, row.n_both) == (100, 200, 0)
    high_of_first = binomtest(12, 100).proportion_ci().high
    low_of_second = binomtest(90, 200).proportion_ci().low
    low = share - 0.12 - np.hypot((0.45 - low_of_second) * 1.5, high_of_first - 0.12)
    assert row.conf_low == pytest.approx(low, rel=1e-6)


def test_columns_that_differ_in_values_are_refused(tmp_path: Path) -> None:
    design = DIRECT + '[columns.b]\nvalues = ["x", "y"]\ndesign = "direct"\n'
    with pytest.raises(DataError, match=r"with the same values, got 0, 1 and x, y"):
        _differences(tmp_path, "a,b\n0,x\n1,y\n", design)
    with pytest.raises(DataError, match='expected a column with a design, one of a, got "b"'):
        _differences(tmp_path, "a,b\n0,1\n1,0\n", DIRECT)


def test_people_counted_twice_in_a_cluster_count_once(tmp_path: Path) -> None:
    # Each person is there twice, in a cluster of their own, and counts once.
    pairs = ["0,0", "0,1", "1,0", "1,1", "0,1", "0,0"] * 10
    design = DIRECT + DIRECT.replace("columns.a", "columns.b")
    once = _differences(tmp_path, "a,b\n" + "".join(f"{pair}\n" for pair in pairs), design)["1"]
    rows = "".join(f"{pair},{at},2\n{pair},{at},1\n" for at, pair in enumerate(pairs))
    sample = '[sample]\nclusters = "c"\nweights = "w"\n'
    twice = _differences(tmp_path, "a,b,c,w\n" + rows, design + sample)["1"]
    assert twice.estimate == pytest.approx(once.estimate)
    # The variance of clusters has the divisor n - 1, that of a share (docs/methods.md, (4)) has n.
    assert twice.std_error == pytest.approx(not_none(once.std_error) * (60 / 59) ** 0.5)


@pytest.mark.more
def test_differences_hold_the_truth(tmp_path: Path) -> None:
    rng, held = np.random.default_rng(2), np.zeros(2)
    for _ in range(300):
        asked, thrown = rng.random(200) < 0.05, rng.random(200) < 0.15
        die = rng.integers(1, 7, 200)
        told = np.where((die == 1) | (die == 6), die == 1, thrown)
        first, second = asked.astype(int), told.astype(int)
        apart = [f"{x},\n" for x in first] + [f",{x}\n" for x in second]
        for at, rows in enumerate(
            (apart, [f"{x},{y}\n" for x, y in zip(first, second, strict=True)])
        ):
            row = _differences(tmp_path, "a,b\n" + "".join(rows), DIRECT + FORCED)["1"]
            held[at] += row.conf_low <= 0.1 <= row.conf_high
    # 285 are expected, with a standard error of 4; the ends of both intervals hold at least.
    assert held.min() >= 274


def test_shares_of_three_columns_are_unbiased() -> None:
    truth = np.array([[[0.2, 0.1], [0.05, 0.15]], [[0.1, 0.2], [0.15, 0.05]]])
    reports = list(product((0, 1), repeat=3))
    law = np.einsum("abc,ia,jb,kc->ijk", truth, WARNER, WARNER, WARNER)
    expected = np.zeros(8)
    for pair in product(reports, repeat=2):
        codes = np.array(pair, dtype=np.int64)
        columns = [_column(name, codes[:, at]) for at, name in enumerate("abc")]
        chance = float(np.prod([law[one] for one in pair]))
        expected += chance * np.array([row.estimate for row in joint_shares(columns)])
    assert expected == pytest.approx(truth.ravel())


def test_tables_of_one_and_two_are_those_of_others() -> None:
    rng = np.random.default_rng(5)
    first = _column("a", rng.choice(2, 300, p=(0.6, 0.4)))
    second = _column("b", rng.choice(3, 300), np.full((3, 3), 0.2) + 0.4 * np.eye(3))
    weights = rng.exponential(size=300)
    for w in (None, weights):
        table = crosstab(first, second, weights=w)
        rows = joint_shares([first, second], weights=w)
        assert [row.estimate for row in rows] == pytest.approx(table.shares.ravel())
        assert [row.std_error for row in rows] == pytest.approx(table.std_errors.ravel())
        assert [row.likeliest for row in rows] == pytest.approx(table.likeliest.ravel(), abs=0.005)
        intervals = [one for line in table.intervals for one in line]
        assert [row.conf_high for row in rows] == pytest.approx(
            [i.high for i in intervals], abs=1e-4
        )
    (no, yes) = joint_shares([first])
    assert no.likeliest + yes.likeliest == pytest.approx(1)
    assert yes.values == ["1"]


def test_the_likeliest_table_of_three_is_a_maximum() -> None:
    rng = np.random.default_rng(9)
    codes = rng.choice(2, (400, 3), p=(0.55, 0.45))
    columns = [_column(name, codes[:, at]) for at, name in enumerate("abc")]
    shares = np.array([row.likeliest for row in joint_shares(columns)])
    assert shares.sum() == pytest.approx(1)
    chances = np.ones((400, 1))
    for at in range(3):
        chances = (chances[:, :, None] * WARNER[codes[:, at]][:, None, :]).reshape(400, -1)
    # The likelihood is concave: at its maximum no share gains by growing.
    slopes = (chances / (chances @ shares)[:, None]).mean(axis=0)
    assert slopes.max() == pytest.approx(1, abs=1e-5)


def test_tables_that_are_too_large_or_of_other_people_are_refused() -> None:
    codes = np.zeros(5, dtype=np.int64)
    wide = [_column(name, codes, np.eye(11)) for name in "abc"]
    with pytest.raises(ValueError, match="at most 1024 combinations of values, got 1331"):
        joint_shares(wide)
    with pytest.raises(ValueError, match=r"same respondents, two or more, got \[5, 4\]"):
        joint_shares([_column("a", codes), _column("b", codes[:4])])
    with pytest.raises(ValueError, match="separate draws, got a, a"):
        joint_shares([_column("a", codes), _column("a", codes)])


@pytest.mark.more
def test_intervals_of_three_columns_hold() -> None:
    rng, held = np.random.default_rng(3), np.zeros(8)
    truth = np.array([0.5, 0.1, 0.1, 0.05, 0.1, 0.05, 0.05, 0.05])
    for _ in range(200):
        cells = rng.choice(8, 1500, p=truth)
        true = np.column_stack([cells >> 2, cells >> 1 & 1, cells & 1])
        codes = np.where(rng.random(true.shape) < 0.7, true, 1 - true)
        rows = joint_shares([_column(name, codes[:, at]) for at, name in enumerate("abc")])
        held += [row.conf_low <= p <= row.conf_high for row, p in zip(rows, truth, strict=True)]
    # At a coverage of .95, a count below 180 of 200 has a probability of 1e-3. The mean of all is
    # measured with an error of .006.
    assert held.min() >= 180
    assert held.mean() / 200 >= 0.93


def test_correlations_of_known_numbers_are_the_usual_ones() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(50, 10, 500)
    y = x + rng.normal(0, 15, 500)
    found = correlation_of_numbers(Amounts.known("x", x), Amounts.known("y", y))
    assert found.estimate == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found.std_error == pytest.approx((1 - not_none(found.estimate) ** 2) / 500**0.5, rel=0.1)


def test_numbers_of_a_column_correlate_as_its_amounts() -> None:
    rng = np.random.default_rng(4)
    first, second = (_column(name, rng.choice(2, 400)) for name in "ab")
    weights = rng.exponential(size=400)
    known = correlation(pairs_of(first, second, weights))
    found = correlation_of_numbers(
        Amounts.of_column(first), Amounts.of_column(second), weights=weights
    )
    assert found.estimate == pytest.approx(not_none(known).estimate)
    assert found.std_error == pytest.approx(not_none(known).std_error)
    assert found.interval.low == pytest.approx(not_none(known).interval.low)


@pytest.mark.more
def test_correlations_and_group_means_with_many_values_hold() -> None:
    rng, held = np.random.default_rng(6), np.zeros(2)
    for _ in range(500):
        true = rng.random(1000) < 0.3
        age = rng.normal(40 + 10 * true, 12)
        codes = np.where(rng.random(1000) < 0.7, true, ~true).astype(np.int64)
        column, numbers = _column("y", codes), Amounts.known("age", age)
        found = correlation_of_numbers(Amounts.of_column(column), numbers)
        spread = (0.21 * 100 + 144) ** 0.5
        held[0] += found.interval.low <= 0.21**0.5 * 10 / spread <= found.interval.high
        mean = mean_in_group(column, 1, numbers)
        held[1] += mean.interval.low <= 50 <= mean.interval.high
    # 475 of 500 are expected, with a standard error of 5.
    assert held.min() >= 460
