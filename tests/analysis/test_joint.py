"""Check joint estimates against another optimizer, an exact sum, and repetition."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from analysis.estimate.joint import bit_chances, joint, symbol_chances

#: Four strings by yes and no; one pair never occurs.
TABLE = np.array([[0.4, 0.1], [0.2, 0.05], [0.1, 0.05], [0.0, 0.1]])
CELLS, HASHES, COHORTS = 8, 2, 8
P, Q = 0.775, 0.225


def _reports(
    rng: np.random.Generator, n: int, table: NDArray[np.float64] = TABLE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities of reports of n people: Bloom bits of the string, k-RR of yes or no."""
    hits = rng.integers(0, CELLS, (COHORTS, len(table), HASHES))
    support = np.zeros((COHORTS, len(table), CELLS), dtype=bool)
    np.put_along_axis(support, hits, True, axis=2)
    cohorts = rng.integers(0, COHORTS, n)
    pairs = rng.choice(table.size, n, p=table.ravel())
    strings, answers = pairs // 2, pairs % 2
    bits = rng.random((n, CELLS)) < np.where(support[cohorts, strings], P, Q)
    symbols = np.where(rng.random(n) < 0.75, answers, 1 - answers)
    second = np.where(symbols[:, None] == np.arange(2), 0.75, 0.25)
    return bit_chances(bits, cohorts, hits, P, Q)[:, :-1], second


def test_shares_are_the_likeliest_ones() -> None:
    first, second = _reports(np.random.default_rng(1), 2000)
    found = joint(first, second)
    rows = (first[:, :, None] * second[:, None, :]).reshape(2000, -1)
    scale = rows.max(axis=1, keepdims=True)

    def fall(weights: NDArray[np.float64]) -> float:
        return -float(np.log(rows / scale @ np.maximum(weights, 1e-12)).sum())

    best = minimize(
        fall,
        np.full(8, 1 / 8),
        method="SLSQP",
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.converged
    assert found.log_likelihood >= -best.fun + float(np.log(scale).sum()) - 1e-4
    assert np.abs(found.share.ravel() - best.x).max() < 0.1 * found.std_error.max()


def test_equal_reports_are_one_group() -> None:
    first, second = _reports(np.random.default_rng(2), 500)
    apart = joint(first, second)
    twice = joint(first, second, np.full(500, 2))
    assert twice.share == pytest.approx(apart.share, abs=1e-3)
    assert twice.std_error == pytest.approx(apart.std_error / 2**0.5, rel=0.05)
    assert twice.reports == 1000


def test_errors_are_those_of_repetition() -> None:
    rng = np.random.default_rng(3)
    # All pairs lie well inside, so estimates are normal.
    table = np.array([[0.2, 0.1], [0.15, 0.15], [0.1, 0.3]])
    shares, errors = [], []
    for _ in range(60):
        found = joint(*_reports(rng, 4000, table))
        shares.append(found.share)
        errors.append(found.std_error)
        assert not found.boundary.any()
    # The ratio of 60 draws' deviation to the truth is in .72..1.3 with probability .998, for six
    # pairs.
    ratio = np.std(shares, axis=0) / np.mean(errors, axis=0)
    assert ((ratio > 0.7) & (ratio < 1.35)).all()
    # Means of 60 are within 4 of their standard errors, except with probability 6e-5 each.
    away = (np.mean(shares, axis=0) - table) / np.mean(errors, axis=0) * 60**0.5
    assert np.abs(away).max() < 4


def test_shares_of_twenty_thousand_reports_are_near_the_truth() -> None:
    first, second = _reports(np.random.default_rng(4), 20_000)
    found = joint(first, second)
    assert found.converged
    # Eight shares lie within 4 standard errors of the truth, except with probability 5e-4.
    assert (np.abs(found.share - TABLE) < 4 * found.std_error).all()


def test_a_share_at_the_border_is_flagged() -> None:
    # All reports say the first value. If everybody had it, 3 of 4 would, so this is more than
    # possible.
    first = np.tile([0.75, 0.25], (50, 1))
    found = joint(first, np.ones((50, 1)))
    assert found.converged
    assert found.share.ravel() == pytest.approx([1, 0], abs=1e-4)
    assert found.boundary.ravel().tolist() == [False, True]


def test_values_that_reports_cannot_distinguish_have_no_error() -> None:
    first = np.array([[0.6, 0.6, 0.2]] * 30 + [[0.4, 0.4, 0.8]] * 30)
    found = joint(first, np.ones((60, 1)))
    assert np.isinf(found.std_error.ravel()).tolist() == [True, True, False]


def test_too_few_rounds_are_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.estimate.mixture.ROUNDS", 3)
    first, second = _reports(np.random.default_rng(5), 500)
    assert not joint(first, second).converged


def test_probabilities_of_bits_are_sums_over_all_outcomes() -> None:
    cells, hashes = 3, 2
    hits = np.array([[[0, 1], [2, 2]]])
    reports = np.array(list(product((False, True), repeat=cells)))
    chances = bit_chances(reports, np.zeros(8, dtype=int), hits, P, Q)
    assert chances.sum(axis=0) == pytest.approx(1)

    def exact(report: NDArray[np.bool_], supported: set[int]) -> float:
        rates = np.array([P if cell in supported else Q for cell in range(cells)])
        return float(np.prod(np.where(report, rates, 1 - rates)))

    for report, row in zip(reports, chances, strict=True):
        stranger = [exact(report, set(one)) for one in product(range(cells), repeat=hashes)]
        expected = [exact(report, {0, 1}), exact(report, {2}), float(np.mean(stranger))]
        assert row == pytest.approx(expected)


def test_probabilities_of_symbols_sum_to_one() -> None:
    hits = np.array([[0, 1, 1]])
    chances = symbol_chances(np.arange(4), np.zeros(4, dtype=int), hits, 0.4, 0.2)
    assert chances.sum(axis=0) == pytest.approx(1)
    assert chances[0].tolist() == pytest.approx([0.4, 0.2, 0.2, 0.25])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((2, 2)), np.ones((3, 2)), "with equally many reports, at least"),
        (np.ones((0, 2)), np.ones((0, 2)), "expected two tables of probabilities"),
        (
            np.zeros((2, 2)),
            np.ones((2, 2)),
            "expected one or more reports, each possible under some value",
        ),
    ],
)
def test_impossible_data_are_refused(
    first: NDArray[np.float64], second: NDArray[np.float64], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        joint(first, second)
