"""Measure regression with randomized columns: its time beside statsmodels, and its coverage.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/regression.py [--replications N]`

The exit status is 1 in any of these cases: a logistic regression of a randomized outcome, with 100
000 rows and 10 columns that are all different, takes more than 3 times as long as statsmodels'
plain Logit on the true answers; its profiles take more than 10 times as long as the fit; or 95 %
intervals of a coefficient cover it in less than 93 % of samples of 2000 respondents, by more than 3
standard errors of the simulation. The intervals of corrected scores must cover as often if errors
follow another law than the likelihood assumes. At ε = 1 a message must say so in at least 80 % of
these samples, and in at most 1 % of samples in which errors follow that law.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import expit, softmax

from analysis.estimate.columns import Column, from_matrix
from analysis.study.regression import regress

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
ROWS, WIDTH, TURNS = (1_000, 2, 1) if SMALLEST else (100_000, 10, 7)
MOST_TIMES, MOST_OF_PROFILES = 3.0, 10.0
N = 2000
LEAST_COVERAGE = 0.93
LEAST_POWER, MOST_ALARMS = 0.8, 0.01

Drawn = tuple[dict[str, Column], dict[str, NDArray[Any]]]


def krr(k: int, epsilon: float) -> NDArray[np.float64]:
    """Return the matrix of k-RR; columns are true values."""
    e = np.exp(epsilon)
    return np.asarray(np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1))


def column(
    rng: np.random.Generator, values: list[str], true: NDArray[np.int64], epsilon: float
) -> Column:
    """Return the column of reports of people with these true values."""
    matrix = krr(len(values), epsilon)
    bounds = matrix.cumsum(axis=0)[:-1].T[true]
    codes = (rng.random(len(true))[:, None] > bounds).sum(axis=1)
    return from_matrix("column", values, codes, matrix)


def draw(rng: np.random.Generator, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw a value for each row of shares."""
    bounds = shares.cumsum(axis=1)[:, :-1]
    return np.asarray((rng.random(len(shares))[:, None] > bounds).sum(axis=1))


def of_a_logistic_outcome(epsilon: float) -> Callable[[np.random.Generator], Drawn]:
    """Return a randomized outcome with known predictors."""

    def sample(rng: np.random.Generator) -> Drawn:
        age, team = rng.normal(size=N), rng.integers(0, 2, N)
        true = (rng.random(N) < expit(-0.5 + 0.8 * age + 0.5 * team)).astype(int)
        return {"y": column(rng, ["no", "yes"], true, epsilon)}, {"age": age, "team": team}

    return sample


def of_three_categories(rng: np.random.Generator) -> Drawn:
    """Return an outcome of three values, randomized at ε = 2."""
    age = rng.normal(size=N)
    logits = np.column_stack([np.zeros(N), 0.3 + 0.6 * age, -0.2 - 0.5 * age])
    return {"y": column(rng, ["a", "b", "c"], draw(rng, softmax(logits, axis=1)), 2.0)}, {
        "age": age
    }


def of_a_predictor(
    outcome: Callable[[np.random.Generator, NDArray[np.float64]], NDArray[Any]],
) -> Callable[[np.random.Generator], Drawn]:
    """Return a predictor randomized at ε = 2, and a known outcome."""

    def sample(rng: np.random.Generator) -> Drawn:
        age = rng.normal(size=N)
        latent = (rng.random(N) < expit(-0.4 + 0.5 * age)).astype(int)
        known = {"age": age, "y": outcome(rng, -0.3 + 0.8 * latent + 0.4 * age)}
        return {"x": column(rng, ["no", "yes"], latent, 2.0)}, known

    return sample


def of_both(rng: np.random.Generator) -> Drawn:
    """Return an outcome and a predictor, each randomized at ε = 2."""
    columns, known = of_a_predictor(lambda rng, eta: (rng.random(N) < expit(eta)).astype(int))(rng)
    return columns | {"y": column(rng, ["no", "yes"], known["y"], 2.0)}, {"age": known["age"]}


@dataclass(frozen=True)
class Case:
    """A model with true coefficients."""

    name: str
    family: str
    formula: str
    truth: tuple[float, ...]
    sample: Callable[[np.random.Generator], Drawn]


