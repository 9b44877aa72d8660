"""Average marginal effects agree with another program, and with the truth."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from scipy.special import expit

from analysis.study.regression import regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from errors_of_intervals import check_errors, error
from test_regression import krr, people, reported


def test_without_noise_effects_are_those_of_statsmodels() -> None:
    rng, age = people(700, 1)
    team = rng.integers(0, 2, 700)
    design = np.column_stack([np.ones(700), age, team])
    yes = (rng.random(700) < expit(design @ [-0.5, 0.8, 0.6])).astype(int)
    known = {"y": yes, "age": age, "team": np.where(team == 1, "b", "a")}
    found = regress("y ~ age + team", {}, known, effects=True)
    other = sm.Logit(yes, design).fit(disp=0).get_margeff(dummy=True)
    rows = [row for row in found.effects if row.value == "1"]
    assert [(row.predictor, row.change) for row in rows] == [("age", "slope"), ("team", "b - a")]
    assert [row.estimate for row in rows] == pytest.approx(other.margeff, abs=1e-5)
    assert [row.std_error for row in rows] == pytest.approx(other.margeff_se, abs=1e-5)
    assert (rows[0].conf_low, rows[0].conf_high) == pytest.approx(other.conf_int()[0], abs=1e-5)
    # Categories that a formula makes of numbers are compared, too.
    known["team"] = team + 1.0
    again = regress("y ~ age + C(team)", {}, known, effects=True)
    assert [(row.predictor, row.change) for row in again.effects[2:]] == [("team", "2 - 1")] * 2
    assert again.effects[3].estimate == pytest.approx(rows[1].estimate)


def test_the_slope_follows_functions_of_a_number() -> None:
    rng, age = people(400, 2)
    hours = rng.integers(1, 4, 400)
    y = rng.poisson(hours * np.exp(0.3 * age))
    known = {"y": y, "age": age, "hours": hours}
    of_hours = partial(regress, family="poisson", offset="log(hours)", effects=True)
    found = of_hours("y ~ center(age) + I(age**2)", {}, known)
    base, slope, square = (not_none(term.estimate) for term in found.terms)
    middle = age - age.mean()
    mean = hours * np.exp(base + slope * middle + square * age**2)
    (effect,) = found.effects
    assert (effect.predictor, effect.value) == ("age", "mean")
    assert effect.estimate == pytest.approx(np.mean(mean * (slope + 2 * square * age)), rel=1e-5)


@pytest.mark.more
def test_effects_of_latent_answers_cover_the_truth() -> None:
    # The other predictor is latent, too, so its shares count, and some people leave it out.
    errors, shares = [], np.array([0.4, 0.6])
    chance = expit(np.array([[-1.5, -0.5], [0.0, 1.0]]))
    truth = float((chance[1] - chance[0]) @ shares)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, z = rng.integers(0, 2, 1500), (rng.random(1500) < shares[1]).astype(int)
        y = (rng.random(1500) < chance[x, z]).astype(int)
        away = np.where(rng.random(1500) < 0.05, 2, z)
        columns = {
            "y": reported(rng, "y", "no yes", y, krr(2, 2.0)),
            "x": reported(rng, "x", "no yes", x, krr(2, 3.0)),
            "z": reported(rng, "z", "no yes no-answer", away, krr(3, 3.0)),
        }
        found = regress("y ~ x + z", columns, {}, effects=True)
        effect = next(row for row in found.effects if row.predictor == "x" and row.value == "yes")
        assert effect.change == "yes - no"
        errors.append(error(effect.estimate, effect.conf_low, effect.conf_high, truth))
        no = next(row for row in found.effects if row.predictor == "x" and row.value == "no")
        assert no.estimate == pytest.approx(-effect.estimate)
    check_errors(errors)


def test_effects_have_no_error_where_a_term_is_infinite() -> None:
    group = np.repeat([0, 1], [50, 80])
    known = {"g": group, "y": np.where(group == 1, np.arange(130) % 4 == 0, 0).astype(int)}
    found = regress("y ~ g", {}, known, effects=True)
    assert found.effects[1].estimate == pytest.approx(0.25)
    assert found.effects[1].std_error is None
    assert regress("y ~ g", {}, known).effects == ()
