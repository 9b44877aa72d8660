"""Scrambled numbers have exact expectations under simple laws, and intervals that hold."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from scipy.stats import t

from analysis.core.errors import DataError, SurveyError
from analysis.estimate.columns.data_file import read_data
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.measured import IntervalOptions
from analysis.estimate.columns.sample import Sample, one_by_one
from analysis.estimate.columns.scrambled import Moments, ScrambledColumn, ScrambledDesign

FOLDER = Path(__file__).parents[2] / "examples/elsewhere"
Law = dict[float, float]
ONE: Law = {1.0: 1.0}
NONE: Law = {0.0: 1.0}


def _moments(law: Law) -> Moments:
    mean = sum(x * chance for x, chance in law.items())
    return Moments(mean, sum((x - mean) ** 2 * chance for x, chance in law.items()) ** 0.5)


def _reports(truth: float, times: Law, plus: Law, number: float) -> list[tuple[float, float]]:
    """Return all reports on a number, with their probabilities."""
    scrambled = [
        (s * number + t, (1 - truth) * times[s] * plus[t]) for s, t in product(times, plus)
    ]
    return [(number, truth), *scrambled]


DESIGNS = [
    pytest.param(0.4, {0.5: 0.5, 2.0: 0.5}, NONE, id="Bar-Lev, Bobovitch and Boukai"),
    pytest.param(0.0, {0.5: 0.3, 1.5: 0.7}, NONE, id="Eichhorn and Hayre"),
    pytest.param(0.0, ONE, {-3.0: 0.2, 1.0: 0.5, 9.0: 0.3}, id="Pollock and Bek"),
    pytest.param(0.7, NONE, {2.0: 0.5, 5.0: 0.25, 11.0: 0.25}, id="Eriksson"),
    pytest.param(0.2, {0.5: 0.3, 1.5: 0.7}, {-3.0: 0.4, 4.0: 0.6}, id="all of it"),
]


@pytest.mark.parametrize(("truth", "times", "plus"), DESIGNS)
@pytest.mark.parametrize("number", [-2.0, 0.0, 3.5])
def test_debiased_numbers_and_squares_are_unbiased(
    truth: float, times: Law, plus: Law, number: float
) -> None:
    design = ScrambledDesign(truth, _moments(times), _moments(plus))
    reports, chances = np.array(_reports(truth, times, plus, number)).T
    once, square = design.debiased(reports)
    assert chances @ once == pytest.approx(number)
    assert chances @ square == pytest.approx(number**2)


def test_the_error_is_that_of_bar_lev_and_others() -> None:
    # Metrika 2004: the variance of the mean is (σ² + (μ² + σ²) C²) / n, where 1 + C² is
    # (p + (1 - p) (μ_S² + σ_S²)) / (p + (1 - p) μ_S)².
    p, times = 0.4, {0.5: 0.5, 2.0: 0.5}
    numbers = np.array([1.0, 2.0, 6.0])
    design = ScrambledDesign(p, _moments(times), Moments(0.0, 0.0))
    parts = [np.array(_reports(p, times, NONE, x)).T for x in numbers]
    once = np.concatenate([design.debiased(reports)[0] for reports, _ in parts])
    chances = np.concatenate([weights / 3 for _, weights in parts])
    spread = _moments(times)
    more = (p + (1 - p) * spread.square) / (p + (1 - p) * spread.mean) ** 2 - 1
    published = numbers.var() + (numbers**2).mean() * more
    assert chances @ once**2 - (chances @ once) ** 2 == pytest.approx(published)


def test_mean_and_variance_are_those_of_a_textbook() -> None:
    rng = np.random.default_rng(3)
    design = ScrambledDesign(0.5, Moments(1.0, 0.5), Moments(0.0, 0.0))
    reports = rng.gamma(3, 10, 400)
    mean, variance = ScrambledColumn("y", *design.debiased(reports)).estimates(
        IntervalOptions(), None
    )
    assert mean.estimate == pytest.approx(reports.mean())
    assert mean.std_error == pytest.approx(reports.std(ddof=1) / 20)
    reach = float(t.ppf(0.975, 399))
    assert mean.conf_high - reports.mean() == pytest.approx(reach * not_none(mean.std_error))
    # E[report²] = (1 + .5 * .25) E[X²].
    square = (reports**2).mean() / 1.125
    unbiased = square - reports.mean() ** 2 + reports.var(ddof=1) / 400
    assert variance.estimate == pytest.approx(unbiased)
    assert variance.conf_low >= 0


def test_a_census_still_has_the_error_of_scrambling() -> None:
    # These are all reports of a population of three, in which everybody is asked.
    people, times = (1.0, 2.0, 6.0), {0.5: 0.5, 1.5: 0.5}
    design = ScrambledDesign(0.0, _moments(times), Moments(0.0, 0.0))
    everybody = Sample(np.ones(3), np.zeros(3, dtype=int), np.arange(3), np.ones(1))
    means: list[float] = []
    stated: list[float] = []
    for factors in product(times, repeat=3):
        column = ScrambledColumn("y", *design.debiased(np.array(people) * factors))
        row = column.estimates(IntervalOptions(), everybody)[0]
        means.append(not_none(row.estimate))
        # The estimate of a variance may be below 0; its error is then 0.
        once, square = column.numbers, column.squares
        stated.append(everybody.ratio(once, np.ones(3), once**2 - square)[1])
    assert np.mean(means) == pytest.approx(np.mean(people))
    assert np.mean(stated) == pytest.approx(np.var(means))


def test_the_example_is_weighted() -> None:
    table = read_data(FOLDER / "scrambled.csv", read_designs(FOLDER / "scrambled.toml"))
    assert table.sample is not None
    mean, variance = table.measured["income"].estimates(IntervalOptions(), table.sample)
    column = table.measured["income"]
    assert isinstance(column, ScrambledColumn)
    weights, strata = table.sample.weights, table.sample.strata
    means = [column.numbers[strata == at].mean() for at in (0, 1)]
    north, south = weights[strata == 0][0], weights[strata == 1][0]
    share = south / (north + south)
    assert mean.estimate == pytest.approx(means[0] * (1 - share) + means[1] * share)
    spread = [column.numbers[strata == at].var(ddof=1) / 300 for at in (0, 1)]
    error = ((1 - share) ** 2 * spread[0] + share**2 * spread[1]) ** 0.5
    assert mean.std_error == pytest.approx(error)
    assert mean.conf_low < 2750 < mean.conf_high
    assert variance.conf_low < 2_125_000 < variance.conf_high


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ('{name = "scrambled"}', "expected multiply, add or both, or replace"),
        ('{name = "scrambled", truth = 1, add = {mean = 0, sd = 1}}', "truth below 1"),
        (
            '{name = "scrambled", add = {mean = 0}}',
            "add: sd must be a number of at least 0, got no",
        ),
        ('{name = "scrambled", add = {mean = 0, sd = -1}}', "sd must be a number of at least 0"),
        ('{name = "scrambled", add = 5}', "add must be a table of mean and sd, got 5"),
        ('{name = "scrambled", replace = {mean = 3, sd = 1}}', "must rise or fall with the number"),
        ('{name = "scrambled", times = 2, add = {mean = 0, sd = 1}}', 'unknown key "times"'),
        (
            '{name = "scrambled", add = {mean = 0, sd = 1}, replace = {mean = 0, sd = 1}}',
            "got add, replace",
        ),
    ],
)
def test_wrong_designs_are_refused(tmp_path: Path, design: str, message: str) -> None:
    path = tmp_path / "design.toml"
    path.write_text(f"[columns.y]\ndesign = {design}\n")
    with pytest.raises(SurveyError, match=message):
        read_designs(path)


def test_wrong_cells_are_refused(tmp_path: Path) -> None:
    design, path = tmp_path / "design.toml", tmp_path / "data.csv"
    design.write_text(
        '[columns.y]\ndesign = {name = "scrambled", add = {mean = 0, sd = 1}}\n', encoding="utf-8"
    )
    path.write_text("y\n1.5\nmany\n")
    with pytest.raises(DataError, match='line 3: column "y": expected a number, as in its design'):
        read_data(path, read_designs(design))
    path.write_text("y\n1.5\n")
    with pytest.raises(DataError, match=r'column "y": expected at least 2 respondents, got 1'):
        read_data(path, read_designs(design)).measured["y"].estimates(IntervalOptions(), None)


@pytest.mark.more
def test_intervals_of_means_and_variances_hold() -> None:
    rng, held = np.random.default_rng(8), np.zeros(2)
    design = ScrambledDesign(0.5, Moments(1.0, 1 / 3**0.5), Moments(0.0, 0.0))
    weights = np.repeat([0.5, 1.5], 300)
    for _ in range(500):
        numbers = rng.gamma(4, np.repeat([500, 750], 300))
        factors = np.where(rng.random(600) < 0.5, 1.0, rng.uniform(0, 2, 600))
        column = ScrambledColumn("y", *design.debiased(numbers * factors))
        rows = column.estimates(IntervalOptions(), one_by_one(weights))
        truth = (2750.0, 2_125_000.0)
        held += [
            row.conf_low <= true <= row.conf_high for row, true in zip(rows, truth, strict=True)
        ]
    # Of 500, .95 are expected, with a standard error of 5; the distribution of variances is skewed.
    assert held[0] >= 460
    assert held[1] >= 448
