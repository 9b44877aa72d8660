"""ε is proved from integers, never echoed."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from analysis.core.epsilon import MICRO, best_weights, exp_lower, log_ratio, micro


def _exp(epsilon: Fraction) -> Fraction:
    """Return e^ε to 80 digits by another method: decimal's."""
    with localcontext(prec=80):
        return Fraction((Decimal(epsilon.numerator) / epsilon.denominator).exp())


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "0.3", "1", "1.5", "7.25", "19.61", "20"])
def test_lower_bound_of_exp_is_below_and_near(epsilon: str) -> None:
    low, exact = exp_lower(Fraction(epsilon)), _exp(Fraction(epsilon))
    assert low <= exact
    assert (exact - low) / exact < Fraction(1, 2**100)


def test_three_reports_of_a_tenth_fit_into_three_tenths() -> None:
    near, far = best_weights(exp_lower(Fraction(1, 10)), 2**31)
    assert micro(Fraction(near, far)) == 100_000


@pytest.mark.parametrize("ratio", [Fraction(3), Fraction(1), Fraction(10**9 + 1, 10**9)])
def test_charge_covers_the_ratio_and_is_the_least_that_does(ratio: Fraction) -> None:
    charged = micro(ratio)
    assert ratio <= _exp(Fraction(charged, MICRO))
    assert charged == 0 or ratio > _exp(Fraction(charged - 1, MICRO))


def test_log_of_three() -> None:
    assert log_ratio(Fraction(3)) == pytest.approx(1.0986122886681098, abs=1e-15)


@pytest.mark.parametrize("bound", [Fraction(11, 7), Fraction("2.718281828"), Fraction(1, 3)])
def test_best_weights_stay_below_the_bound_and_near_it(bound: Fraction) -> None:
    high, low = best_weights(bound, 10**6)
    assert Fraction(high, low) <= bound
    assert bound - Fraction(high, low) < Fraction(1, 10**8)
