"""Models of respondents in clusters agree with another program and with written-out sums."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from narrowing import not_none
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import t

from analysis.study.regression import Regression, regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from test_regression import Array, krr, people, reported

#: Respondents of cluster 0, 0, 0, ..., 11, with a share of events that differs between clusters.
SIZES = np.array([3, 9, 12, 5, 20, 8, 14, 6, 11, 7, 16, 9])
CLUSTERS = np.repeat(np.arange(12), SIZES)


def _known(seed: int) -> dict[str, NDArray[Any]]:
    rng, age = people(len(CLUSTERS), seed)
    eta = age + rng.normal(size=12)[CLUSTERS]
    y = (rng.random(len(eta)) < expit(eta)).astype(int)
    return {"y": y, "age": age, "wage": eta + rng.normal(size=len(eta))}


def _errors(found: Regression) -> Array:
    return np.array([not_none(term.std_error) for term in found.terms])


@pytest.mark.parametrize(("family", "outcome"), [("logistic", "y"), ("linear", "wage")])
def test_without_noise_errors_are_bell_and_mccaffreys(family: str, outcome: str) -> None:
    known = _known(1)
    found = regress(f"{outcome} ~ age", {}, known, family=family, clusters=CLUSTERS, se="sandwich")
    design = sm.add_constant(known["age"])
    law = sm.families.Binomial() if family == "logistic" else sm.families.Gaussian()
    theirs = sm.GLM(known[outcome], design, family=law).fit()
    # In units in which all errors have the variance 1: Pustejovsky and Tipton 2018, section 2.
    roots = np.sqrt(theirs.mu * (1 - theirs.mu) if family == "logistic" else np.ones(len(design)))
    x, errors = design * roots[:, None], (known[outcome] - theirs.mu) / roots
    inner = np.linalg.inv(x.T @ x)
    hat = np.eye(len(x)) - x @ inner @ x.T
    pulls = []
    for cluster in range(12):
        here = np.flatnonzero(cluster == CLUSTERS)
        values, ways = np.linalg.eigh(hat[np.ix_(here, here)])
        pulls.append(inner @ x[here].T @ (ways / np.sqrt(values)) @ ways.T @ hat[here])
    parts = np.array([pull @ errors for pull in pulls])
    assert _errors(found) == pytest.approx(np.sqrt((parts**2).sum(axis=0)), rel=1e-4)
    assert (found.se_type, found.clusters, found.aic) == ("cluster sandwich", 12, None)
    freedoms = []
    for place, term in enumerate(found.terms):
        rows = np.array([pull[place] for pull in pulls])
        spread = rows @ rows.T
        freedoms.append(np.trace(spread) ** 2 / np.sum(spread**2))
        estimate, error = not_none(term.estimate), not_none(term.std_error)
        high = estimate + t.ppf(0.975, freedoms[-1]) * error
        assert term.conf_high == pytest.approx(high, rel=1e-4)
        assert term.p_value == pytest.approx(
            2 * t.sf(abs(estimate) / error, freedoms[-1]), rel=1e-2
        )
    assert found.freedom == pytest.approx(min(freedoms), rel=1e-3)
    assert min(freedoms) < 10


def test_totals_of_a_randomized_outcome_are_about_the_means_of_their_strata() -> None:
    known, matrix = _known(2), krr(2, 2.0)
    column = reported(np.random.default_rng(3), "y", "no yes", known.pop("y"), matrix)
    strata, weights = CLUSTERS % 3, 1.0 + CLUSTERS % 2
    options: dict[str, Any] = {"weights": weights, "clusters": CLUSTERS % 4, "strata": strata}
    found = regress("y ~ age", {"y": column}, known, **options)
    design = sm.add_constant(known["age"])
    b = np.array([not_none(term.estimate) for term in found.terms])

    def scores(b: Array) -> Array:
        yes = expit(design @ b)
        of_no, of_yes = matrix[column.codes].T
        chance = of_no * (1 - yes) + of_yes * yes
        slope = (of_yes - of_no) * yes * (1 - yes) / chance
        return np.asarray(weights[:, None] * slope[:, None] * design)

    steps = 1e-5 * np.eye(2)
    bread = -np.array([(scores(b + s) - scores(b - s)).sum(axis=0) / 2e-5 for s in steps])
    meat = np.zeros((2, 2))
    for stratum in range(3):
        # The same label in two strata is that of two clusters.
        named = np.unique(CLUSTERS[strata == stratum] % 4)
        here = (CLUSTERS % 4)[strata == stratum]
        totals = np.array([scores(b)[strata == stratum][here == one].sum(axis=0) for one in named])
        size = len(named)
        meat += size / (size - 1) * (totals - totals.mean(axis=0)).T @ (totals - totals.mean(0))
    inner = np.linalg.inv(bread)
    assert _errors(found) == pytest.approx(np.sqrt(np.diag(inner @ meat @ inner)), rel=1e-4)
    assert found.clusters == 12


def test_equal_respondents_count_within_their_cluster() -> None:
    rng = np.random.default_rng(4)
    group = np.tile([0, 1], 300)
    true = ((rng.random(600) < 0.3 + 0.3 * group) | (np.arange(600) < 100)).astype(int)
    column = reported(rng, "y", "no yes", true, krr(2, 2.0))
    labels = np.repeat(["a", "b", "c", "d", "e", "f"], 100)
    # Numbers that are nearly equal keep rows apart.
    apart = group + 1e-9 * rng.normal(size=600)
    together, single = (
        regress("y ~ g", {"y": column}, {"g": each}, clusters=labels) for each in (group, apart)
    )
    assert _errors(together) == pytest.approx(_errors(single), rel=1e-5)


def test_a_cluster_for_each_respondent_is_a_sample_without_clusters() -> None:
    known = _known(5)
    size = len(CLUSTERS)
    single = regress("y ~ age", {}, known, clusters=np.arange(size))
    plain = regress("y ~ age", {}, known, se="sandwich")
    # Apart from the factor of their number, each makes up for how far the estimates follow it.
    assert _errors(single) == pytest.approx(_errors(plain) * np.sqrt(size / (size - 1)), rel=0.02)


def test_predictions_and_effects_follow_the_clusters() -> None:
    known = _known(6)
    column = reported(np.random.default_rng(7), "x", "no yes", known["y"], krr(2, 3.0))
    plain, clustered = (
        regress(
            "z ~ x",
            {"x": column},
            {"z": 1 * (known["wage"] > 0)},
            se="sandwich",
            clusters=each,
            effects=True,
        )
        for each in (None, CLUSTERS)
    )
    for one, other in (
        (plain.predicted[1], clustered.predicted[1]),
        (plain.effects[0], clustered.effects[0]),
    ):
        assert one.estimate == pytest.approx(other.estimate)
        assert one.std_error != pytest.approx(other.std_error, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": CLUSTERS[1:]}, "clusters must be one for each of 120 respondents"),
        ({"strata": np.array([""] * 120)}, "strata must have a label for all, got 120 of 120"),
        ({"clusters": np.zeros(120)}, "each stratum must have two or more clusters"),
        ({"clusters": CLUSTERS, "strata": CLUSTERS > 0}, "each stratum must have two or more"),
        (
            {"clusters": CLUSTERS, "penalty": "log-f"},
            "a penalized model has only profile intervals",
        ),
    ],
)
def test_mistakes_in_clusters_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regress("y ~ age", {}, _known(8), **options)
