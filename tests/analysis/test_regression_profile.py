"""Profile likelihoods agree with written-out profiles and closed forms, also for rare events."""

import sys
from collections.abc import Callable
from math import exp, inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from limits import computed
from narrowing import not_none
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, logit
from scipy.stats import chi2, norm

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import Regression, Term, regress

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from test_regression import Array, krr, people, reported

CUTOFF = float(chi2.ppf(0.95, 1))


def written_out(fall: Callable[[Array], float], best: Array, place: int, side: int) -> float:
    """Return a limit by an optimizer that has only the likelihood."""
    least = fall(best)
    others = np.delete(np.arange(len(best)), place)

    def above(at: float) -> float:
        def fixed(rest: Array) -> float:
            whole = np.empty(len(best))
            whole[others], whole[place] = rest, at
            return fall(whole)

        found = minimize(fixed, best[others], method="BFGS", options={"gtol": 1e-6})
        return 2 * (float(found.fun) - least) - CUTOFF

    far = 0.5
    while above(best[place] + side * far) < 0:
        far *= 2
    return float(brentq(lambda apart: above(best[place] + side * apart), 0, far, xtol=1e-6)) * side


def agrees(found: Regression, fall: Callable[[Array], float], nuisance: Array) -> None:
    best = minimize(
        fall, np.append([not_none(term.estimate) for term in found.terms], nuisance), method="BFGS"
    ).x
    for place, term in enumerate(found.terms):
        assert term.conf_method == "profile"
        for side, limit in ((-1, term.conf_low), (1, term.conf_high)):
            expected = best[place] + written_out(fall, best, place, side)
            assert limit == pytest.approx(expected, abs=2e-3)


def test_limits_of_a_randomized_outcome_are_those_of_its_likelihood() -> None:
    rng, age = people(400, 1)
    matrix = krr(2, 1.5)
    true = (rng.random(400) < expit(age - 1)).astype(int)
    column = reported(rng, "y", "no yes", true, matrix)

    def fall(b: Array) -> float:
        yes = expit(b[0] + b[1] * age)
        rows = matrix[column.codes]
        return -float(np.log(rows[:, 0] * (1 - yes) + rows[:, 1] * yes).sum())

    found = regress("y ~ age", {"y": column}, {"age": age})
    agrees(found, fall, np.zeros(0))
    slope = found.terms[1]
    alone = minimize(lambda b: fall(np.array([b[0], 0.0])), np.zeros(1), method="BFGS").fun
    root = sqrt(2 * (float(alone) + not_none(found.log_likelihood)))
    assert slope.statistic == pytest.approx(root, rel=1e-4)
    assert slope.p_value == pytest.approx(2 * norm.sf(root), rel=1e-3)


def test_limits_of_a_randomized_predictor_are_those_of_its_likelihood() -> None:
    rng, _ = people(500, 3)
    latent = (rng.random(500) < 0.3).astype(int)
    y = rng.poisson(np.exp(0.2 + 0.6 * latent))
    matrix = krr(2, 1.5)
    column = reported(rng, "x", "no yes", latent, matrix)

    def fall(b: Array) -> float:
        share = expit(b[2])
        each = [
            np.log(weight * matrix[column.codes, x])
            + y * (b[0] + b[1] * x)
            - np.exp(b[0] + b[1] * x)
            - gammaln(y + 1)
            for x, weight in ((0, 1 - share), (1, share))
        ]
        return -float(np.logaddexp(*each).sum())

    found = regress("y ~ x", {"x": column}, {"y": y}, family="poisson")
    agrees(found, fall, np.array([-0.8]))


def test_limits_of_a_linear_model_are_in_closed_form() -> None:
    rng, age = people(30, 4)
    y = 7 * age + 20 * rng.normal(size=30)
    _, slope = regress("y ~ age", {}, {"y": y, "age": age}, family="linear").terms
    wald = regress("y ~ age", {}, {"y": y, "age": age}, family="linear", interval="wald").terms[1]
    # With the likeliest variance, l_p falls by n/2 log(1 + z^2 / n).
    half = not_none(wald.std_error) * sqrt(30 * (exp(CUTOFF / 30) - 1))
    assert slope.conf_low == pytest.approx(not_none(slope.estimate) - half, rel=1e-3)
    assert slope.conf_high == pytest.approx(not_none(slope.estimate) + half, rel=1e-3)
    root = sqrt(30 * log(1 + not_none(wald.statistic) ** 2 / 30))
    assert slope.statistic == pytest.approx(root, rel=1e-4)


