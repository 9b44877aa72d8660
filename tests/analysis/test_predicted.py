"""Predictions of models agree with known shares, and with other programs' errors."""

import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from narrowing import not_none
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.estimate.columns import from_matrix
from analysis.study.regression import Regression, regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from errors_of_intervals import check_errors, error
from test_regression import Array, draw, krr, reported

#: The log-odds of the event in each team, among people who are not old.
ODDS = {"a": -1.4, "b": -0.4, "c": 0.4}


def fitted(
    n: int = 4000, family: str = "logistic", seed: int = 1, interval: str = "profile"
) -> Regression:
    rng = np.random.default_rng(seed)
    team, old = rng.integers(3, size=n), rng.integers(2, size=n)
    chance = expit(np.array([*ODDS.values()])[team] + 0.8 * old)
    event = (rng.random(n) < chance).astype(int)
    columns = {
        "hurt": reported(rng, "hurt", "no yes", event, krr(2, 2.0)),
        "team": reported(rng, "team", "a b c", team, krr(3, 3.0)),
        "old": reported(rng, "old", "no yes", old, krr(2, 3.0)),
    }
    return regress("hurt ~ team + old", columns, {}, family=family, interval=interval)


def test_shares_of_a_model_are_those_of_its_terms() -> None:
    model = fitted(interval="wald")
    terms = {term.term: term for term in model.terms}
    rows = {(row.predictor, row.answer, row.value): row for row in model.predicted}
    assert len(rows) == 2 * (3 + 2)
    base, slope = (not_none(terms[name].estimate) for name in ("Intercept", "team[T.c]"))
    there = rows["team", "c", "yes"]
    assert there.estimate == pytest.approx(expit(base + slope))
    assert rows["team", "a", "yes"].estimate == rows["old", "no", "yes"].estimate
    # With one linear predictor, the interval is that of the predictor.
    names = [term.term for term in model.terms]
    weights = np.array([name in ("Intercept", "team[T.c]") for name in names], dtype=float)
    reach = 1.959964 * float(weights @ model.covariance @ weights) ** 0.5
    expected = expit(base + slope + reach * np.array([-1, 1]))
    assert (there.conf_low, there.conf_high) == pytest.approx(expected, rel=1e-5)
    assert rows["team", "c", "no"].estimate == pytest.approx(1 - not_none(there.estimate))
    assert rows["team", "c", "no"].conf_low == pytest.approx(1 - not_none(there.conf_high))


@pytest.mark.more
def test_intervals_hold_the_true_shares_as_often_as_stated() -> None:
    errors = []
    for seed in range(30):
        errors.append(
            [
                error(row.estimate, row.conf_low, row.conf_high, expit(ODDS[row.answer]))
                for row in fitted(1500, "multinomial", seed).predicted
                if row.value == "yes" and row.predictor == "team"
            ]
        )
    check_errors(errors)


def test_a_linear_model_predicts_means() -> None:
    rng = np.random.default_rng(2)
    team = rng.integers(2, size=2000)
    columns = {"team": reported(rng, "team", "a b", team, krr(2, 3.0))}
    pay = {"pay": 100 + 20 * team + rng.normal(size=2000)}
    model = regress("pay ~ team", columns, pay, family="linear")
    base, slope = (not_none(term.estimate) for term in model.terms)
    first, second = model.predicted
    assert [(row.answer, row.value) for row in model.predicted] == [("a", "mean"), ("b", "mean")]
    assert first.estimate == pytest.approx(base)
    assert second.estimate == pytest.approx(base + slope)
    assert first.std_error == pytest.approx(model.terms[0].std_error)
    assert (first.conf_low, first.conf_high) == pytest.approx(
        (model.terms[0].conf_low, model.terms[0].conf_high)
    )


def test_nothing_is_predicted_where_a_known_column_has_no_usual_value() -> None:
    rng = np.random.default_rng(3)
    column = reported(rng, "hurt", "no yes", rng.integers(2, size=500), krr(2, 2.0))
    model = regress("hurt ~ age", {"hurt": column}, {"age": rng.normal(size=500)})
    assert model.predicted == ()


def test_a_term_without_an_estimate_predicts_nothing() -> None:
    rng = np.random.default_rng(4)
    columns = {
        "hurt": reported(rng, "hurt", "no yes", np.zeros(60, dtype=int), krr(2, 0.3)),
        "team": reported(rng, "team", "a b", rng.integers(2, size=60), krr(2, 0.3)),
    }
    model = regress("hurt ~ team", columns, {})
    assert not model.converged
    assert {row.estimate for row in model.predicted} == {None}


