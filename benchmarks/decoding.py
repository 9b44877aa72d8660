"""The decoder beside google/rappor's own, on the families of its regression test, simulated anew.

`OPENBLAS_NUM_THREADS=1 python benchmarks/decoding.py [--seeds N]`: with more threads, times of a
busy machine are those of threads that wait for each other.

The exit status is 1 if at as many false strings fewer are detected than by the original, or
intervals do not cover, those of the detected over all families. Counts are drawn with their exact
law; nothing of the original is run: its numbers are those of commit a13fa96 (R and glmnet)
on the same families, 3 seeds of each small case and 1 of each medium one, on 2 cores.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.decoding import Chances, Decoded, decode
from analysis.estimate.joint import bit_chances, joint

LEVEL = 0.95
LEAST_COVERAGE = 0.93


@dataclass(frozen=True)
class Family:
    """A family of tests/regtest_spec.py: Bloom filter, noise, people, values, candidates.

    `theirs` holds of the original: percent detected, false strings, total variation, coverage of
    its 95 % intervals, seconds.
    """

    bits: int
    hashes: int
    cohorts: int
    noise: tuple[float, float, float]
    people: int
    values: int
    bogus: int
    missing: bool
    theirs: tuple[float, float, float, float, float]


#: p, q, f of the specification: ε of one report 0.973 and 4.947 forever; 4.947 and none; and those
#: of demo.sh, ε 1.02 with one hash.
EPS_1_1, EPS_1_5, DEMO = (0.39, 0.61, 0.45), (0.225, 0.775, 0.0), (0.25, 0.75, 0.5)
_BLOOM = (8, 2, 128)
FAMILIES = {
    "demo": Family(32, 1, 64, DEMO, 10**6, 100, 100, True, (61.2, 8.5, 0.139, 0.66, 1.6)),
    "small-typical": Family(*_BLOOM, EPS_1_1, 10**6, 100, 20, True, (48.2, 1.7, 0.188, 0.76, 0.2)),
    "small-sharp": Family(*_BLOOM, EPS_1_1, 10**6, 100, 0, False, (47.8, 0, 0.156, 0.79, 0.2)),
    "small-loose": Family(*_BLOOM, EPS_1_5, 10**6, 100, 20, True, (82.4, 5.5, 0.102, 0.59, 0.3)),
    "small-over_x2": Family(*_BLOOM, EPS_1_1, 10**6, 100, 200, True, (39.0, 5.5, 0.213, 0.72, 0.9)),
    "small-over_x10": Family(
        *_BLOOM, EPS_1_1, 10**6, 100, 1000, True, (27.2, 5.3, 0.256, 0.51, 3.0)
    ),
    "medium-typical": Family(
        *_BLOOM, EPS_1_1, 10**7, 1000, 200, True, (9.1, 5.4, 0.382, 0.59, 1.6)
    ),
    "medium-sharp": Family(*_BLOOM, EPS_1_1, 10**7, 1000, 0, False, (9.3, 0, 0.365, 0.63, 1.7)),
    "medium-loose": Family(*_BLOOM, EPS_1_5, 10**7, 1000, 200, True, (20.9, 9.8, 0.351, 0.40, 1.7)),
    "medium-over_x2": Family(
        *_BLOOM, EPS_1_1, 10**7, 1000, 2000, True, (4.2, 15.8, 0.391, 0.53, 1.6)
    ),
    "medium-over_x10": Family(
        *_BLOOM, EPS_1_1, 10**7, 1000, 10000, True, (1.8, 10.0, 0.387, 0.49, 4.5)
    ),
}


def shares_of(distribution: str, values: int) -> NDArray[np.float64]:
    """As ComputePdf of tests/gen_counts.R has them."""
    i = np.arange(1, values + 1)
    weights = {
        "unif": np.ones(values),
        "gauss": np.exp(-0.5 * ((i - values // 2) / (values / 6)) ** 2),
        "exp": np.exp(-5 * i / values),
        "zipf1": 1 / i,
        "zipf1.5": i**-1.5,
    }[distribution]
    return np.asarray(weights / weights.sum())


DISTRIBUTIONS = ("unif", "gauss", "exp", "zipf1", "zipf1.5")


@dataclass(frozen=True)
class Case:
    """What a decoder is given, and the `truth`: share in the population of each candidate."""

    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    hits: NDArray[np.int64]
    chances: Chances
    truth: NDArray[np.float64]

    def decode(self) -> Decoded:
        return decode(self.counts, self.totals, self.hits, self.chances, confidence_level=LEVEL)


def simulate(rng: np.random.Generator, family: Family, distribution: str, repeats: int = 1) -> Case:
    """A case of random hashes: every ninth of ten values is missing from the map, if any is."""
    p, q, f = family.noise
    shares = shares_of(distribution, family.values)
    everything = family.values + family.bogus
    hits = rng.integers(0, family.bits, (family.cohorts, everything, family.hashes))
    law = np.outer(shares, np.full(family.cohorts, 1 / family.cohorts))
    people = rng.multinomial(family.people, law.ravel()).reshape(law.shape).T
    support = np.zeros((family.cohorts, family.values, family.bits))
    np.put_along_axis(support, hits[:, : family.values], 1.0, axis=2)
    ones = np.einsum("cv,cvk->ck", people, support).astype(int)
    totals = people.sum(axis=1)
    kept = rng.binomial(ones, 1 - f / 2) + rng.binomial(totals[:, None] - ones, f / 2)
    counts = rng.binomial(repeats * kept, q)
    counts += rng.binomial(repeats * (totals[:, None] - kept), p)
    known = np.ones(everything, dtype=bool)
    known[8 : family.values : 10] = not family.missing
    truth = np.append(shares, np.zeros(family.bogus))[known]
    chances = Chances((1 - f / 2, f / 2), (q, p), repeats=repeats)
    return Case(counts, repeats * totals, hits[:, known], chances, truth)


def simulate_hashed(
    rng: np.random.Generator, epsilon: float, people: int, distribution: str
) -> Case:
    """100 values through 256 cohorts of hashed k-RR: two stages have the law of one at ε."""
    g, cohorts = round(exp(epsilon) + 1), 256
    near = exp(epsilon) / (exp(epsilon) + g - 1)
    far = (1 - near) / (g - 1)
    shares = shares_of(distribution, 100)
    hits = rng.integers(0, g, (cohorts, 100, 1))
    law = np.zeros((cohorts, g))
    for value, share in enumerate(shares):
        law[np.arange(cohorts), hits[:, value, 0]] += share
    totals = rng.multinomial(people, np.full(cohorts, 1 / cohorts))
    counts = rng.multinomial(totals, far + (near - far) * law)
    return Case(counts, totals, hits, Chances((near, far), one_symbol=True), shares)


def measure(case: Case, theirs: float) -> NDArray[np.float64]:
    """Percent detected, false, percent detected at as many false ones as `theirs`, total
    variation, covered, covered of detected, detected, other covered, seconds of one core.

    Where no candidate can be false, `theirs` is the chance that one would have been.
    """
    before = time.process_time()
    found = case.decode()
    seconds = time.process_time() - before
    truth, real, chosen = case.truth, case.truth > 0, found.detected
    order = np.argsort(found.p_value, kind="stable")
    if real.all():
        equal = float((found.p_value <= theirs).sum())
    else:
        within = np.cumsum(~real[order]) <= theirs
        equal = float(np.cumsum(real[order])[within].max(initial=0))
    missing = max(0.0, 1 - truth.sum())
    shown = np.where(chosen, found.estimate, 0)
    held = (found.low <= truth) & (truth <= found.high)
    ends = (found.detected_low <= truth) & (truth <= found.detected_high)
    other = found.other.low <= missing + 1e-9 and missing <= found.other.high
    part = 100 / real.sum()
    return np.array(
        [
            *(part * (chosen & real).sum(), (chosen & ~real).sum(), part * equal),
            *((np.abs(shown - truth).sum() + missing) / 2, held.mean()),
            *(ends[chosen].sum(), chosen.sum(), other, seconds),
        ]
    )


def families(seeds: int) -> list[str]:
    """Print the table; where ours falls short."""
    print("Means over five distributions; theirs: google/rappor a13fa96. Detected: percent of true")
    print("strings in the map, with Benjamini-Hochberg at 0.10, and at as many false strings as")
    print("theirs (where none can be false, at the rate of the typical family). TV: of what was")
    print("detected. Coverage of 95 % intervals: of all, of the detected, of what is in no map.")
    print("Seconds: ours of one core.\n")
    print(f"{'':16}{'detected':>24}{'false':>13}{'TV':>13}{'coverage':>25}{'seconds':>12}")
    print(f"{'':16}{'BH':>8}{'equal':>8}{'theirs':>8}{'BH':>7}{'theirs':>7}", end="")
    print(f"{'ours':>7}{'theirs':>7}{'all':>7}{'det.':>6}{'other':>6}{'theirs':>7}", end="")
    print(f"{'ours':>6}{'theirs':>7}")
    failures, short, ends = [], [], np.zeros(2)
    for number, (name, family) in enumerate(FAMILIES.items()):
        times = max(1, seeds // 4) if family.people > 10**6 else seeds
        detected, false, variation, coverage, seconds = family.theirs
        typical = FAMILIES[name.replace("sharp", "typical")]
        allowed = false if family.bogus else typical.theirs[1] / typical.bogus
        rows = [
            measure(simulate(np.random.default_rng([number, i, seed]), family, shape), allowed)
            for i, shape in enumerate(DISTRIBUTIONS)
            for seed in range(times)
        ]
        mean = np.mean(rows, axis=0)
        chosen = mean[5] / mean[6] if mean[6] else 1.0
        print(f"{name:16}{mean[0]:8.1f}{mean[2]:8.1f}{detected:8.1f}{mean[1]:7.1f}", end="")
        print(f"{false:7.1f}{mean[3]:7.3f}{variation:7.3f}{mean[4]:7.3f}{chosen:6.3f}", end="")
        print(f"{mean[7]:6.2f}{coverage:7.2f}{mean[8]:6.2f}{seconds:7.1f}", flush=True)
        if mean[2] <= detected:
            failures.append(f"{name}: {mean[2]:.1f} % detected is not above {detected} %")
        if mean[4] < LEAST_COVERAGE:
            failures.append(f"{name}: {mean[4]:.3f} are covered")
        if chosen < LEAST_COVERAGE:
            short.append(f"{name}: only {chosen:.3f} of the detected are covered")
        ends += mean[5:7]
    print("".join(f"\n{line}" for line in short))
    if ends[0] / ends[1] < LEAST_COVERAGE:
        failures.append(f"all families: {ends[0] / ends[1]:.3f} of the detected are covered")
    return failures


def respondents(seeds: int) -> None:
    """Print how many times the respondents Bloom RAPPOR needs, for the same variance."""
    p, q, f = EPS_1_1
    chances = Chances((1 - f / 2, f / 2), (q, p))
    epsilon = 2 * log(chances.p * (1 - chances.q) / (chances.q * (1 - chances.p)))
    forever = 4 * log((1 - f / 2) / (f / 2))
    print(f"\nRespondents, 100 candidates, 1e6 people, ε {epsilon:.3f} in one wave and")
    print(
        f"{forever:.3f} forever: n times the mean squared error of shares, and its mean as told.\n"
    )
    print(f"{'':10}{'Bloom k8 h2 m128':>20}{'hashed-krr':>20}{'times':>8}")
    ratios = []
    for distribution in DISTRIBUTIONS:
        sides = []
        for hashed in (False, True):
            errors = []
            for seed in range(3 * seeds):
                rng = np.random.default_rng([99, hashed, seed])
                case = (
                    simulate_hashed(rng, epsilon, 10**6, distribution)
                    if hashed
                    else simulate(rng, FAMILIES["small-sharp"], distribution)
                )
                found = case.decode()
                off = (found.estimate - case.truth) ** 2
                errors.append((off.mean() * 1e6, (found.std_error**2).mean() * 1e6))
            sides.append(np.mean(errors, axis=0))
        bloom, symbols = sides
        ratios.append(bloom[0] / symbols[0])
        print(f"{distribution:10}{bloom[0]:12.2f}{bloom[1]:8.2f}", end="")
        print(f"{symbols[0]:12.2f}{symbols[1]:8.2f}{ratios[-1]:8.2f}")
    print(f"{'mean':10}{np.mean(ratios):48.2f}")


def repeated(seeds: int) -> list[str]:
    """Print what ten reports each of 1e5 people, with one permanent draw, tell; if not covered."""
    family = FAMILIES["small-sharp"]
    fewer = Family(*_BLOOM, EPS_1_1, 10**5, 100, 0, False, family.theirs)
    print("\nRepeats, 100 candidates: root mean squared error, its mean as told, coverage.\n")
    failures = []
    for name, sort, repeats in (
        ("1e6 people", family, 1),
        ("1e5 people, 10 reports each", fewer, 10),
    ):
        off, told, held = [], [], []
        for seed in range(seeds):
            for shape in DISTRIBUTIONS:
                case = simulate(np.random.default_rng([7, seed]), sort, shape, repeats)
                found = case.decode()
                off.append(((found.estimate - case.truth) ** 2).mean())
                told.append((found.std_error**2).mean())
                held.append(((found.low <= case.truth) & (case.truth <= found.high)).mean())
        print(f"{name:30}{np.mean(off) ** 0.5:8.4f}{np.mean(told) ** 0.5:8.4f}", end="")
        print(f"{np.mean(held):8.3f}")
        if np.mean(held) < LEAST_COVERAGE:
            failures.append(f"{name}: {np.mean(held):.3f} are covered")
    return failures


def together() -> list[str]:
    """Print how long a joint estimate takes: four strings by yes and no, 20,000 reports."""
    rng = np.random.default_rng(1)
    table = np.array([[0.4, 0.1], [0.2, 0.05], [0.1, 0.05], [0.0, 0.1]])
    hits = rng.integers(0, 8, (8, 4, 2))
    support = np.zeros((8, 4, 8), dtype=bool)
    np.put_along_axis(support, hits, True, axis=2)
    cohorts, pairs = rng.integers(0, 8, 20_000), rng.choice(8, 20_000, p=table.ravel())
    bits = rng.random((20_000, 8)) < np.where(support[cohorts, pairs // 2], 0.775, 0.225)
    symbols = np.where(rng.random(20_000) < 0.75, pairs % 2, 1 - pairs % 2)
    before = time.perf_counter()
    first = bit_chances(bits, cohorts, hits, 0.775, 0.225)[:, :-1]
    found = joint(first, np.where(symbols[:, None] == np.arange(2), 0.75, 0.25))
    seconds = time.perf_counter() - before
    print(f"\nJoint estimate, 20,000 reports, 4 strings by yes and no: {seconds:.2f} s, ", end="")
    print(f"{'converged' if found.converged else 'not converged'} (theirs: 500 s, not converged)")
    for row, errors, truth in zip(found.share, found.std_error, table, strict=True):
        pairs_of = zip(row, errors, truth, strict=True)
        print(
            "  ".join(f"{one:7.3f} ± {error:.3f} (true {is_:.2f})" for one, error, is_ in pairs_of)
        )
    # The original, with a limit of its own, was stopped after 500 s; the least that is of use is 2.
    return [] if found.converged and seconds < 2 else ["the joint estimate takes over 2 s"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="of each small case  [8]")
    seeds = parser.parse_args().seeds
    failures = families(seeds)
    respondents(seeds)
    failures += repeated(seeds)
    failures += together()
    print("\n" + ("\n".join(failures) if failures else "More is detected, and intervals cover."))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
