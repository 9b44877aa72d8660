"""Variance and quartiles of numbers: their tests keep their promises, and intervals hold."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.typing import NDArray
from scipy.optimize import minimize

from analysis.core.domain import Numbers
from analysis.estimate.distribution.least_favorable import evidence, nearest_law
from analysis.estimate.distribution.quantile import Reference, quantile_range, squared_error
from analysis.estimate.distribution.ranges import places, tells_distribution
from analysis.estimate.intervals import ratio_interval
from analysis.estimate.number import number_quantities
from analysis.mechanisms import MECHANISMS

TERMS = ["variance", "q25", "median", "q75"]
NAMES = ("optimal", "square-wave", "piecewise", "duchi", "laplace", "gaussian")


def question(name: str, steps: int, no_answer: bool, epsilon: str = "2") -> tuple[Any, Any, Any]:
    domain = Numbers(Fraction(-5), Fraction(-5) + Fraction(steps, 2), steps, no_answer)
    mechanism = MECHANISMS[name]
    return mechanism, mechanism.compile(domain, Fraction(epsilon), {}), domain


QUESTIONS = [
    pytest.param(name, steps, no_answer, id=f"{name}-{steps}{'-skips' * no_answer}")
    for name in NAMES
    for steps in (1, 4, 10)
    for no_answer in (False, True)
    if MECHANISMS[name].fits(Numbers(Fraction(0), Fraction(1), steps, no_answer))
]
every_question = pytest.mark.parametrize(("name", "steps", "no_answer"), QUESTIONS)


def law_of(randomizer: Any, shares: NDArray[np.float64], skipped: float = 0.0) -> Any:
    """Return the exact law of reports, written out from the channel's whole weights."""
    steps, last = randomizer.encoder.steps, len(shares) - 1
    rows = [randomizer.channel.weights(one) for one in range(randomizer.channel.inputs)]
    law = skipped * np.array(rows[-1], dtype=float)
    for number, share in enumerate(shares):
        left, part = divmod(Fraction(number * steps, last), 1)
        upper = rows[min(int(left) + 1, steps)]
        mixed = [
            (1 - part) * one + part * two for one, two in zip(rows[int(left)], upper, strict=True)
        ]
        law += (1 - skipped) * share * np.array(mixed, dtype=float)
    return law / law.sum()


@every_question
@pytest.mark.parametrize("reports", ["none", "one", "alike", "skips", "many"])
def test_rows_depend_on_the_channel_and_intervals_never_shrink_or_leave_the_range(
    name: str, steps: int, no_answer: bool, reports: str
) -> None:
    mechanism, randomizer, domain = question(name, steps, no_answer)
    symbols = randomizer.channel.symbols
    tally = np.zeros((1, symbols), dtype=np.int64)
    if reports == "many":
        tally += 60
    elif reports == "skips":
        # These follow from the whole weights of the row of no-answer, or of the last number.
        tally[0] = np.array(randomizer.channel.weights(randomizer.channel.inputs - 1)) // 2**20
    elif reports != "none":
        tally[0, 0] = 1 if reports == "one" else 300
    rows = number_quantities(mechanism, randomizer, domain, tally)
    assert [row.term for row in rows] == (TERMS if tells_distribution(randomizer, domain) else [])
    for row in rows:
        least, most = float(domain.low), float(domain.high)
        if row.term == "variance":
            least, most = 0.0, (most - least) ** 2 / 4
        assert least <= row.interval.low < row.interval.high <= most + 1e-9
        assert row.value is None or least <= row.value <= most + 1e-9
        if reports in ("none", "one"):
            assert (row.value, row.interval.method, row.flags) == (None, "none", ("few",))