def test_a_group_without_events_has_one_limit() -> None:
    group = np.repeat([0, 1], [50, 80])
    known = {"g": group, "y": np.where(group == 1, np.arange(130) % 4 == 0, 0).astype(int)}
    found = regress("y ~ g", {}, known)
    base, slope = found.terms
    # For 50 people without an event, -100 log(1 - p) is the cutoff.
    highest = logit(1 - exp(-CUTOFF / 100))
    assert (base.estimate, base.std_error, base.conf_low) == (-inf, None, -inf)
    assert base.conf_high == pytest.approx(highest, abs=1e-3)
    assert base.flag == "estimate-minus-infinity;no-lower-limit"
    assert (slope.estimate, slope.conf_high) == (inf, inf)
    assert 0 < not_none(slope.conf_low) < not_none(slope.statistic) < inf
    # 20 of 80 and 0 of 50, against 20 of 130 in both, is the G-test.
    with_all = 20 * log(20 / 130) + 110 * log(110 / 130)
    apart = 20 * log(20 / 80) + 60 * log(60 / 80)
    assert not_none(slope.statistic) ** 2 == pytest.approx(2 * (apart - with_all), rel=1e-4)
    assert found.converged
    assert found.boundary
    assert "the likeliest value of Intercept, g is infinite" in " ".join(found.messages)


def test_an_empty_group_of_counts_has_one_limit() -> None:
    group = np.repeat([0, 1], [40, 40])
    known = {"g": group, "y": np.where(group == 1, np.arange(80) % 3, 0)}
    base, slope = regress("y ~ g", {}, known, family="poisson").terms
    assert (base.estimate, base.conf_low) == (-inf, -inf)
    # 2 n mean is the cutoff.
    assert base.conf_high == pytest.approx(log(CUTOFF / 80), abs=1e-3)
    assert (slope.estimate, slope.conf_high) == (inf, inf)
    assert 0 < not_none(slope.conf_low) < inf


def test_fewer_reports_than_noise_makes_give_an_infinite_estimate_and_one_limit() -> None:
    matrix = krr(2, 1.0)
    group = np.repeat([0, 1], [1000, 1000])
    # 250 of 1,000 reports are yes, while noise alone makes 269.
    codes = (np.concatenate([np.arange(1000) < 250, np.arange(1000) < 400])).astype(int)
    column = from_matrix("y", ["no", "yes"], codes, matrix)
    base, slope = regress("y ~ g", {"y": column}, {"g": group}).terms

    def fall(share: float) -> float:
        yes = matrix[1, 0] * (1 - share) + matrix[1, 1] * share
        return -2 * (250 * log(yes) + 750 * log(1 - yes))

    limit = brentq(lambda share: fall(share) - fall(0.0) - CUTOFF, 1e-9, 0.5)
    assert (base.estimate, base.conf_low) == (-inf, -inf)
    assert base.conf_high == pytest.approx(logit(limit), abs=2e-3)
    assert (slope.estimate, slope.conf_high) == (inf, inf)
    assert 0 < not_none(slope.conf_low) < inf


@pytest.mark.parametrize("over", [2, 5, 40])
def test_a_few_reports_above_noise_set_no_lower_limit_either(over: int) -> None:
    # The deviance of a share of 0 against the likeliest share is below the cutoff up to 27 above.
    matrix = krr(2, 1.0)
    codes = (np.arange(1000) < 269 + over).astype(int)
    (base,) = regress("y ~ 1", {"y": from_matrix("y", ["no", "yes"], codes, matrix)}, {}).terms
    assert np.isfinite(not_none(base.estimate))
    assert np.isinf(not_none(base.conf_low)) == (over < 27)
    assert np.isfinite(not_none(base.conf_high))


def test_perfect_separation_leaves_a_slope_one_limit_and_the_intercept_none() -> None:
    _, age = people(200, 2)
    found = regress("old ~ age", {}, {"age": age, "old": (age > 0).astype(int)})
    base, slope = found.terms
    assert (base.estimate, base.conf_low, base.conf_high) == (None, -inf, inf)
    assert (slope.estimate, slope.conf_high) == (inf, inf)
    assert not_none(slope.conf_low) > 0
    assert not found.converged
    assert "perfect separation" in found.messages[0]


def test_a_number_that_separates_between_two_near_values_has_one_limit() -> None:
    # The likelihood is highest only where slopes are in the hundred thousands.
    age = np.linspace(-1, 1, 1000)
    found = regress("y ~ age", {}, {"age": age, "y": (age > 0).astype(int)})

    def above(slope: float) -> float:
        return -2 * float(np.log(expit(slope * np.abs(age))).sum()) - CUTOFF

    assert found.terms[1].estimate == inf
    assert found.terms[1].conf_low == pytest.approx(brentq(above, 1, 1e4), rel=1e-3)


def test_terms_about_which_reports_say_nothing_have_no_limits() -> None:
    rng, _ = people(2000, 2)
    true = rng.integers(0, 2, 2000)
    column = reported(rng, "x", "a b c", true, krr(3, 3.0))
    column = from_matrix("x", column.values, np.minimum(column.codes, 1), column.chances)
    found = regress("told ~ x", {"x": column}, {"told": (rng.random(2000) < 0.5).astype(int)})
    nobody = found.terms[2]
    assert (nobody.estimate, nobody.conf_low, nobody.conf_high) == (None, -inf, inf)
    assert nobody.flag == "no-lower-limit;no-upper-limit"
    assert all(np.isfinite(not_none(term.conf_high)) for term in found.terms[:2])
    assert not found.converged


