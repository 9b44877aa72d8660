"""Check expected half-widths and required numbers against sums by hand and simulations."""

import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import instance

from analysis.core.domain import Categories, Numbers
from analysis.estimate.estimates import estimates
from analysis.estimate.intervals import normal_intervals, share_interval
from analysis.estimate.precision import (
    curve_of_epsilon,
    curve_of_respondents,
    normal_half_width,
    truth_of,
)
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.least_favorable import (
    mean_variance,
    normal_half_widths,
    worst_variance,
)
from analysis.estimate.precision.truth import Truth
from analysis.estimate.quantity import mean_quantity, share_quantity
from analysis.mechanisms.base import Share
from analysis.study.planning import epsilon_for, expected, respondents_for
from analysis.study.planning.needed import epsilon_at, index_of, least
from analysis.study.planning.one_sample import Side
from analysis.study.planning.share_width import (
    counts_between,
    half_widths,
    of_share,
    weights_of,
)

sys.path.insert(0, str(Path(__file__).parent))
import one_question

asked, rng = one_question.asked, one_question.generator
YES_NO, CHOICE, SCALE = one_question.YES_NO, one_question.CHOICE, one_question.SCALE
NUMBER, SETS, RANK = one_question.NUMBER, one_question.SETS, one_question.RANK
TEXT = one_question.TEXT


@pytest.mark.parametrize("portion", [1.0, 0.25])
@pytest.mark.parametrize("true", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_expected_half_width_is_the_sum_over_all_counts(
    portion: float, true: float, n: int
) -> None:
    p, q, level = 0.7, 0.2, 0.9
    share = Share("", Fraction(7, 10), Fraction(1, 5), Fraction(portion))
    support, total = q + (p - q) * true, 0.0
    for trials in range(n + 1):
        some = comb(n, trials) * portion**trials * (1 - portion) ** (n - trials)
        for count in range(trials + 1):
            chance = comb(trials, count) * support**count * (1 - support) ** (trials - count)
            found = share_interval(count, trials, p, q, level)
            total += some * chance * (found.high - found.low) / 2
    # Of many numbers of trials, only evenly spaced ones are looked at.
    near = 2e-3 if portion < 1 else 1e-9
    assert of_share(share, true, n, level) == pytest.approx(total, rel=near)


@pytest.mark.parametrize(("p", "q"), [(0.505, 0.495), (0.3, 0.7), (1.0, 0.0), (0.8, 0.0)])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("n", [0, 1, 9, 200])
def test_half_widths_of_all_counts_are_those_of_the_printed_intervals(
    p: float, q: float, level: float, n: int
) -> None:
    found = half_widths(np.arange(n + 1), n, p, q, level)
    for count, own in enumerate(found):
        interval = share_interval(count, n, p, q, level)
        assert own == pytest.approx((interval.high - interval.low) / 2, abs=1e-11)


def test_evenly_spaced_counts_give_the_same_as_all() -> None:
    n, chance = 10**6, 0.3
    counts = counts_between(n, (chance, chance))
    weights = weights_of(counts, n, chance)
    assert (np.diff(counts) == 1).all()
    assert weights @ counts == pytest.approx(3e5, rel=1e-9)
    assert weights @ (counts - 3e5) ** 2 == pytest.approx(2.1e5, rel=1e-6)
    some = counts_between(n, (chance, chance), 200)
    assert len(some) <= 200
    for level, p, q in ((0.95, 0.7, 0.3), (0.5, 0.301, 0.299)):
        widths = [
            weights_of(one, n, chance) @ half_widths(one, n, p, q, level) for one in (counts, some)
        ]
        assert widths[1] == pytest.approx(widths[0], rel=1e-3)
    assert weights_of(np.arange(13), 12, 0.5)[3] == pytest.approx(comb(12, 3) / 2**12)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("n", [1, 2, 5, 300])
@pytest.mark.parametrize("epsilon", ["0.001", "0.01", "1", "20"])
def test_no_share_is_less_favorable(epsilon: str, n: int, level: float) -> None:
    for k in (2, 3):
        question = one_question.choice(k, "krr", epsilon).questions[0]
        share, *_ = question.mechanism.shares(question.randomizer, question.domain).values
        found = expected(question, n, level, rng=rng())
        others = [of_share(share, at, n, level) for at in np.linspace(0, 1, 21)]
        assert found.half_width >= max(others) * (1 - 1e-7) > 0


def test_two_reports_are_least_favorable_to_a_share_of_nobody() -> None:
    # Counts 0, 1 and 2, each with the probability of support q = 1 / (e + 2).
    question = one_question.choice(3, "krr").questions[0]
    found, q = expected(question, 2, 0.8, rng=rng()), 0.21194
    widths = half_widths(np.arange(3), 2, 0.57612, q, 0.8)
    by_hand = (1 - q) ** 2 * widths[0] + 2 * q * (1 - q) * widths[1] + q**2 * widths[2]
    assert found.share == 0.0
    assert found.half_width == pytest.approx(by_hand, abs=1e-5)
    assert found.half_width == pytest.approx(0.4936, abs=5e-5)


def test_normal_half_widths_are_clipped_at_both_ends() -> None:
    def widths(share: float, error: float, level: float = 0.95) -> float:
        return float(normal_half_widths(np.array([share]), np.array([error]), level)[0])

    # Nothing is clipped; nearly half of the interval is; nearly everything possible is covered.
    assert widths(0.5, 0.01) == pytest.approx(0.0196, abs=1e-4)
    assert 0.5 < widths(0.0, 0.01) / 0.0196 < 0.75
    assert 0.49 < widths(0.5, 1000, 0.999) <= 0.5
    draw = rng(1).normal(0.5, 0.25, 100_000)
    low, high = normal_intervals(draw, np.full(len(draw), 0.25), 0.95)
    # Half-widths vary with a standard deviation of .1, and their mean with one of .0003.
    assert widths(0.5, 0.25) == pytest.approx(float(np.mean(high - low)) / 2, abs=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "half", "five", "two"),
    # Warner 1965, ε = ln(p / (1 - p)), share 1/2, 95 %: ± at n = 1000, and n for ±5 and ±2 points.
    [("0.5", 0.1265, 6405, 40026), ("1", 0.0671, 1799, 11243), ("2", 0.0407, 663, 4140)],
)
def test_normal_theory_gives_the_known_sample_sizes(
    epsilon: str, half: float, five: int, two: int
) -> None:
    question = asked("krr", YES_NO, epsilon)
    variance = worst_variance(question.mechanism, question.randomizer, question.domain)
    assert normal_half_width(variance, 1000, 0.95) == pytest.approx(half, abs=5e-5)

    def as_part_of(wanted: float) -> Callable[[int], float]:
        return lambda n: normal_half_width(variance, n, 0.95) / wanted

    for width, n in ((0.05, five), (0.02, two)):
        assert least(as_part_of(width)) == n
        # The printed intervals are Clopper and Pearson's, which are wider: they take 22 to 80
        # respondents more, about 1 / |p - q| / width (half a count on either side).
        gap = float(np.tanh(float(epsilon) / 2))
        needed = respondents_for(question, width, rng=rng())
        assert needed - n == pytest.approx(1 / gap / width, rel=0.2)


