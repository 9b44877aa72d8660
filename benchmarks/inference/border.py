"""Measure the size of the likelihood-ratio test of two groups near a border, and of two remedies.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/border.py`

Two groups of equal size have the same share, observed through k-RR. By sums over all outcomes the
benchmark prints how often the test of equal shares rejects at 5 %: with chi-square, as `regress`
does; with the quantile of the mixture of chi-squares that the statistic follows at a share of 0
(Self and Liang, Journal of the American Statistical Association 1987), where the fitted share is 0,
and everywhere; and with the law of outcomes at the fitted share (parametric bootstrap). It has no
goal: docs/analysis.md reports its numbers on tests near a border.
"""

import sys
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import binom, chi2

Array = NDArray[np.float64]

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
SHARES, EPSILONS, SIZES = [0.0, 0.005, 0.01, 0.02, 0.05, 0.2], [1.0, 2.0], [500, 2000]
if SMALLEST:
    SHARES, EPSILONS, SIZES = SHARES[:1], EPSILONS[:1], [50]
ALPHA = 0.05
#: The probability of all outcomes that are left out.
RARE = 1e-9


def mixture(draws: int = 2_000_000) -> float:
    """Return the quantile of the statistic of two normal means of 0 that are known to be >= 0."""
    means = np.random.default_rng(0).normal(size=(draws, 2))
    common = np.maximum(means.mean(axis=1), 0)[:, None]
    statistic = ((means - common) ** 2).sum(axis=1) - (np.minimum(means, 0) ** 2).sum(axis=1)
    return float(np.quantile(statistic, 1 - ALPHA))


def sizes(epsilon: float, n: int, share: float, of_mixture: float) -> list[float]:
    """Return how often each of the four tests rejects."""
    members, p = n // 2, 1 / (1 + np.exp(-epsilon))
    q = 1 - p
    rate = q + (p - q) * share
    least, most = (int(binom.ppf(tail, members, rate)) for tail in (RARE, 1 - RARE))
    counts = np.arange(max(0, least - 30), min(members, most + 30) + 1)
    totals = counts[:, None] + counts

    def fitted(often: NDArray[Any], trials: int) -> Array:
        rates = np.clip(often / trials, q, p)
        return np.asarray(xlogy(often, rates) + xlogy(trials - often, 1 - rates))

    own = fitted(counts, members)
    # Equal statistics must stay equal.
    statistics = np.maximum(2 * (own[:, None] + own - fitted(totals, n)), 0).round(9)
    law = binom.pmf(counts, members, rate)
    chances, usual = np.outer(law, law), float(chi2.ppf(1 - ALPHA, 1))
    bounds = (usual, np.where(totals / n <= q, of_mixture, usual), of_mixture)
    found = [float(chances[statistics > bound].sum()) for bound in bounds]
    return [*found, _bootstrap(counts, totals, statistics, chances, (members, p, q))]


def _bootstrap(
    counts: NDArray[np.int64],
    totals: NDArray[np.int64],
    statistics: Array,
    chances: Array,
    design: tuple[int, float, float],
) -> float:
    """Return how often a statistic exceeds the quantile of its law at the fitted share."""
    members, p, q = design
    order = np.argsort(-statistics.ravel(), kind="stable")
    falling = statistics.ravel()[order]
    # For each outcome, the last one with the same statistic.
    last = np.empty(len(order), dtype=np.int64)
    last[order] = np.searchsorted(-falling, -falling, side="right") - 1
    rejected = 0.0
    for total in range(int(totals.min()), int(totals.max()) + 1):
        some = np.flatnonzero(totals.ravel() == total)
        if chances.ravel()[some].sum() > 1e-7:
            law = binom.pmf(counts, members, float(np.clip(total / (2 * members), q, p)))
            p_values = np.cumsum(np.outer(law, law).ravel()[order])[last[some]]
            rejected += float(chances.ravel()[some][p_values <= ALPHA].sum())
    return rejected


def main() -> None:
    of_mixture = mixture()
    print(f"5 % quantile of the mixture: {of_mixture:.2f}, of chi-square: 3.84")
    print(f"{'ε':>3}{'n':>6}{'share':>8}{'chi-square':>12}{'mixture if 0':>14}", end="")
    print(f"{'mixture':>9}{'bootstrap':>11}")
    for epsilon, n, share in product(EPSILONS, SIZES, SHARES):
        found = sizes(epsilon, n, share, of_mixture)
        print(f"{epsilon:3g}{n:6d}{share:8.3f}{found[0]:12.3f}{found[1]:14.3f}", end="")
        print(f"{found[2]:9.3f}{found[3]:11.3f}", flush=True)


if __name__ == "__main__":
    main()
