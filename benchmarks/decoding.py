"""Compare our decoder with google/rappor's own, on new simulations of its regression test.

`OPENBLAS_NUM_THREADS=1 python benchmarks/decoding.py [--seeds N]`. With more threads, a busy
machine measures how long threads wait for each other.

The exit status is 1 in any of these cases: in some family more than 5 % of the detected strings are
false, on average; fewer strings are detected than by the original, in a family where the original
keeps to 5 % itself, or anywhere at as many false ones; or intervals do not cover. Each comparison
allows for two standard errors, except that the coverage over all families together must be reached.
With `--strict` the exit status is also 1 if the original detects more strings at any price.

The original is not run: its numbers are in `benchmarks/rappor_families.py`.
"""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from rappor_families import DISTRIBUTIONS, EPS_1_1, FAMILIES, Case, shares_of, simulate

from analysis.core.options import FALSE_DISCOVERIES
from analysis.estimate.decoding import Chances, detected
from analysis.estimate.decoding.discoveries import chances_absent, likely
from analysis.estimate.joint import bit_chances, joint

LEAST_COVERAGE = 0.93
#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
if SMALLEST:
    FAMILIES = {
        name: replace(FAMILIES[name], people=10**4) for name in ("small-typical", "small-sharp")
    }
SHAPES = DISTRIBUTIONS[: 1 if SMALLEST else None]
PEOPLE = 10**4 if SMALLEST else 10**6
#: At this level about as many strings are detected as by the original, in every family.
LOOSE = 0.3
#: Nobody looked at a case of this seed while the decoder was written.
SEED = 5


def simulate_hashed(
    rng: np.random.Generator, epsilon: float, people: int, distribution: str
) -> Case:
    """Simulate 100 values in 256 cohorts of hashed k-RR; two stages have the law of one at ε."""
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
    return Case(counts, totals, hits, Chances((near, far), one_symbol=True), shares, 0.0)


@dataclass(frozen=True)
class Measured:
    """The results of the decoder in one case.

    These are the true and false strings detected, and the same with LOOSE; the total variation; the
    part of all intervals that cover, how many intervals of detected strings cover, and whether that
    of the other strings covers; seconds of one core; p-values; and the p-values that one would have
    if all other strings were known.
    """

    real: int
    false: int
    real_loose: int
    false_loose: int
    variation: float
    covered: float
    chosen_covered: int
    other: bool
    seconds: float
    p_values: NDArray[np.float64]
    known: NDArray[np.float64]
    is_real: NDArray[np.bool_]

    @classmethod
    def of(cls, case: Case) -> "Measured":
        """Decode a case."""
        before = time.process_time()
        found = case.decode()
        seconds = time.process_time() - before
        truth, real, chosen = case.truth, case.truth > 0, found.detected
        absent = chances_absent(found.estimate, found.std_error)
        assert absent is not None
        loose = likely(found.p_value, absent, LOOSE) | detected(found.p_value, "fdr", LOOSE)
        missing = max(0.0, 1 - truth.sum())
        shown = np.where(chosen, found.estimate, 0)
        held = (found.low <= truth) & (truth <= found.high)
        return cls(
            int((chosen & real).sum()),
            int((chosen & ~real).sum()),
            int((loose & real).sum()),
            int((loose & ~real).sum()),
            float((np.abs(shown - truth).sum() + missing) / 2),
            float(held.mean()),
            int(held[chosen].sum()),
            found.other.low <= missing + 1e-9 and missing <= found.other.high,
            seconds,
            found.p_value,
            case.p_values_if_others_were_known(),
            real,
        )

    @property
    def detected(self) -> int:
        return self.real + self.false

    @property
    def rate(self) -> float:
        return self.false / max(1, self.detected)

    @property
    def rate_loose(self) -> float:
        return self.false_loose / max(1, self.real_loose + self.false_loose)


BOUNDS = np.geomspace(1e-8, 0.5, 150)


