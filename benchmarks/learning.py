"""Learn a model from noisy reports: gradients beside the likelihood that `regress` maximizes.

`OPENBLAS_NUM_THREADS=1 python benchmarks/learning.py [--people N ...]`

Somebody wants to predict a yes-no answer from 3 or from 20 others. Each row is a number of people
and an ε. The first table says how many of 100 fresh people are predicted right, the second the root
of the mean squared error of a coefficient:

- `truth`: by the coefficients with which they were drawn; nobody can be better;
- `no noise`: by logistic regression of the true answers;
- `outcome`: the outcome is randomized at ε, the predictors are known; `regress`;
- `separate`: all answers are randomized, each at an equal part of ε; `regress`, for 3 predictors
  alone, since its likelihood sums over all combinations of the predictors that are possible;
- `one draw`: the same, with all answers in one draw, of which ε limits the total and each answer;
- `gradients`: each person sends one report of the gradient at the present coefficients, at ε, which
  protects the outcome and the predictors. Wang et al. (ICDE 2019, section 5): one coordinate of the
  gradient, drawn at random, by the better of Duchi's and the piecewise mechanism. The number of
  steps and the step size are the best of 12 by the very measure that is printed, which flatters
  this column: nobody could choose so well;
- `curator`: gradients of all people's true answers with Gaussian noise, (ε, 10⁻⁶) in all by zCDP
  (Abadi et al., CCS 2016, without sampling). A curator holds the answers.

Values are means over replications, whose standard error is printed beside each.
"""

import argparse
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
from inference.regression import column
from numpy.typing import NDArray
from scipy.special import expit

from analysis.core.channels.pattern import Pattern
from analysis.core.reports import Reports
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import read_columns
from analysis.study.regression import regress
from analysis.survey.survey import Survey
from analysis.survey.survey_file import survey_of

Floats = NDArray[np.float64]

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
FRESH = 500 if SMALLEST else 50_000
DELTA = 1e-6
STEPS = (5, 20, 60)[: 1 if SMALLEST else None]
SIZES = (0.3, 1.0, 3.0, 10.0)[: 1 if SMALLEST else None]


def slopes(d: int) -> Floats:
    """Return an intercept and d slopes; the linear predictor has the same variance for each d."""
    falling = 1.0 / (1 + np.arange(d)) ** 0.5 * np.where(np.arange(d) % 2, -1, 1)
    return np.concatenate([[-0.3], 1.4 * falling / sqrt(float((falling**2).sum()))])


