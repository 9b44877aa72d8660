"""Designs of several samples or with unknowns agree with the published estimators."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from analysis.core.errors import DataError, SurveyError
from analysis.estimate.columns.data_file import Data, read_data
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.latent import Law, fitted
from analysis.estimate.columns.latent_column import LatentColumn
from analysis.estimate.columns.latent_design import LatentDesign
from analysis.estimate.columns.measured import FitTest, IntervalOptions
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.estimate.estimates import Estimate

FOLDER = Path(__file__).parents[2] / "examples/elsewhere"
CROSSWISE = '[columns.y]\nvalues = ["no", "yes"]\nsample = "s"\n'


def _example(name: str) -> Data:
    return read_data(FOLDER / f"{name}.csv", read_designs(FOLDER / f"{name}.toml"))


def _estimates(name: str) -> dict[str, Estimate]:
    table = _example(name)
    (measured,) = table.measured.values()
    return {row.term: row for row in measured.estimates(IntervalOptions(), table.sample)}


def _rates(name: str, column: str, yes: str = "yes") -> tuple[NDArray[np.float64], int]:
    """Return the share of yes in samples A and B, and how many are in each."""
    lines = (FOLDER / f"{name}.csv").read_text().splitlines()
    at, form = (lines[0].split(",").index(key) for key in (column, "form"))
    rows = [line.split(",") for line in lines[1:]]
    parts = [[row[at] == yes for row in rows if row[form] == sample] for sample in "AB"]
    assert len(parts[0]) == len(parts[1])
    return np.array([np.mean(part) for part in parts]), len(parts[0])


def _close(row: Estimate, value: float, error: float) -> None:
    assert row.estimate == pytest.approx(value, abs=1e-6)
    assert row.std_error == pytest.approx(error, rel=1e-4)
    assert row.conf_low < value < row.conf_high


def test_unrelated_questions_of_unknown_prevalence_are_those_of_greenberg_and_others() -> None:
    (one, two), n = _rates("unrelated", "cheated")
    p, q = 0.7, 0.3
    share = (one * (1 - q) - two * (1 - p)) / (p - q)
    spread = [rate * (1 - rate) / n for rate in (one, two)]
    error = (spread[0] * (1 - q) ** 2 + spread[1] * (1 - p) ** 2) ** 0.5 / (p - q)
    rows = _estimates("unrelated")
    _close(rows["yes"], share, error)
    unrelated = (two * p - one * q) / (p - q)
    _close(rows["prevalence"], unrelated, (spread[0] * q**2 + spread[1] * p**2) ** 0.5 / (p - q))


def test_the_lie_detector_is_that_of_moshagen_and_others() -> None:
    (one, two), n = _rates("lie-detector", "used")
    p, q = 0.2, 0.8
    apart = two - one + q - p
    spread = [rate * (1 - rate) / n for rate in (one, two)]
    rows = _estimates("lie-detector")
    _close(rows["yes"], apart / (q - p), (sum(spread) / (q - p) ** 2) ** 0.5)
    honest = (two * (1 - p) - one * (1 - q)) / apart
    slopes = ((p - q) * (q + two - 1) / apart**2, (p - q) * (p + one - 1) / apart**2)
    error = (spread[0] * slopes[0] ** 2 + spread[1] * slopes[1] ** 2) ** 0.5
    _close(rows["t"], honest, error)


def test_cheaters_are_detected_as_by_clark_and_desharnais() -> None:
    (one, two), n = _rates("cheater", "stole")
    p, q = 0.25, 0.75
    honest_no = (two - one) / (q - p)
    share = (q * one - p * two) / (q - p)
    spread = [rate * (1 - rate) / n for rate in (one, two)]
    rows = _estimates("cheater")
    _close(rows["yes"], share, (q**2 * spread[0] + p**2 * spread[1]) ** 0.5 / (q - p))
    _close(rows["no"], honest_no, sum(spread) ** 0.5 / (q - p))
    error = ((1 - q) ** 2 * spread[0] + (1 - p) ** 2 * spread[1]) ** 0.5 / (q - p)
    _close(rows["cheater"], 1 - share - honest_no, error)


def test_careless_answers_are_corrected_as_by_atsusaka_and_stevenson() -> None:
    lines = (FOLDER / "anchor.csv").read_text().splitlines()[1:]
    same = np.array([[cell == "same" for cell in line.split(",")] for line in lines], dtype=float)
    (rate, anchor), p = same.mean(axis=0), 0.2
    naive = (rate + p - 1) / (2 * p - 1)
    attentive = (anchor - 1 / 2) / (1 / 2 - p)
    bias = (1 / 2 - 1 / (2 * attentive)) * (rate - 1 / 2) / (p - 1 / 2)
    # By the delta method; the same people answered both.
    slopes = np.array(
        [1 / attentive / (2 * p - 1), -(rate - 0.5) / (2 * p - 1) / attentive**2 / (0.5 - p)]
    )
    rows = _estimates("anchor")
    error = float(slopes @ (np.cov(same.T) / len(same)) @ slopes) ** 0.5
    _close(rows["same"], naive - bias, error)
    _close(rows["attentive"], attentive, same[:, 1].std(ddof=1) / len(same) ** 0.5 / (0.5 - p))
    assert rows["same"].conf_method == "scaled-profile-likelihood"


def test_two_crosswise_samples_are_fitted_together_and_compared() -> None:
    rates, n = _rates("extended-crosswise", "skipped")
    counts = np.array([rates * n, (1 - rates) * n])

    def height(share: float) -> float:
        yes = share * np.array([0.25, 0.75]) + (1 - share) * np.array([0.75, 0.25])
        return float((counts * np.log([yes, 1 - yes])).sum())

    best = minimize_scalar(lambda x: -height(x), bounds=(0, 1), options={"xatol": 1e-10})
    table = _example("extended-crosswise")
    rows = _estimates("extended-crosswise")
    assert rows["yes"].estimate == pytest.approx(best.x, abs=1e-5)
    for end in (rows["yes"].conf_low, rows["yes"].conf_high):
        assert 2 * (height(best.x) - height(end)) == pytest.approx(3.841459, abs=1e-3)
    saturated = float((counts * np.log(counts / n)).sum())
    fit = table.measured["skipped"].fit_test(None)
    assert isinstance(fit, FitTest)
    assert (fit.df, fit.few) == (1, False)
    assert fit.statistic == pytest.approx(2 * (saturated - height(best.x)), abs=1e-5)
    column = table.columns["skipped"]
    scored = column.scores[column.codes, 1].mean()
    assert scored == pytest.approx((0.75 - rates[0] + rates[1] - 0.25) / 2 / 0.5)


def test_profiles_are_those_of_the_likelihood_on_a_grid() -> None:
    design = read_designs(FOLDER / "lie-detector.toml").columns["used"]
    assert isinstance(design, LatentDesign)
    counts = np.array([180.0, 220, 310, 90])
    share, t = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801), indexing="ij")
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = [share * t + (1 - share) * (1 - p) for p in (0.2, 0.8)]
        height = sum(
            no * np.log(1 - chance) + one * np.log(chance)
            for chance, no, one in zip(yes, counts[::2], counts[1::2], strict=True)
        )
    height = np.nan_to_num(height, nan=-np.inf)
    found = fitted(design.law, counts)
    for row, axis in ((np.array([0.0, 1, 0]), 1), (np.array([0.0, 0, 1]), 0)):
        profile = 2 * (height.max() - height.max(axis=axis))
        inside = np.linspace(0, 1, 801)[profile <= 3.841459]
        ends = found.interval(row)
        assert ends == pytest.approx((inside[0], inside[-1]), abs=1.5 / 800)


def test_estimates_are_possible_and_say_where_they_are_at_the_border() -> None:
    # More people say yes where the card says it less often, so nobody is an honest no.
    design = read_designs(FOLDER / "cheater.toml").columns["stole"]
    assert isinstance(design, LatentDesign)
    found = fitted(design.law, np.array([50.0, 50, 60, 40]))
    assert found.parameters == pytest.approx([0, 0.45, 0.55], abs=1e-6)
    low, high = found.interval(np.array([1.0, 0, 0]))
    assert low == 0
    assert 0.01 < high < 0.5


@pytest.mark.parametrize("name", ["unrelated", "lie-detector", "cheater", "anchor"])
def test_names_are_shorthands_for_the_matrices_beside_them(tmp_path: Path, name: str) -> None:
    text = (FOLDER / f"{name}.toml").read_text()
    head, matrices = text.split("The same as matrices")
    lines = [line[2:] for line in matrices.splitlines() if re.match(r"# [\w.]+ = ", line)]
    kept = [line for line in head.splitlines() if not re.match(r"design|yes|#", line)]
    given = {line.split(" = ")[0] for line in lines}
    kept = [line for line in kept if line.split(" = ")[0] not in given]
    path = tmp_path / "design.toml"
    path.write_text("\n".join([*kept, *lines]))
    (named,) = read_designs(FOLDER / f"{name}.toml").columns.values()
    (written,) = read_designs(path).columns.values()
    assert isinstance(named, LatentDesign)
    assert isinstance(written, LatentDesign)
    assert written.law.corners == pytest.approx(named.law.corners)
    assert written.law.blocks.tolist() == named.law.blocks.tolist()


def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_examples_are_what_their_program_makes(tmp_path: Path) -> None:
    maker = _maker()
    maker.write(tmp_path)
    for name in maker.MADE:
        assert (tmp_path / f"{name}.csv").read_bytes() == (FOLDER / f"{name}.csv").read_bytes()


def test_equal_weights_change_an_interval_by_hardly_more_than_students_t() -> None:
    table = _example("lie-detector")
    (measured,) = table.measured.values()
    plain = measured.estimates(IntervalOptions(), None)
    weighted = measured.estimates(IntervalOptions(), one_by_one(np.full(1000, 3.0)))
    for one, other in zip(plain, weighted, strict=True):
        assert other.estimate == pytest.approx(one.estimate, abs=1e-6)
        # With n - 1 in the variance, and with rates that differ between the samples as drawn.
        assert other.std_error == pytest.approx(one.std_error, rel=0.01)
        assert other.conf_low == pytest.approx(one.conf_low, abs=0.003)
        assert other.conf_method == "scaled-profile-likelihood"


def test_identical_reports_have_intervals_of_some_width() -> None:
    table = _example("anchor")
    (measured,) = table.measured.values()
    assert isinstance(measured, LatentColumn)
    alike = replace(measured, cells=np.tile(np.array([1, 3]), (500, 1)))
    weights = np.random.default_rng(1).exponential(size=500)
    for sample in (None, one_by_one(weights), Sample(weights, *_nothing(500), np.ones(1))):
        rows = alike.estimates(IntervalOptions(), sample)
        assert min(row.conf_high - row.conf_low for row in rows) > 0.001


def _nothing(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return strata and clusters of a simple sample."""
    return np.zeros(n, dtype=np.int64), np.arange(n)


