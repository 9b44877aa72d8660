"""Lines through shares and means: their values, and how often their tests reject."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, chi2

from analysis.estimate.columns import from_matrix, left_inverse
from analysis.estimate.intervals import Interval
from analysis.study.trend import trend

sys.path.insert(0, str(Path(__file__).parent))
from designs import krr, rare, sample


def test_a_trend_without_noise_is_a_line_weighted_by_respondents() -> None:
    places, counts = [2019, 2021, 2022], [(280, 120), (100, 100), (180, 220)]
    columns = [
        from_matrix("a", "ny", np.repeat([0, 1], times), np.eye(2), (0.0, 1.0)) for times in counts
    ]
    n = np.array([no + yes for no, yes in counts])
    shares = np.array([yes for _, yes in counts]) / n
    slope, _ = np.polyfit(places, shares, 1, w=n**0.5)
    apart = places - np.average(places, weights=n)
    factors = n * apart / (n @ apart**2)
    pooled = n @ shares / n.sum()
    of_share, of_mean, alike = (
        float(factors**2 @ (share * (1 - share) / size)) ** 0.5
        for share, size in ((shares, n), (shares, n - 1), (pooled, n))
    )
    for value, by_reports in (("y", of_share), (None, of_mean)):
        found = trend(columns, value, places)
        assert found.slope == pytest.approx(slope)
        assert found.std_error == pytest.approx(by_reports)
        assert found.p_value == pytest.approx(chi2.sf((slope / alike) ** 2, 1), rel=1e-2)
        assert found.interval.low < slope < found.interval.high
        assert found.n == 1000


def test_a_wave_whose_reports_are_alike_has_the_error_of_all() -> None:
    columns = [
        from_matrix("a", "ny", np.repeat([0, 1], counts), np.eye(2), (0.0, 1.0))
        for counts in ((50, 0), (48, 2), (44, 6))
    ]
    for found in (trend(columns, "y"), trend(columns)):
        assert found.slope == pytest.approx(0.06)
        assert found.interval.low < 0 < found.interval.high or found.p_value < 0.05
        # For the first and last wave alone, Fisher's exact test has .027.
        assert found.p_value == pytest.approx(0.011, abs=0.005)
        assert found.flag == "few"


def test_equal_reports_show_no_trend() -> None:
    columns = [from_matrix("a", "ny", np.zeros(50, np.int64), np.eye(2)) for _ in range(3)]
    found = trend(columns, "y")
    assert (found.slope, found.p_value, found.flag) == (0, 1, "few")
    # Shares of 0, any and 1 rise by 1/2 for each wave.
    assert found.interval == Interval(-0.5, 0.5, "none")
    # With noise, identical reports are reports like any others.
    noisy = trend(
        [replace(each, chances=krr(2, 1), scores=left_inverse(krr(2, 1))) for each in columns], "y"
    )
    assert noisy.interval.low < 0 < noisy.interval.high
    assert noisy.interval.high < 0.5


@pytest.mark.more
@pytest.mark.parametrize(("n", "epsilon"), [(30, 1), (30, 8), (100, 8)])
def test_trends_with_few_reports_have_their_size(n: int, epsilon: float) -> None:
    rng, times = np.random.default_rng(31), 200
    squares, covered = 0.0, 0
    for _ in range(times):
        columns = [sample(krr(5, epsilon), rare(5), rng, n=size) for size in (n, 2 * n, n)]
        found = trend(columns, "1")
        squares += chi2.isf(found.p_value, 1)
        covered += found.interval.low <= 0 <= found.interval.high
    # Each is right in all but one of 1,000 runs. If tests reject .10 at .05, since errors are too
    # small by a sixth, the squares reveal it in .7 of runs.
    assert squares < chi2.isf(0.001, times)
    assert covered >= binom.ppf(0.001, times, 0.95)