def test_channels_with_two_inputs_show_the_distribution_of_only_two_numbers() -> None:
    for steps in (1, 2, 100):
        _, randomizer, domain = question("duchi", steps, False)
        assert tells_distribution(randomizer, domain) == (steps == 1)


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [*product(["optimal", "square-wave"], ["1", "2", "4"]), *product(["laplace"], ["2", "4"])],
)
def test_scores_keep_their_promise_for_every_number(name: str, epsilon: str) -> None:
    _, randomizer, domain = question(name, 12, False, epsilon)
    assert tells_distribution(randomizer, domain)
    channel = places(randomizer)
    shares = np.exp(-np.arange(13) / 4)
    law = law_of(randomizer, shares / shares.sum())
    reference = Reference.of(channel, 12, channel.classes(np.rint(2000 * law).astype(int)))
    possible = reference.possible
    # The probabilities are those of the exact channel, its rounding included.
    for number in range(13):
        one = law_of(randomizer, np.eye(13)[number])
        assert possible[:, number] == pytest.approx(np.add.reduceat(one, channel.starts))
    target = possible @ reference.weights
    for place, share in ((1, 0.25), (5, 0.5), (9, 0.75)):
        side = np.where(np.arange(13) <= place, 1 - share, -share)
        nearest = nearest_law(possible, target, side)
        assert nearest.converged
        scores = target / nearest.law - 1
        assert (scores @ possible + nearest.price * side).max() < 1e-8
        assert scores @ nearest.law == pytest.approx(0, abs=1e-8)


def test_nearest_law_is_that_of_a_direct_optimization() -> None:
    chances = np.array([[0.5, 0.2, 0.1], [0.3, 0.5, 0.3], [0.2, 0.3, 0.6]])
    target, side = np.array([0.25, 0.4, 0.35]), np.array([0.3, -0.7, -0.7])
    found = nearest_law(chances, target, side)
    direct = minimize(
        lambda weights: -target @ np.log(chances @ weights),
        np.array([0.7, 0.15, 0.15]),
        bounds=[(0, 1)] * 3,
        constraints=[
            {"type": "eq", "fun": lambda weights: weights.sum() - 1},
            {"type": "eq", "fun": lambda weights: side @ weights},
        ],
        tol=1e-14,
    )
    assert found.law == pytest.approx(chances @ direct.x, abs=1e-6)
    assert found.converged


def test_evidence_has_the_sign_of_the_reports() -> None:
    chances, first = np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([0, 1])
    # 700 of 1000 reports give a share of (.7 - .2) / .6 = .833 on the left. A step of .05 to either
    # side is .03 in reports, with a standard error of sqrt(.21 / 1000) = .0145, or that of the
    # null.
    counts = np.array([700.0, 300.0])
    for share, expected in ((0.7833, 0.03 / 0.0149), (0.8833, -0.03 / 0.0145)):
        found = evidence(chances, np.array([1 - share, -share]), first, counts / 1000, counts)
        assert found == pytest.approx(expected, rel=0.02)
    assert evidence(chances, np.array([0.1667, -0.8333]), first, counts / 1000, counts) == 0
    assert evidence(chances, np.array([0.5, 0.0]), first, counts / 1000, counts) == np.inf
    assert evidence(chances, np.array([0.0, -0.5]), first, counts / 1000, counts) == -np.inf


@pytest.mark.parametrize(("name", "no_answer"), [("square-wave", True), ("optimal", False)])
def test_search_ends_where_tests_begin_to_exclude(name: str, no_answer: bool) -> None:
    _, randomizer, _ = question(name, 20, no_answer, "1")
    law = law_of(randomizer, np.full(21, 1 / 21), 0.1 * no_answer)
    channel = places(randomizer)
    counts = np.random.default_rng(1).multinomial(800, law)
    reference = Reference.of(channel, 20, channel.classes(counts))
    for share in (0.25, 0.5, 0.75):
        all_found = [reference.share_up_to(place, share) for place in range(20)] + [np.inf]
        low, high = quantile_range(reference, share, 0.95)
        assert all_found[low] >= -1.9629
        assert low == 0 or all_found[low - 1] < -1.9629
        assert all_found[high] > 1.9629
        assert high == 0 or all_found[high - 1] <= 1.9629
        assert low <= reference.quantile(share) <= high


