"""Check data from elsewhere: design files, data files, samples, and estimates of single columns."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.core.errors import DataError, SurveyError
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.data_file import Data, read_data
from analysis.estimate.columns.design_file import Designs, read_designs
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.matrix_design import MatrixDesign
from analysis.estimate.columns.sample import Sample
from analysis.estimate.estimates import Estimate

FORCED = (
    '[columns.y]\nvalues = ["0", "1"]\ndesign = {name = "forced", p_yes = "1/6", p_no = "1/4"}\n'
)
THREE = '[columns.y]\nvalues = ["a", "b", "c"]\n'


def _designs(folder: Path, text: str) -> Designs:
    path = folder / "design.toml"
    path.write_text(text)
    return read_designs(path)


def _design(folder: Path, text: str) -> MatrixDesign:
    design = _designs(folder, text).columns["y"]
    assert isinstance(design, MatrixDesign)
    return design


def _matrix(folder: Path, text: str) -> NDArray[np.float64]:
    return _design(folder, text).empty.chances


def _one_by_one(weights: NDArray[np.float64]) -> Sample:
    """Return a weighted sample of respondents drawn one by one from a large population."""
    n = len(weights)
    return Sample(weights, np.zeros(n, dtype=np.int64), np.arange(n), np.zeros(1))


@pytest.mark.parametrize(
    ("design", "yes", "no"),
    [
        ('{name = "warner", p = "3/4"}', 3 / 4, 1 / 4),
        ('{name = "forced", p_yes = "1/6", p_no = "1/4"}', 3 / 4, 1 / 6),
        ('{name = "unrelated", p = "2/3", prevalence = "1/5"}', 2 / 3 + 1 / 15, 1 / 15),
        ('{name = "crosswise", prevalence = 0.25}', 1 / 4, 3 / 4),
        ('{name = "two-coin"}', 3 / 4, 1 / 4),
        ('{name = "krr", epsilon = 1.0}', np.e / (np.e + 1), 1 / (np.e + 1)),
    ],
)
@pytest.mark.parametrize("values", ['["0", "1"]', '["1", "0"]', '["no", "yes"]', '["x", "y"]'])
def test_classic_designs_know_which_value_is_yes(
    tmp_path: Path, design: str, yes: float, no: float, values: str
) -> None:
    which = '\nyes = "y"' * ('"x"' in values and "krr" not in design)
    found = _design(tmp_path, f"[columns.y]\nvalues = {values}\ndesign = {design}{which}\n")
    matrix, order = found.empty.chances, found.empty.values
    place = next(at for at, value in enumerate(order) if value in ("1", "yes", "y"))
    assert matrix[place, place] == pytest.approx(yes, abs=1e-6)
    assert matrix[place, 1 - place] == pytest.approx(no, abs=1e-6)
    assert matrix.sum(axis=0) == pytest.approx([1, 1])


def test_rows_of_a_matrix_are_reports(tmp_path: Path) -> None:
    text = 'reports = ["r", "s"]\nmatrix = [["0.9", "1/3"], [0.1, "2/3"]]\n'
    found = _matrix(tmp_path, '[columns.y]\nvalues = ["a", "b"]\n' + text)
    assert found == pytest.approx(np.array([[0.9, 1 / 3], [0.1, 2 / 3]]))


def test_a_binomial_design_can_be_written_with_all_its_digits(tmp_path: Path) -> None:
    chances = np.array(
        [[binom.pmf(count, 12, p) for p in (0.02, 0.5, 0.98)] for count in range(13)]
    )
    rows = ", ".join(f"[{', '.join(map(repr, row))}]" for row in chances.tolist())
    assert "e-" in rows
    reports = f"reports = {[str(count) for count in range(13)]}\n"
    found = _matrix(tmp_path, THREE + reports + f"matrix = [{rows}]\n")
    assert found == pytest.approx(chances, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "columns must be tables of randomized columns, .* got nothing"),
        ("[columns.y]\n", 'column "y": values must be a list of the values as they stand'),
        (THREE, 'column "y": expected either design or matrix'),
        (THREE + 'matrix = [["1"]]\n', "matrix must be 3 rows, one for each report, of 3"),
        (
            THREE + 'matrix = [["1", "0", "2"], [0, 1, 0], [0, 0, 1]]\n',
            'column "y": row 1: matrix must be a probability from 0 to 1',
        ),
        (
            '[columns.y]\nvalues = ["a", "b"]\nmatrix = [[0.9, 0.2], [0.2, 0.8]]\n',
            'columns of the matrix must sum to 1, .* "a" sums to 1.1',
        ),
        (
            '[columns.y]\nvalues = ["a", "b"]\nmatrix = [[0.4, 0.4], [0.6, 0.6]]\n',
            "must distinguish all values, but its columns are linearly dependent",
        ),
        (THREE + 'design = {name = "forced", p_yes = "1/6", p_no = "1/6"}\n', "name must be one"),
        (THREE + 'design = {name = "oue", epsilon = 1}\n', "name must be one of krr, direct, got"),
        (THREE + 'design = {name = "krr"}\n', "epsilon must be a number from 0.001 to 20.0"),
        (
            THREE + 'design = {name = "krr", epsilon = "1"}\n',
            'a number from 0.001 to 20.0, without quotation marks, got "1"',
        ),
        (THREE + 'design = {name = "krr", epsilon = 30}\n', "from 0.001 to 20.0, got 30"),
        (
            '[columns.y]\nvalues = ["a", "b"]\nreports = ["a", "b", "dk"]\n'
            "matrix = [[0.9, 0.1], [0.1, 0.9], [0, 0]]\n",
            "each row of the matrix must have a positive probability",
        ),
        (
            '[columns.y]\nvalues = ["x", "z"]\ndesign = {name = "warner", p = "3/4"}\n',
            "yes must be one of x, z, since warner needs to know it",
        ),
        (FORCED + "amounts = [1]\n", "amounts must be 2 numbers, one for each value"),
        (FORCED + "colour = 1\n", 'unknown key "colour"'),
        (FORCED + '[sample]\nweight = "w"\n', 'sample: unknown key "weight"'),
        (FORCED + '[sample]\nstrata = "s"\npopulation = 900\n', "population must be the name of a"),
    ],
)
def test_wrong_designs_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        _designs(tmp_path, text)


def _data(
    folder: Path, rows: str, design: str = FORCED, used: tuple[str, ...] | None = None
) -> Data:
    path = folder / "data.csv"
    path.write_text(rows)
    return read_data(path, _designs(folder, design), used)


def test_columns_that_a_model_names_are_read(tmp_path: Path) -> None:
    found = _data(tmp_path, "y,age,team,rest\n1,3.5,a,?\n0,4,b,\n", used=("y", "age", "team"))
    assert found.columns["y"].codes.tolist() == [1, 0]
    assert found.known["age"].tolist() == [3.5, 4.0]
    assert found.known["team"].tolist() == ["a", "b"]
    assert list(found.known) == ["age", "team"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "expected a first line of column names, got none"),
        ("y\n", "expected a row for each respondent, got none"),
        ("x\n1\n", 'no column "y"; the file has x'),
        ("y,y\n1,1\n", 'line 1: column "y" appears twice'),
        ("y\n1\n2\n", 'line 3: column "y": expected one of 0, 1, as in its design, got "2"'),
        ("y,x\n1\n", "line 2: expected 2 cells, got 1"),
        ("y,age\n1,3\n,4\n", r'line 3: column "y" is empty or NA \(1 cells in all\)'),
        ("y,age\n1,3\n0,NA\n", r'line 3: column "age" is empty or NA'),
        ("y,age\n1,3\n0,4\n0,NaN\n", 'line 4: column "age": expected a finite number, as in'),
        ("y,age\n" + "".join(f"1,a{at}\n" for at in range(201)), "at most 200 different texts"),
        ('y\n"1', "line 2: not CSV"),
    ],
)
def test_wrong_data_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _data(tmp_path, rows, used=("y",) + ("age",) * ("age" in rows))


def test_codes_and_thousands_are_refused_as_numbers(tmp_path: Path) -> None:
    found = _data(tmp_path, "y,zip,pay\n1,007,1_000\n0,107,2_000\n", used=("zip", "pay"))
    assert found.known["zip"].tolist() == ["007", "107"]
    assert found.known["pay"].tolist() == ["1_000", "2_000"]


def test_the_answer_that_counts_is_the_one_of_the_design(tmp_path: Path) -> None:
    text = '[columns.y]\nvalues = ["ja", "nein"]\nyes = "ja"\ndesign = "two-coin"\n'
    column = _design(tmp_path, text).column("y", np.array([0, 1]))
    assert column.event == "ja"
    assert column.chances[0] == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("at", range(1, 100))
def test_designs_that_leave_an_answer_untouched_are_estimated(at: int) -> None:
    a = at / 100
    for matrix in ([[1, a], [0, 1 - a]], [[1 - a, 0], [a, 1]]):
        row = _by_term(column_estimates(_column([0] * 30 + [1] * 70, matrix)))["b"]
        assert 0 <= row.conf_low < row.conf_high <= 1


def test_respondents_without_weight_are_left_out(tmp_path: Path) -> None:
    design = FORCED + '[sample]\nweights = "w"\n'
    rows = "y,w\n" + "1,0\n" * 290 + "0,2\n" * 10
    found = _data(tmp_path, rows, design)
    assert (found.columns["y"].n, found.dropped) == (10, 290)
    row = _by_term(column_estimates(found.columns["y"], sample=found.sample))["1"]
    # The result is as if ten people had all said no.
    ten = _by_term(column_estimates(found.columns["y"]))["1"]
    assert row.conf_high == pytest.approx(ten.conf_high)


def test_identical_reports_have_intervals_of_some_width() -> None:
    matrix = [[0.8, 0.2, 0.1], [0.15, 0.7, 0.1], [0.05, 0.1, 0.8]]
    weights = np.random.default_rng(2).exponential(size=200)
    sample = _one_by_one(weights)
    for row in column_estimates(_column([0] * 200, matrix), sample=sample):
        assert row.conf_high - row.conf_low > 0.01
    clusters = Sample(np.ones(300), np.zeros(300, int), np.repeat([0, 1, 2], 100), np.zeros(1))
    row = _by_term(column_estimates(_column([0] * 300, [[1, 0], [0, 1]]), sample=clusters))["b"]
    assert row.flag == "few"
    # Three clusters that are alike count as much as three people.
    assert row.conf_high == pytest.approx(1 - 0.025 ** (1 / 3))


def test_intervals_depend_on_the_part_of_the_population_that_was_asked() -> None:
    column = _column([1] * 2400 + [0] * 3600, [[5 / 6, 1 / 6], [1 / 6, 5 / 6]])
    widths = []
    for part in (0.0, 0.75):
        sample = Sample(np.ones(6000), np.zeros(6000, int), np.arange(6000), np.array([part]))
        row = _by_term(column_estimates(column, sample=sample))["b"]
        widths.append((row.conf_high - row.conf_low) / not_none(row.std_error))
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def test_rows_with_empty_cells_are_left_out_if_the_design_says_so(tmp_path: Path) -> None:
    rows = "y,age\n1,3\n,4\n0,\n1,5\n"
    found = _data(tmp_path, rows, 'missing = "drop"\n' + FORCED, ("y", "age"))
    assert (found.columns["y"].n, found.dropped) == (2, 2)
    assert found.known["age"].tolist() == [3, 5]


def test_samples_are_read(tmp_path: Path) -> None:
    design = FORCED + '[sample]\nweights = "w"\nstrata = "s"\nclusters = "c"\npopulation = "N"\n'
    rows = "y,w,s,c,N\n1,2,a,1,4\n0,1,a,2,4\n1,1,b,1,8\n0,3,b,2,8\n0,3,b,2,8\n"
    sample = not_none(_data(tmp_path, rows, design).sample)
    assert sample.weights.tolist() == [2, 1, 1, 3, 3]
    assert sample.clusters.tolist() == [0, 1, 2, 3, 3]
    assert sample.fractions.tolist() == [0.5, 0.25]
    assert sample.freedom == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("y,w,s,N\n1,-1,a,9\n0,1,a,9\n", "weights must be finite and not negative"),
        ("y,w,s,N\n1,x,a,9\n0,1,a,9\n", 'column "w": expected numbers, got "x"'),
        ("y,w,s,N\n1,1,a,9\n0,1,b,9\n", "each stratum must have two or more clusters"),
        ("y,w,s,N\n1,1,a,9\n0,1,a,8\n", "population: expected one number for each stratum"),
        ("y,w,s,N\n1,1,a,1\n0,1,a,1\n", "population: expected at least the 2 that were drawn"),
    ],
)
def test_wrong_samples_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    design = FORCED + '[sample]\nweights = "w"\nstrata = "s"\npopulation = "N"\n'
    with pytest.raises(DataError, match=message):
        _data(tmp_path, rows, design)


def _column(codes: list[int] | NDArray[np.int64], matrix: list[list[float]]) -> Column:
    values = tuple("abc"[: len(matrix[0])])
    amounts = tuple(float(at) for at in range(len(values)))
    return from_matrix("y", values, np.asarray(codes), np.array(matrix), amounts)


def _by_term(rows: list[Estimate]) -> dict[str, Estimate]:
    return {row.term: row for row in rows}


def test_reports_without_a_row_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rows of the matrix, whole numbers of 0\.\.1, got 2"):
        _column([0, 1, 2], [[0.7, 0.3], [0.3, 0.7]])


def test_shares_are_those_of_textbooks() -> None:
    # Warner, JASA 1965: with p = .7 and 400 of 1000 "yes" the share is (.4 - .3) / .4 = .25, and
    # its variance is .4 * .6 / 1000 / .16.
    column = _column([1] * 400 + [0] * 600, [[0.7, 0.3], [0.3, 0.7]])
    row = _by_term(column_estimates(column))["b"]
    assert row.estimate == pytest.approx(0.25)
    assert row.std_error == pytest.approx((0.4 * 0.6 / 1000) ** 0.5 / 0.4)
    assert row.conf_method == "clopper-pearson"
    assert row.epsilon == pytest.approx(np.log(7 / 3))
    # In R: binom.test(400, 1000)$conf.int is 0.369469 to 0.431126.
    assert row.conf_low == pytest.approx((0.369469 - 0.3) / 0.4, abs=1e-4)
    assert row.conf_high == pytest.approx((0.431126 - 0.3) / 0.4, abs=1e-4)


def test_matrices_of_any_kind_give_unbiased_shares_and_means() -> None:
    matrix = [[0.6, 0.2, 0.1], [0.3, 0.5, 0.3], [0.1, 0.3, 0.6]]
    truth = np.array([0.5, 0.3, 0.2])
    law = np.array(matrix) @ truth
    # These are all samples of three respondents, with their probabilities.
    expected = np.zeros(3)
    mean = 0.0
    for codes in product(range(3), repeat=3):
        rows = _by_term(column_estimates(_column(list(codes), matrix)))
        chance = float(np.prod(law[list(codes)]))
        expected += chance * np.array([rows[term].estimate for term in "abc"])
        found = rows["mean"].estimate
        assert found is not None
        mean += chance * found
    assert expected == pytest.approx(truth)
    assert mean == pytest.approx(float(truth @ [0, 1, 2]))


def test_equal_weights_change_nothing_but_the_interval() -> None:
    column = _column([1] * 40 + [0] * 60, [[0.7, 0.3], [0.3, 0.7]])
    plain = _by_term(column_estimates(column))["b"]
    row = _by_term(column_estimates(column, sample=_one_by_one(np.full(100, 2.0))))["b"]
    assert row.estimate == pytest.approx(plain.estimate)
    # The variance has n - 1.
    assert row.std_error == pytest.approx(plain.std_error * (100 / 99) ** 0.5)
    assert row.conf_method == "korn-graubard"
    assert row.conf_low == pytest.approx(plain.conf_low, abs=0.002)


def test_variance_of_a_finite_sample_is_unbiased_whatever_part_was_asked() -> None:
    # Two strata of a whole population, of which all samples are drawn, and all reports made.
    keep = 0.8
    people = {0: [1, 0, 1], 1: [0, 1]}
    sizes, drawn = {0: 3, 1: 2}, {0: 2, 1: 2}
    truth = sum(map(sum, people.values())) / 5
    weights = np.array([1.5, 1.5, 1.0, 1.0])
    strata = np.array([0, 0, 1, 1])
    fractions = np.array([drawn[at] / sizes[at] for at in (0, 1)])
    sample = Sample(weights, strata, np.arange(4), fractions)
    scores = np.array([(0 - (1 - keep)) / (2 * keep - 1), keep / (2 * keep - 1)])
    chance_of_sample = 1 / 3
    mean = second = stated = 0.0
    for first in combinations(people[0], 2):
        true = np.array([*first, *people[1]])
        for reports in product((0, 1), repeat=4):
            told = np.array(reports)
            chance = chance_of_sample * float(np.prod(np.where(told == true, keep, 1 - keep)))
            own = scores[told]
            found, variance = sample.ratio(own, np.ones(4), own**2 - own)
            mean += chance * found
            second += chance * found**2
            stated += chance * variance
    assert mean == pytest.approx(truth)
    assert stated == pytest.approx(second - mean**2)


@pytest.mark.more
def test_weighted_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(11)
    matrix = np.array([[0.6, 0.2, 0.1], [0.3, 0.5, 0.3], [0.1, 0.3, 0.6]])
    # Three in four of the population are of the first stratum, but half of the sample.
    laws = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    truth = 0.75 * laws[0] + 0.25 * laws[1]
    strata = np.repeat([0, 1], 200)
    sample = Sample(np.where(strata == 0, 1.5, 0.5), strata, np.arange(400), np.zeros(2))
    held = 0
    for _ in range(200):
        answers = (rng.random((400, 1)) > laws.cumsum(axis=1)[strata, :2]).sum(axis=1)
        codes = (rng.random((400, 1)) > matrix.cumsum(axis=0).T[answers, :2]).sum(axis=1)
        rows = _by_term(column_estimates(_column(codes, matrix.tolist()), sample=sample))
        held += sum(
            rows[t].conf_low <= p <= rows[t].conf_high for t, p in zip("abc", truth, strict=True)
        )
        mean = rows["mean"]
        held += mean.conf_low <= truth @ [0, 1, 2] <= mean.conf_high
    # 760 of 800 are expected, four dependent ones at a time; fewer than 730 with probability below
    # 1e-4.
    assert held >= 730
