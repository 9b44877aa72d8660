"""Intervals of means hold as often as stated, by simulation with a stated error."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm, t

from analysis.core.domain import NO_ANSWER, Categories, Numbers
from analysis.estimate.intervals import mover_difference, ratio_interval, share_interval
from analysis.estimate.intervals.ratio import average_interval, fieller_interval
from analysis.mechanisms import MECHANISMS

#: The draws for each cell below; at a coverage of .95, 1,500 fall under .93 with probability 4e-4.
DRAWS = 1500


# Each pair of epsilon, n and the share of those who skip the question is there.
@pytest.mark.parametrize(
    ("epsilon", "n", "skipped"),
    [
        *[("0.5", 200, 0.4), ("0.5", 1000, 0.0), ("1", 200, 0.0)],
        *[("1", 1000, 0.4), ("4", 200, 0.4), ("4", 1000, 0.0)],
    ],
)
@pytest.mark.parametrize(
    "shape", ["low", *(pytest.param(one, marks=pytest.mark.more) for one in ("even", "skewed"))]
)
def test_mean_intervals_cover(epsilon: str, n: int, skipped: float, shape: str) -> None:
    steps = 50
    domain = Numbers(Fraction(0), Fraction(1), steps, skipped > 0)
    mechanism = MECHANISMS["square-wave"]
    randomizer = mechanism.compile(domain, Fraction(epsilon), {})
    (mean,) = mechanism.means(randomizer, domain)
    law = {
        "low": np.eye(steps + 1)[0],
        "even": np.full(steps + 1, 1 / (steps + 1)),
        "skewed": 0.8 ** np.arange(steps + 1) / (0.8 ** np.arange(steps + 1)).sum(),
    }[shape]
    truth = float(law @ np.arange(steps + 1)) / steps
    # Counts of symbols are multinomial, so a simulation needs only the exact channel.
    channel = randomizer.channel
    rows = np.array([[float(c) for _, c in channel.distribution(x)] for x in range(channel.inputs)])
    weights = np.zeros(channel.inputs)
    weights[: steps + 1] = law * (1 - skipped)
    weights[-1] += skipped
    rng = np.random.default_rng([int(n), int(skipped * 10), len(shape), int(float(epsilon) * 10)])
    scores, present = (np.array(one, dtype=float) for one in (mean.scores, mean.present))
    held = 0
    values, errors = [], []
    for counts in rng.multinomial(n, weights @ rows, size=DRAWS):
        ratio = ratio_interval(counts, scores, present)
        interval = ratio.interval
        if ratio.value is not None and ratio.std_error is not None:
            values.append(ratio.value)
            errors.append(ratio.std_error)
        assert 0 <= interval.low < interval.high <= 1
        held += interval.low <= truth <= interval.high
    assert held / DRAWS >= 0.93
    # If nearly all answered, the ratio is nearly normal, and the error is that of repetition.
    if skipped == 0:
        assert np.median(errors) == pytest.approx(np.std(values), rel=0.1)
    elif n == 1000 and epsilon != "0.5":
        assert np.median(errors) == pytest.approx(np.std(values), rel=0.15)


def test_mean_of_one_report_has_no_error_and_the_whole_range() -> None:
    scores, present = np.array([-1.0, 2.0]), np.ones(2)
    ratio = ratio_interval(np.array([0, 1]), scores, present)
    assert (ratio.std_error, ratio.interval.low, ratio.interval.high) == (None, 0, 1)


@pytest.mark.parametrize("symbol", [0, 1, 2])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_reports_show_no_error_and_the_whole_range(symbol: int, n: int) -> None:
    scores, present = np.array([-0.6, 0.5, 1.5]), np.ones(3)
    ratio = ratio_interval(n * np.eye(3, dtype=int)[symbol], scores, present)
    assert (ratio.std_error, ratio.interval.low, ratio.interval.high) == (None, 0, 1)


def test_mean_interval_beyond_the_range_does_not_shrink_to_a_point() -> None:
    scores, present = np.array([-0.6, -0.5, 1.5]), np.ones(3)
    ratio = ratio_interval(np.array([500, 500, 100]), scores, present)
    assert ratio.interval.method == "constrained-likelihood"
    assert (ratio.interval.low, ratio.interval.high > 0) == (0, True)


def test_interval_of_few_reports_beyond_the_range_does_not_shrink_to_a_point() -> None:
    # There are more reports of the upper score than any answers explain: all ratios that the
    # intervals of both allow are above 1.
    scores, present = np.array([-0.1, 1.1, 0.1, 1.2]), np.array([-0.1, -0.1, 1.1, 1.1])
    ratio = ratio_interval(np.array([163, 13, 1, 1211]), scores, present)
    assert ratio.few
    assert 0 < ratio.interval.low < ratio.interval.high == 1


#: Scores of yes, of no and of no answer, for the share of yes among those who answered.
YES, ANSWERED = np.array([9 / 7, -1 / 7, -1 / 7]), np.array([8 / 7, 8 / 7, -2 / 7])


def test_interval_of_a_rare_ratio_divides_two_that_each_miss_half_as_often() -> None:
    counts = np.array([7, 40, 5])
    ratio = ratio_interval(counts, YES, ANSWERED)
    assert ratio.few
    above, below = (
        average_interval(scores, float(counts @ scores) / 52, 52, 1 - 0.05 / 2)
        for scores in (YES, ANSWERED)
    )
    assert ratio.interval.high == pytest.approx(above.high / below.low)
    assert ratio.interval.high == pytest.approx(0.30774508628)


@pytest.mark.parametrize("both", [-0.0004, 0, 0.0004])
def test_ends_of_fieller_are_the_ratios_that_a_test_just_refuses(both: float) -> None:
    covariance = np.array([[0.0009, both], [both, 0.0016]])
    interval = fieller_interval(0.3, 0.6, covariance, (-np.inf, np.inf), 0.9)
    for end in (interval.low, interval.high):
        contrast = np.array([1, -end])
        error = contrast @ covariance @ contrast
        assert abs(0.3 - end * 0.6) == pytest.approx(norm.ppf(0.95) * error**0.5)


def test_ends_of_a_mean_among_those_who_answered_are_those_that_a_test_just_refuses() -> None:
    counts = np.array([500, 400, 300])
    interval = ratio_interval(counts, YES, ANSWERED).interval
    assert interval.method == "fieller"
    reports = np.repeat(np.stack([YES, ANSWERED], axis=1), counts, axis=0)
    for end in (interval.low, interval.high):
        apart = reports @ [1, -end]
        error = apart.std(ddof=1) / len(apart) ** 0.5
        assert abs(apart.mean()) == pytest.approx(t.ppf(0.975, len(apart) - 1) * error)


def test_variation_that_cancels_in_the_ratio_shows_no_error() -> None:
    # Both scores of the single different report are 0, so the ratio is 1/2 in all resamples but
    # one.
    scores, present = np.array([0.5, 0.0]), np.array([1.0, 0.0])
    ratio = ratio_interval(np.array([299, 1]), scores, present)
    assert (ratio.std_error, ratio.interval.low, ratio.interval.high) == (None, 0, 1)


@pytest.mark.parametrize("epsilon", ["1", "4", "8"])
@pytest.mark.parametrize("truth", [0.01, 0.5])
def test_mean_on_two_points_has_the_exact_interval_of_a_share(epsilon: str, truth: float) -> None:
    domain = Numbers(Fraction(0), Fraction(1), 1, False)
    mechanism = MECHANISMS["square-wave"]
    randomizer = mechanism.compile(domain, Fraction(epsilon), {})
    (mean,) = mechanism.means(randomizer, domain)
    scores, present = (np.array(one, dtype=float) for one in (mean.scores, mean.present))
    assert len(scores) == 2
    window = randomizer.channel
    p, q = window.near / window.total, window.far / window.total
    chances = binom.pmf(np.arange(301), 300, q + (p - q) * truth)
    held = [
        one.low <= truth <= one.high
        for count in range(301)
        for one in [ratio_interval(np.array([300 - count, count]), scores, present).interval]
    ]
    assert chances[held].sum() >= 0.95


@pytest.mark.parametrize(
    ("name", "epsilon", "n"),
    [
        ("optimal", "1", 50),
        ("exponential", "1", 200),
        *(
            pytest.param(*one, marks=pytest.mark.more)
            for one in (
                *[("optimal", "4", 200), ("optimal", "8", 50)],
                *[("exponential", "4", 50), ("exponential", "8", 200)],
            )
        ),
    ],
)
def test_intervals_of_shares_without_a_support_count_cover(name: str, epsilon: str, n: int) -> None:
    points = tuple("12345")
    domain = Categories((*points, NO_ANSWER), tuple(map(Fraction, points)))
    mechanism = MECHANISMS[name]
    randomizer = mechanism.compile(domain, Fraction(epsilon), {"aim": "mean"})
    rows = np.array([randomizer.channel.moments(value)[0] for value in range(6)])
    shares = [mean for mean in mechanism.means(randomizer, domain) if domain.is_share(mean.term)]
    assert [share.term for share in shares] == [*points, NO_ANSWER]
    rng = np.random.default_rng([n, int(epsilon), len(name)])
    for law in ([0.2] * 5 + [0], [0.02, 0.08, 0.2, 0.3, 0.4, 0], [0, 0, 0.01, 0.01, 0.98, 0]):
        draws = rng.multinomial(n, law @ rows, size=DRAWS // 5)
        for value in (0, 4, 5):
            scores = np.array(shares[value].scores, dtype=float)
            present = np.ones(len(scores))
            found = [ratio_interval(counts, scores, present).interval for counts in draws]
            held = np.mean([one.low <= law[value] <= one.high for one in found])
            # At a coverage of .95, 300 draws fall under .905 with probability 2e-4.
            assert held >= 0.905


def test_two_scores_have_the_exact_interval_of_a_share() -> None:
    # However many symbols have these scores: 700 of 1000 support it, with p = 3/4 and q = 1/4.
    scores, present = np.array([-0.5, 1.5, -0.5, 1.5]), np.ones(4)
    found = ratio_interval(np.array([100, 300, 200, 400]), scores, present).interval
    assert found == share_interval(700, 1000, 0.75, 0.25)
    alike = ratio_interval(np.array([0, 3, 0, 2]), scores, present).interval
    assert alike == share_interval(5, 5, 0.75, 0.25)


@pytest.mark.parametrize("name", ["optimal", "duchi", "piecewise"])
@pytest.mark.parametrize(
    ("skips", "epsilon", "n"),
    [(False, "4", 50), (False, "8", 200), (True, "4", 200), (True, "8", 50)],
)
def test_means_of_rare_large_numbers_are_covered(
    name: str, skips: bool, epsilon: str, n: int
) -> None:
    # 99 % of numbers are at one end and 1 % at the other, so a small sample often has none of
    # these.
    domain = Numbers(Fraction(0), Fraction(1), 20, skips)
    mechanism = MECHANISMS[name]
    randomizer = mechanism.compile(domain, Fraction(epsilon), {})
    (mean,) = mechanism.means(randomizer, domain)
    scores, present = (np.array(one, dtype=float) for one in (mean.scores, mean.present))
    channel = randomizer.channel
    law = np.zeros(channel.inputs)
    law[0], law[randomizer.encoder.steps] = 0.99, 0.01
    if skips:
        law *= 0.8
        law[-1] += 0.2
    rows = np.array([channel.weights(symbol) for symbol in range(channel.inputs)]) / channel.total
    rng = np.random.default_rng([n, int(epsilon), len(name)])
    found = [
        ratio_interval(counts, scores, present).interval
        for counts in rng.multinomial(n, law @ rows, size=DRAWS // 3)
    ]
    # At a coverage of .95, 500 draws fall under .91 with probability 1e-4.
    assert np.mean([one.low <= 0.01 <= one.high for one in found]) >= 0.91


def test_the_interval_of_a_difference_is_the_published_one() -> None:
    # Newcombe, Statistics in Medicine 1998, table II (a), method 10: 56/70 less 48/80.
    shares = (56 / 70, 48 / 80)
    first, second = (
        share_interval(count, n, 1.0, 0.0, method="wilson") for count, n in ((56, 70), (48, 80))
    )
    found = mover_difference(shares[0], first, shares[1], second, (-1.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # If estimates are correlated, the rest counts: here the differences of the ends.
    alike = mover_difference(shares[0], first, shares[1], second, (-1.0, 1.0), correlation=1.0)
    assert alike.low == pytest.approx(0.2 - abs((0.8 - first.low) - (second.high - 0.6)))
    bounded = mover_difference(shares[0], first, shares[1], second, (0.1, 0.3))
    assert (bounded.low, bounded.high) == (0.1, 0.3)
