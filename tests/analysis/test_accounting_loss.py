"""Privacy losses of every channel: no report tells more, by enumeration of all that can be sent."""

from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product
from math import exp, log, tanh
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from analysis.accounting import PrivacyLoss, Total, compose, smallest
from analysis.accounting.lattice import Lattice, common_step
from analysis.channels import CHANNELS
from analysis.channels.bits import Bits
from analysis.channels.shift import Shift
from analysis.channels.subset import Subset
from analysis.channels.table import Table
from analysis.channels.window import Window
from analysis.domain import Numbers
from analysis.encoders.categories import Index, Onehot
from analysis.encoders.several import Multihot
from analysis.mechanisms import MECHANISMS
from analysis.randomizer import Randomizer

#: By what part δ of several reports can be too large: not at all where one pair of inputs dominates
#: all, its own mirror image. Else no answers are as far apart as the pair that does.
EXACT, NEAR = 1e-9, 0.6


def indexed(channel: Any) -> Randomizer[Any, Any]:
    return Randomizer(Index(channel.inputs), channel)


#: Randomizers with their inputs, and how near their δ is.
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
]
every_case = pytest.mark.parametrize(
    ("randomizer", "inputs", "near"),
    CASES,
    ids=lambda one: getattr(one, "channel", None) and str(one),
)


def pairs_of(randomizer: Randomizer[Any, Any], inputs: list[Any]) -> NDArray[np.float64]:
    """(pairs, reports, 2) chances for every two inputs, in either order."""
    rows = [dict(randomizer.channel.distribution(one)) for one in inputs]
    chances = np.array([[float(chance) for _, chance in sorted(row.items())] for row in rows])
    return np.array(
        [np.column_stack((chances[a], chances[b])) for a, b in product(range(len(rows)), repeat=2)]
    )