def test_clusters_of_people_who_answer_alike_widen_intervals() -> None:
    table = _example("extended-crosswise")
    (measured,) = table.measured.values()
    sample = one_by_one(np.ones(measured.n))
    order = np.argsort(measured.column.codes, kind="stable")
    clusters = np.zeros(measured.n, dtype=np.int64)
    clusters[order] = np.arange(measured.n) // 6
    narrow = measured.estimates(IntervalOptions(), sample)[1]
    wide = measured.estimates(
        IntervalOptions(), type(sample)(sample.weights, sample.strata, clusters, sample.fractions)
    )[1]
    assert (wide.std_error or 0) / (narrow.std_error or 1) == pytest.approx(6**0.5, rel=0.05)
    assert wide.conf_high - wide.conf_low > 2 * (narrow.conf_high - narrow.conf_low)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('design = {name = "crosswise", prevalence = {A = 0.2}}', "expected two or more samples"),
        (
            'unknown = ["t", "t"]\nmatrix = [["t", 0], ["1 - t", 1]]',
            "unknown must be a list of at most 4 different names, each a letter or _ followed by",
        ),
        ('design = {name = "lie-detector", p = 0.2}', "sample must be left out, since no matrix"),
        ('design = {name = "warner", p = "unknown"}', "sample must be left out"),
        (
            'design = {name = "cheater-detection", p_yes = {A = 0.2, B = 0.2}}',
            "reports do not identify the design: 2 unknown numbers, but 1 independent equation;",
        ),
        (
            'design = {name = "crosswise", prevalence = {A = 0.2, B = 2}}',
            "sample B: prevalence must",
        ),
        (
            'design = {name = "lie-detektor", p = {A = 0.2, B = 0.3}}',
            "name must be one of warner, ",
        ),
        (
            'unknown = ["t"]\nmatrix = {A = [["t", 0], ["1-t", 1]], C = [[1, 0], [0]]}',
            "sample C: matrix must be 2 rows, one for each report",
        ),
        (
            'unknown = ["t"]\nmatrix.A = [["t*t", 0], [0, 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "t twice",
        ),
        (
            'unknown = ["t"]\nmatrix.A = [["t", 0], ["t", 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "depends",
        ),
        (
            'unknown = ["t"]\nmatrix.A = [["2*t", 0], ["1-2*t", 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "got 2",
        ),
        ('unknown = ["t"]\nmatrix.A = [["u", 0], ["t", 1]]\nmatrix.B = [[1, 0], [0, 1]]', "got u"),
        (
            'unknown = ["t"]\nmatrix.A = [["t**2", 0], ["t", 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            r"got \*",
        ),
        (
            'unknown = ["t"]\nmatrix.A = [["1/t", 0], ["t", 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "after /",
        ),
        (
            'unknown = ["yes"]\nmatrix.A = [[1, 0], [0, 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "unknown must",
        ),
        (
            'unknown = "t"\nmatrix.A = [[1, 0], [0, 1]]\nmatrix.B = [[1, 0], [0, 1]]',
            "a list of at most 4",
        ),
    ],
)
def test_wrong_designs_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "design.toml"
    path.write_text(CROSSWISE + text + "\n")
    with pytest.raises(SurveyError, match=message):
        read_designs(path)


