"""Tests that depend on few reports have the stated size, by exact sums."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multinomial

from analysis.estimate.columns import from_matrix
from analysis.study.changes import difference
from analysis.study.hypotheses import goodness_of_fit, independence
from analysis.study.resampling import outcomes_of

sys.path.insert(0, str(Path(__file__).parent))
from designs import bits, krr, rare, sample


def test_tests_that_depend_on_few_reports_resample() -> None:
    rng = np.random.default_rng(22)
    first, second = (sample(krr(4, 6), rare(4), rng, name, 150) for name in "ab")
    third = sample(krr(4, 5), rare(4), rng, n=150)
    one, other = (replace(each, whole=False) for each in (first, third))
    found = {
        "simulated": goodness_of_fit(first, rare(4)),
        "exact": goodness_of_fit(first.of(np.arange(40)), rare(4)),
        "binomial": goodness_of_fit(one, rare(4)),
        "shuffled": independence(first, second),
    }
    assert [test.method for test in found.values()] == list(found)
    assert {test.flag for test in found.values()} == {""}
    tests = difference(first, second), difference(first, third), difference(one, other)
    assert [test.method for test in tests] == ["shuffled", "simulated", "chi-square"]
    assert [test.flag for test in tests] == ["", "", "few"]
    assert goodness_of_fit(first, rare(4)) == found["simulated"]


@pytest.mark.parametrize("shares", [[0.96, 0.02, 0.02], [0.5, 0.5, 0], [0.9, 0.1, 0]])
def test_a_listed_test_of_fit_never_rejects_too_often(shares: list[float]) -> None:
    matrix, size = krr(3, 8), 0.0
    law = matrix @ shares
    for counts in outcomes_of(20, 3):
        column = from_matrix("a", "xyz", np.repeat(np.arange(3), counts), matrix)
        if goodness_of_fit(column, shares).p_value <= 0.05:
            size += float(multinomial.pmf(counts, 20, law))
    # With chi-square it is .09, .06 and .02.
    assert 0.02 < size <= 0.05


@pytest.mark.parametrize("shares", [rare(5), np.array([0.5, 0.3, 0.15, 0.04, 0.01])])
def test_a_simulated_test_of_fit_rejects_as_often_as_it_says(shares: NDArray[np.float64]) -> None:
    matrix, n = krr(5, 8), 40
    law, outcomes = matrix @ shares, outcomes_of(n, 5)
    statistics = ((outcomes - n * law) ** 2 / (n * law)).sum(axis=1)
    order = np.argsort(statistics)
    low, high = 0, len(order) - 1
    while low < high:
        middle = (low + high) // 2
        column = from_matrix("a", "vwxyz", np.repeat(np.arange(5), outcomes[order[middle]]), matrix)
        found = goodness_of_fit(column, shares)
        assert found.method == "simulated"
        assert found.statistic == pytest.approx(statistics[order[middle]])
        low, high = (low, middle) if found.p_value <= 0.05 else (middle + 1, high)
    rejects = statistics >= statistics[order[low]] * (1 - 1e-9)
    size = float(multinomial.pmf(outcomes[rejects], n, law).sum())
    # The p-value comes from 9,999 draws: its standard error is .002. With chi-square it is .11 and
    # .07.
    assert 0.03 < size < 0.05 + 3 * 0.0022


@pytest.mark.parametrize("supported", [True, False])
def test_a_test_of_fit_does_not_trust_the_covariance_of_reports_that_nobody_made(
    supported: bool,
) -> None:
    rng, epsilon, k = np.random.default_rng(23), 8, 3
    q = 1 / (np.exp(epsilon) + 1)
    told = (np.array(list(np.ndindex(*[2] * k))) - q) / (0.5 - q)
    rejected = 0
    for _ in range(200):
        column = sample(bits(k, epsilon), rare(k), rng, n=100, listed=False)
        column = replace(column, scores=told) if supported else column
        found = goodness_of_fit(column, rare(k))
        assert (found.method, found.flag) in {("binomial", ""), ("hotelling", "few")}
        assert not supported or found.method == "binomial"
        rejected += found.p_value <= 0.05 and not found.flag
    # Of 200 at .05, at most 22 reject, except with probability 5e-4. With Hotelling's T² 63 and 58
    # did.
    assert rejected <= 22
