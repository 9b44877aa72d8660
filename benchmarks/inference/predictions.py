"""Measure whether intervals cover for predictions and average effects of a randomized number.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/predictions.py [--replications N]`

A logistic model of a randomized outcome has as its predictor a number of some values, which is also
randomized (k-RR). Its profile often has several peaks, since steep slopes, which separate the
values, are possible beside flat ones. The exit status is 1 if 95 % intervals of predicted shares
cover in less than 93 % of samples, by more than 3 standard errors of the simulation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from regression import draw, krr, run, tell
from scipy.special import expit

from analysis.estimate.columns import from_matrix
from analysis.study.regression import Regression, regress

LEAST_COVERAGE = 0.93
Shares = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Case:
    """The number of respondents and of values, ε, and the share of events by value."""

    name: str
    n: int
    values: int
    epsilon: float
    shares: Shares


CASES = (
    Case("flat, 0.1", 1000, 4, 1.0, lambda x: np.full(len(x), 0.1)),
    Case("flat, 0.5", 300, 3, 1.0, lambda x: np.full(len(x), 0.5)),
    Case("log-odds rise by 1", 1000, 4, 1.0, lambda x: expit(x - 2.0)),
    Case("log-odds rise by 3", 300, 3, 2.0, lambda x: expit(3 * (x - 1.0))),
)


def sampled(case: Case, seed: int) -> Regression:
    """Return the model of one sample."""
    rng = np.random.default_rng(seed)
    x = rng.integers(case.values, size=case.n)
    y = (rng.random(case.n) < case.shares(x)).astype(int)
    columns = {}
    for name, true, k in (("y", y, 2), ("x", x, case.values)):
        matrix = krr(k, case.epsilon)
        values = [str(value) for value in range(k)]
        amounts = tuple(map(float, range(k))) if name == "x" else None
        columns[name] = from_matrix(name, values, draw(rng, matrix.T[true]), matrix, amounts)
    return regress("y ~ x", columns, {}, effects=True)


def coverage(replications: int) -> bool:
    """Print how often intervals cover, and how long they are; return whether the goal is met."""
    least = LEAST_COVERAGE - 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    print(f"95 % intervals, {replications} samples each; of shares at least {least:.3f}")
    print(f"{'':20}{'n':>6}{'values':>8}{'ε':>4}  shares (length)", end="")
    print(f"{'effects':>44}{'untold':>8}")
    met = True
    for case in CASES:
        truth = case.shares(np.arange(case.values))
        held, long = np.zeros(case.values), np.zeros(case.values)
        effects, told = 0, 0
        for seed in range(replications):
            model = sampled(case, seed)
            for row in model.predicted:
                if row.value == "1" and row.conf_low is not None and row.conf_high is not None:
                    value = int(row.answer)
                    held[value] += row.conf_low <= truth[value] <= row.conf_high
                    long[value] += row.conf_high - row.conf_low
            for effect in model.effects:
                if effect.value != "1" or effect.conf_low is None or effect.conf_high is None:
                    continue
                first, other = (int(value) for value in effect.change.split(" - "))
                told += 1
                effects += effect.conf_low <= truth[first] - truth[other] <= effect.conf_high
        rates = held / replications
        cells = " ".join(
            f"{a:.3f} ({b:.2f})" for a, b in zip(rates, long / replications, strict=True)
        )
        print(f"{case.name:20}{case.n:6d}{case.values:8d}{case.epsilon:4g}  {cells:50}", end="")
        asked = replications * (case.values - 1)
        print(f"{effects / max(told, 1):8.3f}{1 - told / asked:8.2f}", flush=True)
        met &= bool(rates.min() >= least)
    return tell(f"shares, least {LEAST_COVERAGE:g} less 3 errors", met)


if __name__ == "__main__":
    run(__doc__, coverage)
