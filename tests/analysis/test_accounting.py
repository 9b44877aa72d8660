"""Check closed forms of accounting: published values, and the mistakes that are common in each.

Where a test names a wrong formula, it asserts that ours gives another number than that.
"""

from fractions import Fraction
from math import comb, e, exp, inf, log, log1p, sqrt, tanh

import numpy as np
import pytest
from scipy.stats import norm

from analysis.privacy.accounting import (
    PrivacyLoss,
    Total,
    advanced,
    advanced_mixed,
    analytic_sigma,
    basic,
    compose,
    composition,
    from_renyi,
    from_zcdp,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sum,
    group,
    kov,
    renyi_total,
    rho,
    saved,
    subsampled,
    tanh_form,
    zcdp_total,
)

DELTA = 1e-6
#: ε and number of reports; then sum, advanced, convolution with k = 2, 5 and 10, Rényi and zCDP, by
#: dp-accounting 0.6.0 and the theorems. zCDP of the first exceeds the sum, so the sum stands there.
TABLE = [
    (0.1, 10, 1, 1.767, 0.9994, 0.7955, 0.6170, 0.9994, 1),
    (0.1, 100, 10, 6.308, 4.7746, 2.9570, 2.0707, 5.0731, 5.219),
    (0.1, 1000, 100, 27.14, 19.3447, 11.186, 7.4753, 20.4504, 20.54),
]


def digits(value: float, shown: float) -> float:
    """Return `value` with as many decimals as `shown` has."""
    text = repr(shown)
    return round(value, len(text.partition(".")[2]))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}x{row[1]}")
def test_totals_are_those_of_the_table_to_its_digits(row: tuple[float, ...]) -> None:
    epsilon, n, total, drv, k2, k5, k10, renyi, zcdp = row
    n = int(n)
    two = [(PrivacyLoss.pure(epsilon), n)]
    by_digits = {
        drv: advanced(epsilon, n, DELTA),
        k2: kov(epsilon, n, DELTA),
        renyi: renyi_total(two, DELTA),
    }
    for shown, bound in by_digits.items():
        assert (digits(bound.epsilon, shown), bound.delta) == (shown, DELTA)
    added = basic([epsilon] * n)
    assert added.epsilon == pytest.approx(total)
    assert (added.delta, added.method) == (0.0, "sum")
    assert digits(min(float(total), zcdp_total(two, DELTA).epsilon), zcdp) == zcdp
    for k, shown in ((5, k5), (10, k10)):
        assert digits(compose([(PrivacyLoss.krr(k, epsilon), n)]).epsilon(DELTA), shown) == shown


# Basic and advanced composition


def test_sum_adds_epsilon_and_delta() -> None:
    added = basic([1, 2, 0.5], [1e-6, 2e-6, 1e-6])
    assert added.delta == pytest.approx(4e-6)
    assert (added.epsilon, added.method) == (3.5, "sum")
    # A single δ for everything would be 1e-6.
    assert basic([1] * 10, [1e-6] * 10).delta == pytest.approx(1e-5)


def test_advanced_composition_has_both_terms() -> None:
    # Dwork, Rothblum and Vadhan, FOCS 2010, theorem III.3. Without its second term it would be
    # 15.17, or 16.62 at 1e-6, which is less than reports of randomized response reveal.
    for delta, right, told, wrong in ((1e-5, 25.69, 17.79, 15.17), (1e-6, 27.14, 19.34, 16.62)):
        assert round(advanced(0.1, 1000, delta).epsilon, 2) == right
        assert round(kov(0.1, 1000, delta).epsilon, 2) == told
        assert round(0.1 * sqrt(2 * 1000 * log(1 / delta)), 2) == wrong < told


def test_advanced_composition_of_unequal_epsilon_takes_the_sum_of_squares() -> None:
    assert advanced_mixed([(log(2), 1)], 1 / e).epsilon == pytest.approx(log(2) * (sqrt(2) + 1))
    mixed = advanced_mixed([(0.1, 50), (0.2, 30)], DELTA).epsilon
    squares = 50 * 0.1**2 + 30 * 0.2**2
    drift = 5 * (exp(0.1) - 1) + 6 * (exp(0.2) - 1)
    assert mixed == pytest.approx(sqrt(2 * log(1e6) * squares) + drift)
    assert advanced_mixed([(0.1, 20), (0.1, 30)], DELTA) == advanced(0.1, 50, DELTA)
    assert advanced(1000, 2, DELTA).epsilon == inf