def test_without_privacy_it_is_an_ordinary_survey() -> None:
    # 1.96 sqrt(.25 / 1000) = .0310.
    direct = Share("", Fraction(1), Fraction(0))
    assert normal_half_width(0.25, 1000, 0.95) == pytest.approx(0.0310, abs=5e-5)
    assert of_share(direct, 0.5, 1000, 0.95) == pytest.approx(0.0314, abs=5e-5)


def test_least_favorable_share_is_where_the_interval_is_widest() -> None:
    question = asked("krr", CHOICE)
    found = expected(question, 1000, rng=rng())
    (share, *_) = question.mechanism.shares(question.randomizer, question.domain).values
    others = [of_share(share, at, 1000, 0.95) for at in np.linspace(0, 1, 51)]
    assert found.half_width == pytest.approx(max(others), rel=2e-3)
    # Counts vary most at a share of 1, but there half of the interval is clipped.
    assert 0.6 < found.share < 0.95
    assert others[-1] < 0.7 * max(others)


@one_question.every_case
def test_every_mechanism_is_planned(mechanism: str, question: dict[str, Any]) -> None:
    found = asked(mechanism, question)
    width = float(found.domain.high - found.domain.low) if isinstance(found.domain, Numbers) else 1
    worst = expected(found, 400, rng=rng())
    even = expected(found, 400, 0.95, {}, rng=rng())
    # Drawn tallies give both to .3 %.
    assert 0 < even.half_width <= 1.02 * worst.half_width <= 0.51 * width
    assert worst.half_width < expected(found, 100, rng=rng()).half_width
    assert worst.half_width < expected(found, 400, 0.99, rng=rng()).half_width
    (point,) = curve_of_respondents(found, [400])
    # The tails of clipped intervals, or of intervals wider than normal ones, are no larger than
    # this.
    assert worst.half_width == pytest.approx(point.half_width, rel=0.3)


