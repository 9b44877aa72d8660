"""Enumerate all reports of every channel: none reveals more than its privacy loss says."""

from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from analysis.core.channels import CHANNELS
from analysis.core.channels.bits import Bits
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Sets
from analysis.core.encoders.categories import Index, Onehot
from analysis.core.encoders.grid import Grid
from analysis.core.encoders.several import Multihot, Padded
from analysis.core.epsilon import log_ratio
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.privacy.accounting import PrivacyLoss, compose

#: The part by which δ of several reports can be too large. It is 0 if one pair of inputs dominates
#: all and is its own mirror image. Otherwise no two answers are as far apart as the dominating
#: pair.
EXACT, NEAR = 1e-9, 0.6


def indexed(channel: Any) -> Randomizer[Any, Any]:
    return Randomizer(Index(channel.inputs), channel)


#: Randomizers with their inputs, and how close their δ must be.
CASES: list[tuple[Randomizer[Any, Any], list[Any], float]] = [
    *(
        (indexed(channel), list(range(channel.inputs)), EXACT)
        for channel in (
            Window(2, 1, 3, 1),
            Window(4, 1, 7, 2),
            Window(3, 2, 5, 2),
            Window(4, 2, 1, 3),
            Subset(4, 2, 3, 1),
            Subset(4, 1, 1, 5),
            Table(2, ((5, 1), (1, 5))),
        )
    ),
    *(
        (indexed(channel), list(range(channel.inputs)), NEAR)
        for channel in (
            Shift(3, (1, 3, 5, 3, 1)),
            Shift(4, (7, 1, 1, 2, 1, 1, 3)),
            Table(3, ((1, 2, 3), (3, 2, 1), (2, 2, 2))),
            Table(2, ((1, 2, 3, 4), (4, 4, 1, 1))),
            Table(3, ((3, 1), (1, 3), (2, 2))),
        )
    ),
    (Randomizer(Onehot(3), Bits(3, 3, 1, 4)), [(0,), (1,), (2,)], EXACT),
    (Randomizer(Onehot(3), Bits(3, 5, 2, 9)), [(0,), (1,), (2,)], EXACT),
    (
        Randomizer(Multihot(3, 2, 4), Bits(4, 5, 2, 9)),
        [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (3,)],
        NEAR,
    ),
    (Randomizer(Multihot(2, 2, 3), Bits(3, 3, 1, 4)), [(0,), (1,), (0, 1), (2,)], NEAR),
    (
        Randomizer(Padded(2, 2, 4), Overlap(4, 2, 1, (1, 3))),
        [(0, 1), (0, 3), (1, 3), (2, 3)],
        EXACT,
    ),
]
every_case = pytest.mark.parametrize(
    ("randomizer", "inputs", "near"),
    CASES,
    ids=lambda one: getattr(one, "channel", None) and str(one),
)


def pairs_of(randomizer: Randomizer[Any, Any], inputs: list[Any]) -> NDArray[np.float64]:
    """Return (pairs, reports, 2) probabilities for every two inputs, in either order."""
    rows = [dict(randomizer.channel.distribution(value)) for value in inputs]
    chances = np.array([[float(chance) for _, chance in sorted(row.items())] for row in rows])
    return np.array(
        [np.column_stack((chances[a], chances[b])) for a, b in product(range(len(rows)), repeat=2)]
    )


