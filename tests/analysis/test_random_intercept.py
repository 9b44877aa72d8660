"""Random intercepts agree with lme4, and with integrals that are written out."""

import sys
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from scipy.stats import norm

from analysis.study.regression import Regression, regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from test_regression import Array, krr, reported

#: On this grid the rule of rectangles is as good as exact.
GRID = np.linspace(-7, 7, 561)


def people(sizes: NDArray[np.int64], sigma: float, seed: int) -> dict[str, NDArray[Any]]:
    """Return true answers y, a predictor x, and their clusters."""
    rng = np.random.default_rng(seed)
    school = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.integers(0, 2, len(school))
    odds = -0.5 + 0.8 * x + sigma * rng.normal(size=len(sizes))[school]
    return {"y": (rng.random(len(odds)) < expit(odds)).astype(int), "x": x, "school": school}


def written_out(
    known: dict[str, NDArray[Any]], codes: NDArray[Any], matrix: Array, at: Array
) -> float:
    """Return the log-likelihood at an intercept, a slope and sigma."""
    odds = at[0] + at[1] * known["x"][:, None] + at[2] * GRID
    of_no, of_yes = matrix[codes].T[:, :, None]
    each = np.log(of_no * expit(-odds) + of_yes * expit(odds))
    inner = np.zeros((known["school"].max() + 1, len(GRID)))
    np.add.at(inner, known["school"], each)
    return float(logsumexp(inner + norm.logpdf(GRID) + np.log(GRID[1] - GRID[0]), axis=1).sum())


def estimates(found: Regression) -> Array:
    return np.array([not_none(term.estimate) for term in found.terms])


def test_without_noise_it_is_what_lme4_finds() -> None:
    # m <- glmer(y ~ x + (1 | school), family = binomial, nAGQ = 25); confint(m, method = "profile")
    known = people(np.full(20, 25), 1.0, 1)
    found = regress("y ~ x", {}, known, random="school")
    assert estimates(found) == pytest.approx([-0.61429, 0.61523, 0.78260], abs=2e-5)
    assert found.log_likelihood == pytest.approx(-323.6013772, abs=1e-6)
    limits = [(term.conf_low, term.conf_high) for term in found.terms]
    theirs = [(-1.09280, -0.16289), (0.23256, 1.00323), (0.48675, 1.24991)]
    for own, expected in zip(limits, theirs, strict=True):
        assert own == pytest.approx(expected, abs=2e-4)
    assert [term.term for term in found.terms] == ["Intercept", "x", "sigma(school)"]
    assert (found.clusters, found.parameters) == (20, 3)
    assert found.predicted == ()
    assert "coefficients hold within each of" in found.messages[-1]


def test_through_noise_it_is_the_maximum_of_the_written_out_integral() -> None:
    known, matrix = people(np.arange(5, 25), 1.0, 2), krr(2, 2.0)
    column = reported(np.random.default_rng(3), "y", "no yes", known.pop("y"), matrix)
    found = regress("y ~ x", {"y": column}, known, random="school")
    best = estimates(found)

    def fall(at: Array, *spread: float) -> float:
        return -written_out(known, column.codes, matrix, np.append(at, spread))

    assert -fall(best) == pytest.approx(not_none(found.log_likelihood), abs=1e-5)
    assert minimize(fall, best, method="BFGS").x == pytest.approx(best, abs=2e-3)
    # At a limit of sigma the other parameters are the likeliest.
    for limit in (not_none(found.terms[2].conf_low), not_none(found.terms[2].conf_high)):
        there = minimize(fall, best[:2], args=(limit,), method="BFGS").fun
        assert 2 * (there - fall(best)) == pytest.approx(3.8415, abs=5e-3)
    alone = regress("y ~ x", {"y": column}, known)
    root = sqrt(2 * (not_none(found.log_likelihood) - not_none(alone.log_likelihood)))
    assert found.terms[2].statistic == pytest.approx(root, rel=1e-3)
    assert found.terms[2].p_value == pytest.approx(norm.sf(root), rel=1e-2)


def test_large_clusters_are_integrated_where_their_intercept_is() -> None:
    known = people(np.array([600, 40, 400]), 1.5, 4)
    found = regress("y ~ x", {}, known, random="school")
    whole = written_out(known, known["y"], np.eye(2), estimates(found))
    assert found.log_likelihood == pytest.approx(whole, abs=1e-5)


def test_clusters_that_do_not_differ_have_sigma_0() -> None:
    known = people(np.full(12, 10), 0.0, 6)
    # There are as many events in each cluster, which chance alone would hardly give.
    known["y"], known["x"] = np.tile([0, 1], 60), np.tile([0, 1, 1, 0, 0], 24)
    found, plain = (regress("y ~ x", {}, known, random=name) for name in ("school", None))
    spread = found.terms[2]
    assert (spread.estimate, spread.conf_low, spread.p_value) == (0.0, 0.0, 1.0)
    assert (spread.statistic, spread.std_error, found.boundary) == (0.0, None, True)
    assert 0 < not_none(spread.conf_high) < 2
    for own, other in zip(found.terms[:2], plain.terms, strict=True):
        assert own.estimate == pytest.approx(other.estimate, abs=1e-5)
        assert own.std_error == pytest.approx(other.std_error, rel=1e-4)
    assert found.converged


def test_average_effects_are_averages_over_the_intercept() -> None:
    known = people(np.full(20, 25), 1.0, 1)
    found = regress("y ~ x", {}, known, random="school", effects=True)
    base, slope, sigma = estimates(found)
    weights = norm.pdf(GRID) * (GRID[1] - GRID[0])
    shares = [float(expit(base + slope * x + sigma * GRID) @ weights) for x in (0, 1)]
    effect = next(one for one in found.effects if one.value == "1")
    assert effect.estimate == pytest.approx(shares[1] - shares[0], abs=1e-6)
    assert 0 < not_none(effect.std_error) < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random": "z"}, 'needs a known column, got "z", which is randomized'),
        ({"random": "nobody"}, 'needs a known column, got "nobody", which is none'),
        ({"random": "x"}, 'the column "x" of a random intercept cannot be in the formula'),
        ({"random": "one"}, "two clusters or more, and fewer than respondents, got 1 of 60"),
        ({"random": "each"}, "fewer than respondents, got 60 of 60"),
        ({"random": "gaps"}, "a cluster in every row, got 1 of 60 rows"),
        ({"family": "poisson"}, "a random intercept needs a logistic model"),
        ({"penalty": "log-f"}, "takes no penalty"),
        ({"interval": "wald"}, "only profile intervals"),
        ({"clusters": np.arange(60) % 6}, "only profile intervals"),
        ({"formula": "y ~ z"}, "takes only known predictors, got the randomized z"),
        ({"formula": "w ~ x"}, 'with two answers, got "w", which respondents can skip'),
    ],
)
def test_models_without_random_intercepts_are_refused(
    options: dict[str, Any], message: str
) -> None:
    rng = np.random.default_rng(7)
    known = people(np.full(6, 10), 0.5, 7)
    gaps = np.array(["a", "b"] * 29 + ["", "a"], dtype=object)
    known |= {"one": np.zeros(60), "each": np.arange(60), "gaps": gaps}
    columns = {
        "z": reported(rng, "z", "no yes", known["x"], krr(2, 2.0)),
        "w": reported(rng, "w", "no yes no-answer", known["y"], krr(3, 2.0)),
    }
    chosen = {"formula": "y ~ x", "random": "school"} | options
    with pytest.raises(ValueError, match=message):
        regress(chosen.pop("formula"), columns, known, **chosen)