def _rare(seed: int, interval: str, shares: tuple[float, float], n: int) -> tuple[Term, ...]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    true = (rng.random(n) < np.array(shares)[group]).astype(int)
    column = reported(rng, "y", "no yes", true, krr(2, 1.0))
    return regress("y ~ g", {"y": column}, {"g": group}, interval=interval).terms


@pytest.mark.more
def test_intervals_cover_where_events_are_rare() -> None:
    truth = [logit(0.005), logit(0.2) - logit(0.005)]
    covered: dict[str, NDArray[np.int64]] = {}
    for interval in ("profile", "wald"):
        covered[interval] = np.zeros(2, dtype=int)
        for seed in range(60):
            terms = _rare(seed, interval, (0.005, 0.2), 2000)
            covered[interval] += [
                term.conf_low is not None and term.conf_low <= true <= not_none(term.conf_high)
                for term, true in zip(terms, truth, strict=True)
            ]
    # Of 60 intervals that cover with .93, fewer than 50 do so in one of 1,000 runs. Wald's are not
    # there in half of the samples.
    assert covered["profile"].min() >= 50
    assert covered["wald"].max() < 50


def test_kinds_of_intervals_are_stated() -> None:
    rng, age = people(300, 5)
    column = reported(rng, "y", "no yes", (rng.random(300) < 0.5).astype(int), krr(2, 2.0))
    columns: dict[str, Column] = {"y": column}
    for options, expected in (
        ({}, "profile"),
        ({"interval": "wald"}, "wald"),
        ({"se": "sandwich"}, "wald"),
        ({"weights": np.ones(300)}, "wald"),
    ):
        found = regress("y ~ age", columns, {"age": age}, **options)
        assert found.interval == expected
        assert {term.conf_method for term in found.terms} == {expected}
    number = from_matrix("y", ("0", "1"), column.codes, column.chances, (0.0, 1.0))
    assert regress("y ~ age", {"y": number}, {"age": age}, family="linear").interval == "wald"


def test_predictions_follow_the_profile() -> None:
    rng = np.random.default_rng(6)
    team = rng.integers(2, size=3000)
    true = (rng.random(3000) < np.array([0.0, 0.3])[team]).astype(int)
    columns = {
        "y": reported(rng, "y", "no yes", true, krr(2, 2.0)),
        "team": reported(rng, "team", "a b", team, np.eye(2)),
    }
    model = regress("y ~ team", columns, {})
    rows = {(row.answer, row.value): row for row in model.predicted}
    first, second = rows["a", "yes"], rows["b", "yes"]
    assert first.conf_low == 0
    assert first.conf_high == pytest.approx(expit(not_none(model.terms[0].conf_high)))
    assert rows["a", "no"].conf_high == 1
    # Both coefficients may be infinite, but their sum is known.
    assert not_none(second.conf_low) < 0.3 < not_none(second.conf_high)
    assert not_none(second.conf_high) - not_none(second.conf_low) < 0.15
    assert {row.conf_method for row in rows.values()} == {"profile"}


# Maxima at infinity

WARNER = np.array([[0.75, 0.25], [0.25, 0.75]])


def _of_codes(codes: NDArray[np.int64], x: Array) -> tuple[Term, ...]:
    with computed():
        return regress("y ~ x", [from_matrix("y", ["0", "1"], codes, WARNER)], {"x": x}).terms


def _mirrored(terms: tuple[Term, ...]) -> list[float]:
    return [-limit for term in terms for limit in (term.conf_high, term.conf_low) if limit]


@pytest.mark.parametrize(("n", "ones"), [(200, 160), (200, 200), (600, 450), (600, 480)])
def test_exchanged_codes_mirror_all_limits_if_the_likeliest_share_is_1(n: int, ones: int) -> None:
    x = np.random.default_rng(1).normal(size=n)
    codes = (np.arange(n) < ones).astype(np.int64)
    terms = _of_codes(codes, x)
    assert terms[0].estimate == inf
    limits = [limit for term in terms for limit in (term.conf_low, term.conf_high) if limit]
    assert limits == pytest.approx(_mirrored(_of_codes(1 - codes, x)), rel=2e-4)


def _steepest(x: Array) -> float:
    """Return the slope at which the profile has the quantile, over a grid of places where x splits.

    Reports are 1 if x > 0, and otherwise 0.
    """
    places = np.linspace(-0.05, 0.05, 401)[:, None]

    def above(slope: float) -> float:
        shares = expit(slope * (x - places))
        fits = np.log(np.where(x > 0, 0.25 + shares / 2, 0.75 - shares / 2)).sum(axis=1)
        return 2 * (len(x) * log(0.75) - float(fits.max())) - CUTOFF

    return float(brentq(above, 1, 10_000, rtol=1e-6))


@pytest.mark.parametrize("seed", [0, 1])
def test_reports_that_a_predictor_separates_have_the_limit_of_a_grid(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=600)
    codes = (x > 0).astype(np.int64)
    up, down = _of_codes(codes, x)[1], _of_codes(1 - codes, x)[1]
    assert (up.conf_high, down.conf_low) == (inf, -inf)
    assert up.conf_low == pytest.approx(_steepest(x), rel=1e-3)
    assert down.conf_high == pytest.approx(-_steepest(x), rel=1e-3)