@pytest.mark.parametrize(
    ("epsilon", "n", "better"),
    [
        *((epsilon, 10, False) for epsilon in (0.1, 0.5, 1)),
        *((0.1, 100, True), (0.5, 100, False), (1, 100, False)),
        *((0.1, 1000, True), (0.5, 1000, True), (1, 1000, False)),
    ],
)
def test_advanced_composition_is_not_always_better_and_the_curves_show_the_minimum(
    epsilon: float, n: int, better: bool
) -> None:
    total = advanced(epsilon, n, DELTA).epsilon
    assert (total < epsilon * n) == better
    (row,) = composition([(PrivacyLoss.pure(epsilon), 1)], [n], DELTA)
    assert row.advanced == pytest.approx(min(total, epsilon * n))


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("n", [5, 100, 3000])
def test_tanh_form_lies_between_the_optimum_and_advanced_composition(
    epsilon: float, n: int
) -> None:
    # Kairouz, Oh and Viswanath, theorem 3.4.
    spread = log(e + sqrt(n * epsilon**2) / DELTA)
    second = n * epsilon * tanh(epsilon / 2) + epsilon * sqrt(2 * n * min(spread, log(1 / DELTA)))
    total = tanh_form([(epsilon, n)], DELTA)
    assert total.epsilon == pytest.approx(min(n * epsilon, second))
    assert kov(epsilon, n, DELTA).epsilon <= total.epsilon
    assert total.epsilon <= min(n * epsilon, advanced(epsilon, n, DELTA).epsilon) * (1 + 1e-12)
    assert total.delta == (0 if total.method == "sum" else DELTA)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_optimum_meets_the_theorem_at_its_grid_of_epsilon(epsilon: float, n: int) -> None:
    # Kairouz, Oh and Viswanath, theorem 3.3: ((n - 2i) ε, δ_i), in whole numbers.
    odds = Fraction(exp(epsilon))
    together = compose([(PrivacyLoss.pure(epsilon), n)])
    for i in range((n + 1) // 2):
        terms = (comb(n, l_) * (odds ** (n - l_) - odds ** (n - 2 * i + l_)) for l_ in range(i))
        delta = float(sum(terms, Fraction(0)) / (1 + odds) ** n)
        assert together.delta((n - 2 * i) * epsilon) == pytest.approx(delta, rel=1e-9, abs=1e-300)
        if 1e-15 < delta < 0.5:
            optimum = kov(epsilon, n, delta).epsilon
            assert (n - 2 * i) * epsilon * (1 - 1e-12) <= optimum <= (n - 2 * i) * epsilon + 1e-3


# Rényi divergences and zCDP


@pytest.mark.parametrize("order", [1.0001, 1.5, 2, 7.3, 40, 2000])
@pytest.mark.parametrize("k", [2, 5, 100])
def test_renyi_divergence_of_randomized_response_is_its_formula(k: int, order: float) -> None:
    # Mironov, CSF 2017, proposition 5, for k = 2.
    p, q = exp(1.5) / (exp(1.5) + k - 1), 1 / (exp(1.5) + k - 1)
    terms = [
        order * log(p) + (1 - order) * log(q),
        order * log(q) + (1 - order) * log(p),
        log((k - 2) * q) if k > 2 else -inf,
    ]
    true = float(np.logaddexp.reduce(terms)) / (order - 1)
    assert true * (1 - 1e-9) <= PrivacyLoss.krr(k, 1.5).renyi(order)
    assert PrivacyLoss.krr(k, 1.5).renyi(order) == pytest.approx(true, rel=1e-8)


def test_conversion_from_renyi_is_the_tighter_one_over_real_orders() -> None:
    # Canonne, Kamath and Steinke, NeurIPS 2020, proposition 12. Mironov's ln(1/δ)/(α-1) is larger,
    # and so is the best over whole orders.
    def curve(order: float) -> float:
        return 3.7 * order

    def at(order: float) -> float:
        return curve(order) + log1p(-1 / order) - (log(DELTA) + log(order)) / (order - 1)

    best = from_renyi(curve, DELTA)
    assert best == pytest.approx(min(at(order) for order in np.linspace(1.5, 5, 20001)), rel=1e-8)
    assert best < min(at(order) for order in range(2, 200)) - 1e-3
    assert best < 3.7 + 2 * sqrt(3.7 * log(1e6)) - 0.3
    # With only one order bounded, computed by hand.
    only = from_renyi(lambda order: 1.0 if order == 2 else inf, 0.5)
    assert only == pytest.approx(1 + log(1 / 2))
    assert from_renyi(lambda order: 1e-9 * order, 0.9) == 0
    assert from_renyi(lambda order: inf, 0.5) == inf


def test_renyi_can_exceed_the_sum_which_is_then_shown() -> None:
    ten = [(PrivacyLoss.krr(2, 1.0), 10)]
    whole = range(2, 257)
    coarse = min(
        10 * ten[0][0].renyi(order) + log1p(-1 / order) - (log(DELTA) + log(order)) / (order - 1)
        for order in whole
    )
    # The accountant's orders, with the value that it prints.
    assert coarse > 10
    assert zcdp_total(ten, DELTA).epsilon > 10
    (row,) = composition(ten, [1], DELTA)
    assert row.sum == 10
    assert row.renyi is not None
    assert row.renyi <= 10
    assert row.zcdp == 10


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 4.0, 15.0])
def test_rho_of_randomized_response_is_epsilon_tanh_of_its_half(epsilon: float) -> None:
    loss, true = PrivacyLoss.pure(epsilon), epsilon * tanh(epsilon / 2)
    assert true <= rho(loss) <= true * (1 + 1e-4)
    assert true <= epsilon**2 / 2
    orders = 1 + np.geomspace(1e-5, 1e4, 400)
    assert max(loss.renyi(float(order)) / order for order in orders) <= rho(loss)