def in_hindsight(cases: list[Measured], name: str) -> float:
    """Return the most true strings that one bound on p-values detects.

    On average 5 % of those that it detects are false.
    """
    best = 0.0
    for bound in BOUNDS:
        found = [(getattr(case, name) <= bound, case.is_real) for case in cases]
        if np.mean([(some & ~real).sum() / max(1, some.sum()) for some, real in found]) <= 0.05:
            best = max(best, float(np.mean([(some & real).sum() for some, real in found])))
    return best


def at_as_many_false(cases: list[Measured], allowed: float) -> float:
    """Return the most true strings that one bound on p-values detects, if `allowed` are false.

    Where none can be false, `allowed` is the chance that an absent one would be detected.
    """
    if all(case.is_real.all() for case in cases):
        return float(np.mean([(case.p_values <= allowed).sum() for case in cases]))
    counts = [
        [(some & ~case.is_real).sum(), (some & case.is_real).sum()]
        for bound in BOUNDS
        for case in cases
        for some in [case.p_values <= bound]
    ]
    means = np.array(counts, dtype=float).reshape(len(BOUNDS), len(cases), 2).mean(axis=1)
    return float(means[means[:, 0] <= allowed, 1].max(initial=0))


def families(seeds: int, strict: bool) -> list[str]:
    """Print the table; return the goals that were missed."""
    print(
        "Means over five distributions; theirs: google/rappor a13fa96. True strings detected at the"
    )
    print(
        f"default, with their standard error, and with --false-discoveries {LOOSE}; the most that"
    )
    print("any bound on p-values detects with 5 % false, known in hindsight for each distribution,")
    print("and the same if the shares of all other strings were known; with one bound for all, as")
    print("many false as theirs (where none can be false, at the rate of the typical family).")
    print("The part of the detected that is false, in percent. TV: of what was detected. Coverage")
    print(
        "of 95 % intervals: of all, of the detected, of what is in no map. Seconds of one core.\n"
    )
    print(f"{'':16}{'detected':>56}{'% false':>24}{'TV':>13}{'coverage':>24}{'seconds':>12}")
    print(f"{'':16}{'ours':>14}{LOOSE:>7}{'best':>7}{'known':>7}{'equal':>7}", end="")
    print(f"{'theirs':>14}{'ours':>11}{LOOSE:>5}{'theirs':>8}", end="")
    print(f"{'ours':>6}{'theirs':>7}{'all':>6}{'det.':>6}{'other':>6}{'theirs':>7}", end="")
    print(f"{'ours':>6}{'theirs':>7}")
    failures, notes, ends = list[str](), list[str](), np.zeros(2)
    for number, (name, family) in enumerate(FAMILIES.items()):
        typical, theirs = FAMILIES[name.replace("sharp", "typical")], family.theirs
        allowed = theirs.false if family.bogus else typical.theirs.false / typical.bogus
        groups = [
            [Measured.of(simulate(_rng(number, i, seed), family, shape)) for seed in range(seeds)]
            for i, shape in enumerate(DISTRIBUTIONS)
        ]
        cases = [case for group in groups for case in group]
        real, error = _mean([[case.real for case in group] for group in groups])
        rate, rate_error = _mean([[case.rate for case in group] for group in groups])
        equal = at_as_many_false(cases, allowed)
        best, known = (
            float(np.mean([in_hindsight(group, name) for group in groups]))
            for name in ("p_values", "known")
        )
        covered = np.array([case.chosen_covered for case in cases], dtype=float)
        chosen = np.array([case.detected for case in cases], dtype=float)
        part = covered.sum() / chosen.sum() if chosen.any() else 1.0
        part_error = float(np.sqrt(((covered - part * chosen) ** 2).sum()) / max(1, chosen.sum()))
        print(f"{name:16}{real:8.2f} ±{error:4.2f}{_of(cases, 'real_loose'):7.1f}", end="")
        print(f"{best:7.1f}{known:7.1f}{equal:7.1f}", end="")
        print(f"{theirs.detected:8.2f} ±{theirs.error:4.2f}{100 * rate:6.1f}", end="")
        print(f" ±{100 * rate_error:3.1f}{100 * _of(cases, 'rate_loose'):5.1f}", end="")
        print(f"{100 * theirs.rate:8.1f}", end="")
        print(f"{_of(cases, 'variation'):7.2f}{theirs.variation:6.2f}", end="")
        print(f"{_of(cases, 'covered'):7.3f}{part:6.3f}{_of(cases, 'other'):6.2f}", end="")
        print(
            f"{theirs.coverage:6.2f}{_of(cases, 'seconds'):7.2f}{theirs.seconds:6.1f}", flush=True
        )
        if rate - 2 * rate_error > FALSE_DISCOVERIES:
            failures.append(f"{name}: {100 * rate:.1f} ± {100 * rate_error:.1f} % are false")
        short = theirs.detected - real > 2 * (error**2 + theirs.error**2) ** 0.5
        if short:
            line = (
                f"{name}: {real:.1f} are detected by default, {theirs.detected:.1f} by the original"
            )
            line += f" with {100 * theirs.rate:.0f} % false; with 5 % false {best:.1f} is the most,"
            line += f" and {known:.1f} if all others were known"
            (failures if strict or theirs.rate <= FALSE_DISCOVERIES else notes).append(line)
        if equal < theirs.detected - 2 * theirs.error:
            failures.append(f"{name}: {equal:.1f} at as many false, not {theirs.detected:.1f}")
        if part + 2 * part_error < LEAST_COVERAGE:
            failures.append(f"{name}: only {part:.3f} of the detected are covered")
        if _of(cases, "covered") < LEAST_COVERAGE:
            failures.append(f"{name}: {_of(cases, 'covered'):.3f} are covered")
        ends += covered.sum(), chosen.sum()
    print("".join(f"\n{line}" for line in notes))
    print(f"Of the detected of all families {ends[0] / ends[1]:.3f} are covered.")
    if ends[0] / ends[1] < LEAST_COVERAGE:
        failures.append(f"all families: {ends[0] / ends[1]:.3f} of the detected are covered")
    return failures


