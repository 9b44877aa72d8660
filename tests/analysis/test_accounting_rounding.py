"""Sums of privacy losses are rounded up, and only a little; the right total is shown."""

from math import tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from analysis.privacy.accounting import PrivacyLoss, Total, compose, smallest
from analysis.privacy.accounting.lattice import Lattice, common_step


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
def test_common_step_is_found_if_there_is_one(steps: list[float], common: float | None) -> None:
    assert common_step(np.array(steps)) == (common and pytest.approx(common, rel=1e-12))


def test_lattice_of_very_many_points_is_made_coarser_and_hardly_larger() -> None:
    loss = PrivacyLoss.gaussian(40, 1)
    together = compose([(loss, 4000)])
    assert len(together.losses) < 2**15
    one = PrivacyLoss.gaussian(40 / 4000**0.5, 1)
    for delta in (1e-9, 1e-6, 1e-2):
        assert one.epsilon(delta) * (1 - 1e-4) <= together.epsilon(delta)
        assert together.epsilon(delta) <= one.epsilon(delta) * (1 + 1e-3)


def test_a_tail_that_is_cut_goes_to_infinity_above_and_up_below() -> None:
    tail = np.array([1e-26, 0.5, 0.5, 1e-27])
    cut = Lattice.of(1.0, np.array([-1.0, 0.0, 1.0, 2.0]), tail, infinite=1e-30)
    assert (cut.losses.tolist(), cut.masses.tolist()) == ([0.0, 1.0], [0.5, 0.5])
    assert cut.infinite == pytest.approx(1e-27 + 1e-30, rel=1e-9, abs=0)


def test_masses_at_infinity_add_up() -> None:
    one = Lattice.of(1.0, np.array([-1.0, 1.0]), np.array([0.3, 0.6]), infinite=0.1)
    assert one.times(3).infinite == pytest.approx(0.3)
    found = compose([(PrivacyLoss(one.losses, one.masses, 0.1, Total(9, 0, "sum")), 2)])
    # Nothing exceeds the plain total, which is proved without them.
    assert found.delta(2.5) == pytest.approx(0.2)
    assert (found.delta(18), found.epsilon(0.1)) == (0, 18)


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
    # ε of 0.5 and 1, moved apart a little; the true total moves as little.
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


def test_total_is_never_above_the_sum_and_spends_a_delta_only_where_it_shows() -> None:
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