@pytest.mark.parametrize(
    "loss", [PrivacyLoss.krr(100, 2.0), PrivacyLoss.krr(10**6, 12.0), PrivacyLoss.laplace(0.5, 1)]
)
def test_rho_is_never_below_the_quotient_of_any_order(loss: PrivacyLoss) -> None:
    orders = 1 + np.geomspace(1e-6, 1e4, 1000)
    most = max(loss.renyi(float(order)) / order for order in orders)
    assert most <= rho(loss) <= most * (1 + 1e-3)


def test_rho_is_not_always_the_limit_at_order_one() -> None:
    # With many categories the mean loss is small, and the largest quotient is at a larger order.
    loss = PrivacyLoss.krr(1000, 2.0)
    assert rho(loss) > 3 * loss.renyi(1.0001)


def test_zcdp_total_is_that_of_the_published_conversion() -> None:
    # For ρ = 2.63 and δ = 1e-10 the census states 17.90, by Bun and Steinke's ρ + 2 sqrt(ρ
    # ln(1/δ)).
    assert from_zcdp(2.63, 1e-10) < 2.63 + 2 * sqrt(2.63 * log(1e10))
    # Bun and Steinke 2016; Canonne, Kamath and Steinke 2020.
    assert round(from_zcdp(0.5, 1e-6), 2) == 5.22
    hundred = zcdp_total([(PrivacyLoss.pure(0.1), 100)], DELTA).epsilon
    assert hundred == pytest.approx(from_zcdp(100 * 0.1 * tanh(0.05), DELTA), rel=1e-4)


# Gaussian noise