def joint(pairs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return all answers to several questions, and all their reports."""

    def both(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        found = one[:, None, :, None] * other[None, :, None, :]
        return found.reshape(len(one) * len(other), -1, 2)

    return reduce(both, pairs)


def largest_delta(pairs: NDArray[np.float64], epsilon: float) -> float:
    return float(np.maximum(pairs[..., 0] - exp(epsilon) * pairs[..., 1], 0).sum(axis=1).max())


def distinct(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pairs that are not others with their reports in another order."""
    kept: dict[tuple[Any, ...], NDArray[np.float64]] = {}
    for pair in pairs:
        kept.setdefault(tuple(sorted(map(tuple, pair.round(12).tolist()))), pair)
    return np.array(list(kept.values()))


def test_every_channel_has_a_case() -> None:
    assert {randomizer.channel.name for randomizer, _, _ in CASES} == set(CHANNELS)


@every_case
def test_delta_of_one_report_is_that_of_the_inputs_easiest_to_distinguish(
    randomizer: Randomizer[Any, Any], inputs: list[Any], near: float
) -> None:
    pairs, loss = pairs_of(randomizer, inputs), PrivacyLoss.of(randomizer)
    for part in (0.001, 0.1, 0.35, 0.6, 0.9, 0.999):
        epsilon = randomizer.epsilon * part
        exact = largest_delta(pairs, epsilon)
        assert exact <= loss.delta(epsilon) <= exact + 1e-11


@every_case
@pytest.mark.parametrize("reports", [2, 3])
def test_delta_of_several_reports_is_never_below_that_of_any_answers(
    randomizer: Randomizer[Any, Any], inputs: list[Any], near: float, reports: int
) -> None:
    own = distinct(pairs_of(randomizer, inputs))
    together = compose([(PrivacyLoss.of(randomizer), reports)])
    orders = combinations_with_replacement(range(len(own)), reports)
    pairs = [joint([own[place : place + 1] for place in order]) for order in orders]
    for part in (0.05, 0.3, 0.5, 0.8, 0.95):
        epsilon = reports * randomizer.epsilon * part
        exact = max(largest_delta(pair, epsilon) for pair in pairs)
        assert exact <= together.delta(epsilon) <= exact * (1 + near) + 1e-9
        if exact > 0:
            assert together.epsilon(min(exact, 0.5)) >= epsilon * (exact <= 0.5) * (1 - 1e-12)


def test_delta_of_different_reports_is_that_of_their_enumeration() -> None:
    chosen = [CASES[1][0], CASES[4][0], CASES[12][0]]
    pairs = joint(
        [distinct(pairs_of(one, inputs)) for one, inputs, _ in (CASES[1], CASES[4], CASES[12])]
    )
    together = compose([(PrivacyLoss.of(one), 1) for one in chosen])
    total = sum(one.epsilon for one in chosen)
    assert together.plain.epsilon == pytest.approx(total)
    for part in (0.05, 0.3, 0.5, 0.8, 0.95):
        exact = largest_delta(pairs, total * part)
        # Their losses have no common step, so each is moved by at most 2^-16 of the total.
        assert exact <= together.delta(total * part) <= exact * (1 + 1e-3) + 1e-9


@every_case
def test_contrasts_are_chances_or_weights_of_all_reports(
    randomizer: Randomizer[Any, Any], inputs: list[Any], near: float
) -> None:
    pairs = randomizer.channel.contrasts(randomizer.encoder.apart)
    if pairs is None:
        # Only the largest ratio is known, which is enough if reports have two probabilities.
        assert randomizer.channel.name == "overlap"
        return
    sums = pairs.sum(axis=1)
    assert (sums == sums[0, 0]).all() if pairs.dtype.kind == "i" else sums == pytest.approx(1.0)
    assert (pairs > 0).all() or randomizer.channel.name in ("window", "subset")


#: Designs with points that are equal but for the rounding of their sums.
_TOUCHING: list[tuple[str, Domain, str, dict[str, Any]]] = [
    (
        "optimal",
        Categories((*map(str, range(1, 8)), NO_ANSWER), tuple(map(Fraction, range(1, 8)))),
        "3",
        {"aim": "mean"},
    ),
    ("multihot", Sets(tuple("abcdefghijkl"), 9, False), "0.5", {}),
    ("multihot", Sets(tuple("abc"), 3, False), "3", {}),
]


@pytest.mark.parametrize(("name", "domain", "epsilon", "params"), _TOUCHING)
def test_points_that_are_equal_but_for_rounding_add_no_loss(
    name: str, domain: Domain, epsilon: str, params: dict[str, Any]
) -> None:
    randomizer = MECHANISMS[name].compile(domain, Fraction(epsilon), params)
    loss = PrivacyLoss.of(randomizer)
    assert loss.losses[-1] <= randomizer.epsilon
    for pair in randomizer.channel.contrasts(randomizer.encoder.apart):
        chances = pair / pair[:, 0].sum()
        for part in (0.001, 0.3, 0.6, 0.9, 0.999):
            exact = largest_delta(chances[None], randomizer.epsilon * part)
            assert exact <= loss.delta(randomizer.epsilon * part) + 1e-15
    assert loss.masses.sum() + loss.infinite == pytest.approx(1.0, abs=1e-12)
    one, two = loss.epsilon(1e-6), compose([(loss, 2)]).epsilon(1e-6)
    assert one < two <= 2 * randomizer.epsilon


def test_losses_that_do_not_rise_are_a_mistake() -> None:
    falling, masses = np.array([1.0, 0.5]), np.array([0.5, 0.5])
    with pytest.raises(AssertionError, match="losses must rise"):
        PrivacyLoss(falling, masses, 0.0, PrivacyLoss.pure(1).plain)


# What losses are by formula


def test_two_reports_have_the_delta_that_is_computed_by_hand() -> None:
    together = compose([(PrivacyLoss.pure(log(3)), 2)])
    assert together.delta(log(3)) == pytest.approx(3 / 8, rel=1e-12)
    assert together.delta(2 * log(3)) == 0
    assert together.epsilon(3 / 8) == pytest.approx(log(3), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 100])
