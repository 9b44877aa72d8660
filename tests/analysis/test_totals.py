"""Check numbers of people with an answer, and sums of their numbers, in any population."""

import sys
from math import exp
from pathlib import Path

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.sample import Sample
from analysis.estimate.columns.totals import column_totals, times_population
from analysis.estimate.estimates import estimates
from analysis.estimate.intervals import finite_interval, share_interval
from analysis.estimate.totals import PopulationTotal, totals

sys.path.insert(0, str(Path(__file__).parent))
from errors_of_intervals import check_errors, error
from one_question import NUMBER, SCALE, generator, survey_of, tally

NUMBERS = {"kind": "number", "min": -2, "max": 8, "step": 1, "no_answer": True}


def _keep(epsilon: float, k: int) -> tuple[float, float]:
    """Return p and q of k-ary randomized response."""
    return exp(epsilon) / (exp(epsilon) + k - 1), 1 / (exp(epsilon) + k - 1)


def _law(n: int, population: int, p: float, q: float) -> NDArray[np.float64]:
    """Return the probability of each count of supporting reports (column), by carriers (row)."""
    among = np.arange(n + 1)
    of_asked = np.array(
        [np.convolve(binom.pmf(among, h, p), binom.pmf(among, n - h, q))[: n + 1] for h in among]
    )
    carriers = np.arange(population + 1)[:, None]
    drawn = hypergeom.pmf(among, population, carriers, n)
    return np.asarray((drawn if population > n else np.eye(n + 1)) @ of_asked)


@pytest.mark.parametrize(
    ("p", "q"), [_keep(1, 2), _keep(4, 2), _keep(1, 5), (1, 0.25), (0.75, 0), (0.25, 0.75), (1, 0)]
)
@pytest.mark.parametrize(("n", "population"), [(1, 1), (30, 30), (40, 60), (25, 250)])
def test_intervals_of_counts_hold_whatever_the_count_is(
    n: int, population: int, p: float, q: float
) -> None:
    intervals = [finite_interval(count, n, population, p, q) for count in range(n + 1)]
    low, high = np.array([(each.low, each.high) for each in intervals]).T
    carriers = np.arange(population + 1)[:, None]
    coverage = (_law(n, population, p, q) * ((low <= carriers) & (carriers <= high))).sum(axis=1)
    assert coverage.min() >= 0.95 - 1e-9


def test_intervals_of_counts_are_those_of_one_sided_tests() -> None:
    n, population, (p, q) = 40, 70, _keep(2, 2)
    law = _law(n, population, p, q)
    for count in range(12, 30):
        allowed = (law[:, : count + 1].sum(axis=1) > 0.025) & (law[:, count:].sum(axis=1) > 0.025)
        among = np.flatnonzero(allowed)
        interval = finite_interval(count, n, population, p, q)
        assert (interval.low, interval.high) == (among[0], among[-1])


