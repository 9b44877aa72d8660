"""Check what waves of few bits reveal together, by brute force and beside the looser bound."""

import sys
from fractions import Fraction
from itertools import combinations, product
from math import log, prod
from pathlib import Path
from typing import Any

import pytest
from narrowing import not_none

from analysis.core.channels.bits import Bits
from analysis.core.domain import Categories, Domain, Sets, Texts
from analysis.core.epsilon import fewest_parts, micro
from analysis.core.randomizer import Randomizer
from analysis.core.waves import SEARCHED, constant_ratio, worst_ratio
from analysis.core.waves_of_bits import MOST_ONES, TRILLION, worst_total
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.selection import compiled

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))
import histories

STAGES, bit_stages = histories.STAGES, histories.bit_stages
bits_by_force = histories.bits_by_force

Codewords = list[tuple[int, ...]]


def one_of(k: int) -> Codewords:
    """Return the inputs of `oue` and `sue`."""
    return [(place,) for place in range(k)]


def some_of(options: int, at_most: int) -> Codewords:
    """Return the inputs of `multihot`: sets of options; "none" has a bit of its own."""
    sets = [one for n in range(1, at_most + 1) for one in combinations(range(options), n)]
    return [*sets, (options,)]


def made(name: str, domain: Domain, epsilon: float = 1, forever: float = 2) -> Randomizer[Any, Any]:
    return compiled(MECHANISMS[name], domain, Fraction(epsilon), {}, Fraction(forever))


def options(k: int) -> tuple[str, ...]:
    return tuple(f"v{place}" for place in range(k))


def jointly(permanent: Bits, instant: Bits, codewords: Codewords, waves: int) -> Fraction:
    """Return the largest ratio of the probabilities of all reports, summed over all kept bits."""
    bits = range(permanent.inputs)

    def of_bit(told: tuple[int, ...], given: tuple[int, ...]) -> Fraction:
        total = Fraction(0)
        for kept in product((0, 1), repeat=2):
            chance = Fraction(1)
            for x, weight in enumerate((permanent.zero, permanent.one)):
                one = Fraction(weight, permanent.total)
                chance *= one if kept[x] else 1 - one
            for report, x in zip(told, given, strict=True):
                one = Fraction(instant.one if kept[x] else instant.zero, instant.total)
                chance *= one if report else 1 - one
            total += chance
        return total

    def chance(reports: tuple[tuple[int, ...], ...], history: tuple[tuple[int, ...], ...]) -> Any:
        return prod(
            of_bit(
                tuple(report[bit] for report in reports),
                tuple(int(bit in word) for word in history),
            )
            for bit in bits
        )

    largest = Fraction(0)
    for reports in product(product((0, 1), repeat=permanent.inputs), repeat=waves):
        chances = [chance(reports, history) for history in product(codewords, repeat=waves)]
        largest = max(largest, max(chances) / min(chances))
    return largest


@pytest.mark.parametrize(("codewords", "k"), [(one_of(2), 2), (one_of(3), 3), (some_of(2, 2), 3)])
def test_the_enumeration_is_that_of_all_reports_of_all_bits_at_once(
    codewords: Codewords, k: int
) -> None:
    permanent, instant = bit_stages(STAGES[0], k)
    expected = jointly(permanent, instant, codewords, 2)
    assert bits_by_force(permanent, instant, codewords, 2, alike=False) == expected


@pytest.mark.parametrize("weights", STAGES)
@pytest.mark.parametrize(("k", "waves"), [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2)])
def test_inputs_with_a_single_one_cost_what_the_worst_history_reveals(
    weights: tuple[tuple[int, ...], tuple[int, ...]], k: int, waves: int
) -> None:
    permanent, instant = bit_stages(weights, k)
    truth = bits_by_force(permanent, instant, one_of(k), waves)
    least = fewest_parts(truth, TRILLION)
    # Each bit is rounded up by less than a trillionth.
    assert least <= worst_total(permanent, instant, 1, waves) <= least + k


@pytest.mark.parametrize("weights", STAGES)
@pytest.mark.parametrize(
    ("number", "at_most", "waves"), [(2, 2, 2), (2, 2, 3), (3, 2, 2), (3, 3, 2), (4, 3, 2)]
)
def test_inputs_with_some_ones_have_a_bound_between_truth_and_packings(
    weights: tuple[tuple[int, ...], tuple[int, ...]], number: int, at_most: int, waves: int
) -> None:
    permanent, instant = bit_stages(weights, number + 1)
    truth = bits_by_force(permanent, instant, some_of(number, at_most), waves, alike=False)
    packings = worst_ratio(permanent, instant, ((at_most, 1), (1, at_most)), waves)
    bound = worst_total(permanent, instant, at_most, waves)
    assert fewest_parts(truth, TRILLION) <= bound < fewest_parts(packings, TRILLION)


