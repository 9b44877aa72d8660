"""Intervals of shares hold as often as each method says, by exact sums over all counts."""

from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, chi2

from analysis.estimate.intervals import INTERVALS, share_interval, sides_of_shares
from analysis.estimate.intervals.shares import profile_likelihood

GRID = [(k, epsilon) for k in (2, 5, 10) for epsilon in (0.5, 1, 2, 4)]
CHANNELS = pytest.mark.parametrize(("k", "epsilon"), GRID)
EVERY_METHOD = pytest.mark.parametrize("method", INTERVALS)


def _support(k: int, epsilon: float) -> tuple[float, float]:
    """Return p and q of k-ary randomized response."""
    return exp(epsilon) / (exp(epsilon) + k - 1), 1 / (exp(epsilon) + k - 1)


@lru_cache(maxsize=1)
def _chances(n: int, p: float, q: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 201 shares, and the (shares, counts) probability of each count."""
    shares = np.linspace(0, 1, 201)
    return shares, binom.pmf(np.arange(n + 1), n, (q + (p - q) * shares)[:, None])


def _lowest_coverage(n: int, p: float, q: float, method: str) -> float:
    found = [share_interval(count, n, p, q, method=method) for count in range(n + 1)]
    assert all(0 <= one.low < one.high <= 1 for one in found)
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    shares, chances = _chances(n, p, q)
    held = (low <= shares[:, None]) & (shares[:, None] <= high)
    return float((chances * held).sum(axis=1).min())


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [
        *((k, epsilon, n) for n in (10, 100) for k, epsilon in GRID),
        *((k, epsilon, 500) for k, epsilon in ((2, 0.5), (2, 4), (5, 1), (10, 4))),
    ],
)
def test_exact_intervals_cover_at_every_share(k: int, epsilon: float, n: int) -> None:
    p, q = _support(k, epsilon)
    assert _lowest_coverage(n, p, q, "clopper-pearson") >= 0.95
    assert _lowest_coverage(n, p, q, "feldman-cousins") >= 0.95


@CHANNELS
@pytest.mark.parametrize(
    ("n", "wilson", "profile"),
    [(100, 0.931, 0.9265), pytest.param(500, 0.941, 0.9395, marks=pytest.mark.more)],
)
def test_approximate_intervals_cover_nearly_as_often(
    k: int, epsilon: float, n: int, wilson: float, profile: float
) -> None:
    p, q = _support(k, epsilon)
    assert _lowest_coverage(n, p, q, "wilson") >= wilson
    assert _lowest_coverage(n, p, q, "profile-likelihood") >= profile


@pytest.mark.parametrize(("method", "other"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
def test_intervals_are_those_of_the_support_mapped_through_the_channel(
    method: str, other: str
) -> None:
    oracle = binomtest(700, 1000).proportion_ci(0.95, method=other)
    interval = share_interval(700, 1000, 0.75, 0.25, method=method)
    assert interval.method == method
    assert interval.low == pytest.approx((oracle.low - 0.25) / 0.5, abs=1e-9)
    assert interval.high == pytest.approx((oracle.high - 0.25) / 0.5, abs=1e-9)


@pytest.mark.parametrize(("count", "best"), [(700, 0.9), (500, 0.5), (150, 0.0), (260, 0.02)])
def test_profile_likelihood_falls_by_half_of_chi_square_at_the_ends(
    count: int, best: float
) -> None:
    interval = share_interval(count, 1000, 0.75, 0.25, method="profile-likelihood")
    top = binom.logpmf(count, 1000, 0.25 + 0.5 * best)
    for end in {interval.low, interval.high} - {0.0, 1.0}:
        fall = top - binom.logpmf(count, 1000, 0.25 + 0.5 * end)
        assert fall == pytest.approx(chi2.ppf(0.95, 1) / 2, rel=1e-6)


# Feldman and Cousins, Physical Review D 57 (1998), table IV: a Poisson mean of at least 0 on top of
# a known background, at 90 %. With many reports of which hardly any supports the value, counts are
# Poisson. (For no event on a background of 3 they print 1.08, since they let no limit rise as the
# background falls.)
@pytest.mark.parametrize(
    ("background", "count", "low", "high"),
    [
        *[(0, 0, 0.00, 2.44), (0, 1, 0.11, 4.36), (0, 2, 0.53, 5.91), (0, 3, 1.10, 7.42)],
        *[(0, 4, 1.47, 8.60), (3, 1, 0.00, 1.88), (3, 3, 0.00, 4.42), (3, 5, 0.00, 6.99)],
        *[(3, 6, 0.15, 8.47), (3, 7, 0.89, 9.53)],
    ],
)
def test_feldman_and_cousins_table_is_reproduced(
    background: int, count: int, low: float, high: float
) -> None:
    n = 100_000
    interval = share_interval(count, n, 1.0, background / n, 0.9, "feldman-cousins")
    assert n * interval.low == pytest.approx(low, abs=0.006)
    assert n * interval.high == pytest.approx(high, abs=0.006)


@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.6, 0.1), (1.0, 0.0), (0.2, 0.7)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_feldman_cousins_is_what_its_definition_says(p: float, q: float, level: float) -> None:
    n, counts, shares = 15, np.arange(16), np.linspace(0, 1, 2001)
    likeliest = q + (p - q) * np.clip((counts / n - q) / (p - q), 0, 1)
    best = binom.pmf(counts, n, likeliest)
    kept = np.zeros((len(shares), n + 1), dtype=bool)
    for place, share in enumerate(shares):
        chances = binom.pmf(counts, n, q + (p - q) * share)
        ratios = chances / best
        # A count is kept unless the counts before it reach the level; equal ones are kept together.
        before = [chances[ratios > one * (1 + 1e-9)].sum() for one in ratios]
        kept[place] = np.array(before) < level - 1e-12
    for count in counts:
        interval = share_interval(int(count), n, p, q, level, "feldman-cousins")
        own = shares[kept[:, count]]
        assert interval.low == pytest.approx(own.min(), abs=6e-4)
        assert interval.high == pytest.approx(own.max(), abs=6e-4)


@EVERY_METHOD
@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.9, 0.01), (1.0, 0.0), (0.3, 0.6)])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.9999])
def test_no_interval_shrinks_to_a_point(method: str, p: float, q: float, level: float) -> None:
    for n in (1, 2, 30, 1000):
        for count in {*range(0, n + 1, max(1, n // 50)), n}:
            interval = share_interval(count, n, p, q, level, method)
            assert 0 <= interval.low < interval.high <= 1
            assert interval.method in (method, "profile-likelihood")


@EVERY_METHOD
@pytest.mark.parametrize("count", [0, 20, 55, 90, 150, 200])
def test_reports_against_a_value_are_reports_for_the_rest(method: str, count: int) -> None:
    interval = share_interval(count, 200, 0.7, 0.2, method=method)
    against = share_interval(200 - count, 200, 0.3, 0.8, method=method)
    rest = share_interval(count, 200, 0.2, 0.7, method=method)
    assert (against.low, against.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert (1 - rest.high, 1 - rest.low) == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize("method", ["clopper-pearson", "wilson"])
def test_interval_of_an_impossible_count_does_not_shrink_to_a_point(method: str) -> None:
    # 150 of 1000, when noise alone gives 250: the usual interval ends below 0.
    interval = share_interval(150, 1000, 0.75, 0.25, method=method)
    assert interval.method == "profile-likelihood"
    assert (interval.low, interval.high > 0) == (0, True)
    mirrored = share_interval(850, 1000, 0.75, 0.25, method=method)
    assert mirrored.low == pytest.approx(1 - interval.high)
    assert mirrored.high == 1


@EVERY_METHOD
def test_without_reports_everything_is_possible(method: str) -> None:
    interval = share_interval(0, 0, 0.75, 0.25, method=method)
    assert (interval.low, interval.high) == (0, 1)


@EVERY_METHOD
def test_many_reports_have_the_interval_of_a_normal_estimate(method: str) -> None:
    n, p, q = 100_000, 0.75, 0.25
    interval = share_interval(40_000, n, p, q, method=method)
    reach = 1.959964 * (0.4 * 0.6 / n) ** 0.5 / (p - q)
    assert interval.low == pytest.approx(0.3 - reach, rel=0.002)
    assert interval.high == pytest.approx(0.3 + reach, rel=0.002)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 10, 0.7, 0.3, 0.95, "wald"), 'method must be one of clopper-.*, got "wald"'),
        ((5, 10, 0.5, 0.5), "p and q must be different probabilities, got 0.5 and 0.5"),
        ((5, 10, 1.2, 0.5), "p and q must be different probabilities, got 1.2"),
        ((5, 10, float("nan"), 0.5), "p and q must be different probabilities, got nan"),
        ((11, 10, 0.7, 0.3), "count must be from 0 to n = 10, got 11"),
        ((-1, 10, 0.7, 0.3), "count must be from 0 to n = 10, got -1"),
        ((5, 10, 0.7, 0.3, 1.0), "confidence_level must be between 0 and 1, got 1.0"),
        ((5.5, 10, 0.7, 0.3, 0.95, "feldman-cousins"), "count and n must be whole .*, got 5.5"),
    ],
)
def test_impossible_numbers_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        share_interval(*arguments)


@pytest.mark.parametrize(
    ("count", "n", "q", "level", "low", "high"),
    [
        (2290, 10000, 0.25, 0.9, 0.05616003, 0.11144896),
        (8148, 10000, 1.0, 0.95, 0.17766746, 0.19289376),
        (691, 1000, 1.0, 0.9, 0.28532416, 0.33336428),
    ],
)
def test_likelihood_ends_are_found_where_no_report_supports_a_share_of_one(
    count: int, n: int, q: float, level: float, low: float, high: float
) -> None:
    # The ends come from scipy.optimize.brentq on the same likelihood.
    interval = share_interval(count, n, 0.0, q, level, "profile-likelihood")
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-8)


def test_the_likelihood_ends_of_many_counts_are_those_of_each() -> None:
    # Without noise and with nobody seen, (1 - s)^n falls to exp(-3.8415 / 2) at 1 - exp(-1.9207 /
    # n).
    low, high = profile_likelihood(np.array([0.0, 4.0, 10.0]), 10, 1.0, 0.0, 0.95)
    assert (low[0], high[0]) == (0.0, pytest.approx(1 - exp(-1.920729 / 10), rel=1e-6))
    assert (low[2], high[2]) == (pytest.approx(exp(-1.920729 / 10), rel=1e-6), 1.0)
    alone = share_interval(4, 10, 1.0, 0.0, method="profile-likelihood")
    assert (alone.low, alone.high) == pytest.approx((low[1], high[1]), rel=1e-12)


@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.6, 0.1), (1.0, 0.0), (0.2, 0.7)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_side_of_a_share_is_that_of_the_printed_interval(p: float, q: float, level: float) -> None:
    n, sides = 60, set()
    intervals = [share_interval(count, n, p, q, level) for count in range(n + 1)]
    for share in np.linspace(0, 1, 41):
        counts = np.arange(n + 1.0)
        of_counts = sides_of_shares(share, counts, np.full(n + 1, float(n)), p, q, level)
        for side, interval in zip(of_counts, intervals, strict=True):
            assert side == int(interval.low > share) - int(interval.high < share)
            sides.add((interval.method, int(side)))
    assert {side for _, side in sides} == {-1, 0, 1}
    assert (len({method for method, _ in sides}) == 2) == (abs(p - q) < 1)
