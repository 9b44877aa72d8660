"""Measure how often ranks of answers in data from elsewhere are wrong, also in complex samples.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/ranks.py [--replications N]`

For each design it prints in how many samples some rank of the 95 % ranks leaves out the true one,
and in how many an answer is declared the first although it is not the only first. The exit status
is 1 if either is more than 5 %, by more than 3 standard errors of the simulation.
"""

from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from regression import SMALLEST, krr, run, tell

from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.sample import Sample
from analysis.study.ranking import column_ranks

Array = NDArray[np.float64]

MOST_WRONG = 0.05
#: True shares: a tie of two, nearly a tie, and rare ones that are tied.
SHARES = {
    2: ([0.5, 0.5], [0.48, 0.52]),
    3: ([0.4, 0.4, 0.2], [0.9, 0.05, 0.05]),
    4: ([0.35, 0.34, 0.3, 0.01], [0.5, 0.48, 0.01, 0.01]),
}
DESIGNS: dict[str, Array] = {
    "direct, 4": np.eye(4),
    "krr ε = 1, 4": krr(4, 1.0),
    "krr ε = 4, 4": krr(4, 4.0),
    "forced, 2": np.array([[0.95, 0.25], [0.05, 0.75]]),
    "matrix, 3": np.array([[0.7, 0.2, 0.05], [0.2, 0.6, 0.15], [0.1, 0.2, 0.8]]),
    "one-sided, 3": np.array([[1.0, 0.3, 0.3], [0.0, 0.7, 0.0], [0.0, 0.0, 0.7]]),
}
SIZES, OF_SAMPLES = [30, 300], ("weights", "clusters", "strata, weights and clusters")
if SMALLEST:
    SIZES = SIZES[:1]
#: The parameter of a Dirichlet law of shares in clusters of five, with correlations of 0.1 within.
CONCENTRATION, MEMBERS = 9.0, 5


def drawn(
    rng: np.random.Generator, matrix: Array, shares: list[float], n: int, kind: str
) -> tuple[Column, Sample | None]:
    """Return what respondents report, and how they were drawn."""
    k = len(shares)
    everybody, sample, weights = np.arange(n), None, np.ones(n)
    of_each = np.tile(shares, (n, 1))
    strata, clusters = np.zeros(n, dtype=np.int64), everybody
    if "clusters" in kind:
        clusters = everybody // MEMBERS
        some = np.maximum(CONCENTRATION * np.array(shares), 1e-9)
        of_each = rng.dirichlet(some, clusters[-1] + 1)[clusters]
    if "strata" in kind:
        strata = (2 * clusters) // (clusters[-1] + 1)
    true = (rng.random(n)[:, None] > of_each.cumsum(axis=1)[:, :-1]).sum(axis=1)
    if "weights" in kind:
        weights = rng.lognormal(0, 0.7, n)
    if kind:
        sample = Sample(weights, strata, clusters, np.zeros(int(strata.max()) + 1))
    codes = (rng.random(n)[:, None] > matrix.cumsum(axis=0)[:-1].T[true]).sum(axis=1)
    terms = [str(value) for value in range(k)]
    return from_matrix("answer", terms, codes, matrix), sample


def wrong(
    replications: int, matrix: Array, shares: list[float], n: int, kind: str
) -> tuple[float, float, float]:
    """Return how often ranks are wrong, how often a first is, and how many ranks an answer has."""
    every, errors, false, width = np.array(shares), 0, 0, 0.0
    k = len(shares)
    alone = every.argmax() if (every == every.max()).sum() == 1 else -1
    for seed in range(replications):
        rng = np.random.default_rng([seed, n, k, round(1000 * shares[0]), len(kind)])
        column, sample = drawn(rng, matrix, shares, n, kind)
        rows = {int(row.term): row for row in column_ranks(column, sample=sample)}
        errors += any(
            rows[at].rank_low > 1 + (every > share).sum()
            or rows[at].rank_high < k - (every < share).sum()
            for at, share in enumerate(shares)
        )
        false += any(row.is_first and at != alone for at, row in rows.items())
        width += sum(1 + row.rank_high - row.rank_low for row in rows.values()) / k
    return errors / replications, false / replications, width / replications


def goal(replications: int) -> bool:
    """Print errors for all designs and samples; return whether none is too frequent."""
    most = MOST_WRONG + 3 * sqrt(MOST_WRONG * (1 - MOST_WRONG) / replications)
    print(f"errors of 95 % ranks, {replications} samples each; at most {most:.3f}")
    print(f"{'design':16}{'drawn':30}{'n':>5}  {'shares':28}{'wrong':>7}{'first':>7}{'ranks':>7}")
    met = True
    for (name, matrix), kind, n in product(DESIGNS.items(), ("", *OF_SAMPLES), SIZES):
        for shares in SHARES[matrix.shape[1]]:
            rates = wrong(replications, matrix, shares, n, kind)
            print(f"{name:16}{kind:30}{n:5d}  {shares!s:28}", end="")
            print(f"{rates[0]:7.3f}{rates[1]:7.3f}{rates[2]:7.2f}", flush=True)
            met &= max(rates[:2]) <= most
    return tell(f"at most {MOST_WRONG:g} plus 3 errors", met)


if __name__ == "__main__":
    run(__doc__, goal)
