"""Poisson models of counts over different times."""

import sys
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from scipy.special import expit, gammaln

from analysis.study.regression import regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from test_regression import Array, direct, krr, people, reported


def test_an_offset_is_that_of_statsmodels() -> None:
    rng, age = people(500, 1)
    hours = rng.uniform(1, 40, 500)
    y = rng.poisson(hours * np.exp(-3 + 0.4 * age))
    known = {"y": y, "age": age, "hours": hours}
    design = np.column_stack([np.ones(500), age])
    other = sm.Poisson(y, design, offset=np.log(hours)).fit(disp=0)
    found = regress("y ~ age", {}, known, family="poisson", offset="log(hours)")
    assert [term.estimate for term in found.terms] == pytest.approx(other.params, abs=1e-5)
    assert [term.std_error for term in found.terms] == pytest.approx(other.bse, abs=1e-5)
    assert found.log_likelihood == pytest.approx(other.llf)
    known["log"] = np.log(hours)
    again = regress("y ~ age", {}, known, family="poisson", offset="log")
    assert again.terms == found.terms


def test_an_offset_goes_with_a_randomized_predictor() -> None:
    rng, _ = people(1200, 2)
    latent = (rng.random(1200) < 0.4).astype(int)
    hours = rng.integers(1, 5, 1200).astype(float)
    y = rng.poisson(hours * np.exp(-0.5 + 0.7 * latent))
    matrix = krr(2, 2.0)
    columns = {"x": reported(rng, "x", "no yes", latent, matrix)}

    def fall(b: Array) -> float:
        share = expit(b[2] + b[3] * np.log(hours))
        each = [
            np.log(weight * matrix[columns["x"].codes, x])
            + y * (b[0] + b[1] * x + np.log(hours))
            - hours * np.exp(b[0] + b[1] * x)
            - gammaln(y + 1)
            for x, weight in ((0, 1 - share), (1, share))
        ]
        return -float(np.logaddexp(*each).sum())

    parameters, errors = direct(fall, np.array([-0.5, 0.7, -0.4, 0.0]))
    known = {"y": y, "hours": hours}
    found = regress("y ~ x", columns, known, family="poisson", offset="log(hours)")
    assert [term.estimate for term in found.terms] == pytest.approx(parameters[:2], abs=1e-4)
    assert [term.std_error for term in found.terms] == pytest.approx(errors[:2], abs=1e-3)
    # Counts follow the law only if the hours are taken into account.
    assert not any("speak against" in message for message in found.messages)
    without = regress("y ~ x", columns, known, family="poisson")
    assert any("speak against" in message for message in without.messages)
    scores = regress("y ~ x", columns, known, family="poisson", offset="log(hours)", se="sandwich")
    for term, true in zip(scores.terms, (-0.5, 0.7), strict=True):
        assert abs(not_none(term.estimate) - true) < 4 * not_none(term.std_error) < 0.6


def test_people_who_are_observed_for_longer_may_answer_differently() -> None:
    estimates, covered = [], 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        latent = rng.integers(0, 2, 2000)
        is_long = rng.random(2000) < np.where(latent == 1, 0.8, 0.2)
        hours = np.where(is_long, 10.0, 1.0)
        y = rng.poisson(hours * np.exp(-1 + 0.5 * latent))
        columns = {"x": reported(rng, "x", "no yes", latent, krr(2, 1.0))}
        known = {"y": y, "hours": hours}
        slope = regress("y ~ x", columns, known, family="poisson", offset="log(hours)").terms[1]
        estimates.append(not_none(slope.estimate))
        covered += not_none(slope.conf_low) <= 0.5 <= not_none(slope.conf_high)
    # Without hours in the law of the latent answer, the mean is 0.40 and 15 are covered.
    assert abs(np.mean(estimates) - 0.5) < 4 * np.std(estimates) / 40**0.5 < 0.06
    assert covered >= 33