def joint(pairs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """All answers to several questions, and all their reports."""

    def both(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        found = one[:, None, :, None] * other[None, :, None, :]
        return found.reshape(len(one) * len(other), -1, 2)

    return reduce(both, pairs)


def largest_delta(pairs: NDArray[np.float64], epsilon: float) -> float:
    return float(np.maximum(pairs[..., 0] - exp(epsilon) * pairs[..., 1], 0).sum(axis=1).max())


def distinct(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pairs that are no others with their reports in another order."""
    found = {}
    for pair in pairs:
        found.setdefault(tuple(sorted(map(tuple, pair.round(12).tolist()))), pair)
    return np.array(list(found.values()))


def test_every_channel_has_a_case_here() -> None:
    assert {randomizer.channel.name for randomizer, _, _ in CASES} == set(CHANNELS)


@every_case
def test_delta_of_one_report_is_that_of_the_inputs_best_told_apart(
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
        # Their losses have no common step: each is moved by 2^-16 of the total at most.
        assert exact <= together.delta(total * part) <= exact * (1 + 1e-3) + 1e-9


@every_case
def test_contrasts_are_chances_of_all_reports(
    randomizer: Randomizer[Any, Any], inputs: list[Any], near: float
) -> None:
    pairs = randomizer.channel.contrasts(randomizer.encoder.apart)
    assert pairs.sum(axis=1) == pytest.approx(np.ones((len(pairs), 2)), rel=1e-12)
    assert (pairs > 0).all() or randomizer.channel.name in ("window", "subset")


# What losses are by formula


def test_two_reports_have_the_delta_that_is_worked_out_by_hand() -> None:
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
    # Exact binomial sums of whole numbers: n - 2 l lies answer l times, of weight e^((n - l) ε).
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
    # Two waves, the same answer: 7/3; any answers: 25/9. Fresh draws of the wave would claim 25/9
    # at δ = 0 as well, but 0 at this δ, where two equal reports of a memory still tell something.
    assert PrivacyLoss.pure(randomizer.spent(2) / 1e6).epsilon(1e-9) == pytest.approx(
        log(25 / 9), abs=1e-5
    )


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_clamped_gaussian_noise_is_counted_by_its_exact_table(epsilon: str) -> None:
    domain = Numbers(Fraction(0), Fraction(10), 10, no_answer=False)
    params = {"delta": Fraction(1, 10**5)}
    randomizer = MECHANISMS["gaussian"].compile(domain, Fraction(epsilon), params)
    loss = PrivacyLoss.of(randomizer)
    assert loss.plain == Total(randomizer.epsilon, float(randomizer.delta), "sum")
    assert loss.delta(randomizer.epsilon) == pytest.approx(float(randomizer.delta), rel=1e-9)
    assert loss.epsilon(1e-5) <= randomizer.epsilon
    # At a smaller δ the stated ε does not hold.
    assert loss.epsilon(1e-6) > randomizer.epsilon


def test_too_many_inputs_to_compare_cost_what_any_report_of_their_epsilon_does() -> None:
    rows = tuple((2, 1) if place % 2 else (1, 2) for place in range(3000))
    loss = PrivacyLoss.of(indexed(Table(3000, rows)))
    assert loss.key == PrivacyLoss.pure(log(2)).key


def test_inputs_that_are_never_told_apart_cost_nothing() -> None:
    loss = PrivacyLoss.of(indexed(Table(2, ((1, 1), (1, 1)))))
    assert compose([(loss, 5)]).epsilon(1e-9) == 0


# Domination and rounding


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=3),
    count=st.integers(1, 3),
    part=st.floats(0.05, 0.95),
)
def test_no_table_tells_more_than_its_loss_says(
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
    # Reports of floats: to their last digits.
    assert exact <= together.delta(epsilon) + 1e-15
    pure = compose([(PrivacyLoss.pure(indexed(channel).epsilon or 1e-3), count)])
    assert together.delta(epsilon) <= pure.delta(epsilon) + 1e-9


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    losses=st.lists(st.floats(-3, 3), min_size=1, max_size=6, unique=True),
    step=st.floats(0.01, 2),
    at=st.floats(0, 3),
)
def test_points_of_a_lattice_never_lower_delta_and_keep_both_masses(
    losses: list[float], step: float, at: float
) -> None:
    places = np.sort(np.array(losses))
    masses = np.full(len(places), 1 / len(places))
    lattice = Lattice.of(step, places, masses)

    def excess(places: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        return float(masses @ np.maximum(0, -np.expm1(at - places)))

    assert lattice.masses.sum() + lattice.infinite == pytest.approx(1, rel=1e-12)
    seconds = masses @ np.exp(-places)
    assert lattice.masses @ np.exp(-lattice.losses) == pytest.approx(seconds, rel=1e-9)
    found = excess(lattice.losses, lattice.masses) + lattice.infinite
    assert found >= excess(places, masses) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("steps", "common"),
    [([0.5, 1.0, 2.0], 0.5), ([0.3, 0.7], 0.1), ([1.0, 1.0 - 1e-8], 1.0), ([1.0, 2**0.5], None)],
)
def test_common_step_is_found_where_there_is_one(steps: list[float], common: float | None) -> None:
    assert common_step(np.array(steps)) == (common and pytest.approx(common, rel=1e-12))


def test_lattice_of_very_many_points_is_made_coarser_and_hardly_larger() -> None:
    loss = PrivacyLoss.gaussian(40, 1)
    together = compose([(loss, 4000)])
    assert len(together.losses) < 2**15
    one = PrivacyLoss.gaussian(40 / 4000**0.5, 1)
    for delta in (1e-9, 1e-6, 1e-2):
        assert one.epsilon(delta) * (1 - 1e-4) <= together.epsilon(delta)
        assert together.epsilon(delta) <= one.epsilon(delta) * (1 + 1e-3)


def test_masses_at_infinity_add_up() -> None:
    one = Lattice.of(1.0, np.array([-1.0, 1.0]), np.array([0.3, 0.6]), infinite=0.1)
    assert one.times(3).infinite == pytest.approx(0.3)
    found = compose([(PrivacyLoss(one.losses, one.masses, 0.1, Total(9, 0, "sum")), 2)])
    # Nothing is above the plain total, which is proved without them.
    assert (found.delta(2.5), found.delta(18), found.epsilon(0.1)) == (pytest.approx(0.2), 0, 18)


def test_order_and_grouping_of_reports_do_not_matter() -> None:
    one, other = PrivacyLoss.krr(3, 0.5), PrivacyLoss.krr(5, 1.0)
    found = [
        compose(reports).epsilon(1e-6)
        for reports in (
            [(one, 7), (other, 5)],
            [(other, 5), (one, 7)],
            [(one, 3), (other, 5), (PrivacyLoss.krr(3, 0.5), 4)],
            [(compose([(one, 7)]), 1), (compose([(other, 5)]), 1)],
        )
    ]
    assert found == pytest.approx([found[0]] * 4, rel=1e-9)


def test_reports_without_a_common_step_are_not_far_above_those_with_one() -> None:
    # ε of 0.5 and 1, moved a little apart: the true total moves as little.
    for counts in ((300, 200), (10, 3), (1, 1)):
        exact, moved = (
            compose([(PrivacyLoss.krr(3, a), counts[0]), (PrivacyLoss.krr(4, b), counts[1])])
            for a, b in ((0.5, 1.0), (0.5 * (1 + 2e-5), 1.0 * (1 - 3e-5)))
        )
        for delta in (1e-9, 1e-6, 1e-3):
            assert moved.epsilon(delta) == pytest.approx(exact.epsilon(delta), rel=1e-3)


def test_epsilon_is_the_root_of_delta_and_rounded_up() -> None:
    together = compose([(PrivacyLoss.krr(4, 0.7), 12), (PrivacyLoss.krr(2, 0.31), 5)])
    for delta in np.geomspace(1e-12, 0.3, 30):
        epsilon = together.epsilon(float(delta))
        assert together.delta(epsilon) <= delta
        assert together.delta(epsilon * (1 - 1e-9)) > delta


def test_a_delta_that_is_enough_alone_leaves_no_epsilon() -> None:
    loss = PrivacyLoss.pure(0.1)
    assert loss.epsilon(tanh(0.1 / 2) * (1 + 1e-9)) == 0
    assert loss.epsilon(tanh(0.1 / 2) * (1 - 1e-9)) > 0


# Which total is shown


def test_total_is_never_above_the_sum_and_spends_no_delta_for_what_does_not_show() -> None:
    few = [(PrivacyLoss.pure(1.0), 3)]
    plain = Total(3.0, 0.0, "sum")
    assert smallest(few, plain, 1e-6) == plain
    many = [(PrivacyLoss.krr(5, 0.1), 100)]
    found = smallest(many, Total(10.0, 0.0, "sum"), 1e-6)
    assert (round(found.epsilon, 4), found.delta, found.method) == (2.957, 1e-6, "convolution")
    found = smallest(many, Total(9.0, 0.0, "memory"), 1e-6)
    assert (round(found.epsilon, 4), found.method) == (2.957, "memory;convolution")
    assert smallest(many, Total(2.0, 0.0, "memory"), 1e-6) == Total(2.0, 0.0, "memory")


def test_total_has_at_least_the_delta_that_its_reports_have() -> None:
    many = [(PrivacyLoss.krr(5, 0.1), 100)]
    found = smallest(many, Total(10.0, 1e-4, "sum"), 1e-6)
    assert found.delta == 1e-4
    assert found.epsilon == compose(many).epsilon(1e-4)
