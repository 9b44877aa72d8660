"""A trusted curator would get a normal variable plus Laplace noise."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from analysis.core.domain import NO_ANSWER, Categories, Numbers, Rankings, Sets, Texts
from analysis.privacy.central import half_width_of_curator


@pytest.mark.parametrize("direct", [1e-4, 0.01, 0.05])
@pytest.mark.parametrize("noise", [1e-4, 0.002, 0.05])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_holds_as_often_as_stated(direct: float, noise: float, level: float) -> None:
    half = half_width_of_curator(direct, noise, level)
    sd = direct / norm.ppf((1 + level) / 2)

    def both(x: float) -> float:
        """Return the normal density times the probability that Laplace noise stays inside."""
        inside = laplace.cdf(half - x, scale=noise) - laplace.cdf(-half - x, scale=noise)
        return float(norm.pdf(x, scale=sd) * inside)

    held, _ = quad(both, -12 * sd, 12 * sd, limit=500, points=[-half, 0, half])
    assert held == pytest.approx(level, abs=1e-7)
    assert half > direct


def test_each_part_alone_gives_the_known_interval() -> None:
    assert half_width_of_curator(0.0, 0.1) == pytest.approx(0.1 * log(20))
    assert half_width_of_curator(0.05, 1e-9) == pytest.approx(0.05)


@pytest.mark.parametrize(("direct", "noise"), [(-0.1, 1), (0.1, 0), (np.nan, 1), (np.inf, 1)])
def test_impossible_numbers_are_refused(direct: float, noise: float) -> None:
    with pytest.raises(ValueError, match="expected direct of 0 or more, noise above 0"):
        half_width_of_curator(direct, noise)


SETS = [Sets(tuple("abcd"), most, skips) for most in (1, 2, 3, 4) for skips in (False, True)]


@pytest.mark.parametrize("domain", SETS, ids=str)
def test_no_other_answer_changes_more_counts_of_ticks(domain: Sets) -> None:
    ticks = [flags for flags in product((0, 1), repeat=4) if sum(flags) <= domain.at_most]
    rows = [(*flags, int(not any(flags)), 0) for flags in ticks]
    rows += [(0,) * 5 + (1,)] * domain.no_answer
    changed = max(int(np.abs(np.subtract(a, b)).sum()) for a in rows for b in rows)
    assert domain.sensitivity == changed


@pytest.mark.parametrize("skips", [False, True])
def test_no_other_order_changes_more_counts_of_pairs(skips: bool) -> None:
    domain = Rankings(("a", "b", "c"), skips)
    rows = [(*domain.value(order), 0) for order in (("a", "b", "c"), ("c", "b", "a"))]
    rows += [(0, 0, 0, 1)] * skips
    changed = max(int(np.abs(np.subtract(a, b)).sum()) for a in rows for b in rows)
    assert domain.sensitivity == changed


def test_one_count_of_two_answers_changes_and_two_of_more() -> None:
    assert Categories(("no", "yes")).sensitivity == 1
    assert Categories(("no", "yes", NO_ANSWER)).sensitivity == 2
    assert Texts(("a", "b"), 5, False).sensitivity == 2
    assert Texts(None, 5, False).sensitivity is None
    assert Numbers(Fraction(0), Fraction(9), 9, False).sensitivity == 1
