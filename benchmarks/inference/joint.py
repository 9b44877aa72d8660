"""Measure crosstabs and tests: coverage of intervals, size of tests, and the time of a table.

`OPENBLAS_NUM_THREADS=1 python benchmarks/inference/joint.py [--replications N]`

The exit status is 1 in any of these cases: 95 % intervals of a cell cover its share in less than
93 % of samples, by more than 3 standard errors of the simulation; a test at .05 with 1000
respondents and ε = 1 rejects a true hypothesis in less than 3 % or more than 7 % of samples, by
more than 2 standard errors; a test of independence or difference with ε = 3 and values that 1 %
have does so in more than that; or a 5 × 5 table from a million reports, with all errors and
covariances, takes more than 3 times as long as counting its two columns separately.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import Categories
from analysis.estimate.columns import Column, from_matrix
from analysis.estimate.columns.of_survey import columns_of
from analysis.study.changes import difference
from analysis.study.crosstab import Crosstab, crosstab
from analysis.study.crosstab.pairs import Pairs
from analysis.study.hypotheses import goodness_of_fit, independence
from analysis.survey.freeze import freeze

LEAST_COVERAGE = 0.93
SIZES = (0.03, 0.07)
MOST_TIMES = 3.0
N = 1000

DIAGONAL = np.diag([0.4, 0.3, 0.15, 0.1, 0.05])
UNEVEN = np.outer([5, 4, 3, 2, 1], [1, 2, 3, 4, 5]) / 225
TABLES = {
    "2 × 2": [[0.4, 0.2], [0.1, 0.3]],
    "2 × 2, a 0": [[0.5, 0.2], [0.0, 0.3]],
    "2 × 2, rare": [[0.9, 0.05], [0.05, 0.0]],
    "2 × 3": [[0.3, 0.1, 0.1], [0.05, 0.2, 0.25]],
    "2 × 3, three 0s": [[0.4, 0.0, 0.1], [0.0, 0.5, 0.0]],
    "5 × 5": UNEVEN,
    "5 × 5, twenty 0s": DIAGONAL,
}
CHOICE = {"kind": "choice", "no_answer": False}
SCALE = {"kind": "scale", "no_answer": True}
CHOICES = {"kind": "choices", "at_most": 2, "no_answer": False}
CHANNELS = [
    ("krr", CHOICE, 5),
    ("subset", CHOICE, 5),
    ("oue", CHOICE, 5),
    ("sue", CHOICE, 5),
    ("hashed-krr", CHOICE, 5),
    ("hadamard", CHOICE, 5),
    ("optimal", SCALE, 4),
    ("exponential", SCALE, 4),
    ("pick", CHOICES, 3),
    ("multihot", CHOICES, 3),
]

RARE_CHANNELS = [
    ("krr", 5),
    ("subset", 7),
    ("oue", 6),
    ("sue", 6),
    ("hashed-krr", 9),
    ("hadamard", 9),
]


def krr(k: int, epsilon: float) -> NDArray[np.float64]:
    """Return the matrix of k-RR; columns are true values."""
    e = np.exp(epsilon)
    return np.asarray(np.where(np.eye(k, dtype=bool), e, 1.0) / (e + k - 1))


def told(done: str) -> None:
    print(done, file=sys.stderr, flush=True)


def coverage(rng: np.random.Generator, replications: int) -> bool:
    """Print the coverage of all cells."""
    print("95 % intervals of cells: coverage of the worst cell and of all, mean width")
    good = True
    for name, shares in TABLES.items():
        table = np.array(shares)
        turns = replications if table.size < 10 else max(1, replications // 2)
        for epsilon in (1, 2) if table.size > 6 else (1, 2, 4):
            columns = [
                from_matrix(
                    f"{k}{place}", map(str, range(k)), np.zeros(0, np.int64), krr(k, epsilon)
                )
                for place, k in enumerate(table.shape)
            ]
            first, second = columns
            law = (first.chances @ table @ second.chances.T).ravel()
            for n in (500, 2000):
                hits, widths = np.zeros(table.shape), 0.0
                for _ in range(turns):
                    counts = rng.multinomial(n, law).reshape(table.shape).astype(float)
                    found = Crosstab(Pairs(first, second, counts, counts, n), 0.95).intervals
                    low = np.array([[one.low for one in row] for row in found])
                    high = np.array([[one.high for one in row] for row in found])
                    hits += (low <= table + 1e-9) & (table <= high + 1e-9)
                    widths += float((high - low).mean()) / turns
                slack = 3 * sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / turns)
                worst = float(hits.min()) / turns
                good &= worst >= LEAST_COVERAGE - slack
                print(
                    f"  {name:17} ε {epsilon}+{epsilon}  n {n:5}  worst {worst:.3f}  "
                    f"all {hits.mean() / turns:.3f}  width {widths:.3f}  ({turns} samples)"
                )
        told(f"coverage of {name}")
    return good


def channel(
    mechanism: str, spec: dict[str, Any], k: int, epsilon: float = 1.0
) -> tuple[Column, NDArray[np.float64]]:
    """Return a column with a row for every report, with its probability under each value."""
    options = [{"id": f"v{place}", "text": f"v{place}"} for place in range(k)]
    asked = {"id": mechanism, "text": "?", "epsilon": epsilon, "options": options, **spec}
    survey = freeze(
        {
            "id": "s",
            "languages": [],
            "questions": [{**asked, "mechanism": {"name": mechanism}}],
            "privacy": {"cap": 9},
        }
    )
    question = survey.questions[0]
    encoder, noisy = question.randomizer.encoder, question.randomizer.channel
    if not isinstance(question.domain, Categories):
        column = columns_of(question, [])[0]
        return column, column.chances
    reports, laws = [], []
    for cohort in range(encoder.cohorts or 1):
        law: dict[Any, list[float]] = {}
        for value in range(len(question.domain.ids)):
            for drawn, chance in noisy.distribution(encoder.encode(value, cohort, iter(()))):
                law.setdefault(drawn, []).append(float(chance) / (encoder.cohorts or 1))
        for drawn, chances in law.items():
            one = list(drawn) if isinstance(drawn, tuple) else drawn
            reports.append(one if encoder.cohorts is None else {"cohort": cohort, "report": one})
            laws.append(chances)
    column = columns_of(question, reports)[0]
    exact = np.zeros(column.chances.shape)
    np.add.at(exact, column.codes, np.array(laws))
    return column, exact


def sizes(rng: np.random.Generator, replications: int) -> bool:
    """Print how often each test rejects a true hypothesis, for each channel."""
    print(f"\nSize of tests at .05, n {N}, ε 1: of independence, fit, and difference")
    low, high = SIZES
    good = True
    for mechanism, spec, k in CHANNELS:
        column, law = channel(mechanism, spec, k)
        parts = len(column.values)
        # A value that nobody has is the hardest case.
        shares = np.append(np.arange(parts - 1, 0, -1), 0) / (parts * (parts - 1) / 2)

        def sample(name: str, column: Column = column, chances: Any = law @ shares) -> Column:
            codes = np.repeat(np.arange(len(chances)), rng.multinomial(N, chances))
            rng.shuffle(codes)
            return replace(column, name=name, codes=codes)

        values = [
            (
                independence(sample("a"), sample("b")).p_value,
                goodness_of_fit(sample("a"), shares).p_value,
                difference(sample("a"), sample("b")).p_value,
            )
            for _ in range(replications)
        ]
        found = (np.array(values) < 0.05).mean(axis=0)
        slack = 2 * sqrt(0.05 * 0.95 / replications)
        good &= all(low - slack <= one <= high + slack for one in found)
        print(f"  {mechanism:12} {'  '.join(f'{one:.3f}' for one in found)}")
        told(f"sizes of {mechanism}")
    return good


def rare_sizes(rng: np.random.Generator, replications: int) -> bool:
    """Print how often tests reject true hypotheses if noise is little and some values are rare."""
    print(
        f"\nSize at .05, ε 3, values of 1 %: of independence, n {N}, and difference from n {N // 4}"
    )
    good = True
    for mechanism, k in RARE_CHANNELS:
        column, law = channel(mechanism, CHOICE, k, 3.0)
        parts = len(column.values)
        chances = law @ np.append(1 - 0.01 * (parts - 1), np.full(parts - 1, 0.01))
        rejected = np.zeros(2)
        for _ in range(replications):
            one, other, few = (
                replace(column, name=name, codes=rng.choice(len(chances), n, p=chances))
                for name, n in (("a", N), ("b", N), ("c", N // 4))
            )
            rejected += [
                independence(one, other).p_value < 0.05,
                difference(one, few).p_value < 0.05,
            ]
        found = rejected / replications
        good &= bool((found <= SIZES[1] + 2 * sqrt(0.05 * 0.95 / replications)).all())
        print(f"  {mechanism:12} {'  '.join(f'{one:.3f}' for one in found)}")
        told(f"sizes of {mechanism} with rare values")
    return good


def speed(rng: np.random.Generator, reports: int) -> bool:
    """Print the time of a table of so many reports as a multiple of two counts."""
    one, other = (rng.integers(0, 5, reports) for _ in range(2))
    values = [str(value) for value in range(5)]
    first, second = (
        from_matrix(name, values, codes, krr(5, 1)) for name, codes in (("a", one), ("b", other))
    )

    def table() -> Crosstab:
        found = crosstab(first, second)
        _ = found.shares, found.std_errors, found.covariance
        return found

    def seconds(task: Callable[[], Any]) -> float:
        started = time.perf_counter()
        task()
        return time.perf_counter() - started

    # The least times count: on a busy machine, longer times measure other programs.
    ours, plain = (
        min(seconds(task) for _ in range(30))
        for task in (table, lambda: (np.bincount(one), np.bincount(other)))
    )
    ratio = ours / plain
    found = table()
    print(f"\n5 × 5 of {reports:,} reports: {ratio:.2f} times two bincounts", end="; ")
    print(f"its intervals take {seconds(lambda: found.intervals):.2f} s more", end=", ")
    print(f"all rows {seconds(found.rows):.2f} s")
    return ratio <= MOST_TIMES


def main() -> int:
    """Measure everything; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    replications = 2 if given.smallest else given.replications
    rng = np.random.default_rng(6)
    goals = {
        f"cells cover {LEAST_COVERAGE}": coverage(rng, replications),
        f"sizes within {SIZES[0]} to {SIZES[1]}": sizes(rng, 2 * replications),
        f"sizes with rare values to {SIZES[1]}": rare_sizes(rng, replications),
        f"table within {MOST_TIMES} times two counts": speed(
            rng, 1_000 if given.smallest else 1_000_000
        ),
    }
    print()
    for goal, met in goals.items():
        print(f"{'met   ' if met else 'MISSED'}  {goal}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
