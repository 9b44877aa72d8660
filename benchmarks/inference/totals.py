"""Measure how often intervals of totals hold: counts by exact sums, weighted samples by draws.

`python benchmarks/inference/totals.py` takes some minutes. The exit status is 1 if the interval of
a count covers less often than its level anywhere, or if that of a weighted sample covers in less
than .9 of 500 samples, whose Monte Carlo error is .01.
"""

import sys
from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.estimate import column_estimates
from analysis.estimate.columns.sample import Sample
from analysis.estimate.columns.totals import column_totals
from analysis.estimate.intervals import finite_interval, share_interval

Ints = NDArray[np.int64]

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
LEVEL = 0.95
#: The amounts of the values of weighted samples.
AMOUNTS = (0.0, 1.0, 4.0)
CELLS = [(2, 0.5), (2, 1.0), (2, 2.0), (2, 4.0), (5, 1.0), (5, 4.0)]
SIZES = [20, 100, 300]
if SMALLEST:
    CELLS, SIZES = CELLS[:1], SIZES[:1]
#: Sizes of the population, as multiples of the respondents.
MULTIPLES = (1.0, 1.5, 3.0, 10.0)


def law(n: int, population: int, p: float, q: float) -> NDArray[np.float64]:
    """Return the probability of each count of supporting reports (column), by carriers (row)."""
    among = np.arange(n + 1)
    of_asked = np.array(
        [np.convolve(binom.pmf(among, h, p), binom.pmf(among, n - h, q))[: n + 1] for h in among]
    )
    carriers = np.arange(population + 1)[:, None]
    drawn = hypergeom.pmf(among, population, carriers, n) if population > n else np.eye(n + 1)
    return np.asarray(drawn @ of_asked)


def reported(answers: Ints, epsilon: float, rng: np.random.Generator) -> Column:
    """Return the column of three values with amounts, by randomized response."""
    q = 1 / (exp(epsilon) + 2)
    matrix = np.full((3, 3), q) + np.eye(3) * (1 - 3 * q)
    codes = (rng.random(len(answers))[:, None] > np.cumsum(matrix, axis=0).T[answers]).sum(axis=1)
    return from_matrix("y", ["a", "b", "c"], codes, matrix, AMOUNTS)


def lowest_of_samples(n: int, epsilon: float, samples: int) -> float:
    """Print how often intervals of weighted totals cover; return the lowest coverage."""
    rng = np.random.default_rng(5)
    sizes = np.array([2 * n, 6 * n])
    strata = [
        rng.choice(3, size, p=shares)
        for size, shares in zip(sizes, ([0.7, 0.2, 0.1], [0.9, 0.08, 0.02]), strict=True)
    ]
    people = np.concatenate(strata)
    chances = rng.uniform(0.5, 2, len(people))
    chances /= chances.sum()
    truth = {term: float((people == at).sum()) for at, term in enumerate("abc")}
    truth["mean"] = float(np.array(AMOUNTS)[people].sum())
    nothing, alone, half = np.zeros(n, dtype=np.int64), np.arange(n), n // 2
    held: dict[str, list[bool]] = {}
    for _ in range(samples):
        asked = np.concatenate([rng.choice(one, half, replace=False) for one in strata])
        weights, places = np.repeat(sizes / half, half), np.repeat([0, 1], half)
        known = Sample(weights, places, alone, half / sizes, float(sizes.sum()))
        drawn = rng.choice(len(people), n, p=chances)
        unknown = Sample(1 / (n * chances[drawn]), nothing, alone, np.zeros(1))
        for name, answers, sample in (
            ("strata, N known", asked, known),
            ("unequal chances, N unknown", people[drawn], unknown),
        ):
            column = reported(answers, epsilon, rng)
            rows = column_estimates(column, LEVEL, sample)
            for (_, term), total in column_totals(column, rows, sample).items():
                inside = total.total_low <= truth[term] <= total.total_high
                held.setdefault(f"{name}, {term}", []).append(inside)
    for name, found in held.items():
        print(f"n = {n}, ε = {epsilon:g}, {name}: {np.mean(found):.3f}", flush=True)
    return float(min(np.mean(found) for found in held.values()))


def main() -> int:
    """Print coverage and length for each size; return 1 if a coverage is too low."""
    lowest = 1.0
    samples = 1 if SMALLEST else 500
    weighted = min(
        lowest_of_samples(n, epsilon, samples) for n in (150, 600) for epsilon in (1.0, 3.0)
    )
    print("n, N, k, ε: lowest and mean coverage, length as a part of N times the share's interval")
    for n in SIZES:
        for population in (round(n * multiple) for multiple in MULTIPLES):
            for k, epsilon in CELLS:
                q = 1 / (exp(epsilon) + k - 1)
                p = exp(epsilon) * q
                chances = law(n, population, p, q)
                found = [finite_interval(count, n, population, p, q) for count in range(n + 1)]
                low, high = np.array([(each.low, each.high) for each in found]).T
                carriers = np.arange(population + 1)[:, None]
                held = (chances * ((low <= carriers) & (carriers <= high))).sum(axis=1)
                shares = [share_interval(count, n, p, q) for count in range(n + 1)]
                usual = population * np.array([each.high - each.low for each in shares])
                part = float((chances @ (high - low)).sum() / (chances @ usual).sum())
                print(n, population, k, epsilon, f"{held.min():.4f} {held.mean():.4f} {part:.3f}")
                lowest = min(lowest, float(held.min()))
    return int(lowest < LEVEL - 1e-9 or weighted < 0.9)


if __name__ == "__main__":
    sys.exit(main())