def test_errors_of_several_answers_are_those_of_their_derivatives() -> None:
    rng = np.random.default_rng(5)
    team = rng.integers(2, size=3000)
    outcome = draw(rng, np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])[team])
    columns = {
        "out": reported(rng, "out", "x y z", outcome, krr(3, 2.0)),
        "team": reported(rng, "team", "a b", team, krr(2, 3.0)),
    }
    model = regress("out ~ team", columns, {}, family="multinomial")
    names = [term.term for term in model.terms]
    estimates = np.array([not_none(term.estimate) for term in model.terms])

    def shares(terms: Array, answer: str) -> Array:
        used = ["Intercept"] + ["team[T.b]"] * (answer == "b")
        odds = [sum(terms[names.index(f"{value}:{name}")] for name in used) for value in "yz"]
        return np.asarray(np.exp([0, *odds]) / np.exp([0, *odds]).sum())

    for answer in "ab":
        steps = 1e-6 * np.eye(len(names))
        slopes = [
            (shares(estimates + step, answer) - shares(estimates - step, answer)) / 2e-6
            for step in steps
        ]
        covariance = np.array(slopes).T @ model.covariance @ np.array(slopes)
        rows = [row for row in model.predicted if row.answer == answer]
        assert [row.value for row in rows] == ["x", "y", "z"]
        told = [not_none(row.estimate) for row in rows]
        assert told == pytest.approx(shares(estimates, answer).tolist())
        errors = [not_none(row.std_error) for row in rows]
        assert errors == pytest.approx(np.sqrt(np.diag(covariance)).tolist(), rel=1e-4)


def _highest(counts: Array, of_y: Array, of_x: Array, odds: NDArray[Any]) -> Array:
    """Return (places,) log-likelihoods at (places, values) log-odds, maximal over shares of x."""
    yes = expit(odds)[:, :, None]
    seen = np.einsum("ru,gus->gurs", of_x, of_y[:, 0] * (1 - yes) + of_y[:, 1] * yes)
    seen = seen.reshape(*odds.shape, -1)
    times, shares = counts.reshape(-1), np.full(odds.shape, 1 / odds.shape[1])
    for _ in range(100):
        parts = np.einsum("guc,gc->gu", seen, times / np.einsum("gu,guc->gc", shares, seen))
        shares = shares * parts / times.sum()
    return np.asarray(np.log(np.einsum("gu,guc->gc", shares, seen)) @ times)


# Profiles have several peaks, of slopes that lie far apart, also if y has the share 0 or 1.
@pytest.mark.parametrize(("seed", "n", "values"), [(4, 300, 3), (113, 1000, 3), (8, 200, 2)])
def test_limits_of_shares_are_where_their_profile_crosses_last(
    seed: int, n: int, values: int
) -> None:
    rng, of_y, of_x = np.random.default_rng(seed), krr(2, 1.0), krr(values, 1.0)
    x = rng.integers(values, size=n)
    names = tuple(map(str, range(values)))
    codes = (rng.random(n)[:, None] > of_x.cumsum(axis=0)[:-1].T[x]).sum(axis=1)
    columns = {
        "y": reported(rng, "y", "no yes", (x == values - 1).astype(int), of_y),
        "x": from_matrix("x", names, codes, of_x, amounts=tuple(map(float, range(values)))),
    }
    model = regress("y ~ x", columns, {})
    counts = np.zeros((values, 2))
    np.add.at(counts, (codes, columns["y"].codes), 1)
    slopes = np.concatenate([-np.geomspace(60, 0.03, 60), [0.0], np.geomspace(0.03, 60, 60)])

    def fall(at: float, value: int) -> float:
        odds = at + slopes[:, None] * (np.arange(values) - value)
        return float(
            2 * (not_none(model.log_likelihood) - _highest(counts, of_y, of_x, odds).max())
        )

    for row in (row for row in model.predicted if row.value == "yes"):
        ends = logit([not_none(row.conf_low), not_none(row.conf_high)])
        for at in np.linspace(-8, 8, 17):
            assert fall(at, int(row.answer)) > 3.8 or ends[0] <= at <= ends[1]
        for end in ends[np.abs(ends) < 12]:
            assert fall(end, int(row.answer)) == pytest.approx(3.841, abs=0.06)


