"""Measure how often the intervals of a number hold, and how long its bootstrap takes.

These are the intervals of mean, variance and quartiles, in simulated surveys: `python
benchmarks/inference/number.py [DRAWS]`, by default 100 draws a cell. The exit status is 1 if an
interval covers less than GOAL, by more than chance can explain, or if 1000 resamples of a
distribution take more than FAST times one cold fit.

Except for the mean, whether an interval covers is decided by the two tests next to the truth, which
the search for its ends would meet. That search runs for some draws, to measure widths, and should
agree.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import binom

from analysis.core.domain import Numbers
from analysis.estimate.distribution import distribution
from analysis.estimate.distribution.quantile import Reference, squared_error
from analysis.estimate.distribution.ranges import places
from analysis.estimate.intervals import ratio_interval
from analysis.estimate.number import QUARTILES, number_quantities
from analysis.mechanisms import MECHANISMS

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
GOAL, FAST = 0.93, 50
#: The probability that a cell at GOAL is reported to be below it.
ERROR = 1e-4
NUMBERS = 100
SKIPPED = 0.2
#: Steps of a grid that an author may name, if the mechanism's own grid has one step.
NAMED = 20
TERMS = ("mean", "variance", *QUARTILES)


@dataclass(frozen=True)
class Cell:
    """One setting of the simulation."""

    mechanism: str
    epsilon: str
    no_answer: bool
    shape: str
    n: int
    #: The steps of the grid, if the survey's author names them.
    steps: int | None = None


def shapes() -> dict[str, NDArray[np.float64]]:
    """Return shares of the numbers 0..NUMBERS; one quartile lies at an end, the hardest place."""
    place = np.arange(NUMBERS + 1) / NUMBERS
    skewed = np.exp(-6 * place)
    point, ends = np.zeros(NUMBERS + 1), np.zeros(NUMBERS + 1)
    point[37], ends[[0, -1]] = 1, (0.24, 0.76)
    return {
        "uniform": np.full(NUMBERS + 1, 1 / (NUMBERS + 1)),
        "skewed": skewed / skewed.sum(),
        "point": point,
        "ends": ends,
    }


def question(cell: Cell) -> tuple[Any, Any, Numbers]:
    """Return the mechanism, the randomizer and the domain."""
    domain = Numbers(Fraction(0), Fraction(NUMBERS), NUMBERS, cell.no_answer)
    mechanism = MECHANISMS[cell.mechanism]
    named = {} if cell.steps is None else {"steps": cell.steps}
    return mechanism, mechanism.compile(domain, Fraction(cell.epsilon), named), domain


def law_of_reports(cell: Cell, randomizer: Any) -> NDArray[np.float64]:
    """Return the exact probability of each report of a random respondent."""
    encoder, channel = randomizer.encoder, randomizer.channel
    rows = np.array([channel.weights(one) for one in range(channel.inputs)], dtype=float)
    rows /= rows[0].sum()
    position = np.arange(NUMBERS + 1) * encoder.steps / NUMBERS
    left = np.minimum(position.astype(int), encoder.steps - 1)
    part = (position - left)[:, None]
    law = shapes()[cell.shape] @ ((1 - part) * rows[left] + part * rows[left + 1])
    return np.asarray((1 - SKIPPED) * law + SKIPPED * rows[-1] if cell.no_answer else law)


def truth(shape: str) -> dict[str, float]:
    """Return the true variance and quartiles of the numbers."""
    share, numbers = shapes()[shape], np.arange(NUMBERS + 1)
    mean = float(share @ numbers)
    below = np.cumsum(share) + 1e-12
    found = {"mean": mean, "variance": float(share @ (numbers - mean) ** 2)}
    return found | {term: float(np.argmax(below >= at)) for term, at in QUARTILES.items()}


def simulated(cell: Cell, draws: int) -> tuple[dict[str, float], dict[str, float], int]:
    """Return coverage and mean width of each term; in how many draws search and tests disagree."""
    mechanism, randomizer, domain = question(cell)
    rng = np.random.default_rng([1, *map(ord, repr(cell))])
    law, true = law_of_reports(cell, randomizer), truth(cell.shape)
    (mean,) = mechanism.means(randomizer, domain)
    scores, present = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    channel = places(randomizer)
    reach = float(stdtrit(cell.n - 1, 0.975))
    hits = dict.fromkeys(TERMS, 0)
    widths: dict[str, list[float]] = {term: [] for term in TERMS}
    disagree = 0
    for draw in range(draws):
        counts = rng.multinomial(cell.n, law)[None]
        whole = draw < max(3, draws // 50)
        ratio = ratio_interval(counts[0], scores, present)
        ends = NUMBERS * ratio.interval.low, NUMBERS * ratio.interval.high
        widths["mean"].append(ends[1] - ends[0])
        hits["mean"] += ends[0] <= true["mean"] <= ends[1]
        reference = Reference.of(channel, NUMBERS, channel.classes(counts))
        rows = number_quantities(mechanism, randomizer, domain, counts) if whole else []
        found = {row.term: row.interval for row in rows}
        center, square = ratio.value or 0.0, true["variance"] / NUMBERS**2
        error = squared_error(reference, ratio.std_error or 1.0, 0.95)
        hits["variance"] += (
            reference.distance_from(center, square + error) <= reach
            and reference.distance_from(center, square) >= -reach
        )
        if whole:
            widths["variance"].append(found["variance"].high - found["variance"].low)
        for term, share in QUARTILES.items():
            at = int(true[term])
            around = [
                reference.share_up_to(one, share)
                if 0 <= one < NUMBERS
                else np.inf * (1 if one >= 0 else -1)
                for one in (at - 1, at)
            ]
            covers = around[0] <= reach and around[1] >= -reach
            hits[term] += covers
            if whole:
                widths[term].append(found[term].high - found[term].low)
                disagree += covers > (found[term].low <= at <= found[term].high)
    shown = {term: float(np.mean(widths[term])) for term in TERMS}
    return {term: hits[term] / draws for term in TERMS}, shown, disagree


def coverage(draws: int) -> bool:
    """Print coverage and widths of all cells; return whether the goal is met."""
    kinds = [
        *product(("optimal", "square-wave"), ("1", "2"), (False, True)),
        ("laplace", "2", False),
    ]
    cells = [Cell(*kind, shape, n) for kind in kinds for shape in shapes() for n in (500, 2000)]
    cells += [Cell("laplace", "1", False, shape, 2000, NAMED) for shape in shapes()]
    cells = cells[:: len(cells) // 2] if SMALLEST else cells
    fine, apart = True, 0
    print(f"Coverage at .95, {draws} draws a cell; numbers 0..{NUMBERS}, widths in parentheses\n")
    heads = "".join(f"{term:>13}" for term in TERMS)
    print(f"{'mechanism':<12}{'ε':>2} {'skips':<6}{'shape':<8}{'n':>5}{heads}")
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        found = pool.map(simulated, cells, [draws] * len(cells))
        for done, (cell, (covered, widths, disagree)) in enumerate(
            zip(cells, found, strict=True), 1
        ):
            line = ""
            for term in TERMS:
                low = binom.cdf(round(covered[term] * draws), draws, GOAL) < ERROR
                fine &= not low
                line += f"{covered[term]:7.3f}{'!' if low else ' '}({widths[term]:3.0f})"
            apart += disagree
            skips = "20 %" if cell.no_answer else "-"
            print(
                f"{cell.mechanism:<12}{cell.epsilon:>2} {skips:<6}{cell.shape:<8}{cell.n:5}{line}",
                flush=True,
            )
            print(f"\r{done}/{len(cells)} cells", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"\nGoal: at least {GOAL} everywhere, but for chance: {'met' if fine else 'MISSED'}")
    print(f"Quartiles that the tests next to the true one keep and the search lost: {apart}")
    return fine


def bootstrap() -> bool:
    """Print the time of 1000 resamples beside one cold fit; return whether it is short enough."""
    print("\nTime of 1000 resamples over that of one cold fit, same stopping rule, 2000 reports")
    fine = True
    for name, epsilon, no_answer in (
        ("optimal", "1", False),
        ("optimal", "2", True),
        ("square-wave", "1", False),
        ("square-wave", "2", True),
        ("laplace", "2", False),
    ):
        cell = Cell(name, epsilon, no_answer, "skewed", 2000)
        _, randomizer, domain = question(cell)
        rng = np.random.default_rng(2)
        counts = rng.multinomial(cell.n, law_of_reports(cell, randomizer))[None]
        distribution(randomizer, domain, counts)
        times = []
        for _ in range(9):
            start = perf_counter()
            distribution(randomizer, domain, counts)
            times.append(perf_counter() - start)
        cold = float(np.median(times))
        again = []
        for _ in range(1 if SMALLEST else 3):
            start = perf_counter()
            distribution(randomizer, domain, counts, rng=rng, resamples=2 if SMALLEST else 1000)
            again.append(perf_counter() - start - cold)
        ratio = float(np.median(again)) / cold
        fine &= ratio <= FAST
        print(f"{name:<12} ε {epsilon}: cold {1000 * cold:5.1f} ms, ratio {ratio:5.1f}")
    print(f"Goal: at most {FAST}: {'met' if fine else 'MISSED'}")
    return fine


def bands(draws: int) -> None:
    """Print how often the bands cover; there is no goal, since they have the bias of smoothing."""
    print(f"\nCoverage of bands of ten ranges (lowest, mean of ten), {draws} draws; no goal")
    named = (("optimal", None), ("square-wave", None), ("laplace", NAMED))
    for (name, steps), shape, n in product(named, ("uniform", "skewed"), (500, 2000)):
        cell = Cell(name, "1", False, shape, n, steps)
        _, randomizer, domain = question(cell)
        rng = np.random.default_rng(3)
        law, share = law_of_reports(cell, randomizer), shapes()[shape]
        hits = np.zeros(10)
        for _ in range(draws):
            counts = rng.multinomial(n, law)[None]
            rows = distribution(randomizer, domain, counts, rng=rng, resamples=200)
            # The last range includes its upper end.
            sums = [
                share[int(row.low) : int(row.high) + (row.high == NUMBERS)].sum() for row in rows
            ]
            hits += [
                row.conf_low <= one <= row.conf_high for row, one in zip(rows, sums, strict=True)
            ]
        print(
            f"{name:<12} ε 1 {shape:<8} n {n:5}: {hits.min() / draws:.2f} {hits.mean() / draws:.2f}"
        )


def main() -> int:
    draws = 1 if SMALLEST else int(sys.argv[1]) if len(sys.argv) > 1 else 100
    fine = coverage(draws)
    fine &= bootstrap()
    bands(1 if SMALLEST else 100)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