@pytest.mark.parametrize(
    ("epsilon", "analytic", "classic"),
    [
        *((0.25, 13.286, 19.379), (0.5, 7.032, 9.690), (1, 3.731, 4.845), (2, 1.994, 2.422)),
        *((5, 0.892, 0.969), (8, 0.600, 0.606), (15, 0.362, 0.323), (20, 0.290, 0.242)),
    ],
)
def test_sigma_is_the_analytic_one_and_not_the_classic(
    epsilon: float, analytic: float, classic: float
) -> None:
    delta = 1e-5
    old = sqrt(2 * log(1.25 / delta)) / epsilon
    assert round(old, 3) == classic
    assert round(analytic_sigma(epsilon, delta), 3) == analytic
    # The classic σ is too large up to ε = 8.42, and too small beyond.
    assert (gaussian_delta(old, epsilon) <= delta) == (epsilon < 8.42)
    shown = {15: 2.2e-4, 20: 1.5e-3}
    if epsilon in shown:
        assert float(f"{gaussian_delta(old, epsilon):.2g}") == shown[int(epsilon)]


def test_sigma_of_root_two_needs_a_delta_of_nearly_one_half() -> None:
    # A calculator's default at ε = 1 and δ = 1e-5 is sqrt 2, where the analytic σ is 3.731. By the
    # classic formula that σ belongs to δ = 0.46.
    assert 1.25 * exp(-1) == pytest.approx(0.46, abs=1e-3)
    assert gaussian_delta(sqrt(2), 1) > 0.03 > 1e-5
    assert round(analytic_sigma(1, 1e-5), 3) == 3.731


def test_delta_of_gaussian_noise_bounds_a_difference_and_not_a_chance_of_failure() -> None:
    # The probability that the loss exceeds ε is larger than δ: Balle and Wang 2018, theorem 5.
    sigma, epsilon = 3.0, 1.0
    exceeds = norm.sf((epsilon - 1 / (2 * sigma**2)) * sigma)
    delta = gaussian_delta(sigma, epsilon)
    assert delta < exceeds / 3
    assert delta == pytest.approx(
        exceeds - exp(epsilon) * norm.sf((epsilon + 1 / (2 * sigma**2)) * sigma)
    )


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.01])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 9.0])
def test_epsilon_sigma_and_delta_of_gaussian_noise_are_each_others_inverse(
    epsilon: float, delta: float
) -> None:
    sigma = analytic_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) == pytest.approx(delta, rel=1e-6)
    assert epsilon <= gaussian_epsilon(sigma, delta) * (1 + 1e-9)
    assert gaussian_epsilon(sigma, delta) == pytest.approx(epsilon, rel=1e-8)
    assert gaussian_epsilon(1e3, 0.5) == 0


def test_sensitivity_of_a_replaced_answer_is_the_whole_range() -> None:
    # dp-accounting's RDP accountant says 1.558 for σ = 3 and δ = 1e-6, since it leaves an answer
    # out.
    assert gaussian_epsilon(3, 1e-6) == pytest.approx(1.5, abs=0.1)
    assert gaussian_epsilon(3 / 2, 1e-6) == pytest.approx(3.098, abs=0.005)
    assert PrivacyLoss.gaussian(3, 2).epsilon(1e-6) == pytest.approx(3.098, abs=0.005)
    # Take weights of ten in norm 5 with σ = 0.5/ε: the sensitivity is 10, so σ is 97 times too
    # small.
    assert 10 * analytic_sigma(1, 1e-5) / 0.5 > 70


def test_gaussian_reports_add_up_by_their_squares() -> None:
    assert gaussian_sum([6] * 4) == pytest.approx(3)
    assert gaussian_sum([1, 2, 2]) == pytest.approx(1 / sqrt(1.5))
    together = compose([(PrivacyLoss.gaussian(6, 1), 3), (PrivacyLoss.gaussian(10, 1), 5)])
    whole = gaussian_epsilon(gaussian_sum([6] * 3 + [10] * 5), 1e-6)
    assert whole <= together.epsilon(1e-6) <= whole * (1 + 1e-3)
    # δ adds up, too, in a plain sum: k δ + δ'.
    many = basic([gaussian_epsilon(6, 1e-7)] * 4, [1e-7] * 4)
    assert many.delta == pytest.approx(4e-7)
    assert many.epsilon > gaussian_epsilon(3, 4e-7)


# Samples and groups