def test_compiled_randomized_response_has_the_loss_of_its_formula(k: int) -> None:
    randomizer = indexed(Window(k, 1, 5, 2))
    own, formula = PrivacyLoss.of(randomizer), PrivacyLoss.krr(k, log(2.5))
    assert own.losses == pytest.approx(formula.losses, abs=2e-12)
    assert own.masses[[0, -1]] == pytest.approx(formula.masses[[0, -1]], rel=1e-11)
    p, q = 5 / (5 + 2 * (k - 1)), 2 / (5 + 2 * (k - 1))
    assert formula.masses[[0, -1]] == pytest.approx([q, p])


@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("epsilon", "n"), [(0.1, 30), (0.1, 400), (1.0, 7), (2.0, 50)])
def test_total_of_randomized_response_is_precise_to_ten_digits_at_any_delta(
    epsilon: float, n: int, delta: float
) -> None:
    # Exact binomial sums in whole numbers: n - 2 l means that l reports lie, with weight e^((n - l)
    # ε).
    one = Fraction(exp(epsilon))
    ways = [Fraction(1)]
    for lies in range(n):
        ways.append(ways[-1] * (n - lies) / (lies + 1))
    total = (1 + one) ** n

    def exact(at: Fraction) -> Fraction:
        terms = (ways[lies] * (one ** (n - lies) - at * one**lies) for lies in range(n + 1))
        return sum((term for term in terms if term > 0), Fraction(0)) / total

    together = compose([(PrivacyLoss.pure(epsilon), n)])
    found = together.epsilon(delta)
    true = float(exact(Fraction(exp(found))))
    assert true == pytest.approx(delta, rel=1e-8)
    assert float(exact(Fraction(exp(found)))) <= together.delta(found) * (1 + 1e-15)
    assert together.delta(found) <= delta


def test_noise_without_end_has_the_delta_of_its_formula() -> None:
    laplace = PrivacyLoss.laplace(0.5, 1)
    for epsilon in (0.01, 0.5, 1.3, 1.999):
        true = 1 - exp((epsilon - 2) / 2)
        assert true <= laplace.delta(epsilon) <= true + 1e-6
    assert laplace.delta(2) == 0
    assert laplace.renyi(2) == pytest.approx(
        # Mironov, CSF 2017, proposition 6, at order 2 and scale 1/2.
        log(2 / 3 * exp(2) + 1 / 3 * exp(-4)),
        rel=1e-5,
    )