YES_NO, THREE = Categories(("yes", "no")), Categories(options(3))


@pytest.mark.parametrize(
    ("name", "domain", "codewords", "waves", "truth", "charged", "before"),
    [
        ("oue", YES_NO, one_of(2), 2, 2.0000, 2.0000, 2.5775),
        ("oue", YES_NO, one_of(2), 3, 3.0614, 3.0614, 3.7540),
        ("oue", THREE, one_of(3), 2, 2.2888, 2.2888, 2.5775),
        ("oue", THREE, one_of(3), 3, 3.8663, 3.8663, 4.1310),
        ("sue", YES_NO, one_of(2), 2, 2.0000, 2.0000, 2.8023),
        ("sue", YES_NO, one_of(2), 3, 2.8023, 2.8023, 3.9734),
        ("sue", THREE, one_of(3), 2, 2.4011, 2.4011, 2.8023),
        ("sue", THREE, one_of(3), 3, 4.2034, 4.2034, 4.7514),
        ("multihot", Sets(options(2), 2, False), some_of(2, 2), 2, 2.0000, 2.0000, 3.3589),
        ("multihot", Sets(options(2), 2, False), some_of(2, 2), 3, 3.3178, 3.3178, 5.6038),
        # The bit of "none" is always alone, which the bound does not use.
        ("multihot", Sets(options(3), 2, False), some_of(3, 2), 2, 2.4393, 2.6667, 4.4237),
    ],
)
def test_few_bits_cost_what_they_reveal(
    name: str,
    domain: Domain,
    codewords: Codewords,
    waves: int,
    truth: float,
    charged: float,
    before: float,
) -> None:
    randomizer = made(name, domain)
    stages = not_none(randomizer.stages)
    exact = bits_by_force(*stages, codewords, waves, alike=name != "multihot")
    assert log(exact) == pytest.approx(truth, abs=5e-5)
    assert randomizer.spent(waves) / 1e6 == pytest.approx(charged, abs=5e-5)
    assert randomizer.spent(waves) >= micro(exact)
    # Frozen surveys of the first protocol keep their price, to the millionth.
    first = randomizer.spent(waves, protocol=1)
    assert first == micro(worst_ratio(*stages, randomizer.encoder.apart, waves))
    assert first / 1e6 == pytest.approx(before, abs=5e-5)


MANY = [
    ("oue", Categories(options(2))),
    ("oue", Categories(options(7))),
    ("sue", Categories(options(3))),
    ("multihot", Sets(options(2), 2, True)),
    ("multihot", Sets(options(6), MOST_ONES, True)),
    ("rappor", Texts(("a", "b"), 12, True)),
]


@pytest.mark.parametrize(("name", "domain"), MANY)
def test_costs_rise_with_waves_and_pass_neither_the_packings_nor_fall_below_a_constant_answer(
    name: str, domain: Domain
) -> None:
    randomizer = made(name, domain)
    waves = range(SEARCHED + 3)
    costs = [randomizer.spent(n) for n in waves]
    assert costs == sorted(costs)
    assert costs[:2] == [0, randomizer.charge]
    packings = [randomizer.spent(n, protocol=1) for n in waves[:8]]
    assert all(cost <= packing for cost, packing in zip(costs, packings, strict=False))
    stages = not_none(randomizer.stages)
    constant = (micro(constant_ratio(*stages, randomizer.encoder.apart, n)) for n in waves)
    assert all(cost >= least for cost, least in zip(costs, constant, strict=True))


def test_with_enough_bits_for_both_histories_both_bounds_are_equal() -> None:
    randomizer = made("oue", Categories(options(12)))
    assert [randomizer.spent(n) for n in range(7)] == [
        randomizer.spent(n, protocol=1) for n in range(7)
    ]
    few = made("oue", Categories(options(4)))
    assert few.spent(3) < few.spent(3, protocol=1)


def test_many_ones_keep_the_looser_bound() -> None:
    randomizer = Randomizer.remembering(
        MECHANISMS["multihot"].compile(Sets(options(6), 5, False), Fraction(1), {}).encoder,
        Bits(7, 3, 2, 5),
        Bits(7, 2, 1, 3),
    )
    assert randomizer.spent(2) == randomizer.spent(2, protocol=1)


def test_numbers_of_the_docstring() -> None:
    stages = Bits(2, 3, 1, 4), Bits(2, 3, 1, 4)
    assert worst_total(*stages, 1, 2) == pytest.approx(4 * log(5 / 3) * TRILLION, abs=2)
    assert bits_by_force(*stages, one_of(2), 2) == Fraction(5, 3) ** 4
    assert worst_ratio(*stages, ((1, 1),), 2) == Fraction(25 * 28, 12 * 15) ** 2
