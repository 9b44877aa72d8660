"""Decoding is exact: expectations are sums of fractions that equal their targets."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from analysis.core.rational import least_variance, proven, rank, solve, unbiased


def _random_rows(inputs: int, outputs: int, largest: int) -> list[list[int]]:
    random = Random(inputs * outputs)
    rows = [[random.randrange(1, largest) for _ in range(outputs - 1)] for _ in range(inputs)]
    return [[*row, largest * outputs - sum(row)] for row in rows]


def _expectations(rows: Sequence[Sequence[int]], scores: Sequence[Fraction]) -> list[Fraction]:
    return [
        sum((p * v for p, v in zip(row, scores, strict=True)), Fraction()) / sum(row)
        for row in rows
    ]


def test_randomized_response_three_times_in_four() -> None:
    assert unbiased([[3, 1], [1, 3]], [[0, 1]]) == ((Fraction(-1, 2), Fraction(3, 2)),)


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (2, 5), (9, 9), (12, 20), (65, 70)])
def test_expectation_of_scores_is_the_target(inputs: int, outputs: int) -> None:
    rows = _random_rows(inputs, outputs, 2**20)
    targets: list[list[Fraction | int]] = [
        [Fraction(x, inputs) for x in range(inputs)],
        [1] * inputs,
    ]
    found = unbiased(rows, targets)
    assert [_expectations(rows, scores) for scores in found] == targets


def test_variance_of_the_uniform_mixture_is_least() -> None:
    rows = _random_rows(4, 9, 2**16)
    target = [0, 1, 2, 3]
    (scores,) = unbiased(rows, [target])
    chances = np.array(rows) / sum(rows[0])
    mean = chances.mean(axis=0)
    weighted = chances / mean
    least = weighted.T @ np.linalg.solve(weighted @ chances.T, target)
    exact = np.array(scores, dtype=float)
    assert exact == pytest.approx(least, abs=1e-3)
    assert mean @ exact**2 == pytest.approx(mean @ least**2, rel=1e-8)
    floats, condition = least_variance(chances, np.array([target]).T)
    assert floats[:, 0] == pytest.approx(least)
    assert 0 < condition <= 1


def test_conditioning_is_the_least_singular_value_over_the_greatest() -> None:
    _, condition = least_variance(np.diag([0.5, 0.25, 0.125]) ** 2, np.eye(3))
    # Columns are divided by the roots of their means, which leaves .5, .25 and .125 times sqrt(3).
    assert condition == pytest.approx(0.25)


def test_zero_pivots_are_swapped() -> None:
    assert solve([[0, 2], [3, 1]], [[4, 5]]) == [[1, 2]]


def test_rank_counts_independent_rows() -> None:
    assert rank([[1, 2, 3], [2, 4, 6], [1, 1, 1]]) == 2
    assert rank([[0, 0], [0, 5]]) == 1
    assert rank(_random_rows(30, 40, 2**32)) == 30


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[3, 1], [1, 3]], True),
        ([[31, 10], [10, 31]], False),  # more than three times
        ([[3, 1], [2, 3]], False),  # unequal sums
        ([[3, 0], [0, 3]], False),  # a report that proves the answer
        ([[2, 2], [2, 2]], False),  # says nothing
        ([[3 * 2**31, 2**31], [2**31, 3 * 2**31]], False),  # not a 32-bit word
    ],
)
def test_proof_of_a_ratio_of_three(rows: list[list[int]], expected: bool) -> None:
    assert proven(rows, Fraction(3)) is expected


@pytest.mark.parametrize(
    ("rows", "targets", "message"),
    [
        ([[1, 2], [2, 1], [1, 2]], [[0, 1, 2]], "at least 3 outputs"),
        ([[1, 2], [1, 2]], [[0, 1]], "linearly independent"),
        ([[1, 2, 3], [1, 2, 3]], [[0, 1]], "linearly independent"),
        ([[1, 2], [2, 2]], [[0, 1]], "sum 3, got 2 with sum 4"),
        ([[1, 2], [1, 1, 1]], [[0, 1]], "2 weights"),
        ([[1, 2], [2, 1]], [[0, 1, 2]], "one for each input"),
    ],
)
def test_tables_that_cannot_be_decoded_are_refused(
    rows: list[list[int]], targets: list[list[int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        unbiased(rows, targets)
