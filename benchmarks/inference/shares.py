"""Measure how often each interval of a share holds, by exact sums over all counts.

Nothing is drawn: `python benchmarks/inference/shares.py` takes a minute. The exit status is 1 if an
exact interval covers less often than its level anywhere, or if an interval from 100,000 reports
takes longer than a second.
"""

import sys
from math import exp
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.estimate.intervals import INTERVALS, share_interval

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
LEVEL = 0.95
CELLS = [(k, epsilon) for k in (2, 5, 10) for epsilon in (0.5, 1, 2, 4)]
SIZES = [100, 500, 2000]
if SMALLEST:
    CELLS, SIZES = CELLS[:1], [20]
SHARES = np.linspace(0, 1, 201)
#: Methods whose coverage is proved to be at least the level.
EXACT = ("clopper-pearson", "feldman-cousins")
#: A number of reports, and the seconds that their interval may take.
MANY, SECONDS = 100_000, 1.0


def support(k: int, epsilon: float) -> tuple[float, float]:
    """Return p and q of k-ary randomized response."""
    return exp(epsilon) / (exp(epsilon) + k - 1), 1 / (exp(epsilon) + k - 1)


def coverage_and_width(
    chances: NDArray[np.float64], n: int, p: float, q: float, method: str
) -> tuple[NDArray[np.float64], float]:
    """Return how often the interval of each share covers it, and the mean width over all shares."""
    found = [share_interval(count, n, p, q, LEVEL, method) for count in range(n + 1)]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    held = (low <= SHARES[:, None]) & (SHARES[:, None] <= high)
    return (chances * held).sum(axis=1), float((chances @ (high - low)).mean())


def lowest_and_relative_width(n: int) -> dict[str, tuple[float, float, float]]:
    """Return for each method the lowest and mean coverage, and the width relative to Wilson's."""
    lowest, mean, width = ({method: list[float]() for method in INTERVALS} for _ in range(3))
    for k, epsilon in CELLS:
        print(f"n = {n}, k = {k}, ε = {epsilon} ...", file=sys.stderr, flush=True)
        p, q = support(k, epsilon)
        chances = binom.pmf(np.arange(n + 1), n, (q + (p - q) * SHARES)[:, None])
        for method in INTERVALS:
            coverage, own = coverage_and_width(chances, n, p, q, method)
            lowest[method].append(coverage.min())
            mean[method].append(coverage.mean())
            width[method].append(own)
    return {
        method: (
            float(min(lowest[method])),
            float(np.mean(mean[method])),
            float(np.mean(np.divide(width[method], width["wilson"]))),
        )
        for method in INTERVALS
    }


def main() -> int:
    failures = []
    print(f"Intervals at level {LEVEL}: exact coverage over 201 shares of 0..1, k in 2, 5, 10, and")
    print("ε in 0.5, 1, 2, 4; width as a multiple of Wilson's, mean over the same.\n")
    print(f"{'n':>6}  {'method':<20}{'lowest':>9}{'mean':>9}{'width':>9}")
    for n in SIZES:
        for method, (lowest, mean, width) in lowest_and_relative_width(n).items():
            print(f"{n:>6}  {method:<20}{lowest:>9.4f}{mean:>9.4f}{width:>9.4f}")
            if method in EXACT and lowest < LEVEL:
                failures.append(f"{method} covers {lowest:.6f} at n = {n}, less than {LEVEL}")
    p, q = support(4, 1)
    print(f"\nSlowest of four intervals of {MANY} reports, in seconds:")
    for method in INTERVALS:
        taken = []
        for share in (0, 0.01, 0.5, 1):
            begin = perf_counter()
            share_interval(round(MANY * (q + (p - q) * share)), MANY, p, q, LEVEL, method)
            taken.append(perf_counter() - begin)
        print(f"{'':8}{method:<20}{max(taken):>9.4f}")
        if max(taken) > SECONDS:
            failures.append(f"{method} takes {max(taken):.2f} s, more than {SECONDS}")
    met = f"Goals met: {' and '.join(EXACT)} cover at least {LEVEL} everywhere, none is slow."
    print("\n" + ("\n".join(failures) if failures else met))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
