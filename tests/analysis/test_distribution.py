"""The distribution of a number is fitted as by a slow program, in ranges with round ends."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from narrowing import not_none
from numpy.random import default_rng

from analysis.core.domain import Numbers
from analysis.estimate.distribution import Range, distribution
from analysis.estimate.distribution.em import early_em, rest, shifted
from analysis.estimate.distribution.ranges import MOST, cells, edges, middles, places
from analysis.mechanisms import MECHANISMS


def question(name: str, steps: int, no_answer: bool, epsilon: str = "2") -> tuple[Any, Numbers]:
    domain = Numbers(Fraction(0), Fraction(steps), steps, no_answer)
    return MECHANISMS[name].compile(domain, Fraction(epsilon), {}), domain


def drawn(randomizer: Any, n: int, seed: int = 1) -> Any:
    channel = randomizer.channel
    rows = np.array([channel.weights(one) for one in range(channel.inputs)], dtype=float)
    law = rows[: len(rows) // 2 + 1].mean(axis=0)
    return default_rng(seed).multinomial(n, law / law.sum())[None]


def test_fit_is_that_of_a_slow_program() -> None:
    randomizer, domain = question("square-wave", 10, False)
    counts = drawn(randomizer, 1000)
    weights = [1 / 11] * 11
    rows = [randomizer.channel.weights(one) for one in range(11)]
    total = sum(rows[0])
    for _ in range(20_000):
        after = [0.0] * 11
        for report, count in enumerate(counts[0]):
            chances = [
                weight * row[report] / total for weight, row in zip(weights, rows, strict=True)
            ]
            for place, chance in enumerate(chances):
                after[place] += count / 1000 * chance / sum(chances)
        ends = [after[0], *after, after[-1]]
        smooth = [(a + 2 * b + c) / 4 for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)]
        moved = max(abs(one - two) for one, two in zip(weights, smooth, strict=True))
        weights = smooth
        if moved < 1e-9:
            break
    found = distribution(randomizer, domain, counts)
    assert [row.estimate for row in found] == pytest.approx(weights, abs=2e-4)
    assert [row.term for row in found][::10] == ["[0,1)", "[10,10]"]


@pytest.mark.parametrize("no_answer", [False, True])
def test_without_smoothing_the_likelihood_is_greatest(no_answer: bool) -> None:
    randomizer, _ = question("square-wave", 10, no_answer)
    channel = places(randomizer)
    counts = channel.classes(drawn(randomizer, 1000))
    chances = np.hstack([channel.at_points, channel.skipped])
    parts, size = counts[:, None] / 1000, chances.shape[1]
    found, rested = rest(chances, parts, np.ones((size, 1)), np.eye(size))
    slope = chances.T @ (parts / (chances @ found))
    # The log-likelihood of all reports is concave, so it is below its maximum by at most this.
    assert rested.all()
    assert 1000 * (slope.max() - 1) < 0.5
    early = early_em(chances, counts, 0.1)
    heights = [float(counts @ np.log(chances @ one)) for one in (early, found[:, 0])]
    assert heights[0] < heights[1] < heights[0] + 5


def test_first_order_step_leads_near_the_fit_of_another_tally() -> None:
    randomizer, _ = question("square-wave", 10, False)
    chances = places(randomizer).at_points
    one, two = (drawn(randomizer, 10**5, seed)[0][:, None] / 10**5 for seed in (1, 2))
    blur = np.full((11, 11), 0.01) + 0.89 * np.eye(11)
    (found, _), (other, _) = (rest(chances, own, np.ones((11, 1)), blur) for own in (one, two))
    near = shifted(chances, one[:, 0], found[:, 0], two, blur)
    assert np.abs(near - other).sum() < 0.1 * np.abs(found - other).sum()


@pytest.mark.parametrize(
    ("name", "no_answer"),
    [
        *product(["optimal", "square-wave", "piecewise"], [False, True]),
        *product(["laplace", "gaussian"], [False]),
    ],
)
@pytest.mark.parametrize("smooth", [False, True])
def test_shares_sum_to_one_and_bands_lie_around_them(
    name: str, no_answer: bool, smooth: bool
) -> None:
    randomizer, domain = question(name, 20, no_answer, "4")
    counts = drawn(randomizer, 2000)
    found = distribution(
        randomizer, domain, counts, rng=default_rng(1), resamples=300, smooth=smooth
    )
    assert sum(not_none(row.estimate) for row in found) == pytest.approx(1)
    for row in found:
        assert 0 <= row.conf_low < row.conf_high <= 1
        assert row.conf_method == "bootstrap"
        assert ("smoothed" in row.flag) == smooth
    inside = [row.conf_low <= not_none(row.estimate) <= row.conf_high for row in found]
    assert sum(inside) >= len(inside) - (0 if smooth else 3)


def test_resamples_are_those_of_the_generator() -> None:
    randomizer, domain = question("optimal", 100, False)
    counts = drawn(randomizer, 500)

    def found(seed: int) -> tuple[Range, ...]:
        return distribution(randomizer, domain, counts, rng=default_rng(seed), resamples=50)

    assert found(1) == found(1) != found(2)


def test_bands_are_as_wide_as_estimates_of_other_reports_differ() -> None:
    randomizer, domain = question("square-wave", 100, False)
    law = drawn(randomizer, 10**7)[0] / 10**7
    rng = default_rng(3)
    shares = np.array(
        [
            [row.estimate for row in distribution(randomizer, domain, one[None])]
            for one in rng.multinomial(1000, law / law.sum(), 200)
        ]
    )
    rows = distribution(randomizer, domain, rng.multinomial(1000, law)[None], rng=rng)
    widths = [row.conf_high - row.conf_low for row in rows]
    # Two standard errors to either side, on average over ranges; 200 draws give one to 5 %.
    assert np.mean(widths) == pytest.approx(3.92 * shares.std(axis=0).mean(), rel=0.2)


@pytest.mark.parametrize(
    ("low", "high", "steps", "bins", "expected"),
    [
        (0, 100, 100, 10, list(range(0, 101, 10))),
        (18, 99, 81, 8, [18, 20, 30, 40, 50, 60, 70, 80, 90, 99]),
        (0, 10, 10, 10, [*range(11), 10]),
        (1, 7, 2, 10, [1, 4, 7, 7]),
        (0, 1, 1, 10, [0, 1, 1]),
        (-1, 1, 1000, 4, [-1, -0.5, 0, 0.5, 1]),
        (0, 10**6, 10**6, 10, list(range(0, 10**6 + 1, 10**5))),
        (0, 30, 10, 1, [0, 30]),
    ],
)
def test_ranges_end_at_round_numbers(
    low: int, high: int, steps: int, bins: int, expected: list[float]
) -> None:
    domain = Numbers(Fraction(low), Fraction(high), steps, False)
    ends = edges(domain, bins)
    assert [float(end) for end in ends] == expected
    numbers = [low + Fraction(high - low, steps) * place for place in range(min(steps, 2000) + 1)]
    if steps > 2000:
        return
    for place, own in enumerate(cells(domain, ends)):
        inside = [numbers[int(one)] for cell in own for one in middles(cell)]
        assert max(map(len, own)) <= min(map(len, own)) + 1
        last = place == len(ends) - 2
        assert inside == [
            one
            for one in numbers
            if ends[place] <= one and (one < ends[place + 1] or (last and one == ends[-1]))
        ]


def test_very_many_possible_numbers_take_no_more_memory() -> None:
    randomizer, domain = question("square-wave", 10**12, False)
    rows = distribution(randomizer, domain, drawn(randomizer, 1000))
    assert [row.term for row in rows][::9] == ["[0,1e+11)", "[9e+11,1e+12]"]
    assert sum(not_none(row.estimate) for row in rows) == pytest.approx(1)


def test_without_reports_nothing_is_known_and_one_is_few() -> None:
    randomizer, domain = question("optimal", 100, True)
    empty = np.zeros((1, randomizer.channel.symbols), dtype=np.int64)
    rows = distribution(randomizer, domain, empty, rng=default_rng(1))
    assert {(row.estimate, row.conf_low, row.conf_high, row.flag) for row in rows} == {
        (None, 0.0, 1.0, "few")
    }
    empty[0, -1] = 1
    rows = distribution(randomizer, domain, empty, rng=default_rng(1), resamples=9)
    assert all(row.flag == "smoothed;few" for row in rows)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("duchi", {}, "rounded to the ends"),
        ("optimal", {"bins": 0}, f"bins must be from 1 to {MOST}, got 0"),
        ("optimal", {"bins": 1001}, "got 1001"),
        ("optimal", {"resamples": 0}, "resamples must be at least 1, got 0"),
        ("optimal", {"confidence_level": 1}, r"confidence_level must be between 0 and 1, got 1"),
    ],
)
def test_impossible_numbers_are_refused(name: str, arguments: Any, message: str) -> None:
    randomizer, domain = question(name, 100, False)
    with pytest.raises(ValueError, match=message):
        distribution(randomizer, domain, drawn(randomizer, 10), **arguments)
