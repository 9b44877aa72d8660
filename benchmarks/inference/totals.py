"""How often the interval of a count in a finite population holds it, by exact sums over all counts.

`python benchmarks/inference/totals.py`, a minute; nothing is drawn. The exit status is 1 if an
interval covers less often than its level anywhere.
"""

import sys
from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from analysis.estimate.intervals import finite_interval, share_interval

LEVEL = 0.95
CELLS = [(2, 0.5), (2, 1.0), (2, 2.0), (2, 4.0), (5, 1.0), (5, 4.0)]
SIZES = (20, 100, 300)
#: Sizes of the population, as multiples of the respondents.
MULTIPLES = (1.0, 1.5, 3.0, 10.0)


def law(n: int, population: int, p: float, q: float) -> NDArray[np.float64]:
    """Return the chance of each count of supporting reports (column), by carriers (row)."""
    among = np.arange(n + 1)
    of_asked = np.array(
        [np.convolve(binom.pmf(among, h, p), binom.pmf(among, n - h, q))[: n + 1] for h in among]
    )
    carriers = np.arange(population + 1)[:, None]
    drawn = hypergeom.pmf(among, population, carriers, n) if population > n else np.eye(n + 1)
    return np.asarray(drawn @ of_asked)


def main() -> int:
    """Print coverage and length for each size; return 1 if one is too low."""
    lowest = 1.0
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
    return int(lowest < LEVEL - 1e-9)


if __name__ == "__main__":
    sys.exit(main())
