"""Measure how often calibrated intervals hold if groups answer a survey unequally often.

`python benchmarks/inference/calibration.py [SAMPLES]` takes some ten minutes with 500 samples for
each cell. The margins and the question are randomized with the same ε. Coverage is that of a share
in the population; its Monte Carlo error is .01. The exit status is 1 if the mean coverage over all
cells is too low.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.calibration import Calibration, Margin
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.estimate import column_estimates

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """The shares of each margin's groups; and by group, who says yes and who takes part."""

    shares: tuple[tuple[float, ...], ...]
    rates: Array
    takes_part: Array

    @property
    def truth(self) -> float:
        """Return the share of people who would say yes, if margins are independent."""
        joint = np.array(1.0)
        for shares in self.shares:
            joint = np.multiply.outer(joint, shares)
        return float((joint * self.rates).sum())


def _by_terms(function: Callable[[Array], Array], *terms: tuple[float, ...]) -> Array:
    """Return a function of a sum of terms, one for each group of each of two margins."""
    return function(np.add.outer(*map(np.array, terms)))


#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
TWO = ((0.4, 0.6), (0.3, 0.4, 0.3))
RATES = np.array([[0.05, 0.2, 0.5], [0.3, 0.1, 0.6]])
POPULATIONS = {
    "2 groups": Population(((0.5, 0.5),), np.array([0.1, 0.5]), np.array([0.9, 0.3])),
    "3 groups": Population(
        ((0.5, 0.3, 0.2),), np.array([0.1, 0.3, 0.6]), np.array([0.9, 0.6, 0.4])
    ),
    "4 groups": Population(
        ((0.3, 0.3, 0.2, 0.2),), np.array([0.05, 0.1, 0.4, 0.6]), np.array([0.9, 0.6, 0.6, 0.4])
    ),
    "2 and 3, inverse chances add up": Population(
        TWO, RATES, _by_terms(lambda terms: 1 / terms, (1.1, 2.6), (0.0, 0.5, 1.5))
    ),
    "2 and 3, chances multiply": Population(
        TWO, RATES, _by_terms(np.exp, (-0.05, -0.75), (0.0, -0.35, -0.7))
    ),
    "2 and 3, rates add up": Population(
        TWO,
        _by_terms(lambda terms: terms, (0.05, 0.25), (0.0, 0.1, 0.4)),
        np.array([[0.9, 0.3, 0.5], [0.3, 0.8, 0.2]]),
    ),
}


def column(name: str, answers: Ints, k: int, epsilon: float, rng: np.random.Generator) -> Column:
    """Return the column of k-ary randomized response."""
    q = 1 / (exp(epsilon) + k - 1)
    matrix = np.full((k, k), q) + np.eye(k) * (1 - k * q)
    codes = (rng.random(len(answers))[:, None] > np.cumsum(matrix, axis=0).T[answers]).sum(axis=1)
    return from_matrix(name, [f"{name}{value}" for value in range(k)], codes, matrix)


def sampled(
    population: Population, n: int, epsilon: float, rng: np.random.Generator
) -> tuple[list[Margin], Column]:
    """Return the margins and the question, as reported by n people who took part."""
    people = np.array([rng.choice(len(each), 8 * n, p=each) for each in population.shares])
    there = rng.random(8 * n) < population.takes_part[tuple(people)]
    groups = people[:, there][:, :n]
    yes = (rng.random(n) < population.rates[tuple(groups)]).astype(np.int64)
    margins = []
    for place, (group, shares) in enumerate(zip(groups, population.shares, strict=True)):
        reported = column(f"m{place}", group, len(shares), epsilon, rng)
        margins.append(Margin(reported, dict(zip(reported.values, shares, strict=True))))
    return margins, column("y", yes, 2, epsilon, rng)


def main(samples: int) -> int:
    """Print a line for each cell; return 1 if the mean coverage is below .94."""
    rng, every = np.random.default_rng(7), []
    print(
        "population, n, ε: bias, standard error, covers, half of it | not calibrated: bias, covers"
    )
    for name, population in POPULATIONS.items():
        truth = population.truth
        for n in (500,) if SMALLEST else (500, 2000):
            for epsilon in (3.0,) if SMALLEST else (1.0, 2.0, 3.0):
                rows = []
                try:
                    for _ in range(samples):
                        margins, asked = sampled(population, n, epsilon, rng)
                        one = Calibration(margins).quantity(asked, 1)
                        plain = column_estimates(asked)[1]
                        rows.append(
                            [
                                np.nan if one.value is None else one.value - truth,
                                np.nan if one.std_error is None else one.std_error,
                                one.interval.low <= truth <= one.interval.high,
                                (one.interval.high - one.interval.low) / 2,
                                (plain.estimate or 0.0) - truth,
                                plain.conf_low <= truth <= plain.conf_high,
                            ]
                        )
                except ValueError:
                    print(f"{name}, {n}, {epsilon:g}: refused", flush=True)
                    continue
                table = np.array(rows, dtype=float)
                bias, error, half = np.nanmedian(table[:, [0, 1, 3]], axis=0)
                held, apart, plain_held = table[:, [2, 4, 5]].mean(axis=0)
                every.append(held)
                print(
                    f"{name}, {n}, {epsilon:g}: {bias:+.3f}, {error:.3f}, {held:.3f}, {half:.3f} | "
                    f"{apart:+.3f}, {plain_held:.3f}",
                    flush=True,
                )
    print(f"mean coverage {np.mean(every):.4f}, lowest {min(every):.3f}")
    return int(np.mean(every) < 0.94)


if __name__ == "__main__":
    sys.exit(main(1 if SMALLEST else int(sys.argv[1]) if len(sys.argv) > 1 else 500))
