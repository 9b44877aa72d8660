"""Designs by their matrices, and samples of their reports."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.columns import Column, from_matrix


def krr(k: int, epsilon: float) -> NDArray[np.float64]:
    e = np.exp(epsilon)
    return np.asarray(np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1))


def bits(k: int, epsilon: float = 1) -> NDArray[np.float64]:
    """Optimized unary encoding."""
    reports = np.array(list(product((0, 1), repeat=k)))
    rates = np.where(np.eye(k, dtype=bool), 0.5, 1 / (np.exp(epsilon) + 1))
    return np.asarray(np.prod(np.where(reports[:, None, :] == 1, rates, 1 - rates), axis=2))


def subsets(k: int, epsilon: float = 1) -> NDArray[np.float64]:
    """Return the design of sets of two, which are likelier if they contain the value."""
    holds = np.array([[value in one for value in range(k)] for one in combinations(range(k), 2)])
    chances = np.where(holds, np.exp(epsilon), 1.0)
    return np.asarray(chances / chances.sum(axis=0))


def hashes(k: int, epsilon: float = 1) -> NDArray[np.float64]:
    """Return k-RR of a bit, or of whether both bits are equal, for a third of people each."""
    symbols = np.array(
        [[value % 2, value // 2 % 2, (value + value // 2) % 2] for value in range(k)]
    )
    cohorts = [krr(2, epsilon)[:, symbols[:, cohort]] / 3 for cohort in range(3)]
    return np.vstack(cohorts)


def rare(k: int) -> NDArray[np.float64]:
    return np.append(1 - 0.01 * (k - 1), np.full(k - 1, 0.01))


def sample(
    matrix: NDArray[np.float64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
    name: str = "a",
    n: int = 1000,
    *,
    listed: bool = True,
) -> Column:
    """Return reports of n people; unless `listed`, probabilities are known only up to factors."""
    codes = rng.choice(len(matrix), n, p=matrix @ shares)
    values = [str(place) for place in range(matrix.shape[1])]
    column = from_matrix(name, values, codes, matrix, tuple(map(float, range(len(values)))))
    if listed:
        return column
    factors = np.linspace(0.5, 3, len(matrix))[:, None]
    return replace(column, chances=matrix * factors, whole=False)
