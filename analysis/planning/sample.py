"""What a survey's table of estimates may look like: some surveys that were never held."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.accounting.check import check_count
from analysis.domain import (
    NO_ANSWER,
    OTHER,
    Categories,
    Domain,
    Numbers,
    Rankings,
    Scale,
    Sets,
    Texts,
)
from analysis.estimate import estimates
from analysis.intervals import check_level, ratio_interval, share_interval
from analysis.mechanisms.one_of_k import scale_range
from analysis.planning.check import check_respondents
from analysis.planning.law import Law
from analysis.planning.truth import Stated, Truth, check_truth, has, truth_of
from analysis.survey import Survey

#: The most surveys that are made up.
MOST_RUNS = 1000


@dataclass(frozen=True)
class Sampled:
    """One quantity of one made-up survey.

    `true` is what it is of the population; `estimate` with `conf_low` and `conf_high` what the
    table of estimates would say, `plain_low` and `plain_high` the interval of a survey that asks
    the same people without randomization. `true` and the plain interval are None for quantities
    that are no share, mean or mean rank.
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
) -> list[Sampled]:
    """The estimates of made-up surveys, each quantity with its interval, and with a plain one.

    Respondents are drawn from the truth, their reports from the exact law of the randomizers (of
    some channels whose reports are sets, above 20,000 respondents, in the limit of many), and go
    through `analysis.estimate.estimates`. To be drawn as dots with the plain interval behind them.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    respondents, runs : int
        At least 1, in each; at most `MOST_RUNS` runs.
    rng : Generator
        Draws.
    confidence_level : float
        Of every interval, in (0, 1).
    truth : mapping, optional
        As of `truth_of`. Questions of texts without candidates are left out unless stated.

    Raises
    ------
    ValueError
        If a number is out of range, or the truth cannot be.

    References
    ----------
    Nanayakkara, Bater, He, Hullman and Rogers, PoPETs 2022 (visualizing privacy).
    """
    check_level(confidence_level)
    check_respondents(respondents)
    check_count(runs, "runs", MOST_RUNS)
    stated = truth or {}
    check_truth(survey, stated)
    questions = tuple(
        one
        for one in survey.questions
        if one.id in stated or not (isinstance(one.domain, Texts) and not one.domain.candidates)
    )
    part = Survey(survey.spec, survey.version, questions)
    laws = {
        one.id: Law(one.randomizer, one.domain, truth_of(one, stated.get(one.id)))
        for one in questions
    }
    rows = []
    for run in range(runs):
        people = {name: law.people(respondents, rng) for name, law in laws.items()}
        tallies = {name: law.reports(people[name], rng) for name, law in laws.items()}
        for row in estimates(part, tallies, confidence_level):
            law = laws[row.question]
            asked = people[row.question]
            plain = _plain(law.domain, law.truth, row.term, asked, confidence_level)
            rows.append(
                Sampled(
                    run,
                    row.question,
                    row.term,
                    row.label,
                    plain[0],
                    row.estimate,
                    row.conf_low,
                    row.conf_high,
                    plain[1],
                    plain[2],
                )
            )
    return rows


def _plain(
    domain: Domain, truth: Truth, term: str, people: NDArray[np.int64], level: float
) -> tuple[float | None, float | None, float | None]:
    """The true value of a term, and its interval if these people had said what is true."""
    n, shares = int(people.sum()), np.array(truth.shares)
    if _is_share(domain, term):
        there = np.array([has(domain, value, term) for value in truth.values])
        found = share_interval(int(people[there].sum()), n, 1.0, 0.0, level)
        return float(shares[there].sum()), found.low, found.high
    mean = _mean(domain, term)
    if mean is None:
        return None, None, None
    low, width, place_of = mean
    told = [place_of(value) for value in truth.values]
    present = np.array([float(one is not None) for one in told])
    scores = np.array([float(one or 0) for one in told])
    if not present @ shares:
        return None, None, None
    true = low + width * float(scores @ shares) / float(present @ shares)
    ratio = ratio_interval(people, scores, present, level)
    return true, low + width * ratio.interval.low, low + width * ratio.interval.high


def _is_share(domain: Domain, term: str) -> bool:
    """Whether a term is the share of some values, that is told of each value whether it is one."""
    if isinstance(domain, Categories):
        return term in domain.ids
    if isinstance(domain, Sets):
        return term in (*domain.flags, NO_ANSWER)
    if isinstance(domain, Rankings):
        return term in (*domain.pair_terms, NO_ANSWER)
    if isinstance(domain, Texts):
        # Without candidates, it is another text each time that is not found.
        return domain.candidates is not None or term != OTHER
    return term == NO_ANSWER


def _mean(
    domain: Domain, term: str
) -> tuple[float, float, Callable[[Any], Fraction | None]] | None:
    """Of a mean its lowest value, from there to the highest, and where in 0..1 a value lies."""
    if isinstance(domain, Scale) and term == "mean":
        low, width = scale_range(domain)
        scores = domain.scores
        return (
            float(low),
            float(width),
            lambda value: (scores[value] - low) / width if value < len(scores) else None,
        )
    if isinstance(domain, Numbers) and term == "mean":
        return float(domain.low), domain.width, lambda value: value
    if isinstance(domain, Rankings) and term in domain.items:
        return 1.0, len(domain.items) - 1.0, lambda value: _rank(domain, term, value)
    return None


def _rank(domain: Rankings, item: str, flags: tuple[int, ...] | None) -> Fraction | None:
    """The part of the other items that come before this one."""
    if flags is None:
        return None
    pairs = [pair for pair in zip(domain.flags, flags, strict=True) if item in pair[0]]
    return Fraction(sum(flag if pair[1] == item else 1 - flag for pair, flag in pairs), len(pairs))
