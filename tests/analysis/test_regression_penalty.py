"""Penalized models agree with written-out likelihoods and another program; others are refused."""

import sys
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from numpy.typing import NDArray
from scipy.special import expit

from analysis.core.domain import NO_ANSWER
from analysis.estimate.columns import from_matrix
from analysis.study.regression import Regression, regress
from analysis.study.regression.penalty import LogF

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from test_regression import Array, krr, people, reported
from test_regression_profile import agrees


def log_f(coefficients: Array) -> float:
    """Return the penalty of coefficients that have a unit of 1."""
    return float(np.sum(np.log1p(np.exp(coefficients)) - coefficients / 2))


def test_without_noise_it_adds_half_an_event_and_half_a_non_event() -> None:
    rng, age = people(60, 1)
    group = np.arange(60) % 2
    y = np.where(group == 1, rng.random(60) < expit(age), 0).astype(int)
    found = regress("y ~ g + age", {}, {"y": y, "g": group, "age": age}, penalty="log-f")
    unit = 2 * age.std()
    design = np.column_stack([np.ones(60), group, age / unit])
    added = np.vstack([design, np.eye(3)[[1, 1, 2, 2]]])
    counts = np.append(np.ones(60), np.full(4, 0.5))
    theirs = sm.GLM(
        np.append(y, [0, 1, 0, 1]), added, family=sm.families.Binomial(), freq_weights=counts
    ).fit(tol=1e-12)
    scale = np.array([1, 1, unit])
    estimates = np.array([not_none(term.estimate) for term in found.terms])
    errors = np.array([not_none(term.std_error) for term in found.terms])
    assert estimates * scale == pytest.approx(theirs.params, abs=1e-4)
    assert errors * scale == pytest.approx(theirs.bse, rel=1e-3)
    assert found.log_likelihood == pytest.approx(sm.Logit(y, design).loglike(theirs.params))
    assert (found.penalty, found.aic, found.interval) == ("log-f", None, "profile")


def test_limits_of_a_rare_randomized_outcome_are_those_of_its_penalized_likelihood() -> None:
    rng, age = people(400, 2)
    group, matrix = np.arange(400) % 2, krr(2, 1.5)
    true = ((rng.random(400) < 0.3) & (group == 1)).astype(int)
    column = reported(rng, "y", "no yes", true, matrix)
    unit = 2 * age.std()

    def fall(b: Array) -> float:
        yes = expit(b[0] + b[1] * group + b[2] * age)
        rows = matrix[column.codes]
        reports = float(np.log(rows[:, 0] * (1 - yes) + rows[:, 1] * yes).sum())
        return log_f(b[1:] * np.array([1, unit])) - reports

    known = {"g": group, "age": age}
    agrees(regress("y ~ g + age", {"y": column}, known, penalty="log-f"), fall, np.zeros(0))
    assert regress("y ~ g + age", {"y": column}, known).terms[1].conf_high == inf


def test_a_randomized_predictor_and_slopes_of_its_law_have_the_penalty() -> None:
    rng, age = people(300, 3)
    unit = 2 * age.std()
    latent, matrix = (rng.random(300) < 0.4).astype(int), krr(2, 2.0)
    y = np.where(latent == 1, rng.random(300) < 0.3, 0).astype(int)
    column = reported(rng, "x", "no yes", latent, matrix)

    def fall(b: Array) -> float:
        share = expit(b[3] + b[4] * age)
        chances = sum(
            weight * matrix[column.codes, x] * expit((2 * y - 1) * (b[0] + b[1] * age + b[2] * x))
            for x, weight in ((0, 1 - share), (1, share))
        )
        penalized = b[[1, 2, 4]] * np.array([unit, 1, unit])
        return log_f(penalized) - float(np.log(chances).sum())

    found = regress("y ~ age + x", {"x": column}, {"y": y, "age": age}, penalty="log-f")
    order = [term.term for term in found.terms]
    assert order == ["Intercept", "age", "x[T.yes]"]
    agrees(found, fall, np.array([-0.4, 0.0]))


def test_the_unit_of_a_number_does_not_matter() -> None:
    _, age = people(80, 4)
    y = (age > 0.2).astype(int)
    years, months = (
        regress("y ~ age", {}, {"y": y, "age": each}, penalty="log-f").terms[1]
        for each in (age, 12 * age)
    )
    assert not_none(months.estimate) * 12 == pytest.approx(years.estimate, rel=1e-4)
    assert not_none(months.conf_high) * 12 == pytest.approx(years.conf_high, rel=1e-3)
    assert months.p_value == pytest.approx(years.p_value, rel=1e-3)
    assert regress("y ~ age", {}, {"y": y, "age": age}).terms[1].estimate == inf