PREDICTOR = ("y ~ x + age", (-0.3, 0.8, 0.4))
CASES = (
    Case(
        "outcome, ε 1", "logistic", "y ~ age + team", (-0.5, 0.8, 0.5), of_a_logistic_outcome(1.0)
    ),
    Case(
        "outcome, ε 2", "logistic", "y ~ age + team", (-0.5, 0.8, 0.5), of_a_logistic_outcome(2.0)
    ),
    Case(
        "outcome of 3, ε 2", "multinomial", "y ~ age", (0.3, 0.6, -0.2, -0.5), of_three_categories
    ),
    Case(
        "predictor, ε 2",
        "linear",
        *PREDICTOR,
        of_a_predictor(lambda rng, eta: eta + rng.normal(size=N)),
    ),
    Case(
        "predictor, ε 2",
        "logistic",
        *PREDICTOR,
        of_a_predictor(lambda rng, eta: (rng.random(N) < expit(eta)).astype(int)),
    ),
    Case(
        "predictor, ε 2",
        "poisson",
        *PREDICTOR,
        of_a_predictor(lambda rng, eta: rng.poisson(np.exp(eta))),
    ),
    Case("both, ε 2", "logistic", *PREDICTOR, of_both),
)


#: Families: outcomes from a generator and linear predictors; whether the likelihood assumes this
#: law.
LAWS: tuple[tuple[str, str, Callable[[np.random.Generator, NDArray[Any]], Any], bool], ...] = (
    ("normal", "linear", lambda rng, eta: eta + rng.normal(size=N), True),
    ("Poisson", "poisson", lambda rng, eta: rng.poisson(np.exp(eta)), True),
    ("exponential", "linear", lambda rng, eta: eta + rng.exponential(size=N), False),
    ("lognormal", "linear", lambda rng, eta: eta + rng.lognormal(0, 0.6, N), False),
    (
        "Poisson-gamma, shape 2",
        "poisson",
        lambda rng, eta: rng.poisson(np.exp(eta) * rng.gamma(2, 0.5, N)),
        False,
    ),
)


def of_a_law(
    rng: np.random.Generator, law: Callable[[np.random.Generator, NDArray[Any]], Any]
) -> Drawn:
    """Return a predictor randomized at ε = 1, with an effect of 0.5."""
    age, latent = rng.normal(size=N), (rng.random(N) < 0.3).astype(int)
    known = {"age": age, "y": law(rng, 0.5 * latent + 0.3 * age)}
    return {"x": column(rng, ["no", "yes"], latent, 1.0)}, known


