"""Shuffled reports reveal no more than is stated, by enumeration of all reports of a few people."""

from collections import Counter, defaultdict
from itertools import product
from math import exp

import pytest

from analysis.privacy.accounting import shuffled, shuffled_delta


def exact_delta(
    k: int, local: float, answers: tuple[int, ...], other: int, epsilon: float
) -> float:
    """Return δ of the counts of k-ary reports if the first answer is replaced, either way round."""
    p, q = exp(local) / (exp(local) + k - 1), 1 / (exp(local) + k - 1)

    def law(given: tuple[int, ...]) -> dict[tuple[tuple[int, int], ...], float]:
        chances: dict[tuple[tuple[int, int], ...], float] = defaultdict(float)
        for reports in product(range(k), repeat=len(given)):
            chance = 1.0
            for report, answer in zip(reports, given, strict=True):
                chance *= p if report == answer else q
            chances[tuple(sorted(Counter(reports).items()))] += chance
        return chances

    one, two = law(answers), law((other, *answers[1:]))
    ways = ((one, two), (two, one))
    return max(sum(max(0.0, a[y] - exp(epsilon) * b[y]) for y in a) for a, b in ways)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("local", [0.5, 1.5, 3.0])
def test_shuffled_randomized_response_reveals_no_more_than_both_bounds(
    k: int, n: int, local: float
) -> None:
    answers = [(0,) * n, (0,) + (1,) * (n - 1), (0,) + (k - 1,) * (n - 1)]
    for part in (0.05, 0.3, 0.6, 0.9):
        epsilon = local * part
        exact = max(exact_delta(k, local, given, 1, epsilon) for given in answers)
        blanket = shuffled_delta(local, n, epsilon, k)
        assert exact <= blanket <= shuffled_delta(local, n, epsilon) * (1 + 1e-4)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_privacy_blanket_is_the_sum_over_all_its_reports(k: int, n: int) -> None:
    # Balle et al. 2019: the respondent's report is hidden among m reports of the blanket.
    local, epsilon = 1.2, 0.4
    p, q = exp(local) / (exp(local) + k - 1), 1 / (exp(local) + k - 1)
    part, true = k * q, 0.0
    for m in range(1, n + 1):
        ways = _binomial(n - 1, m - 1, part)
        for reports in product(range(k), repeat=m):
            first, second = reports.count(0), reports.count(1)
            rest = m - first - second
            one = p * first + q * second + q * rest
            two = q * first + p * second + q * rest
            true += ways * max(0.0, one - exp(epsilon) * two) * k / m / k**m
    found = shuffled_delta(local, n, epsilon, k)
    assert true <= found <= true * (1 + 2e-5) + 1e-15


def _binomial(n: int, x: int, chance: float) -> float:
    ways = 1
    for place in range(x):
        ways = ways * (n - place) // (place + 1)
    return float(ways * chance**x * (1 - chance) ** (n - x))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("local", [0.4, 2.0])
def test_clones_are_summed_over_all_their_counts(n: int, local: float) -> None:
    # Feldman, McMillan and Talwar 2021, theorem 3.2.
    epsilon = local / 3
    keep = exp(local) / (exp(local) + 1)
    one: dict[tuple[int, int], float] = defaultdict(float)
    for c in range(n):
        for a in range(c + 1):
            chance = _binomial(n - 1, c, exp(-local)) * _binomial(c, a, 0.5)
            one[a + 1, c - a] += keep * chance
            one[a, c - a + 1] += (1 - keep) * chance
    true = sum(max(0.0, one[a, b] - exp(epsilon) * one[b, a]) for a, b in list(one))
    assert true <= shuffled_delta(local, n, epsilon) <= true * (1 + 2e-5) + 1e-15


@pytest.mark.parametrize("k", [None, 2, 5])
@pytest.mark.parametrize("n", [50, 1000, 5000])
def test_total_of_shuffled_reports_spends_no_more_than_its_delta(n: int, k: int | None) -> None:
    for local in (0.5, 2.0):
        found = shuffled(local, n, 1e-6, k)
        assert 0 < found.epsilon <= local
        if found.method == "shuffle":
            assert shuffled_delta(local, n, found.epsilon, k) <= 1e-6 == found.delta
            assert shuffled_delta(local, n, found.epsilon * (1 - 1e-4), k) > 1e-6
        else:
            assert found.delta == 0


def test_more_respondents_and_more_categories_hide_better() -> None:
    found = [shuffled(1, n, 1e-6).epsilon for n in (100, 1000, 10_000)]
    assert found == sorted(found, reverse=True)
    by_k = [shuffled(1, 1000, 1e-6, k).epsilon for k in (None, 2, 5, 20)]
    assert by_k == sorted(by_k, reverse=True)


def test_a_single_respondent_is_not_hidden() -> None:
    assert shuffled_delta(1, 1, 0.5) == pytest.approx((exp(1) - exp(0.5)) / (exp(1) + 1), rel=2e-5)
    assert shuffled(4, 2, 1e-6).epsilon == pytest.approx(4, abs=1e-4)