def test_terms_of_several_categories_and_counts_are_finite() -> None:
    group = np.repeat([0, 1], 30)
    known = {"g": group, "n": np.where(group == 1, np.arange(60) % 3, 0)}
    for family in ("multinomial", "poisson"):
        plain, penalized = (
            regress("n ~ g", {}, known, family=family, penalty=penalty)
            for penalty in ("none", "log-f")
        )
        assert any(term.estimate in (None, inf, -inf) for term in plain.terms)
        assert any("--penalty log-f gives finite estimates" in text for text in plain.messages)
        assert penalized.converged
        slopes = [term for term in penalized.terms if not term.term.endswith("Intercept")]
        ends = [(t.estimate, t.conf_low, t.conf_high) for t in slopes]
        assert np.isfinite(np.array(ends, dtype=np.float64)).all()


def test_slopes_of_people_who_left_a_number_out_have_the_penalty() -> None:
    rng, age = people(400, 8)
    latent = rng.integers(0, 2, 400)
    # People who left x out are 1 above a value of age and 0 below it, which is an infinite slope.
    left = rng.random(400) < 0.25
    y = np.where(left, age > 0, rng.random(400) < 0.3 + 0.3 * latent).astype(int)
    x = reported(rng, "x", "no yes no-answer", np.where(left, 2, latent), krr(3, 6.0))
    plain, penalized = (
        regress("y ~ x + age", {"x": x}, {"y": y, "age": age}, penalty=penalty)
        for penalty in ("none", "log-f")
    )

    def hidden(found: Regression) -> float:
        (slope,) = (term for term in found.nuisance if term.term == f"age[{NO_ANSWER}]")
        return slope.estimate or inf

    assert hidden(plain) > 20 > hidden(penalized) > 1
    for one, other in zip(plain.terms, penalized.terms, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=0.1)


def test_terms_of_no_answer_are_finite() -> None:
    rng = np.random.default_rng(5)
    true, matrix = np.repeat([0, 1, 2], [300, 280, 20]), krr(3, 2.0)
    values = "no yes no-answer"
    columns = {
        "y": reported(rng, "y", values, rng.permutation(true), matrix),
        "x": reported(rng, "x", values, true, matrix),
    }
    found = regress("y ~ x", columns, {}, penalty="log-f")
    assert [term.term for term in found.terms] == ["Intercept", "x[T.yes]"]
    assert found.converged
    apart = regress("y ~ x", columns, {}, penalty="log-f", no_answer="category")
    assert "x[T.no-answer]" in [term.term for term in apart.terms]
    assert all(term.estimate is not None for term in apart.terms)


def test_terms_that_depend_on_the_prior_alone_are_named() -> None:
    # Fewer people say yes than noise alone makes. The intercept has no prior, and the reports say
    # nothing about the slope.
    codes = np.repeat([0, 1], [170, 30])
    column = from_matrix("y", ("no", "yes"), codes, krr(2, 1.0))
    known: dict[str, NDArray[Any]] = {"g": np.arange(200) % 2}
    base, slope = regress("y ~ g", {"y": column}, known, penalty="log-f").terms
    assert base.estimate == -inf
    assert slope.estimate == pytest.approx(0, abs=1e-3)
    messages = regress("y ~ g", {"y": column}, known, penalty="log-f").messages
    assert any("next to nothing about g" in text for text in messages)
    assert not any("--penalty" in text for text in messages)


def test_derivatives_are_those_of_the_prior() -> None:
    rng = np.random.default_rng(6)
    prior, at, step = LogF(rng.normal(size=(3, 4))), rng.normal(size=4), 1e-5
    for place, way in enumerate(step * np.eye(4)):
        slope = (prior.value(at + way) - prior.value(at - way)) / (2 * step)
        assert prior.gradient(at)[place] == pytest.approx(slope, abs=1e-8)
        bend = (prior.gradient(at - way) - prior.gradient(at + way)) / (2 * step)
        assert prior.information(at)[place] == pytest.approx(bend, abs=1e-8)


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        (
            "y ~ x",
            {"family": "linear"},
            "logistic, multinomial or poisson model, got a linear one",
        ),
        ("y ~ x", {"interval": "wald"}, "only profile intervals"),
        ("y ~ x", {"se": "sandwich"}, "only profile intervals"),
        ("y ~ x", {"weights": np.ones(40)}, "only profile intervals"),
        ("y ~ 0 + x", {}, "must have an intercept"),
        ("y ~ x", {"penalty": "ridge"}, 'penalty must be none or log-f, got "ridge"'),
        ("y ~ s", {"family": "poisson", "se": "sandwich"}, "corrected scores take no penalty"),
    ],
)
def test_models_without_a_penalty_are_refused(
    formula: str, options: dict[str, Any], message: str
) -> None:
    known = {"y": np.arange(40) % 2, "x": np.arange(40) % 3}
    column = from_matrix("s", ("no", "yes"), np.arange(40) % 2, krr(2, 2.0))
    with pytest.raises(ValueError, match=message):
        regress(formula, {"s": column}, known, **{"penalty": "log-f", **options})
