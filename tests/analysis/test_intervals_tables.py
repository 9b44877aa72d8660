"""Check intervals of averages and ratios against the likelihood itself, and in exact cases."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from analysis.estimate.columns import from_matrix
from analysis.estimate.intervals.empirical import empirical_interval
from analysis.estimate.intervals.ratio import fieller_interval
from analysis.study.crosstab import Crosstab
from analysis.study.crosstab.groups import group_share
from analysis.study.crosstab.pairs import pairs_of

TIMES = np.array([40.0, 25.0, 20.0, 15.0])
ABOVE = np.array([1.8, -0.7, 0.4, 0.1])
BELOW = np.array([1.2, 0.9, 0.3, 1.6])


@pytest.mark.parametrize("below", [np.ones(4), BELOW], ids=["average", "ratio"])
def test_ends_are_where_the_likelihood_has_fallen(below: np.ndarray) -> None:
    found = empirical_interval(TIMES, ABOVE, below, (-5.0, 5.0))
    for end in (found.low, found.high):
        best = minimize(
            lambda law: -float(TIMES @ np.log(np.maximum(law, 1e-12))),
            TIMES / 100,
            method="SLSQP",
            bounds=[(1e-9, 1)] * 4,
            constraints=[
                {"type": "eq", "fun": lambda law: law.sum() - 1},
                {"type": "eq", "fun": lambda law, end=end: law @ (ABOVE - end * below)},
            ],
            options={"ftol": 1e-13},
        )
        fallen = 2 * (float(TIMES @ np.log(TIMES / 100)) + best.fun)
        assert fallen == pytest.approx(3.84146, abs=1e-4)
    assert found.low < TIMES @ ABOVE / (TIMES @ below) < found.high


def test_two_kinds_of_reports_give_the_binomial_likelihood() -> None:
    times, scores = np.array([30.0, 70.0]), np.array([1.0, 0.0])

    def fallen(share: float) -> float:
        likely = 30 * np.log(share / 0.3) + 70 * np.log((1 - share) / 0.7)
        return float(-2 * likely - 3.84146)

    found = empirical_interval(times, scores, np.ones(2))
    assert found.low == pytest.approx(brentq(fallen, 0.01, 0.3), abs=2e-6)
    assert found.high == pytest.approx(brentq(fallen, 0.3, 0.9), abs=2e-6)


def test_reports_of_unseen_kinds_are_possible() -> None:
    # All 50 reports are 0 and 1 is possible, so (1 - share)^50 has fallen to exp(-3.84 / 2).
    found = empirical_interval(np.array([50.0, 0.0]), np.array([0.0, 1.0]), np.ones(2))
    assert found.low == 0
    assert found.high == pytest.approx(1 - np.exp(-3.8415 / 100), abs=1e-4)


def test_squared_weights_scale_the_likelihood() -> None:
    plain = empirical_interval(TIMES, ABOVE, BELOW, (-9, 9))
    same = empirical_interval(TIMES, ABOVE, BELOW, (-9, 9), squares=TIMES)
    assert (same.low, same.high) == pytest.approx((plain.low, plain.high))
    wide = empirical_interval(TIMES, ABOVE, BELOW, (-9, 9), squares=2 * TIMES)
    half = empirical_interval(TIMES / 2, ABOVE, BELOW, (-9, 9))
    assert (wide.low, wide.high) == pytest.approx((half.low, half.high))


@pytest.mark.parametrize("shift", [-3.0, -0.5, 0.2, 0.9, 3.0])
def test_intervals_are_possible_values_and_never_points(shift: float) -> None:
    found = empirical_interval(TIMES, ABOVE / 10 + shift, np.ones(4))
    assert 0 <= found.low < found.high <= 1


def test_a_higher_level_gives_a_wider_interval_within_the_same_borders() -> None:
    narrow, wide = (empirical_interval(TIMES, ABOVE, BELOW, (-9, 9), one) for one in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    "below",
    [np.array([1.0, -1.5, 1.0, -1.0]), -BELOW, np.zeros(4)],
    ids=["near 0", "negative", "nobody"],
)
def test_a_group_that_may_be_empty_has_all_possible_values(below: np.ndarray) -> None:
    found = empirical_interval(TIMES, ABOVE, below)
    assert (found.low, found.high, found.method) == (0, 1, "none")


def test_identical_reports_have_all_possible_values() -> None:
    found = empirical_interval(np.array([50.0]), np.array([0.7]), np.ones(1))
    assert (found.low, found.high, found.method) == (0, 1, "none")


@pytest.mark.more
def test_intervals_cover_if_people_of_large_weight_differ() -> None:
    rng = np.random.default_rng(13)
    keep = 1 / (1 + np.exp(-4))
    noise = np.array([[keep, 1 - keep], [1 - keep, keep]])
    truth = (0.05 * 20 * 0.5 * 0.6 + 0.95 * 0.02 * 0.3) / (0.05 * 20 + 0.95)
    hits = np.zeros(2)
    for _ in range(300):
        heavy = rng.random(500) < 0.05
        codes = [
            (rng.random(500) < np.where(heavy, more, less)) ^ (rng.random(500) > keep)
            for more, less in ((0.5, 0.02), (0.6, 0.3))
        ]
        own, other = (
            from_matrix(name, "ny", code.astype(np.int64), noise)
            for name, code in zip("ab", codes, strict=True)
        )
        pairs = pairs_of(own, other, np.where(heavy, 20.0, 1.0))
        cell, group = Crosstab(pairs, 0.95).intervals[1][1], group_share(pairs, 1, 1).interval
        share = truth / ((0.05 * 20 * 0.5 + 0.95 * 0.02) / 1.95)
        hits += [cell.low <= truth <= cell.high, group.low <= share <= group.high]
    # At .945, 270 or fewer of 300 have a probability of 1e-3; with Kish's factor alone cells have
    # 259.
    assert hits.min() > 270


COVARIANCE = np.array([[0.04, 0.01], [0.01, 0.02]])


def test_fieller_ends_are_where_the_difference_is_two_errors_from_zero() -> None:
    found = fieller_interval(1.0, 2.0, COVARIANCE, (-5, 5))
    for end in (found.low, found.high):
        slope = np.array([1, -end])
        distance = (slope @ [1.0, 2.0]) ** 2 / (slope @ COVARIANCE @ slope)
        assert distance == pytest.approx(3.8415, abs=1e-3)
    assert found.method == "fieller"


@pytest.mark.parametrize("above", [-4.0, 9.0])
def test_fieller_of_an_impossible_estimate_is_not_a_point(above: float) -> None:
    found = fieller_interval(above, 2.0, COVARIANCE, (-1, 1))
    assert -1 <= found.low < found.high <= 1
    assert found.method == "constrained-likelihood"


@pytest.mark.parametrize("below", [0.2, -3.0])
def test_fieller_of_a_divisor_that_may_be_zero_has_no_ends(below: float) -> None:
    found = fieller_interval(1.0, below, COVARIANCE, (0, np.inf))
    assert (found.low, found.high, found.method) == (0, np.inf, "none")