@pytest.mark.parametrize("n", [300, 4000])
def test_in_a_large_population_intervals_are_those_of_shares(n: int) -> None:
    p, q = _keep(1, 3)
    share = share_interval(n // 3, n, p, q)
    finite = finite_interval(n // 3, n, 10**9, p, q)
    assert (finite.low, finite.high) == pytest.approx((1e9 * share.low, 1e9 * share.high), rel=1e-4)


def test_interpolated_probabilities_give_the_same_ends() -> None:
    # Everybody is asked, so the probabilities are two binomial sums without interpolation.
    n, (p, q) = 20_000, _keep(1, 2)
    count, grid = 8_000, np.arange(n + 1)
    exact = finite_interval(count, n, n, p, q)
    nearly = finite_interval(count, n, n + 1, p, q)
    assert (nearly.low, nearly.high) == pytest.approx((exact.low, exact.high), abs=2)
    for carriers, allowed in ((int(exact.high), True), (int(exact.high) + 1, False)):
        of_carriers = binom.pmf(grid[: carriers + 1], carriers, p)
        below = binom.cdf(count - grid[: carriers + 1], n - carriers, q)
        assert (of_carriers @ below > 0.025) == allowed


def test_without_noise_a_count_of_everybody_is_known() -> None:
    interval = finite_interval(3, 10, 10, 1, 0)
    assert (interval.low, interval.high) == (3, 3)


def test_counts_that_noise_does_not_explain_have_intervals_of_some_width() -> None:
    interval = finite_interval(10, 200, 400, *_keep(1, 2))
    assert interval.method == "profile-likelihood"
    assert interval.low == 0 < interval.high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 10, 9, 0.7, 0.3), "population must be at least the 10 who were asked, got 9"),
        ((11, 10, 20, 0.7, 0.3), "count must be from 0 to n = 10, got 11"),
        ((1, 10, 20, 0.5, 0.5), "p and q must be different probabilities"),
    ],
)
def test_impossible_counts_are_refused(
    arguments: tuple[int, int, int, float, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        finite_interval(*arguments)


def _warner(said_yes: int, n: int) -> Column:
    matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    return from_matrix("y", ("no", "yes"), np.repeat([0, 1], [n - said_yes, said_yes]), matrix)


def _of(column: Column, sample: Sample | None, population: int | None) -> PopulationTotal:
    rows = column_estimates(column, 0.95, sample)
    return column_totals(column, rows, sample, population)["y", "yes"]


def test_if_everybody_is_asked_only_the_noise_remains() -> None:
    # By hand: the estimate is (400 - 250) / 0.5, and one report adds (3/4)(1/4) / (1/2)^2 = 3/4.
    total = _of(_warner(400, 1000), None, None)
    assert total.population == 1000
    assert total.total == pytest.approx(300)
    assert total.total_error == pytest.approx(750**0.5)
    # For 10,000 people, sampling adds (1 - 1000/10000) of the share's variance, 0.3 times 0.7.
    large = _of(_warner(400, 1000), None, 10_000)
    expected = 10_000 * ((0.75 + 0.21 * (1 - 999 / 9999)) / 1000) ** 0.5
    assert large.total_error == pytest.approx(expected)


def test_weights_are_numbers_of_people_unless_the_population_is_known() -> None:
    column, n = _warner(400, 1000), 1000
    weights = np.where(np.arange(n) % 2, 30.0, 10.0)
    strata, clusters = np.zeros(n, dtype=np.int64), np.arange(n)
    weighted = Sample(weights, strata, clusters, np.zeros(1))
    rows = {row.term: row for row in column_estimates(column, 0.95, weighted)}
    total = _of(column, weighted, None)
    assert total.population == 20_000
    assert total.total == pytest.approx(20_000 * not_none(rows["yes"].estimate))
    # By hand: the variance of a sum of n weighted reports, drawn with replacement.
    summands = weights * (np.where(column.codes == 1, 0.75, -0.25) / 0.5)
    assert total.total_error == pytest.approx((n * summands.var(ddof=1)) ** 0.5)
    known = _of(column, Sample(weights, strata, clusters, np.array([0.1]), 10_000.0), None)
    assert known.total_method == "korn-graubard"
    assert known.total_high < 10_000 < total.total_high * 2


@pytest.mark.parametrize(
    ("people", "population", "message"),
    [
        (None, None, "weights sum to 6, which is no more than about the 6 respondents"),
        (100.0, 50, "stated once: the design file states 100 people, and --population 50"),
        (None, 5, "population must be at least the 6 respondents"),
    ],
)
def test_totals_of_unknown_populations_are_refused(
    people: float | None, population: int | None, message: str
) -> None:
    column, weights = _warner(3, 6), np.array([0.5, 1.5, 1, 1, 1, 1])
    nothing = np.zeros(6, dtype=np.int64)
    sample = Sample(weights, nothing, np.arange(6), np.zeros(1), people)
    with pytest.raises(ValueError, match=message):
        _of(column, sample, population)


def test_estimates_are_not_multiplied_by_a_sum_of_weights() -> None:
    nothing = np.zeros(6, dtype=np.int64)
    sample = Sample(np.full(6, 9.0), nothing, np.arange(6), np.zeros(1), None)
    with pytest.raises(ValueError, match="need the size of the population: weights sum to 54"):
        times_population([], 6, sample)
    assert times_population([], 6, sample, 60) == {}


@pytest.mark.parametrize("mechanism", ["krr", "subset"])
def test_sums_of_everybody_have_the_error_of_the_noise(mechanism: str) -> None:
    survey, runs = survey_of(mechanism, SCALE, "2"), 40
    (question,) = survey.questions
    answers = np.array([250, 500, 125, 75, 50])
    values = [*np.repeat(np.arange(5), answers)]
    found = []
    for run in range(runs):
        counts = {"q": tally(survey, values, mechanism, run)}
        rows = estimates(survey, counts)
        found.append(totals(survey, counts, rows)["q", "mean"])
    assert {total.population for total in found} == {1000}
    sums = np.array([not_none(total.total) for total in found])
    error = np.mean([not_none(total.total_error) for total in found])
    places = [not_none(question.domain.mean_of("mean")).place(value) for value in range(5)]
    truth = answers @ [0 if place is None else 1 + 3 * float(place) for place in places]
    assert abs(sums.mean() - truth) < 4 * error / runs**0.5
    # This allows four relative standard errors of a standard deviation of 40 sums.
    assert sums.std(ddof=1) == pytest.approx(error, rel=4 * (2 * (runs - 1)) ** -0.5)


def test_quantities_without_a_total_have_none() -> None:
    survey = survey_of("optimal", NUMBER, "2")
    counts = {"q": tally(survey, [None, *[0.5] * 99], "t")}
    found = totals(survey, counts, estimates(survey, counts), 400)
    assert set(found) == {("q", "mean"), ("q", "no-answer")}


def test_simultaneous_intervals_of_counts_are_wider() -> None:
    survey = survey_of("krr", SCALE, "2")
    counts = {"q": tally(survey, [0] * 300 + [1] * 300, "t")}
    one, all_of_them = (
        totals(survey, counts, estimates(survey, counts, simultaneous=simultaneous), 900)
        for simultaneous in (False, True)
    )
    key = ("q", "v0")
    assert all_of_them[key].total_method == "finite-clopper-pearson-bonferroni"
    assert all_of_them[key].total_low < one[key].total_low
    assert all_of_them[key].total_high > one[key].total_high


@pytest.mark.more
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "population"),
    [("optimal", "1", 300), ("optimal", "4", 200), ("piecewise", "4", 300), ("duchi", "1", 200)],
)
def test_intervals_of_sums_hold(mechanism: str, epsilon: str, population: int) -> None:
    survey, rng, runs, n = survey_of(mechanism, NUMBERS, epsilon), generator(), 80, 200
    places = rng.choice([np.nan, 0, 0.13, 0.5, 1.0], population, p=[0.1, 0.3, 0.3, 0.2, 0.1])
    truth = float(np.nansum(-2 + 10 * places))
    errors = []
    for run in range(runs):
        asked = rng.choice(places, n, replace=False)
        answers = [None if np.isnan(place) else place for place in asked]
        counts = {"q": tally(survey, answers, run)}
        rows = estimates(survey, counts, spread=False)
        total = totals(survey, counts, rows, population)["q", "mean"]
        errors.append(error(total.total, total.total_low, total.total_high, truth))
    check_errors(errors)