def _rng(*key: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *key])


def _of(cases: list[Measured], name: str) -> float:
    return float(np.mean([getattr(case, name) for case in cases]))


def _mean(groups: list[list[float]]) -> tuple[float, float]:
    """Return the mean over groups of equal size, with its standard error from variances within."""
    values = np.array(groups, dtype=float)
    spread = values.var(axis=1, ddof=1) / values.shape[1]
    return float(values.mean()), float(spread.sum() ** 0.5 / len(values))


def respondents(seeds: int) -> None:
    """Print how many times as many respondents Bloom RAPPOR needs for the same variance."""
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
    for distribution in SHAPES:
        sides = []
        for hashed in (False, True):
            errors = []
            for seed in range(3 * seeds):
                rng = np.random.default_rng([99, hashed, seed])
                case = (
                    simulate_hashed(rng, epsilon, PEOPLE, distribution)
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
    """Print what ten reports each of 1e5 people reveal, if each person has one permanent draw."""
    family = FAMILIES["small-sharp"]
    fewer = replace(family, people=PEOPLE // 10)
    print("\nRepeats, 100 candidates: root mean squared error, its mean as told, coverage.\n")
    failures = []
    for name, sort, repeats in (
        ("1e6 people", family, 1),
        ("1e5 people, 10 reports each", fewer, 10),
    ):
        off, told, held = [], [], []
        for seed in range(seeds):
            for shape in SHAPES:
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
    # The original, which has a time limit of its own, was stopped after 500 s. An estimate that
    # takes more than 2 s would be of little use.
    return [] if found.converged and seconds < 2 else ["the joint estimate takes over 2 s"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="of each case, 2 or more  [8]")
    parser.add_argument("--strict", action="store_true", help="fail wherever theirs detects more")
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    arguments = parser.parse_args()
    seeds = 2 if SMALLEST else arguments.seeds
    failures = families(seeds, arguments.strict)
    respondents(seeds)
    failures += repeated(seeds)
    failures += together()
    print("\n" + ("\n".join(failures) if failures else "All goals are met."))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
