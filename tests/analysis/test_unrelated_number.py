"""Numbers that are replaced by an unrelated number of unknown mean, in two samples."""

from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from scipy.stats import t

from analysis.core.errors import DataError, SurveyError
from analysis.estimate.columns.data_file import read_data
from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.measured import IntervalOptions
from analysis.estimate.columns.sample import one_by_one
from analysis.estimate.columns.unrelated_number import UnrelatedNumberColumn, UnrelatedNumberDesign

FOLDER = Path(__file__).parents[2] / "examples/elsewhere"
DESIGN = UnrelatedNumberDesign("form", {"A": 0.75, "B": 0.25})


def test_both_means_are_those_of_greenberg_and_others() -> None:
    designs = read_designs(FOLDER / "unrelated-number.toml")
    column = read_data(FOLDER / "unrelated-number.csv", designs).measured["drinks"]
    assert isinstance(column, UnrelatedNumberColumn)
    parts = [column.reports[column.where == at] for at in (0, 1)]
    (one, other), (p, q) = (part.mean() for part in parts), (0.75, 0.25)
    spread = [part.var(ddof=1) / 400 for part in parts]
    mean, unrelated = column.estimates(IntervalOptions(), None)
    assert mean.estimate == pytest.approx(((1 - q) * one - (1 - p) * other) / (p - q))
    error = ((1 - q) ** 2 * spread[0] + (1 - p) ** 2 * spread[1]) ** 0.5 / (p - q)
    assert mean.std_error == pytest.approx(error)
    assert unrelated.estimate == pytest.approx((p * other - q * one) / (p - q))
    assert mean.conf_low < 12 < mean.conf_high
    assert unrelated.conf_low < 18 < unrelated.conf_high


def test_weights_count_respondents_as_often() -> None:
    rng = np.random.default_rng(1)
    reports, where = rng.normal(10, 3, 60), np.arange(60) % 2
    weights = rng.integers(1, 4, 60)
    column = UnrelatedNumberColumn("y", DESIGN, reports, where)
    often = UnrelatedNumberColumn(
        "y", DESIGN, np.repeat(reports, weights), np.repeat(where, weights)
    )
    found = column.estimates(IntervalOptions(), one_by_one(weights.astype(float)))
    for row, other in zip(found, often.estimates(IntervalOptions(), None), strict=True):
        assert row.estimate == pytest.approx(other.estimate)


def test_small_samples_have_the_degrees_of_freedom_of_their_variances() -> None:
    rng, held = np.random.default_rng(2), 0
    where = np.repeat([0, 1], [3, 40])
    for _ in range(600):
        reports = rng.normal(10, np.where(where == 0, 4.0, 1.0))
        column = UnrelatedNumberColumn("y", DESIGN, reports, where)
        mean = column.estimates(IntervalOptions(), None)[0]
        held += mean.conf_low <= 10 <= mean.conf_high
    # Nearly all of the variance comes from three reports, with two degrees of freedom.
    parts = [DESIGN.slopes[0, at] ** 2 * reports[where == at].var(ddof=1) for at in (0, 1)]
    parts = [part / size for part, size in zip(parts, (3, 40), strict=True)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 39)
    reach = t.ppf(0.975, freedom) * sum(parts) ** 0.5
    assert mean.conf_high - not_none(mean.estimate) == pytest.approx(reach)
    # With 42 degrees of freedom, and one variance for all, .76 of 4,000 hold; here .953 do.
    assert 0.92 < held / 600 < 0.98


def test_identical_reports_have_no_error() -> None:
    column = UnrelatedNumberColumn("y", DESIGN, np.full(6, 7.0), np.arange(6) % 2)
    mean, _ = column.estimates(IntervalOptions(), None)
    assert (mean.conf_low, mean.conf_high) == pytest.approx((7.0, 7.0))


def test_plans_have_the_error_of_large_samples() -> None:
    stated = {"mean": 12.0, "sd": 6.9, "unrelated": 18.0, "unrelated_sd": 4.2}
    mean, _ = DESIGN.precision(stated)
    rng, n, found = np.random.default_rng(3), 400, []
    where = np.arange(n) % 2
    for _ in range(400):
        own = rng.random(n) < np.where(where == 0, 0.75, 0.25)
        reports = np.where(own, rng.normal(12, 6.9, n), rng.normal(18, 4.2, n))
        rows = UnrelatedNumberColumn("y", DESIGN, reports, where).estimates(IntervalOptions(), None)
        found.append(not_none(rows[0].estimate))
    # The relative standard error of 400 samples is .035.
    assert np.std(found) == pytest.approx((mean.variance / n) ** 0.5, rel=0.1)
    with pytest.raises(ValueError, match="expected mean, sd, unrelated, unrelated_sd"):
        DESIGN.precision({"mean": 12.0, "sd": 6.9})


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("truth = 0.5", "truth must be a table of two samples, since the mean"),
        ("truth = {A = 0.5, B = 0.5}", "truth must differ between both samples, got 0.5 twice"),
        ("truth = {A = 0.5, B = 2}", "sample B: truth must be a probability from 0 to 1"),
        ("truth = {A = 0.5, B = 0.2}, add = {mean = 0, sd = 1}", 'unknown key "add"'),
    ],
)
def test_wrong_designs_are_refused(tmp_path: Path, design: str, message: str) -> None:
    path = tmp_path / "design.toml"
    text = f'design = {{name = "scrambled", replace = "unknown", {design}}}'
    path.write_text(f'[columns.y]\nsample = "s"\n{text}\n')
    with pytest.raises(SurveyError, match=message):
        read_designs(path)


def test_a_sample_without_people_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("drinks,form\n3,A\n4,A\n5,B\n")
    designs = read_designs(FOLDER / "unrelated-number.toml")
    with pytest.raises(DataError, match="expected at least 2 respondents in sample B, got 1"):
        read_data(path, designs)