def test_a_memory_is_not_taken_for_fresh_draws_of_its_wave() -> None:
    permanent, instant = Window(2, 1, 3, 1), Window(2, 1, 3, 1)
    randomizer = Randomizer.remembering(Index(2), permanent, instant)
    one = PrivacyLoss.of(randomizer)
    assert one.losses[-1] == pytest.approx(log(5 / 3))
    # Two waves with the same answer cost 7/3, with any answers 25/9. Fresh draws of the wave would
    # cost 25/9 at δ = 0, too, but 0 at this δ, where two equal reports of a memory still reveal
    # something.
    assert PrivacyLoss.pure(randomizer.spent(2) / 1e6).epsilon(1e-9) == pytest.approx(
        log(25 / 9), abs=1e-5
    )


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_clamped_gaussian_noise_is_counted_by_its_exact_table(epsilon: str) -> None:
    domain = Numbers(Fraction(0), Fraction(10), 10, no_answer=False)
    params = {"delta": Fraction(1, 10**5)}
    randomizer = MECHANISMS["gaussian"].compile(domain, Fraction(epsilon), params)
    loss = PrivacyLoss.of(randomizer)
    assert (loss.plain.epsilon, loss.plain.delta) == (randomizer.epsilon, 0)
    # The ε that was stated with a δ holds with that δ alone.
    assert randomizer.limit is not None
    stated = log_ratio(randomizer.limit)
    assert loss.delta(stated) == pytest.approx(float(randomizer.delta), rel=1e-6)
    assert loss.epsilon(1e-5) <= stated < loss.epsilon(1e-6) <= randomizer.epsilon


def test_too_many_inputs_to_compare_cost_what_any_report_of_their_epsilon_does() -> None:
    rows = tuple((2, 1) if place % 2 else (1, 2) for place in range(3000))
    loss = PrivacyLoss.of(indexed(Table(3000, rows)))
    assert loss.key == PrivacyLoss.pure(log(2)).key


def test_too_many_inputs_of_noise_cost_what_any_report_of_their_largest_ratio_does() -> None:
    weights = tuple(round(10**7 * exp(-((place / 60) ** 2) / 2)) + 1 for place in range(-139, 140))
    noise = Randomizer(Grid(139, 140), Shift(140, weights), Fraction(3))
    assert float(noise.delta) > 0.5
    assert PrivacyLoss.of(noise).key == PrivacyLoss.pure(noise.epsilon).key


def test_inputs_that_cannot_be_distinguished_cost_nothing() -> None:
    loss = PrivacyLoss.of(indexed(Table(2, ((1, 1), (1, 1)))))
    assert compose([(loss, 5)]).epsilon(1e-9) == 0


# Domination


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=3),
    count=st.integers(1, 3),
    part=st.floats(0.05, 0.95),
)
def test_no_table_reveals_more_than_its_loss_says(
    weights: list[list[int]], count: int, part: float
) -> None:
    rows = tuple((*row, 30 - sum(row)) for row in weights)
    channel = Table(len(rows), rows)
    own = distinct(pairs_of(indexed(channel), list(range(len(rows)))))
    epsilon = max(1e-3, count * indexed(channel).epsilon * part)
    together = compose([(PrivacyLoss.of(indexed(channel)), count)])
    exact = max(
        largest_delta(joint([own[place : place + 1] for place in order]), epsilon)
        for order in combinations_with_replacement(range(len(own)), count)
    )
    # The reports are floats, so they agree to their last digits.
    assert exact <= together.delta(epsilon) + 1e-15
    pure = compose([(PrivacyLoss.pure(indexed(channel).epsilon or 1e-3), count)])
    assert together.delta(epsilon) <= pure.delta(epsilon) + 1e-9