def people(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return predictors of -1 or 1, with a column of ones before them, and the outcomes."""
    x = np.column_stack([np.ones(n), 2.0 * rng.integers(0, 2, (n, d)) - 1])
    return x, (rng.random(n) < expit(x @ slopes(d))).astype(np.int64)


def duchi_or_piecewise(rng: np.random.Generator, values: Floats, epsilon: float) -> Floats:
    """Return unbiased reports of numbers in [-1, 1], by the one with less worst-case variance."""
    high = (exp(epsilon) + 1) / (exp(epsilon) - 1)
    half = exp(epsilon / 2)
    if high**2 <= 4 * half / (3 * (half - 1) ** 2):
        return np.where(rng.random(len(values)) < 0.5 + values / (2 * high), high, -high)
    c = (half + 1) / (half - 1)
    left = (c + 1) / 2 * values - (c - 1) / 2
    near = rng.random(len(values)) < half / (half + 1)
    inside = left + (c - 1) * rng.random(len(values))
    # The values outside lie in [-c, left) and (left + c - 1, c], together c + 1 wide.
    outside = (c + 1) * rng.random(len(values)) - c
    return np.where(near, inside, np.where(outside < left, outside, outside + c - 1))


def gradient_descent(x: Floats, steps: int, size: float, step: Callable[..., Floats]) -> Floats:
    """Return the coefficients, averaged over the second half of the steps."""
    b, kept = np.zeros(x.shape[1]), []
    for number in range(steps):
        b = b - size / sqrt(1 + number) * step(number, b)
        kept.append(b)
    return np.asarray(np.mean(kept[steps // 2 :], axis=0))


def by_local_gradients(
    rng: np.random.Generator,
    x: Floats,
    y: NDArray[np.int64],
    epsilon: float,
    steps: int,
    size: float,
) -> Floats:
    """Return the coefficients if each person reports in one step."""
    parts = np.array_split(np.arange(len(y)), steps)
    width = x.shape[1]

    def step(number: int, b: Floats) -> Floats:
        rows = parts[number]
        which = rng.integers(0, width, len(rows))
        # Slopes of log-losses lie in [-1, 1] already, so nothing has to be clipped.
        true = (expit(x[rows] @ b) - y[rows]) * x[rows, which]
        sent = duchi_or_piecewise(rng, true, epsilon)
        return np.asarray(np.bincount(which, sent, width) * width / len(rows))

    return gradient_descent(x, steps, size, step)


def by_curator(
    rng: np.random.Generator,
    x: Floats,
    y: NDArray[np.int64],
    epsilon: float,
    steps: int,
    size: float,
) -> Floats:
    """Return the coefficients that a curator publishes.

    One person's answers change the sum of gradients by at most twice its largest length.
    """
    rho = (sqrt(log(1 / DELTA) + epsilon) - sqrt(log(1 / DELTA))) ** 2
    noise = 2 * sqrt(x.shape[1]) * sqrt(steps / (2 * rho))

    def step(_: int, b: Floats) -> Floats:
        total = x.T @ (expit(x @ b) - y) + rng.normal(scale=noise, size=x.shape[1])
        return np.asarray(total / len(y))

    return gradient_descent(x, steps, size, step)


@cache
def _survey(names: tuple[str, ...], epsilon: float) -> Survey:
    """Return a survey whose yes-no questions are in one draw, and must be answered."""
    asked = {"kind": "yes-no", "text": "?", "required": True}
    limits = {"epsilon": Decimal(epsilon), "epsilon_each": Decimal(epsilon)}
    draw = {"id": "d", "questions": [*names], **limits}
    questions = [{"id": name, **asked} for name in names]
    document = {"title": "T", "id": "t", "together": [draw], "questions": questions}
    return survey_of(document, "benchmark", Path())


def drawn_together(
    rng: np.random.Generator, true: NDArray[np.int64], epsilon: float
) -> dict[str, Column]:
    """Return the columns of yes-no questions that are in one draw; 0 is no."""
    names = [f"q{number}" for number in range(true.shape[1])]
    (draw,) = _survey(tuple(names), epsilon).joint
    channel = draw.randomizer.channel
    assert isinstance(channel, Pattern)  # everybody is asked all questions
    packed = channel.randomize_many(1 - true, lambda n: rng.integers(0, 2**32, n, dtype=np.uint32))
    nobody = np.zeros(len(true), dtype=np.uint8)
    return {
        question.id: read_columns(question, Reports(nobody, sets))[0]
        for question, sets in zip(draw.questions, packed, strict=True)
    }


def by_likelihood(outcome: Column, x: Floats, randomized: dict[str, Column]) -> Floats:
    """Return the result of `regress`; predictors are known or randomized; `q0` is the outcome."""
    names = [f"q{number}" for number in range(1, x.shape[1])]
    known = {} if randomized else {name: x[:, 1 + place] for place, name in enumerate(names)}
    formula = f"q0 ~ {' + '.join(names)}"
    fit = regress(formula, {"q0": outcome, **randomized}, known, interval="wald")
    found = np.array([term.estimate for term in fit.terms], dtype=float)
    if not randomized:
        return found
    # Categories "no" and "yes" are 0 and 1 there, and -1 and 1 here.
    return np.concatenate([[found[0] + found[1:].sum() / 2], found[1:] / 2])


def measures(b: Floats, x: Floats, y: NDArray[np.int64]) -> tuple[float, float]:
    """Return how many of 100 are predicted correctly, and the error of a coefficient."""
    wrong = b - slopes(len(b) - 1)
    return 100 * float(np.mean((x @ b > 0) == y)), sqrt(float(np.mean(wrong**2)))


def one(rng: np.random.Generator, n: int, d: int, epsilon: float) -> dict[str, tuple[float, float]]:
    """Return the measures of all ways on one sample."""
    x, y = people(rng, n, d)
    fresh = people(rng, FRESH, d)
    values = ["no", "yes"]
    known = {f"x{number}": x[:, number] for number in range(1, d + 1)}
    plain = regress(f"y ~ {' + '.join(known)}", {}, {"y": y, **known}, interval="wald")
    found = {
        "truth": slopes(d),
        "no noise": np.array([term.estimate for term in plain.terms], dtype=float),
        "outcome": by_likelihood(column(rng, values, y, epsilon), x, {}),
    }
    if d == 3:
        true = np.column_stack([y, x[:, 1:] > 0]).astype(np.int64)
        for name, reports in (
            ("separate", {f"q{i}": column(rng, values, true[:, i], epsilon / 4) for i in range(4)}),
            ("one draw", drawn_together(rng, true, epsilon)),
        ):
            found[name] = by_likelihood(reports["q0"], x, reports)
    told = {name: measures(b, *fresh) for name, b in found.items()}
    for name, way in (("gradients", by_local_gradients), ("curator", by_curator)):
        tried = [
            measures(way(rng, x, y, epsilon, steps, size), *fresh)
            for steps in STEPS
            for size in SIZES
        ]
        told[name] = max(one[0] for one in tried), min(one[1] for one in tried)
    return told


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, nargs="+", default=[3_750, 37_500, 300_000])
    parser.add_argument("--predictors", type=int, nargs="+", default=[3, 20])
    parser.add_argument("--replications", type=int, default=6)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    if SMALLEST:
        given.people, given.predictors, given.replications = [500], [3], 1
    cells = [(d, e, n) for d in given.predictors for e in (1.0, 4.0) for n in given.people]
    runs = {}
    for d, epsilon, n in cells:
        rng = np.random.default_rng([d, n, int(epsilon)])
        runs[d, epsilon, n] = [one(rng, n, d, epsilon) for _ in range(given.replications)]
    names = ("truth", "no noise", "outcome", "separate", "one draw", "gradients", "curator")
    for which, digits in ((0, 1), (1, 3)):
        print(
            f"{'predictors':>10} {'people':>8} {'ε':>3}" + "".join(f"{name:>16}" for name in names)
        )
        for d, epsilon, n in cells:
            print(f"{d:>10} {n:>8} {epsilon:>3g}", end="")
            for name in names:
                told = np.array([run[name][which] for run in runs[d, epsilon, n] if name in run])
                error = told.std(ddof=1) / sqrt(len(told)) if len(told) > 1 else 0.0
                shown = f"{told.mean():.{digits}f} ± {error:.{digits}f}" if len(told) else "–"
                print(f"{shown:>16}", end="")
            print(flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
