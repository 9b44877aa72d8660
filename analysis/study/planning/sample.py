"""Simulations of whole surveys, which show what a table of estimates may look like."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.core.domain import Domain
from analysis.core.errors import check_count
from analysis.core.options import MOST_RUNS
from analysis.estimate.estimates import estimates
from analysis.estimate.intervals import check_level, ratio_interval, share_interval
from analysis.estimate.precision.check import check_respondents
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.truth import Stated, Truth, check_truth, truth_of
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Sampled:
    """One quantity of one simulated survey.

    `true` is its value in the population. `estimate`, `conf_low` and `conf_high` are those of the
    table of estimates. `plain_low` and `plain_high` are the interval of a survey that asks the same
    people without randomization. `true` and the plain interval are None unless the quantity is a
    share, a mean or a mean rank.
    """

    run: int
    question: str
    term: str
    label: str
    true: float | None
    estimate: float | None
    conf_low: float
    conf_high: float
    plain_low: float | None
    plain_high: float | None


def sample_run(
    survey: Survey,
    respondents: int,
    rng: Generator,
    runs: int = 20,
    confidence_level: float = 0.95,
    *,
    truth: Stated | None = None,
    spread: bool = True,
) -> list[Sampled]:
    """Return the estimates of simulated surveys: each quantity with its interval, and a plain one.

    Respondents are drawn from the truth. Their reports are drawn from the exact law of the
    randomizers, or above 20,000 respondents from the large-sample law of some channels whose
    reports are sets. They go through `analysis.estimate.estimates.estimates`. The page of plans
    draws them as dots with the plain interval behind them.

    Parameters
    ----------
    survey : Survey
        The survey as it will be published.
    respondents, runs : int
        The number of respondents in each run, at least 1, and of runs, from 1 to `MOST_RUNS`.
    rng : Generator
        The generator of respondents and reports.
    confidence_level : float
        The level of each interval, in (0, 1).
    truth : mapping, optional
        See `truth_of`. Questions of texts without candidates are left out unless they are stated.
    spread : bool
        Whether to estimate the variance and the quartiles of numbers, which takes the longest.

    Raises
    ------
    ValueError
        If a number is out of range, or if the truth is impossible.

    References
    ----------
    Nanayakkara, Bater, He, Hullman and Rogers, PoPETs 2022 (visualizing privacy).
    """
    check_level(confidence_level)
    check_respondents(respondents)
    check_count(runs, "runs", MOST_RUNS)
    stated = truth or {}
    check_truth(survey, stated)
    questions = tuple(q for q in survey.questions if q.id in stated or not q.domain.is_open)
    part = Survey(survey.spec, survey.version, questions)
    laws = {q.id: Law(q.randomizer, q.domain, truth_of(q, stated.get(q.id))) for q in questions}
    rows = []
    for run in range(runs):
        people = {name: law.people(respondents, rng) for name, law in laws.items()}
        tallies = {name: law.reports(people[name], rng) for name, law in laws.items()}
        for row in estimates(part, tallies, confidence_level, spread=spread):
            law, asked = laws[row.question], people[row.question]
            true, *plain = _plain(law.domain, law.truth, row.term, asked, confidence_level)
            printed = row.estimate, row.conf_low, row.conf_high
            rows.append(Sampled(run, row.question, row.term, row.label, true, *printed, *plain))
    return rows


def _plain(
    domain: Domain, truth: Truth, term: str, people: NDArray[np.int64], level: float
) -> tuple[float | None, float | None, float | None]:
    """Return the true value of a term, and its interval if these people were asked directly."""
    shares = np.array(truth.shares)
    if domain.is_share(term):
        there = np.array([domain.counts_for(value, term) for value in truth.values])
        interval = share_interval(int(people[there].sum()), int(people.sum()), 1.0, 0.0, level)
        return float(shares[there].sum()), interval.low, interval.high
    mean = domain.mean_of(term)
    if mean is None:
        return None, None, None
    low, width = float(mean.low), float(mean.width)
    places = [mean.place(value) for value in truth.values]
    present = np.array([float(place is not None) for place in places])
    scores = np.array([float(place or 0) for place in places])
    if not present @ shares:
        return None, None, None
    true = low + width * float(scores @ shares) / float(present @ shares)
    ratio = ratio_interval(people, scores, present, level)
    return true, low + width * ratio.interval.low, low + width * ratio.interval.high