def speed() -> bool:
    """Print both times; return whether the goal is met."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, WIDTH))
    true = (rng.random(ROWS) < expit(x @ rng.normal(0, 0.3, WIDTH) - 0.5)).astype(int)
    columns = {"y": column(rng, ["no", "yes"], true, 1.0)}
    known = {f"x{place}": values for place, values in enumerate(x.T)}
    formula = "y ~ " + " + ".join(known)
    ours, profiled, theirs = [], [], []
    for turn in range(TURNS + 1):
        start = time.perf_counter()
        found = regress(formula, columns, known, interval="wald")
        fitted = time.perf_counter()
        regress(formula, columns, known)
        middle = time.perf_counter()
        sm.Logit(true, sm.add_constant(x)).fit(disp=0)
        end = time.perf_counter()
        # The first round also imports modules and warms up.
        if turn and found.converged:
            ours.append(fitted - start)
            profiled.append(middle - fitted)
            theirs.append(end - middle)
        print(f"\rspeed: turn {turn} of {TURNS}", end="", file=sys.stderr)
    print(file=sys.stderr)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"logistic, randomized outcome, {ROWS:,} rows × {WIDTH} columns, all different")
    print(f"  regress {statistics.median(ours):.3f} s, Logit {statistics.median(theirs):.3f} s")
    times = statistics.median(profiled) / statistics.median(ours)
    met = tell(f"ratio {ratio:.2f}, at most {MOST_TIMES:g}", ratio <= MOST_TIMES)
    told = f"with profiles {times:.1f} times as long, at most {MOST_OF_PROFILES:g}"
    return tell(told, times <= MOST_OF_PROFILES) and met


def coverage(replications: int) -> bool:
    """Print coverage of each coefficient; return whether the goal is met."""
    margin = 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    least = LEAST_COVERAGE - margin
    print(f"\n95 % intervals, n = {N}, {replications} samples each; at least {least:.3f}")
    print(
        f"{'randomized':20}{'family':13}{'term':14}{'true':>6}{'mean':>8}{'sd':>7}{'se':>7}", end=""
    )
    print(f"{'covers':>8}{'untold':>8}")
    met = True
    for place, case in enumerate(CASES):
        fits = []
        for seed in range(replications):
            columns, known = case.sample(np.random.default_rng([place, seed]))
            fits.append(regress(case.formula, columns, known, family=case.family).terms)
            if not seed % 20:
                print(f"\r{case.name}, {case.family}: {seed}   ", end="", file=sys.stderr)
        print(file=sys.stderr)
        for terms, truth in zip(zip(*fits, strict=True), case.truth, strict=True):
            told = [term for term in terms if term.std_error is not None]
            covers = sum(term.conf_low <= truth <= term.conf_high for term in told) / replications
            estimates = [term.estimate for term in told]
            error = statistics.median(term.std_error for term in told)
            print(
                f"{case.name:20}{case.family:13}{terms[0].term:14}{truth:6.2f}"
                f"{statistics.mean(estimates):8.3f}{statistics.stdev(estimates):7.3f}{error:7.3f}"
                f"{covers:8.3f}{replications - len(told):8d}"
            )
            met &= covers >= least
    return tell(f"every coefficient covered, least {LEAST_COVERAGE:g} less 3 errors", met)


def laws(replications: int) -> bool:
    """Print results of maximum likelihood and corrected scores under other laws; are goals met?"""
    least = LEAST_COVERAGE - 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / replications)
    alarms = MOST_ALARMS + 3 * sqrt(MOST_ALARMS * (1 - MOST_ALARMS) / replications)
    print(f"\ncoefficient 0.5 of a predictor, ε 1, n = {N}, {replications} samples each")
    print(f"{'law':24}{'family':8}{'told':>6}{'likelihood':>12}{'covers':>8}", end="")
    print(f"{'corrected':>11}{'covers':>8}{'untold':>8}")
    met = True
    for place, (name, family, law, right) in enumerate(LAWS):
        terms: dict[str, list[Any]] = {"observed": [], "sandwich": []}
        told = 0
        for seed in range(replications):
            columns, known = of_a_law(np.random.default_rng([100 + place, seed]), law)
            for errors, kept in terms.items():
                found = regress("y ~ x + age", columns, known, family=family, se=errors)
                told += any("speak against" in message for message in found.messages)
                kept.append(found.terms[1])
            if not seed % 20:
                print(f"\r{name}: {seed}   ", end="", file=sys.stderr)
        print(file=sys.stderr)
        print(f"{name:24}{family:8}{told / replications:6.3f}", end="")
        for errors, width in (("observed", 12), ("sandwich", 11)):
            sound = [term for term in terms[errors] if term.std_error is not None]
            covers = sum(term.conf_low <= 0.5 <= term.conf_high for term in sound) / replications
            middle = statistics.mean(term.estimate for term in sound)
            print(f"{middle:{width}.3f}{covers:8.3f}", end="")
        # The last of the two are corrected scores.
        print(f"{replications - len(sound):8d}")
        met &= covers >= least
        met &= told / replications <= alarms if right else told / replications >= LEAST_POWER
    return tell(
        f"corrected scores cover, least {least:.3f}; a wrong law is told, least {LEAST_POWER:g}; "
        f"a right one, most {alarms:.3f}",
        met,
    )


def tell(goal: str, met: bool) -> bool:
    print(f"  {goal}: {'met' if met else 'MISSED'}")
    return met


def run(description: str | None, *goals: Callable[[int], bool]) -> None:
    """Check all goals, with replications from the command line; exit with 1 if one is missed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    replications = 2 if SMALLEST else parser.parse_args().replications
    met = [goal(replications) for goal in goals]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    run(__doc__, lambda _: speed(), coverage, laws)