def test_a_file_without_one_of_the_samples_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("used,form\n" + "yes,A\nno,A\n" * 20)
    designs = read_designs(FOLDER / "lie-detector.toml")
    with pytest.raises(DataError, match=r'column "used": nobody is in the samples B'):
        read_data(path, designs)
    path.write_text("used,form\nyes,C\n")
    with pytest.raises(DataError, match='line 2: column "form": expected one of A, B, the samples'):
        read_data(path, designs)


def test_models_of_designs_with_unknowns_are_refused() -> None:
    for name in ("unrelated", "cheater", "anchor", "scrambled", "unrelated-number"):
        with pytest.raises(DataError, match=r"column \"\w+\": "):
            _ = _example(name).columns


@pytest.mark.more
def test_intervals_hold_the_truth_also_at_the_border() -> None:
    design = read_designs(FOLDER / "lie-detector.toml").columns["used"]
    assert isinstance(design, LatentDesign)
    rng = np.random.default_rng(4)
    for truth in ((0.8, 0.2, 0.75), (1.0, 0.0, 0.75)):
        held = _held(design.law, np.array(truth), rng, 150)
        # 0.95 is expected, with a standard error of 0.018.
        assert held.min() > 0.9


def _held(
    law: Law, truth: NDArray[np.float64], rng: np.random.Generator, times: int
) -> NDArray[np.float64]:
    """Return how often intervals hold for each parameter, with 300 respondents in each sample."""
    held, chances = np.zeros(law.size), law.chances(truth).reshape(2, 2)
    for _ in range(times):
        counts = np.concatenate([rng.multinomial(300, row) for row in chances]).astype(float)
        found = fitted(law, counts)
        held += [
            found.allows(row, at, 0.95) for row, at in zip(np.eye(law.size), truth, strict=True)
        ]
    return held / times