def test_secret_sample_is_amplified_by_its_logarithm() -> None:
    assert round(subsampled(2, 0.01), 4) == 0.0619
    # 2 q ε would be 0.04, which is too small: it holds only up to ε = 1.256.
    assert subsampled(2, 0.01) > 2 * 0.01 * 2
    assert subsampled(1.25, 1e-6) < 2 * 1e-6 * 1.25 < subsampled(1.26, 1e-6)
    assert subsampled(1.3, 1) == pytest.approx(1.3)
    assert subsampled(900, 0.5) == pytest.approx(900 + log(0.5))


def test_known_subset_of_questions_saves_what_is_not_asked_and_amplifies_nothing() -> None:
    assert saved([1, 2, 0.5], 2) == 0.5
    assert saved([1, 2, 0.5], 3) == 0
    assert saved([1.0] * 10, 3) == 7
    # As if it were secret: less than an answer costs.
    assert subsampled(1, 0.3) < 1 == saved([1.0, 1.0], 1)


def test_household_multiplies_epsilon_and_more_than_multiplies_delta() -> None:
    assert group(Total(0.5, 0.0, "sum"), 4) == Total(2.0, 0.0, "sum;group")
    household = group(Total(log(2), 1e-3, "convolution"), 3)
    assert household.epsilon == pytest.approx(log(8))
    assert household.delta == pytest.approx(0.007)
    assert household.delta > 3 * 1e-3
    # One by one: δ (1 + e^ε + e^2ε).
    assert household.delta == pytest.approx(1e-3 * (1 + 2 + 4))
    assert group(Total(400, 1e-3, "sum"), 4) == Total(1600, 1.0, "sum;group")
    assert group(Total(1.5, 1e-3, "sum"), 1).delta == pytest.approx(1e-3)


# Curves


def test_curves_are_the_totals_of_as_many_reports() -> None:
    rows = composition([(PrivacyLoss.pure(0.1), 10)], [1, 10, 100], DELTA)
    assert [row.waves for row in rows] == [1, 10, 100]
    for row, shown in zip(rows, TABLE, strict=True):
        assert row.sum == pytest.approx(shown[2])
        assert digits(row.convolution, shown[4]) == shown[4]
        assert row.renyi is not None
        assert digits(row.renyi, shown[7]) == shown[7]
    totals = [row.convolution for row in rows]
    assert totals == sorted(totals)


def test_curves_show_only_what_is_proved() -> None:
    (row,) = composition([(PrivacyLoss.gaussian(3, 1), 4)], [2], DELTA)
    assert (row.sum, row.advanced, row.renyi, row.zcdp) == (None, None, None, None)
    exact = gaussian_epsilon(3 / sqrt(8), DELTA)
    assert exact <= row.convolution <= exact * (1 + 1e-3)


def test_curves_of_reports_with_a_delta_of_their_own_leave_out_sums_that_spend_more() -> None:
    loss = PrivacyLoss.krr(2, 1.0)
    approximate = PrivacyLoss(loss.losses, loss.masses, 0.0, Total(0.9, 4e-7, "sum"))
    two, three = composition([(approximate, 1)], [2, 3], DELTA)
    assert two.sum == pytest.approx(1.8)
    assert (three.sum, three.advanced) == (None, None)


def test_a_thousand_reports_overflow_nothing() -> None:
    for epsilon in (0.1, 1.0, 5.0):
        assert 0 < kov(epsilon, 1000, DELTA).epsilon < 1000 * epsilon
    # KOV between two points of its grid, as a library states it, is too large: 4.80.
    assert kov(0.1, 100, DELTA).epsilon < 4.7747


def test_number_of_reports_is_not_ignored() -> None:
    # A library's accountant says 0.1001 for 1,000 reports.
    assert kov(0.1, 1000, DELTA).epsilon > 190 * kov(0.1, 1, DELTA).epsilon


def test_losses_are_not_rounded_up_to_a_grid() -> None:
    # On a grid of 1e-4, rounded up for each report, 1,000 reports cost 19.404.
    assert kov(0.1, 1000, DELTA).epsilon < 19.345
