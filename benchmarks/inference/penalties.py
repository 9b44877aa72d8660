"""Penalties for infinite estimates: whether intervals cover where events are rare, by exact sums.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/penalties.py`

Two groups of n / 2 people answer a question that is randomized by k-RR, or, with ε = inf, not at
all. The share of events is rare in the reference, and 0.2 or more in the other group. (If it is 0,
the slope is infinite, and no interval of a penalized likelihood holds it.)
The log-odds of the reference are the intercept, and the slope is the difference of the other group.
Compared are intervals of the profile likelihood with no penalty, with priors log-F(m, m) on the
slope (Greenland and Mansournia, Statistics in Medicine 2015), and with Jeffreys' prior, half the
logarithm of the determinant of the information of the reports (Firth, Biometrika 1993). All pairs
of counts of events are summed over, but for a part below 1e-6; parameters are on a grid of 0.1. The
exit status is 1 if an interval with log-F(1, 1) priors covers in less than 88 %, or in less than
94 % where all shares are 0.2.
"""

import sys
from dataclasses import dataclass
from itertools import product
from math import exp, inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import binom, chi2

Array = NDArray[np.float64]

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
STEP, REACH = 0.1, 150
LEAST_COVERAGE, LEAST_OF_COMMON = 0.88, 0.94
CUTOFF = float(chi2.ppf(0.95, 1)) / 2
#: ε, n, and the shares of events in the reference and in the other group.
CASES = [
    *product((1.0, 2.0), (500, 2000), (0.005, 0.01, 0.02), (0.2,)),
    *product((1.0, 2.0), (500, 2000), (0.2,), (0.2,)),
    *product((inf,), (60,), (0.02, 0.05), (0.2, 0.5, 0.9)),
]
if SMALLEST:
    CASES = [(inf, 10, 0.2, 0.2)]


@dataclass(frozen=True)
class Group:
    """Counts of events that people of a group report, with their probabilities.

    `plain` and `jeffreys` (counts, log-odds) are the log-likelihood of each on a grid of log-odds.
    """

    chances: Array
    plain: Array
    jeffreys: Array


def group(size: int, log_odds: float, span: int, epsilon: float) -> Group:
    """Return a group on a grid of log-odds that extends `span` steps to both sides of the truth."""
    truth = 1.0 if epsilon == inf else exp(epsilon) / (1 + exp(epsilon))
    counts = np.arange(size + 1)
    chances = binom.pmf(counts, size, 1 - truth + (2 * truth - 1) * expit(log_odds))
    kept = chances > 1e-8
    grid = log_odds + STEP * np.arange(-span, span + 1)
    share = expit(grid)
    reported = 1 - truth + (2 * truth - 1) * share
    plain = binom.logpmf(counts[kept, None], size, reported)
    spread = np.log(reported) + np.log1p(-reported)
    jeffreys = np.log(share) + np.log(expit(-grid)) - spread / 2
    return Group(chances[kept], plain, plain + jeffreys)


def log_f(slopes: Array, m: float) -> Array:
    """Return the logarithm of the prior, up to a constant."""
    return m * (slopes / 2 - np.logaddexp(0, slopes))


def covers(profile: Array, chances: Array) -> float:
    """Return how often an interval contains the truth, the middle of the grid of its profile."""
    below = profile.max(axis=1) - profile[:, profile.shape[1] // 2]
    return float(chances @ (below <= CUTOFF))


def told(slope: Array, intercept: Array, chances: Array, grid: Array) -> str:
    """Return coverage of both, the mean error of the slope, and its interval's mean width.

    The arrays are profiles, (pairs of counts, grid); the truth is in the middle of each grid.
    """
    inside = slope.max(axis=1, keepdims=True) - slope <= CUTOFF
    is_open = chances @ (inside[:, 0] | inside[:, -1])
    error = chances @ (grid[slope.argmax(axis=1)] - grid[len(grid) // 2])
    width = chances @ (inside.sum(axis=1) * STEP)
    numbers = f"{error:7.2f}{width:7.1f}" if is_open < 1e-3 else f"{'-':>7}{'-':>7}"
    held = f"{covers(intercept, chances):6.3f}{covers(slope, chances):6.3f}"
    return f"{held}{is_open:5.2f}{numbers}"


def compare(epsilon: float, n: int, rare: float, other: float) -> float:
    """Print one line; return the least coverage of intervals with log-F(1, 1) priors."""
    truth = float(logit(rare)), float(logit(other))
    first = group(n // 2, truth[0], REACH, epsilon)
    second = group(n // 2, truth[1], 2 * REACH, epsilon)
    slopes: Array = np.asarray(truth[1] - truth[0] + STEP * np.arange(-REACH, REACH + 1.0))
    chances = np.outer(first.chances, second.chances)
    kept = chances > 1e-6 / chances.size
    pairs = np.argwhere(kept)
    weights: Array = np.asarray(chances[kept] / chances[kept].sum())

    def profiles(base: Array, top: Array) -> tuple[Array, Array]:
        """Return profiles of the slope and of the intercept, without a prior."""
        windows = np.lib.stride_tricks.sliding_window_view(top, 2 * REACH + 1, axis=1)
        of_slope = np.empty((len(pairs), len(slopes)))
        for count in range(len(base)):
            mine = pairs[:, 0] == count
            for place in range(len(slopes)):
                heights = (windows[:, place] + base[count]).max(axis=1)
                of_slope[mine, place] = heights[pairs[mine, 1]]
        return of_slope, base[pairs[:, 0]] + top.max(axis=1)[pairs[:, 1], None]

    plain = profiles(first.plain, second.plain)
    print(f"{epsilon:4g}{n:6d}{rare:7.3f}{other:5.1f}", end="")
    print("  ", told(*plain, weights, slopes), end="")
    least = []
    for m in (1.0, 2.0):
        prior = log_f(slopes, m)
        windows = np.lib.stride_tricks.sliding_window_view(second.plain, len(slopes), axis=1)
        base = np.stack([(w + prior[None]).max(axis=1) for w in windows.swapaxes(0, 1)], axis=1)
        intercept = first.plain[pairs[:, 0]] + base[pairs[:, 1]]
        slope = plain[0] + prior
        print("  ", told(slope, intercept, weights, slopes), end="")
        least.append(min(covers(slope, weights), covers(intercept, weights)))
    print("  ", told(*profiles(first.jeffreys, second.jeffreys), weights, slopes), flush=True)
    return least[0]


def main() -> int:
    """Print the table; return the exit status."""
    print("coverage of the intercept and of the slope, how often the slope's interval is open,")
    print("mean error of the slope, mean width of its interval")
    kinds = "none", "log-F(1, 1)", "log-F(2, 2)", "Jeffreys"
    print(f"{'ε':>4}{'n':>6}{'shares':>12}" + "".join(f"   {kind:^31}" for kind in kinds))
    least = {case: compare(*case) for case in CASES}
    common = min(cover for case, cover in least.items() if case[2] == case[3])
    rare = min(least.values())
    print(f"least coverage with log-F(1, 1): {rare:.3f}, at least {LEAST_COVERAGE:g}")
    print(f"where no share is rare: {common:.3f}, at least {LEAST_OF_COMMON:g}")
    return int(rare < LEAST_COVERAGE or common < LEAST_OF_COMMON)


if __name__ == "__main__":
    sys.exit(main())