@pytest.mark.parametrize(
    ("matrix", "amounts", "message"),
    [
        ('[["1e400", "1/4"], ["1/4", "3/4"]]', "[0, 1]", r"sample A: .*value 1 .*: 1e\+400"),
        (
            '[["1/4", "1 - 1e400"], ["3/4", "1e400"]]',
            "[0, 1]",
            r"sample A: matrix must hold probabilities .*, got -1e\+400 in row 1 for value 2",
        ),
        ('[["1/4", "1/2"], ["3/4", "1/2"]]', "[0, 1e400]", r"amounts must be 2 numbers, .*1e\+100"),
        ('[["1/4", "1/2"], ["3/4", "1/2"]]', "[0, inf]", "amounts must be 2 numbers"),
        ('[["1/4", "1/2"], ["3/4", "1/2"]]', "[0, nan]", "amounts must be 2 numbers"),
    ],
)
def test_numbers_that_are_too_large_are_named_with_their_place(
    tmp_path: Path, matrix: str, amounts: str, message: str
) -> None:
    path = tmp_path / "design.toml"
    other = '[["3/4", "1/4"], ["1/4", "3/4"]]'
    path.write_text(
        f'[columns.y]\nvalues = ["no", "yes"]\nsample = "s"\namounts = {amounts}\n'
        f"matrix.A = {matrix}\nmatrix.B = {other}\n"
    )
    with pytest.raises(SurveyError, match=message):
        read_designs(path)
