"""Accounting refuses impossible input, and says what it expected."""

from math import inf
from typing import Any

import pytest

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
    saved,
    shuffled,
    smallest,
    subsampled,
    tanh_form,
    zcdp_total,
)

ONE: Any = [(PrivacyLoss.pure(1.0), 1)]
NUMBER = "must be a number above 0"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: basic([]), "epsilons must be at least one, got none"),
        (lambda: basic([1], [0.1, 0.1]), "deltas must be none or 1, got 2"),
        (lambda: basic([1, -1]), f"epsilon {NUMBER}, got -1"),
        (lambda: basic([float("nan")]), f"epsilon {NUMBER}, got nan"),
        (lambda: advanced(1, 0, 0.1), "reports must be a whole number of at least 1, got 0"),
        (lambda: advanced(1, 2, 0), f"delta {NUMBER} and below 1, got 0"),
        (lambda: advanced_mixed([], 0.1), "reports must be at least one, got none"),
        (lambda: tanh_form([(inf, 1)], 0.1), f"epsilon {NUMBER}, got inf"),
        (lambda: tanh_form([(1, 1)], 1), f"delta {NUMBER} and below 1, got 1"),
        (lambda: kov(0, 1, 0.1), f"epsilon {NUMBER}, got 0"),
        (lambda: kov(1, 1, float("nan")), f"delta {NUMBER} and below 1, got nan"),
        (lambda: from_renyi(lambda order: order, 0), f"delta {NUMBER} and below 1, got 0"),
        (lambda: from_zcdp(-1, 0.1), f"rho {NUMBER}, got -1"),
        (lambda: renyi_total([], 0.1), "reports must be at least one, got none"),
        (lambda: zcdp_total([(ONE[0][0], 0)], 0.1), "reports must be a whole number"),
        (lambda: smallest([], Total(1, 0, "sum"), 0.1), "reports must be at least one, got none"),
        (lambda: composition([], [1], 0.1), "reports must be at least one, got none"),
        (lambda: composition(ONE, [0], 0.1), "waves must be a whole number of at least 1, got 0"),
        (lambda: composition(ONE, [1], 2), f"delta {NUMBER} and below 1, got 2"),
        (lambda: composition(ONE, [], 0.1), "waves must be at least one, got none"),
        (lambda: gaussian_delta(0, 1), f"sigma {NUMBER}, got 0"),
        (lambda: gaussian_delta(1, -1), f"epsilon {NUMBER}, got -1"),
        (lambda: gaussian_epsilon(1, 1), f"delta {NUMBER} and below 1, got 1"),
        (lambda: gaussian_epsilon(1e-9, 0.1), "sigma must be at least 1e-06, got 1e-09"),
        (lambda: analytic_sigma(1e-9, 1e-9), "sigma must be 0.001 to 1e"),
        (lambda: analytic_sigma(1, 0), f"delta {NUMBER} and below 1, got 0"),
        (lambda: gaussian_sum([]), "sigmas must be at least one, got none"),
        (lambda: subsampled(1, 0), "rate must be a number above 0 and at most 1, got 0"),
        (lambda: subsampled(1, 1.1), "rate must be a number above 0 and at most 1, got 1.1"),
        (lambda: subsampled(-1, 0.1), f"epsilon {NUMBER}, got -1"),
        (lambda: saved([], 1), "epsilons must be at least one, got none"),
        (lambda: saved([1, 2], 3), "asked must be at most 2, got 3"),
        (lambda: saved([1, 2], 0), "asked must be a whole number of at least 1, got 0"),
        (lambda: group(Total(1, 0, "sum"), 0), "size must be a whole number of at least 1, got 0"),
        (lambda: shuffled(1, 0, 0.1), "respondents must be a whole number of at least 1, got 0"),
        (lambda: shuffled(1, 9, 0.1, k=1), "k must be at least 2, got 1"),
        (lambda: shuffled(-1, 9, 0.1), f"epsilon {NUMBER}, got -1"),
        (lambda: shuffled(1, 9, 0), f"delta {NUMBER} and below 1, got 0"),
    ],
)
def test_impossible_numbers_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        call()


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_impossible_epsilon_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be a number above 0, got"):
        PrivacyLoss.pure(wrong)
    with pytest.raises(ValueError, match="epsilon must be a number above 0, got"):
        PrivacyLoss.pure(1).delta(wrong)
    with pytest.raises(ValueError, match="sigma must be a number above 0, got"):
        PrivacyLoss.gaussian(wrong, 1)
    with pytest.raises(ValueError, match="sensitivity must be a number above 0, got"):
        PrivacyLoss.laplace(1, wrong)


@pytest.mark.parametrize("wrong", [0, 1, -1e-9, 1.5, float("nan"), float("inf")])
def test_impossible_delta_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="delta must be a number above 0 and below 1, got"):
        PrivacyLoss.pure(1).epsilon(wrong)
    with pytest.raises(ValueError, match="delta must be a number above 0 and below 1, got"):
        smallest([(PrivacyLoss.pure(1), 1)], Total(1, 0, "sum"), wrong)


def test_impossible_numbers_of_reports_are_refused() -> None:
    with pytest.raises(ValueError, match="reports must be at least one, got none"):
        compose([])
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="reports must be a whole number of at least 1, got"):
            compose([(PrivacyLoss.pure(1), wrong)])  # type: ignore[list-item]  # wrong on purpose
    for k in (1, 0, 2.5):
        with pytest.raises(ValueError, match="k must be"):
            PrivacyLoss.krr(k, 1)  # type: ignore[arg-type]  # 2.5 is wrong on purpose
    for order in (1, 0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="order must be a number above 1, got"):
            PrivacyLoss.pure(1).renyi(order)
