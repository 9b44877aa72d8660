"""Models where events are rare: whether intervals cover, and tests have the size they claim.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/rare.py [--replications N]`

A logistic model of a randomized outcome (k-RR) has two groups. The share of events is rare in the
reference, down to none, so that the intercept, and the slope with it, may be infinite; in the other
group it is 0.2, or as rare. The exit status is 1 if 95 % intervals of the profile likelihood cover
in less than 93 % of samples, or likelihood-ratio tests of a slope that is 0 reject in more than
7 %, each by more than 3 standard errors of the simulation; or if a profile takes more than 10 times
as long as Wald's interval, fit included. Where both groups are at the border of what is possible,
the test rejects too seldom rather than too often (Self and Liang, Journal of the American
Statistical Association 1987): the table says so, and it is no goal.
"""

import statistics
import sys
import time
from itertools import product
from math import inf, sqrt

import numpy as np
from regression import SMALLEST, column, run, tell
from scipy.special import logit

from analysis.study.regression import Regression, regress

SHARES, EPSILONS, SIZES = [0.0, 0.005, 0.01, 0.02], [1.0, 2.0], [500, 2000]
if SMALLEST:
    SHARES, EPSILONS, SIZES = SHARES[:2], EPSILONS[1:], SIZES[:1]
OTHER = 0.2
#: Shares of both groups, if nothing is at the border.
COMMON = (0.05, 0.2)
LEAST_COVERAGE, MOST_REJECTED, MOST_TIMES = 0.93, 0.07, 10.0


def sampled(
    shares: tuple[float, float], epsilon: float, n: int, seed: int, interval: str
) -> Regression:
    """Return the model of one sample; both kinds of intervals use the same sample."""
    rng = np.random.default_rng(
        [seed, n, round(1000 * epsilon), *(round(1000 * s) for s in shares)]
    )
    group = rng.integers(0, 2, n)
    true = (rng.random(n) < np.array(shares)[group]).astype(int)
    reports = {"y": column(rng, ["no", "yes"], true, epsilon)}
    return regress("y ~ g", reports, {"g": group}, interval=interval)


def truth(shares: tuple[float, float]) -> tuple[float, float]:
    """Return the true intercept and slope, of which either may be infinite."""
    base, other = (float(logit(share)) if share else -inf for share in shares)
    return base, other - base


def coverage(replications: int) -> bool:
    """Print coverage of both coefficients by both kinds of intervals; return if the goal is met."""
    least = LEAST_COVERAGE - 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    print(f"coverage of 95 % intervals, {replications} samples each; at least {least:.3f}")
    print(f"{'':27}{'profile':>24}{'Wald':>26}")
    print(f"{'ε':>3}{'n':>6}{'reference':>11}{'other':>7}", end="")
    print(f"{'intercept':>11}{'slope':>7}{'open':>6}{'intercept':>13}{'slope':>7}{'untold':>8}")
    met = True
    for epsilon, n, rare in product(EPSILONS, SIZES, SHARES):
        shares = (rare, OTHER)
        true = truth(shares)
        held, untold, opened = {"profile": np.zeros(2), "wald": np.zeros(2)}, 0, 0
        for seed, (interval, covers) in product(range(replications), held.items()):
            terms = sampled(shares, epsilon, n, seed, interval).terms
            untold += terms[0].conf_low is None
            opened += terms[0].conf_low == -inf
            for place, (term, value) in enumerate(zip(terms, true, strict=True)):
                if term.conf_low is not None and term.conf_high is not None:
                    covers[place] += term.conf_low <= value <= term.conf_high
        rates = {name: covers / replications for name, covers in held.items()}
        print(f"{epsilon:3g}{n:6d}{rare:11.3f}{OTHER:7.3f}", end="")
        print(f"{rates['profile'][0]:11.3f}{rates['profile'][1]:7.3f}", end="")
        print(f"{opened / replications:6.2f}", end="")
        print(f"{rates['wald'][0]:13.3f}{rates['wald'][1]:7.3f}{untold:8d}", flush=True)
        met &= bool(rates["profile"].min() >= least)
    return tell(f"profile likelihood covers, least {LEAST_COVERAGE:g} less 3 errors", met)


def size(replications: int) -> bool:
    """Print how often a slope of 0 is rejected at 5 %; return whether the goal is met."""
    most = MOST_REJECTED + 3 * sqrt(MOST_REJECTED * (1 - MOST_REJECTED) / replications)
    print(f"\nlikelihood-ratio tests of a slope of 0 at 5 %, {replications} samples each")
    print(f"{'ε':>3}{'n':>6}{'both groups':>13}{'rejects':>9}{'covers':>8}")
    met = True
    for epsilon, n, share in product(EPSILONS, SIZES, (*SHARES[1:], *COMMON)):
        rejected = covered = 0
        for seed in range(replications):
            slope = sampled((share, share), epsilon, n, seed, "profile").terms[1]
            rejected += slope.p_value is not None and slope.p_value < 0.05
            if slope.conf_low is not None and slope.conf_high is not None:
                covered += slope.conf_low <= 0 <= slope.conf_high
        rate = rejected / replications
        seldom = "  seldom" if rate < 0.03 else ""
        print(f"{epsilon:3g}{n:6d}{share:13.3f}{rate:9.3f}{covered / replications:8.3f}{seldom}")
        met &= rate <= most
        sys.stdout.flush()
    return tell(f"rejects, most {MOST_REJECTED:g} plus 3 errors", met)


def speed() -> bool:
    """Print the time of a usual fit with both kinds of intervals; return if the goal is met."""
    print("\ntime of a profile, as a multiple of Wald's interval, fit included")
    met = True
    cases = ((0.005, OTHER), 2000), (COMMON, 2000), (COMMON, 20000)
    for shares, n in cases[:1] if SMALLEST else cases:
        took: dict[str, list[float]] = {"profile": [], "wald": []}
        for seed, (interval, times) in product(range(1 if SMALLEST else 21), took.items()):
            start = time.perf_counter()
            sampled(shares, 1.0, n, seed, interval)
            times.append(time.perf_counter() - start)
        ratio = statistics.median(took["profile"]) / statistics.median(took["wald"])
        print(f"  shares {shares}, n = {n}: {ratio:.1f}")
        met &= ratio <= MOST_TIMES
    return tell(f"at most {MOST_TIMES:g}", met)


if __name__ == "__main__":
    run(__doc__, coverage, size, lambda _: speed())