@pytest.mark.parametrize("name", ["optimal", "square-wave", "laplace"])
def test_variance_is_not_that_of_rounding(name: str) -> None:
    # All numbers lie between two points of the grid of laplace, which rounds them to 0 and 1/2.
    mechanism, randomizer, domain = question(name, 40, False)
    law = law_of(randomizer, np.eye(41)[10])
    counts = np.rint(10**5 * law).astype(np.int64)[None]
    found = {row.term: row for row in number_quantities(mechanism, randomizer, domain, counts)}
    assert found["variance"].interval.low == 0
    for term in TERMS[1:]:
        assert found[term].interval.low <= 0 <= found[term].interval.high


@pytest.mark.parametrize("no_answer", [False, True])
def test_much_data_gives_the_truth_if_the_grid_has_every_number(no_answer: bool) -> None:
    mechanism, randomizer, domain = question("square-wave", 10, no_answer)
    shares = np.array([4, 3, 2, 2, 1, 1, 1, 2, 1, 1, 2]) / 20
    law = law_of(randomizer, shares, 0.3 * no_answer)
    counts = np.rint(10**7 * law).astype(np.int64)[None]
    found = {row.term: row for row in number_quantities(mechanism, randomizer, domain, counts)}
    numbers = -5 + np.arange(11) / 2
    variance = float(shares @ (numbers - shares @ numbers) ** 2)
    interval = found["variance"].interval
    assert interval.low <= variance <= interval.high < interval.low * 1.02
    assert found["variance"].value == pytest.approx(variance, rel=0.02)
    assert [found[term].value for term in TERMS[1:]] == [-4.5, -3.5, -1.5]
    # No other number can be a quartile, so its neighbors are the ends.
    ends = [(found[term].interval.low, found[term].interval.high) for term in TERMS[1:]]
    assert ends == [(-5, -4), (-4, -3), (-2, -1)]


def test_many_possible_numbers_are_taken_together() -> None:
    mechanism, randomizer, domain = question("square-wave", 10**6, False)
    counts = np.full((1, randomizer.channel.symbols), 2)
    rows = number_quantities(mechanism, randomizer, domain, counts)
    assert all(row.interval.low <= not_none(row.value) <= row.interval.high for row in rows)


#: The draws of each cell. At a coverage of .95, fewer than 65 of 80 cover with probability 7e-6.
DRAWS, FEWEST = 80, 65


@pytest.mark.more
@pytest.mark.parametrize(
    ("name", "no_answer", "shape"),
    [
        ("optimal", False, "skewed"),
        ("optimal", True, "ends"),
        ("square-wave", False, "ends"),
        ("laplace", False, "point"),
    ],
)
def test_intervals_of_quartiles_and_variance_cover(name: str, no_answer: bool, shape: str) -> None:
    mechanism, randomizer, domain = question(name, 20, no_answer)
    (mean,) = mechanism.means(randomizer, domain)
    scores, present = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    skewed, ends, point = np.exp(-np.arange(21) / 4), np.zeros(21), np.eye(21)[7]
    ends[[0, -1]] = 0.24, 0.76
    shares = {"skewed": skewed / skewed.sum(), "ends": ends, "point": point}[shape]
    law = law_of(randomizer, shares, 0.2 * no_answer)
    below, numbers = np.cumsum(shares) + 1e-12, np.arange(21) / 20
    square = float(shares @ (numbers - shares @ numbers) ** 2)
    channel, rng = places(randomizer), np.random.default_rng(4)
    hits = np.zeros(4)
    for _ in range(DRAWS):
        counts = rng.multinomial(500, law)
        reference = Reference.of(channel, 20, channel.classes(counts))
        ratio = ratio_interval(counts, scores, present)
        value, std_error = not_none(ratio.value), not_none(ratio.std_error)
        error = squared_error(reference, std_error, 0.95)
        hits[0] += (
            reference.distance_from(value, square + error) <= 1.965
            and reference.distance_from(value, square) >= -1.965
        )
        for place, share in enumerate((0.25, 0.5, 0.75), 1):
            true = int(np.argmax(below >= share))
            least = reference.share_up_to(true - 1, share) if true else -np.inf
            most = reference.share_up_to(true, share) if true < 20 else np.inf
            hits[place] += least <= 1.965 and most >= -1.965
    assert hits.min() >= FEWEST
