"""Our totals lie between the optimistic and the pessimistic ones of Google's dp-accounting."""

from math import exp

import pytest
from dp_accounting import NeighboringRelation, dp_event, rdp
from dp_accounting.pld import privacy_loss_distribution as pld

from analysis.privacy.accounting import PrivacyLoss, compose, gaussian_epsilon, renyi_total

#: The step of its losses; coarser steps widen the two sides.
STEP = 1e-3
#: Its convolutions use Fourier transforms, whose error is 1e-15 of 1, not of a small δ.
FOURIER = 1e-6
DELTAS = (1e-9, 1e-6, 1e-3)


def sides(k: int, epsilon: float, step: float = STEP) -> list[pld.PrivacyLossDistribution]:
    """Return its optimistic and pessimistic loss of randomized response.

    Its parameter is the chance of a wholly random report, which may be the true one.
    """
    noise = k / (exp(epsilon) + k - 1)
    return [
        pld.from_randomized_response(
            noise, k, pessimistic_estimate=pessimistic, value_discretization_interval=step
        )
        for pessimistic in (False, True)
    ]


@pytest.mark.parametrize("n", [1, 5, 100])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("k", [2, 5, 50])
def test_randomized_response_costs_what_dp_accounting_says(k: int, epsilon: float, n: int) -> None:
    together = compose([(PrivacyLoss.krr(k, epsilon), n)])
    below, above = (side.self_compose(n) for side in sides(k, epsilon))
    for delta in DELTAS:
        found = together.epsilon(delta)
        low, high = (side.get_epsilon_for_delta(delta) for side in (below, above))
        assert low * (1 - FOURIER) <= found <= min(high, n * epsilon) * (1 + FOURIER)
        # Each of its reports is rounded by at most one step.
        assert high - low <= 2 * n * STEP + 1e-9
    at = n * epsilon / 3
    low, high = (side.get_delta_for_epsilon(at) for side in (below, above))
    assert low * (1 - 1e-9) - 1e-12 <= together.delta(at) <= high * (1 + 1e-9) + 1e-12


def test_probability_of_a_random_report_is_not_that_of_a_lie() -> None:
    # If P(lie) = 1/(e^ε + 1) were given, it would count another ε, without a word.
    lie = 1 / (exp(1) + 1)
    wrong = pld.from_randomized_response(lie, 2, value_discretization_interval=STEP)
    assert wrong.get_epsilon_for_delta(0) > 1.8
    assert PrivacyLoss.krr(2, 1.0).delta(0.99) > 0 == PrivacyLoss.krr(2, 1.0).delta(1.0)


def test_mixed_reports_cost_what_dp_accounting_says() -> None:
    kinds = [(2, 0.5, 12), (5, 1.0, 8), (3, 0.73, 10)]
    together = compose([(PrivacyLoss.krr(k, epsilon), n) for k, epsilon, n in kinds])
    found = []
    for place in (0, 1):
        one, *others = (sides(k, epsilon)[place].self_compose(n) for k, epsilon, n in kinds)
        for other in others:
            one = one.compose(other)
        found.append(one)
    for delta in DELTAS:
        low, high = (side.get_epsilon_for_delta(delta) for side in found)
        assert low * (1 - FOURIER) <= together.epsilon(delta) <= high * (1 + FOURIER)
        assert high - low < 0.07


@pytest.mark.parametrize("n", [1, 10])
def test_noise_without_end_costs_what_dp_accounting_says(n: int) -> None:
    ours = compose([(PrivacyLoss.laplace(2, 1), n), (PrivacyLoss.gaussian(3, 1), n)])
    found = []
    for pessimistic in (False, True):
        options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": STEP}
        # Its relations other than replace-one need the sensitivity.
        one = pld.from_laplace_mechanism(2, sensitivity=1, **options).self_compose(n)
        two = pld.from_gaussian_mechanism(3, sensitivity=1, **options).self_compose(n)
        found.append(one.compose(two))
    for delta in DELTAS:
        low, high = (side.get_epsilon_for_delta(delta) for side in found)
        assert low <= ours.epsilon(delta) * (1 + 1e-9)
        assert ours.epsilon(delta) <= high + 1e-3 * high


def test_replaced_gaussian_answer_has_twice_the_sensitivity() -> None:
    # Its accountant of losses says 3.098, that of Rényi divergences 1.558, as if an answer was left
    # out.
    whole = pld.from_gaussian_mechanism(3, sensitivity=2, value_discretization_interval=STEP)
    assert whole.get_epsilon_for_delta(1e-6) == pytest.approx(3.098, abs=2e-3)
    exact = gaussian_epsilon(3 / 2, 1e-6)
    assert exact <= PrivacyLoss.gaussian(3, 2).epsilon(1e-6) <= exact * (1 + 1e-4)
    assert exact == pytest.approx(3.098, abs=2e-3)


@pytest.mark.parametrize(("k", "n"), [(2, 10), (4, 30)])
def test_renyi_total_is_at_most_that_of_dp_accounting(k: int, n: int) -> None:
    noise = k / (exp(0.5) + k - 1)
    accountant = rdp.RdpAccountant(
        neighboring_relation=NeighboringRelation.REPLACE_ONE, orders=[1.5, 2, 4, 8, 16, 32, 64]
    )
    accountant.compose(dp_event.RandomizedResponseDpEvent(noise, k), n)
    theirs = accountant.get_epsilon(1e-6)
    ours = renyi_total([(PrivacyLoss.krr(k, 0.5), n)], 1e-6).epsilon
    assert theirs * 0.9 <= ours <= theirs * (1 + 1e-9)
