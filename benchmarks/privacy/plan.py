"""Measure whether surveys turn out as they were planned: half-widths and power.

`python benchmarks/privacy/plan.py` takes three minutes. Surveys are simulated with the randomizers
that devices run, and analyzed with the code that prints estimates. The exit status is 1 if a
planned half-width differs from the mean simulated one by more than 3 %, for any mechanism, or if
planned power differs by more than .02 from that of 5,000 simulated surveys (whose own error is .007
at most).
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "analysis"))

from one_question import many, options, survey_of

from analysis.core.domain import Categories, Numbers, Texts
from analysis.core.words import seeded_block
from analysis.estimate.change import changes
from analysis.estimate.columns import from_matrix
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.precision import truth_of
from analysis.estimate.quantity import mean_quantity
from analysis.mechanisms import MECHANISMS
from analysis.study.changes import changes_of_shares
from analysis.study.planning import expected, power_of_change, power_of_share
from analysis.survey.kinds import KINDS
from analysis.survey.survey import Survey

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
#: The largest difference of a planned half-width, as a part of the simulated one; that of power.
OFF, POWER_OFF = 0.03, 0.02
#: Relative standard error at which the simulation stops; the least and the largest number of
#: surveys.
NEAR, LEAST, MOST = 0.004, 60, 3000
#: The number of surveys for each power.
RUNS = 5000
if SMALLEST:
    LEAST = MOST = RUNS = 1
#: The number of respondents.
N = 1000


#: Questions, and their true shares.
QUESTIONS: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "yes-no": ({"kind": "yes-no", "options": options(2), "no_answer": False}, {"v0": 0.2}),
    "choice of 5": (
        {"kind": "choice", "options": options(5), "no_answer": True},
        {"v0": 0.5, "v1": 0.2, "v2": 0.1, "v3": 0.05, "v4": 0.05, "no-answer": 0.1},
    ),
    "scale": (
        {"kind": "scale", "options": options(5), "no_answer": False},
        {"v0": 0.1, "v1": 0.4, "v2": 0.3, "v3": 0.15, "v4": 0.05},
    ),
    "choices": (
        {"kind": "choices", "options": options(5), "at_most": 2, "no_answer": True},
        {"v0": 0.5, "v1": 0.3, "v2": 0.1, "v3": 0.05, "v4": 0.05, "no-answer": 0.1},
    ),
    "number": (
        {"kind": "number", "min": 0, "max": 40, "step": 1, "no_answer": False},
        {"0": 0.4, "10": 0.3, "15.5": 0.2, "40": 0.1},
    ),
    "number, skipped": (
        {"kind": "number", "min": 0, "max": 40, "step": 1, "no_answer": True},
        {"0": 0.4, "10": 0.3, "40": 0.1, "no-answer": 0.2},
    ),
    "rank": (
        {"kind": "rank", "options": options(3), "no_answer": True},
        {"v0|v1|v2": 0.5, "v2|v1|v0": 0.2, "no-answer": 0.1},
    ),
    "text": (
        {"kind": "text", "candidates": list("abcdefgh"), "longest": 8, "no_answer": True},
        {"a": 0.4, "b": 0.2, "c": 0.1, "other": 0.2, "no-answer": 0.1},
    ),
}


def surveys(survey: Survey, stated: dict[str, float], n: int, seed: int) -> Callable[[], Any]:
    """Return a function that asks n people, whose answers are drawn, and returns their tally."""
    (question,) = survey.questions
    truth = truth_of(question, stated)
    values, rng, block = (
        many(question.domain, list(truth.values)),
        np.random.default_rng(seed),
        seeded_block(seed),
    )

    def ask() -> NDArray[np.int64]:
        people = values[rng.choice(len(values), n, p=truth.shares)]
        if isinstance(question.domain, Texts):
            # A text that is not a candidate is another text each time.
            for place in np.flatnonzero(people == "other"):
                people[place] = f"~{rng.integers(10**6)}"
        randomizer = question.randomizer
        return randomizer.tally_many(randomizer.randomize_many(people, block))

    return ask


def rows_of(survey: Survey, tally: NDArray[np.int64], term: str) -> Estimate | Any:
    """Return the row of a term; for a number the mean alone, without the slow quartiles."""
    (question,) = survey.questions
    if not isinstance(question.domain, Numbers):
        return next(row for row in estimates(survey, {"q": tally}) if row.term == term)
    (mean,) = question.mechanism.means(question.randomizer, question.domain)
    n = question.randomizer.reports_in(tally)
    found = mean_quantity(mean, tally, n)
    return Estimate(
        "q", "number", term, term, found.value, found.std_error, found.interval.low,
        found.interval.high, 0.95, found.interval.method, n, found.n_eff, 0.0, "", "",
    )  # fmt: skip


def half_widths() -> bool:
    print(f"Expected half-width and mean of simulated surveys, {N} respondents, stated shares")
    print(f"{'mechanism':<14}{'question':<17}{'ε':>4} {'term':<10}{'planned':>9}{'found':>9}  off")
    fine, seen = True, set()
    for name, mechanism in MECHANISMS.items():
        for kind, (question, stated) in QUESTIONS.items():
            if not mechanism.fits(KINDS[question["kind"]].domain(question)):
                continue
            for epsilon in ("1", "3") if mechanism.parameters is None else ("5",):
                survey = survey_of(name, question, epsilon)
                (asked,) = survey.questions
                own = expected(asked, N, 0.95, stated, rng=np.random.default_rng(1))
                ask, widths = surveys(survey, stated, N, 2), list[float]()
                while len(widths) < MOST:
                    row = rows_of(survey, ask(), own.term)
                    widths.append((row.conf_high - row.conf_low) / 2)
                    error = float(np.std(widths)) / len(widths) ** 0.5
                    if len(widths) >= LEAST and error < NEAR * float(np.mean(widths)):
                        break
                off = own.half_width / float(np.mean(widths)) - 1
                fine &= abs(off) <= OFF
                seen.add(name)
                print(
                    f"{name:<14}{kind:<17}{epsilon:>4} {own.term:<10}{own.half_width:9.4f}"
                    f"{np.mean(widths):9.4f} {100 * off:+5.1f} %",
                    flush=True,
                )
        print(f"\r{name:<20}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    fine &= seen == set(MECHANISMS)
    print(f"Goal: within {100 * OFF:g} % for every mechanism: {'met' if fine else 'MISSED'}\n")
    return fine


#: Mechanism, question, ε, term, truths (for a share, the null after it), respondents.
SHARES: list[tuple[str, str, str, str, dict[str, float], float, int]] = [
    ("krr", "yes-no", "1", "v0", {"v0": 0.2}, 0.3, 700),
    ("krr", "choice of 5", "3", "v1", {"v1": 0.1}, 0.06, 600),
    ("subset", "choice of 5", "1", "v0", {"v0": 0.4}, 0.2, 700),
    ("pick", "choices", "2", "v0", {"v0": 0.6}, 0.4, 900),
    ("exponential", "scale", "2", "v0", {"v0": 0.6}, 0.4, 700),
    ("optimal", "number", "1", "mean", {"10": 0.5, "20": 0.5}, 18.0, 600),
    ("optimal", "scale", "2", "v0", {"v4": 1.0}, 0.3, 30),
    ("exponential", "scale", "2", "v0", {"v4": 1.0}, 0.2, 100),
    ("duchi", "number", "4", "mean", {"0": 1.0}, 3.0, 100),
    ("square-wave", "number, skipped", "2", "mean", {"10": 0.7, "no-answer": 0.3}, 13.0, 600),
]
CHANGES: list[tuple[str, str, str, str, dict[str, float], dict[str, float], tuple[int, int]]] = [
    ("krr", "yes-no", "1", "v0", {"v0": 0.3}, {"v0": 0.4}, (1500, 1500)),
    ("krr", "choice of 5", "3", "v0", {"v0": 0.05}, {"v0": 0.12}, (300, 600)),
    ("pick", "choices", "2", "v0", {"v0": 0.6}, {"v0": 0.4}, (1500, 1500)),
    ("exponential", "scale", "2", "v0", {"v0": 0.6}, {"v0": 0.4}, (900, 900)),
    ("laplace", "number", "2", "mean", {"10": 1.0}, {"15": 1.0}, (400, 300)),
]


def line(what: str, cell: Any, own: float, hits: int) -> bool:
    off = own - hits / RUNS
    numbers = f"{own:8.3f}{hits / RUNS:8.3f} {off:+.3f}"
    print(f"{what:<19}{cell[0]:<13}{cell[1]:<17}{numbers}", flush=True)
    return abs(off) <= POWER_OFF


def power() -> bool:
    print(f"Planned power, and how often {RUNS} simulated intervals left out what is not true")
    print(f"{'comparison':<19}{'mechanism':<13}{'question':<17}{'planned':>8}{'found':>8} off")
    fine = True
    for cell in SHARES:
        name, kind, epsilon, term, truth, null, n = cell
        survey = survey_of(name, QUESTIONS[kind][0], epsilon)
        ask, hits = surveys(survey, truth, n, 3), 0
        for _ in range(RUNS):
            row = rows_of(survey, ask(), term)
            hits += not row.conf_low <= null <= row.conf_high
        own = power_of_share(
            survey.questions[0], term, truth, null, n, rng=np.random.default_rng(1)
        )
        fine &= line("one share or mean", cell, own, hits)
    for both in CHANGES:
        name, kind, epsilon, term, first, second, sizes = both
        survey = survey_of(name, QUESTIONS[kind][0], epsilon)
        waves = [surveys(survey, *one) for one in ((first, sizes[0], 4), (second, sizes[1], 5))]
        hits = 0
        for _ in range(RUNS):
            before, after = ([rows_of(survey, ask(), term)] for ask in waves)
            (row,) = changes(before, after)
            hits += not row.conf_low <= 0 <= row.conf_high
        own = power_of_change(
            survey.questions[0], term, (first, second), sizes, rng=np.random.default_rng(1)
        )
        fine &= line("two waves", both, own, hits)
    for both in CHANGES[:2]:
        name, kind, epsilon, term, first, second, sizes = both
        survey = survey_of(name, QUESTIONS[kind][0], epsilon)
        (question,) = survey.questions
        domain, channel = question.domain, question.randomizer.channel
        assert isinstance(domain, Categories)
        ids = domain.ids
        matrix = np.array([channel.weights(one) for one in range(channel.inputs)]).T / channel.total
        groups = [surveys(survey, *one) for one in ((first, sizes[0], 6), (second, sizes[1], 7))]
        hits = 0
        for _ in range(RUNS):
            codes = [np.repeat(np.arange(len(ids)), ask()[0]) for ask in groups]
            first_column, second_column = (from_matrix("q", ids, one, matrix) for one in codes)
            rows = changes_of_shares(first_column, second_column)
            found = {one.value: one.interval for one in rows}[term]
            hits += not found.low <= 0 <= found.high
        own = power_of_change(question, term, (first, second), sizes, rng=np.random.default_rng(1))
        fine &= line("two known groups", both, own, hits)
    print(f"Goal: within {POWER_OFF:g} for all three: {'met' if fine else 'MISSED'}")
    return fine


def main() -> int:
    start = perf_counter()
    fine = half_widths()
    fine &= power()
    print(f"{perf_counter() - start:.0f} seconds")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
