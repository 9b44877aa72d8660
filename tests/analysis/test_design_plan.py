"""Plans of designs from elsewhere agree with enumeration, published errors and simulation."""

from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from scipy.stats import binom

from analysis.estimate.columns.design_file import read_designs
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.latent import fitted
from analysis.estimate.columns.latent_design import LatentDesign
from analysis.estimate.columns.matrix_design import MatrixDesign
from analysis.study.design_plan import DesignPlan, Goals, design_plan

FOLDER = Path(__file__).parents[2] / "examples/elsewhere"


def _plan(
    name: str,
    n: int,
    stated: dict[str, float],
    nulls: dict[str, float] | None = None,
    goals: Goals | None = None,
) -> dict[str, DesignPlan]:
    ((column, design),) = read_designs(FOLDER / f"{name}.toml").columns.items()
    rows = design_plan(column, design, n, stated, nulls or {}, goals or Goals())
    return {row.term: row for row in rows}


def test_half_widths_and_power_of_dice_are_sums_over_all_counts() -> None:
    design = read_designs(FOLDER / "dice.toml").columns["joined"]
    assert isinstance(design, MatrixDesign)
    n, true, null = 80, 0.3, 0.05
    weights = binom.pmf(np.arange(n + 1), n, 1 / 6 + true * 2 / 3)
    width = power = 0.0
    for count, weight in enumerate(weights):
        codes = np.repeat([0, 1], [n - count, count])
        row = column_estimates(design.column("joined", codes))[1]
        width += weight * (row.conf_high - row.conf_low) / 2
        power += weight * (not row.conf_low <= null <= row.conf_high)
    found = _plan("dice", n, {"1": true}, {"1": null})["1"]
    assert found.half_width == pytest.approx(width)
    assert found.power == pytest.approx(power)
    assert found.method == "exact"


def test_respondents_are_as_many_as_it_takes() -> None:
    goals = Goals(half_width=0.06, power=0.9)
    found = _plan("dice", 500, {"1": 0.3}, {"1": 0.2}, goals)["1"]
    needed, powered = not_none(found.respondents_needed), not_none(found.respondents_for_power)
    assert _plan("dice", needed, {"1": 0.3})["1"].half_width <= 0.06
    assert _plan("dice", needed - 1, {"1": 0.3})["1"].half_width > 0.06
    assert not_none(_plan("dice", powered, {"1": 0.3}, {"1": 0.2})["1"].power) >= 0.9
    normal = _plan("lie-detector", 500, {"yes": 0.2, "t": 0.75}, {"yes": 0.1}, goals)["yes"]
    again = _plan(
        "lie-detector",
        not_none(normal.respondents_for_power),
        {"yes": 0.2, "t": 0.75},
        {"yes": 0.1},
    )
    assert again["yes"].power == pytest.approx(0.9, abs=0.001)


def test_without_stated_shares_the_least_favorable_are_used() -> None:
    assert _plan("dice", 400, {})["1"].value == pytest.approx(0.5, abs=0.01)
    assert _plan("lie-detector", 400, {})["t"].value == 0.5


def test_the_error_of_the_lie_detector_is_the_published_one() -> None:
    # Moshagen, Musch and Erdfelder 2012.
    share, t, p, q, n = 0.2, 0.75, 0.2, 0.8, 1000
    rates = [share * t + (1 - share) * (1 - x) for x in (p, q)]
    error = (sum(x * (1 - x) / (n / 2) for x in rates) / (q - p) ** 2) ** 0.5
    found = _plan("lie-detector", n, {"yes": share, "t": t})
    assert found["yes"].half_width == pytest.approx(1.959964 * error, rel=1e-4)
    assert found["yes"].method == "normal"


def test_the_error_with_an_anchor_is_for_the_same_people() -> None:
    share, attentive, p, n = 0.25, 0.85, 0.2, 1000
    same = np.array([[0.0, 0.0], [0.0, 0.0]])
    for has, careful in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = (share if has else 1 - share) * (attentive if careful else 1 - attentive)
        own = (p if has else 1 - p) if careful else 0.5
        anchor = 1 - p if careful else 0.5
        same += weight * np.outer([1 - own, own], [1 - anchor, anchor])
    one, other = same[1].sum(), same[:, 1].sum()
    covariance = np.array(
        [
            [one * (1 - one), same[1, 1] - one * other],
            [same[1, 1] - one * other, other * (1 - other)],
        ]
    )
    # The delta method for 1/2 + (one - 1/2) / (2p - 1) / attentive, as Atsusaka and Stevenson do
    # it.
    found = (other - 0.5) / (0.5 - p)
    slopes = np.array([1 / found / (2 * p - 1), -(one - 0.5) / (2 * p - 1) / found**2 / (0.5 - p)])
    error = (slopes @ covariance @ slopes / n) ** 0.5
    row = _plan("anchor", n, {"same": share, "attentive": attentive})["same"]
    assert row.half_width == pytest.approx(1.959964 * error, rel=1e-4)


def test_the_error_of_a_scrambled_number_follows_from_its_moments() -> None:
    numbers, factors = np.array([1000.0, 3000.0]), np.array([1 - 3**-0.5, 1 + 3**-0.5])
    reports = np.concatenate([numbers, numbers, np.outer(numbers, factors).ravel()])
    found = _plan("scrambled", 400, {"mean": 2000, "sd": 1000})["mean"]
    assert found.half_width == pytest.approx(1.959964 * reports.std() / 20, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "stated", "nulls", "message"),
    [
        ("dice", {"2": 0.1}, {}, 'column "joined": expected one of 0, 1, got 2'),
        ("dice", {"1": 1.1}, {}, r"share of 1 must be in \[0, 1\], got 1.1"),
        ("dice", {"1": 0.6, "0": 0.6}, {}, "shares must sum to 1, got 1.2"),
        ("dice", {"1": 0.1}, {"1": 0.1}, "null of 1 must differ from the true 0.1"),
        ("dice", {"1": 0.1}, {"1": -1}, r"null of 1 must be in \[0, 1\], got -1"),
        ("dice", {"1": 0.1}, {"2": 0.3}, "expected one of 0, 1, got 2"),
        ("dice", {}, {"1": 0.3}, "its power needs the true share of 1, got none"),
        ("lie-detector", {"t": 2}, {}, r"t must be in \[0, 1\], got 2"),
        ("lie-detector", {"yes": 0, "no": 1}, {}, "the unknown numbers are not identified"),
        ("scrambled", {"mean": 5}, {}, "expected the true mean of the numbers and an sd >= 0"),
    ],
)
def test_wrong_plans_are_refused(
    name: str, stated: dict[str, float], nulls: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _plan(name, 100, stated, nulls)


@pytest.mark.more
def test_planned_power_of_the_lie_detector_is_that_of_made_up_surveys() -> None:
    design = read_designs(FOLDER / "lie-detector.toml").columns["used"]
    assert isinstance(design, LatentDesign)
    truth, row, rng = np.array([0.8, 0.2, 0.75]), np.array([0.0, 1, 0]), np.random.default_rng(7)
    chances, found = design.law.chances(truth).reshape(2, 2), 0
    for _ in range(500):
        counts = np.concatenate([rng.multinomial(600, each) for each in chances]).astype(float)
        found += not fitted(design.law, counts).allows(row, 0.1, 0.95)
    planned = not_none(
        _plan("lie-detector", 1200, {"yes": 0.2, "t": 0.75}, {"yes": 0.1})["yes"].power
    )
    # The standard error of the simulation is .02; the profile likelihood is not quite normal.
    assert found / 500 == pytest.approx(planned, abs=0.1)