@pytest.mark.parametrize(
    ("mechanism", "question", "stated"),
    [
        ("krr", CHOICE, {"v0": 0.5, "v1": 0.1, "no-answer": 0.1}),
        ("hashed-krr", CHOICE, {"v0": 0.5, "v1": 0.1}),
        ("optimal", SCALE, {"v0": 0.7}),
        ("exponential", SCALE, {"v0": 0.7, "no-answer": 0.1}),
        ("optimal", NUMBER, {"0": 0.8, "10": 0.1, "no-answer": 0.1}),
        ("square-wave", NUMBER, {"1": 0.5, "2.5": 0.5}),
        ("pick", SETS, {"v0": 0.5, "v1": 0.1}),
        ("multihot", SETS, {"v0": 0.5, "v1": 0.1}),
        ("permutations", RANK, {"v0|v1|v2": 0.6}),
        ("rappor", TEXT, {"a": 0.5, "b": 0.5}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_planned_half_width_is_that_of_simulated_surveys(
    mechanism: str, question: dict[str, Any], stated: dict[str, float]
) -> None:
    found = asked(mechanism, question, "2")
    n, runs = 500, 60
    truth, own, draw = truth_of(found, stated), expected(found, n, 0.9, stated, rng=rng(1)), rng(2)
    law, widths = Law(found.randomizer, found.domain, truth), []
    survey = one_question.survey_of(mechanism, question, "2")
    for _ in range(runs):
        tally = law.reports(law.people(n, draw), draw)
        if isinstance(found.domain, Numbers):
            (mean,) = found.mechanism.means(found.randomizer, found.domain)
            interval = mean_quantity(mean, tally, n, 0.9).interval
            widths.append(interval.high - interval.low)
        else:
            rows = {row.term: row for row in estimates(survey, {"q": tally}, 0.9)}
            widths.append(rows[own.term].conf_high - rows[own.term].conf_low)
    # It differs by more than 4 standard errors of the mean once in 15,000, plus .5 % for the plan.
    error = float(np.std(widths)) / runs**0.5
    assert abs(np.mean(widths) / 2 - own.half_width) < 2 * error + 0.005 * own.half_width


@pytest.mark.parametrize(
    ("mechanism", "question", "wanted"),
    [("krr", YES_NO, 0.1), ("krr", CHOICE, 0.3), ("pick", SETS, 0.2), ("duchi", NUMBER, 1.0)],
)
def test_respondents_needed_are_the_least_that_do(
    mechanism: str, question: dict[str, Any], wanted: float
) -> None:
    found = asked(mechanism, question)
    n = respondents_for(found, wanted, rng=rng())
    near = 0.01 if isinstance(found.domain, Numbers) else 0
    assert expected(found, n, rng=rng()).half_width <= wanted * (1 + near)
    assert expected(found, n - 1, rng=rng()).half_width > wanted * (1 - near)


def test_epsilon_needed_is_the_least_of_three_digits() -> None:
    found = asked("krr", YES_NO)
    epsilon = epsilon_for(found, 0.05, 1000, rng=rng())
    assert epsilon == Fraction("1.48")
    for other, does in (("1.48", True), ("1.47", False)):
        width = expected(asked("krr", YES_NO, other), 1000, rng=rng()).half_width
        assert (width <= 0.05) == does
    for one in (Fraction(1, 1000), Fraction("0.0999"), Fraction(1), Fraction("9.99"), Fraction(20)):
        assert epsilon_at(index_of(one)) == one
    assert epsilon_at(index_of(Fraction("1.4801"))) == Fraction("1.49")
    # A mechanism that was named stays, even if it is not the best.
    hashed = asked("hashed-krr", YES_NO)
    assert epsilon_for(hashed, 0.1, 1000, rng=rng()) > 1.2 * epsilon_for(
        found, 0.1, 1000, rng=rng()
    )


def test_unreachable_half_widths_are_refused() -> None:
    found = asked("krr", YES_NO)
    with pytest.raises(ValueError, match=r"half_width must be at least 0\.0314, which epsilon 20"):
        epsilon_for(found, 0.03, 1000, rng=rng())
    with pytest.raises(ValueError, match="takes more than 1000000000 respondents"):
        respondents_for(found, 1e-6, rng=rng())
    with pytest.raises(ValueError, match="warner takes its epsilon from its own parameters"):
        epsilon_for(asked("warner", YES_NO), 0.1, 1000, rng=rng())
    with pytest.raises(ValueError, match=r"less than epsilon_forever 1\.2"):
        epsilon_for(asked("krr", YES_NO | {"epsilon_forever": 1.2}), 0.05, 1000, rng=rng())
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="half_width must be a number above 0"):
            respondents_for(found, bad, rng=rng())


def test_curves_pass_through_the_question_and_fall() -> None:
    found = asked("optimal", NUMBER)
    points = curve_of_epsilon(found, [500, 2000], [0.1, 0.5, 1.0, 2.0, 10.0])
    widths = np.array([one.half_width for one in points]).reshape(2, 5)
    assert (np.diff(widths, axis=1) <= 0).all()
    assert widths[0, 2] == pytest.approx(2 * widths[1, 2])
    (own,) = curve_of_respondents(found, [500])
    assert widths[0, 2] == pytest.approx(own.half_width, rel=1e-4)
    for bad in ([0.0], [float("nan")], [21.0]):
        with pytest.raises(ValueError, match=r"epsilon must be from 0\.001 to 20"):
            curve_of_epsilon(found, [500], bad)
    with pytest.raises(ValueError, match="respondents must be a whole number"):
        curve_of_respondents(found, [0])


def test_standard_error_of_a_count_is_that_of_the_table_of_estimates() -> None:
    found = asked("krr", CHOICE)
    (share, *_) = found.mechanism.shares(found.randomizer, found.domain).values
    possible = Side.of(found, "v0", 0.1).possible(12, rng())
    assert possible is not None
    rows = [share_quantity(share, count, 12) for count in range(13)]
    assert possible.values == pytest.approx([row.value for row in rows])
    assert np.sqrt(possible.variances) == pytest.approx([row.std_error for row in rows])


@pytest.mark.parametrize(
    ("mechanism", "question", "stated"),
    [
        ("duchi", NUMBER, {"2": 0.3, "9": 0.3, "no-answer": 0.4}),
        ("exponential", SCALE, {"v0": 0.3, "v3": 0.3, "no-answer": 0.4}),
    ],
)
def test_variance_of_a_mean_includes_the_estimated_part_who_answer(
    mechanism: str, question: dict[str, Any], stated: dict[str, float]
) -> None:
    found = asked(mechanism, question, "3")
    (mean, *_) = found.mechanism.means(found.randomizer, found.domain)
    law, draw, n = Law(found.randomizer, found.domain, truth_of(found, stated)), rng(8), 4000
    middle, variance = mean_variance(mean, law)
    scores, present = mean.floats
    tallies = np.array([law.draw(n, draw).reshape(-1) for _ in range(2000)])
    ratios = (tallies @ scores) / (tallies @ present)
    assert ratios.mean() == pytest.approx(middle, abs=4 * (variance / n / 2000) ** 0.5 + 1e-3)
    # 2,000 draws give a variance to 3.2 %: it is off by 14 % once in 100,000.
    assert ratios.var() * n == pytest.approx(variance, rel=0.14)


def test_worst_truth_of_a_share_without_support_has_the_stated_variance() -> None:
    found = asked("exponential", SCALE)
    worst = 0.0
    for mean in found.mechanism.means(found.randomizer, found.domain):
        if not found.domain.is_share(mean.term):
            continue
        place = instance(found.domain, Categories).ids.index(mean.term)
        for other, part in product(range(5), np.linspace(0, 1, 101)):
            truth = Truth.of([(place, part), (other, 1 - part)])
            law = Law(found.randomizer, found.domain, truth)
            worst = max(worst, mean_variance(mean, law)[1] if other != place else 0.0)
    own = worst_variance(found.mechanism, found.randomizer, found.domain)
    assert own == pytest.approx(worst, rel=1e-9)
    # With hardly any noise it is one half, where asking directly is worst, too.
    worst_share = expected(asked("exponential", SCALE, "8"), 300, rng=rng()).share
    assert worst_share == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("constant", [3.7, 1e4, 7.67e6, 8.5e8])
def test_respondents_are_found_in_few_steps(constant: float) -> None:
    looked: list[int] = []

    def ratio(n: int) -> float:
        looked.append(n)
        return float((constant / n) ** 0.5)

    assert least(ratio) == -int(-constant // 1)
    assert len(looked) < 60


@pytest.mark.parametrize("jump", [7, 2_345_678])
def test_respondents_are_found_in_few_steps_where_a_ratio_hardly_falls(jump: int) -> None:
    looked: list[int] = []

    def ratio(n: int) -> float:
        looked.append(n)
        return 1.000001 if n < jump else 0.999999

    assert least(ratio) == jump
    assert len(looked) < 120