def test_predictions_for_given_answers_are_those_that_are_printed() -> None:
    for model in (fitted(), fitted(interval="wald")):
        printed = [row for row in model.predicted if row.predictor == "team"]
        found = model.predict({"team": ["a", "b", "c"], "old": "no", "unused": [1, 2, 3]})
        assert found.columns.tolist()[:3] == ["old", "team", "value"]
        for row, (_, given) in zip(printed, found.iterrows(), strict=True):
            assert (given["team"], given["value"]) == (row.answer, row.value)
            assert given["estimate"] == row.estimate
            assert given["conf_low"] == row.conf_low
            assert given["conf_method"] == row.conf_method
        frame = pd.DataFrame({"team": ["a", "b", "c"], "old": "no"}, index=[7, 8, 9])
        rows = frame.to_dict("records")
        assert found.equals(model.predict(frame))
        assert found.equals(model.predict(rows))
        assert found[:2].equals(model.predict(frame.iloc[0]))
    # This holds not only at the reference of all other predictors.
    both = fitted().predict({"team": "c", "old": "yes"})
    truth = expit(ODDS["c"] + 0.8)
    assert both["conf_low"][1] < truth < both["conf_high"][1]
    with_file = pickle.loads(pickle.dumps(fitted()))
    assert with_file.terms == fitted().terms
    with pytest.raises(ValueError, match="one that was read from a file: fit it again"):
        with_file.predict({"team": "c", "old": "yes"})


@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_predictions_for_known_columns_are_those_of_another_program(family: str) -> None:
    rng = np.random.default_rng(5)
    n = 900
    frame = pd.DataFrame({"age": rng.normal(40, 10, n), "team": rng.choice(["a", "b", "c"], n)})
    linear = -1 + 0.03 * frame["age"] + 0.4 * (frame["team"] == "b")
    law: dict[str, Any] = {
        "logistic": (lambda: rng.random(n) < expit(linear), sm.families.Binomial()),
        "linear": (lambda: linear + rng.normal(size=n), sm.families.Gaussian()),
        "poisson": (lambda: rng.poisson(np.exp(linear)), sm.families.Poisson()),
    }
    drawn, theirs = law[family]
    frame["y"] = np.asarray(drawn()).astype(float)
    asked = pd.DataFrame({"age": [25.0, 50.0], "team": ["b", "c"]})
    formula = "y ~ center(age) + team"
    model = regress(formula, {}, frame, family=family, interval="wald")
    found = model.predict(asked)
    found = found[found["value"].isin(["1.0", "mean"])].reset_index()
    other = smf.glm(formula, frame, family=theirs).fit()
    expected = other.get_prediction(asked).summary_frame()
    assert found["estimate"].to_numpy() == pytest.approx(expected["mean"].to_numpy(), rel=1e-5)
    if family != "linear":  # whose variance has another number of degrees of freedom
        low = expected["mean_ci_lower"].to_numpy()
        assert found["conf_low"].to_numpy() == pytest.approx(low, rel=1e-4)
    name = "center(age)"
    assert model.bse[name] == pytest.approx(other.bse[name], rel=3e-3)
    with pytest.raises(ValueError, match="team: expected one of a, b, c, got 'd'"):
        model.predict({"age": 30, "team": "d"})
    with pytest.raises(ValueError, match="age: expected finite numbers, got '30'"):
        model.predict({"age": "30", "team": "a"})
    with pytest.raises(ValueError, match="age: expected finite numbers, got nan"):
        model.predict({"age": float("nan"), "team": "a"})


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (None, "expected a value of old, team, got none of old, team"),
        ({"team": "a"}, "expected a value of old, team, got none of old"),
        ({"team": "z", "old": "no"}, "team: expected one of a, b, c, got 'z'"),
        ({"team": None, "old": "no"}, "team: expected one of a, b, c, got None"),
        ({"team": ["a", "b"], "old": ["no"]}, "in each column, got 2 of team, 1 of old"),
        ([{"team": "a", "old": "no"}, {"old": "no"}], "expected team, old in every row"),
        ({"team": [], "old": []}, "expected at least one row of values, got none"),
        (3, "expected a mapping of names to values, .*, got int"),
        ("team", "expected a mapping of names to values, .*, got str"),
    ],
)
def test_impossible_values_of_predictors_are_refused(at: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        fitted(500).predict(at)


def test_numbers_are_given_as_numbers_or_as_answers() -> None:
    rng = np.random.default_rng(6)
    hours = rng.integers(3, size=3000)
    column = replace(
        reported(rng, "hours", "0 20 40", hours, krr(3, 3.0)), amounts=(0.0, 20.0, 40.0)
    )
    pay = {"pay": 100 + 2.0 * hours + rng.normal(size=3000)}
    model = regress("pay ~ hours", {"hours": column}, pay, family="linear")
    assert model.predict({"hours": 20})["estimate"][0] == model.predicted[1].estimate
    assert model.predict({"hours": "20"})["estimate"][0] == model.predicted[1].estimate
    with pytest.raises(ValueError, match="hours: expected one of 0, 20, 40, got 30"):
        model.predict({"hours": 30})
    alone = regress("hours ~ 1", {"hours": column}, family="linear")
    (only,) = alone.predict()["estimate"]
    assert only == alone.terms[0].estimate
