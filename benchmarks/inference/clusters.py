"""Measure models of respondents in clusters: whether intervals cover, and tests keep their size.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/clusters.py [--replications N]`

The models are logistic, with a randomized outcome (k-RR), a predictor of respondents and a
predictor of clusters. The first table is about random intercepts, normal with standard deviation
sigma, in clusters of 25. The second is about robust errors for the mean over clusters, of equal and
of very unequal sizes. The exit status is 1 if 95 % intervals cover in less than 93 % of samples, or
if tests of sigma = 0 reject in more than 7 % of samples in which it is 0, each by more than 3
standard errors of the simulation.
"""

from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from regression import column, run, tell
from scipy.special import expit, logit

from analysis.study.regression import regress

COUNTS, EPSILONS, SIGMAS, MEMBERS = (20, 40), (1.0, 2.0, 3.0), (0.0, 0.5, 1.0), 25
COEFFICIENTS = (-0.5, 0.8, 0.5)
#: The cases of robust errors.
SIGMA = 0.7
LEAST_COVERAGE, MOST_REJECTED = 0.93, 0.07


def sampled(
    rng: np.random.Generator, sizes: NDArray[np.int64], sigma: float
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
    """Return true answers, and the known columns x, z (the same in a cluster) and cluster."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    x, z = rng.integers(0, 2, len(cluster)), (np.arange(len(sizes)) % 2)[cluster]
    base, of_x, of_z = COEFFICIENTS
    odds = base + of_x * x + of_z * z + sigma * rng.normal(size=len(sizes))[cluster]
    return (rng.random(len(odds)) < expit(odds)).astype(int), {"x": x, "z": z, "cluster": cluster}


def intercepts(replications: int) -> bool:
    """Print coverage of coefficients and sigma, and how often sigma = 0 is rejected."""
    least = LEAST_COVERAGE - 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    most = MOST_REJECTED + 3 * sqrt(MOST_REJECTED * (1 - MOST_REJECTED) / replications)
    print(f"random intercepts, {replications} samples each: coverage of 95 % intervals")
    print(
        f"{'clusters':>9}{'ε':>4}{'sigma':>7}{'Intercept':>11}{'x':>7}{'z':>7}{'sigma':>7}", end=""
    )
    print(f"{'mean':>7}{'effect of x':>13}{'rejects 0':>11}{'untold':>8}")
    met = True
    for count, epsilon, sigma in product(COUNTS, EPSILONS, SIGMAS):
        held, rejected, total, untold, effects = np.zeros(4), 0, 0.0, 0, 0
        places, weights = np.polynomial.hermite_e.hermegauss(40)
        base, of_x, of_z = COEFFICIENTS
        means = [
            np.mean([expit(base + x * of_x + z * of_z + sigma * places) @ weights for z in (0, 1)])
            for x in (0, 1)
        ]
        effect = (means[1] - means[0]) / weights.sum()
        for seed in range(replications):
            rng = np.random.default_rng([seed, count, int(epsilon), int(10 * sigma)])
            true, known = sampled(rng, np.full(count, MEMBERS), sigma)
            reports = {"y": column(rng, ["no", "yes"], true, epsilon)}
            model = regress("y ~ x + z", reports, known, random="cluster", effects=True)
            if not model.converged:
                untold += 1
                continue
            for place, (term, value) in enumerate(
                zip(model.terms, (*COEFFICIENTS, sigma), strict=True)
            ):
                if term.conf_low is not None and term.conf_high is not None:
                    held[place] += term.conf_low <= value <= term.conf_high
            last = model.terms[-1]
            rejected += last.p_value is not None and last.p_value < 0.05
            total += last.estimate or 0.0
            one = next(one for one in model.effects if (one.predictor, one.value) == ("x", "yes"))
            if one.conf_low is not None and one.conf_high is not None:
                effects += one.conf_low <= effect <= one.conf_high
        done = max(replications - untold, 1)
        rates = held / done
        print(
            f"{count:9d}{epsilon:4g}{sigma:7g}{rates[0]:11.3f}{rates[1]:7.3f}{rates[2]:7.3f}",
            end="",
        )
        print(f"{rates[3]:7.3f}{total / done:7.2f}{effects / done:13.3f}", end="")
        print(f"{rejected / done:11.3f}{untold:8d}", flush=True)
        met &= bool(rates.min() >= least) and (sigma > 0 or rejected / done <= most)
    return tell(f"least {LEAST_COVERAGE:g} less 3 errors, size {MOST_REJECTED:g} plus 3", met)


def robust(replications: int) -> bool:
    """Print coverage of robust intervals by number and sizes of clusters.

    Return if it is enough.
    """
    least = LEAST_COVERAGE - 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    print(f"\nrobust errors, {replications} samples each: coverage of 95 % intervals")
    print(
        f"{'clusters':>9}{'sizes':>12}{'Intercept':>11}{'x':>7}{'z':>7}{'freedom':>9}{'untold':>8}"
    )
    met = True
    for count, unequal in product((10, 20, 40), (False, True)):
        # If there are 10 unequal clusters, the largest has some 40 % of all respondents.
        sizes = np.full(count, 50)
        if unequal:
            parts = 1.5 ** -np.arange(10.0).repeat(count // 10)
            sizes = np.maximum(np.round(50 * count * parts / parts.sum()), 4).astype(np.int64)
        held, untold, freedom = np.zeros(3), 0, 0.0
        truth = marginal(SIGMA)
        for seed in range(replications):
            rng = np.random.default_rng([seed, count, unequal])
            true, known = sampled(rng, rng.permutation(sizes), SIGMA)
            reports = {"y": column(rng, ["no", "yes"], true, 2.0)}
            model = regress("y ~ x * z", reports, known, clusters=known["cluster"])
            if not model.converged:
                untold += 1
                continue
            for place, (term, value) in enumerate(zip(model.terms[:3], truth, strict=True)):
                if term.conf_low is not None and term.conf_high is not None:
                    held[place] += term.conf_low <= value <= term.conf_high
            freedom += model.freedom
        done = max(replications - untold, 1)
        rates = held / done
        print(
            f"{count:9d}{'unequal' if unequal else 'equal':>12}{rates[0]:11.3f}{rates[1]:7.3f}",
            end="",
        )
        print(f"{rates[2]:7.3f}{freedom / done:9.1f}{untold:8d}", flush=True)
        met &= bool(rates.min() >= least)
    return tell(f"least {LEAST_COVERAGE:g} less 3 errors", met)


def marginal(sigma: float) -> tuple[float, float, float]:
    """Return the intercept and slopes of the mean over clusters, in a model with a product."""
    places, weights = np.polynomial.hermite_e.hermegauss(40)
    base, of_x, of_z = COEFFICIENTS
    odds = [
        float(logit(expit(base + x * of_x + z * of_z + sigma * places) @ weights / weights.sum()))
        for x, z in ((0, 0), (1, 0), (0, 1))
    ]
    return odds[0], odds[1] - odds[0], odds[2] - odds[0]


if __name__ == "__main__":
    run(__doc__, intercepts, robust)
