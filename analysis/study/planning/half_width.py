"""The expected half-width of intervals, before anybody is asked."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TypeVar, assert_never

import numpy as np
from numpy.random import Generator

from analysis.core.domain import NO_ANSWER, OTHER, Estimand, Numbers, Texts
from analysis.estimate import Floats
from analysis.estimate.intervals import check_level, ratio_intervals
from analysis.estimate.precision.check import check_respondents
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.least_favorable import (
    mean_variance,
    normal_half_width,
    normal_half_widths,
    two_values,
    widest_at,
    worst_numbers,
)
from analysis.estimate.precision.truth import NOBODY, Truth, share_of, truth_of
from analysis.estimate.text import text_quantities
from analysis.mechanisms.base import Mean, Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.study.planning.share_width import least_favorable_share, of_share
from analysis.survey.question import Question

_Termed = TypeVar("_Termed", Share, Mean)

#: The relative standard error at which drawing ends, the number of tallies that are drawn at a
#: time, and the most tallies, in general and of texts.
_NEAR, _BATCH, _MOST, _MOST_TEXTS = 0.003, 100, 3000, 40


@dataclass(frozen=True)
class HalfWidth:
    """The expected half-width of an interval, in the unit of its term, at a true share.

    For a number, `share` is its mean, and `truth` has shares of positions in its range.
    """

    term: str
    share: float
    half_width: float
    truth: Truth | None = None


def expected(
    question: Question,
    n: int,
    confidence_level: float = 0.95,
    truth: Mapping[str, float] | None = None,
    *,
    rng: Generator,
) -> HalfWidth:
    """Return the expected half-width of the worst share of a question, or of a number's mean.

    Parameters
    ----------
    question : Question
        A question of any kind.
    n : int
        The number of respondents, at least 1.
    confidence_level : float
        The level of the interval, in (0, 1).
    truth : mapping, optional
        True shares, as `truth_of` takes them. Without them, each share is at its own least
        favorable truth. The result is the worst of the stated shares, whatever the others are.
    rng : Generator
        The generator of tallies of numbers, texts, and shares without support counts, which have no
        finite sum. The average over tallies is precise to about .3 %, and .5 % for texts. The state
        of the generator is not changed.

    Returns
    -------
    HalfWidth
        For a question of texts, it is that of the worst candidate, or of no answer. Without
        candidates, it is that of a rare text by the normal law, since nobody knows which texts will
        be found.
    """
    check_level(confidence_level)
    check_respondents(n)
    stated = None if truth is None else truth_of(question, truth)
    asked = _Case(question, n, confidence_level, stated, truth or {}, deepcopy(rng))
    domain = question.domain
    match domain.estimand:
        case Estimand.TEXTS:
            return _of_text(asked, domain)
        case Estimand.MEAN:
            return _of_number(asked, domain)
        case Estimand.SHARES:
            return _of_shares(asked)
        case _:
            assert_never(domain.estimand)


@dataclass(frozen=True)
class _Case:
    """The checked arguments of `expected`; `terms` are those whose shares are stated."""

    question: Question
    n: int
    level: float
    truth: Truth | None
    terms: Container[str]
    rng: Generator


def drawn_mean(mean: Mean, law: Law, n: int, level: float, rng: Generator) -> float:
    """Return the expected half-width of a mean's interval, in 0..1, over tallies of a law."""
    scores, present = mean.floats

    def widths(draws: int) -> Floats:
        if mean.second is None and law.table is not None:
            drawn = ratio_intervals(law.tallies(n, draws, rng), scores, present, level, n)
        else:
            tallies = [law.draw(n, rng) for _ in range(draws)]
            second = None if mean.second is None else np.array(list(map(mean.second, tallies)))
            counts = np.array([tally.reshape(-1) for tally in tallies])
            drawn = ratio_intervals(counts, scores, present, level, n, second)
        return (drawn.high - drawn.low) / 2

    return _average(widths, _NEAR, _BATCH, _MOST)


def _average(widths: Callable[[int], Floats], near: float, batch: int, most: int) -> float:
    """Return the mean of enough draws to make its relative standard error small.

    `widths` returns that number of draws.
    """
    drawn = np.empty(0)
    while len(drawn) < most:
        drawn = np.concatenate([drawn, widths(batch)])
        error = float(np.std(drawn, ddof=1)) / math.sqrt(len(drawn))
        if error <= near * float(np.mean(drawn)):
            break
    return float(np.mean(drawn))


def _stated(quantities: Iterable[_Termed], terms: Container[str]) -> list[_Termed]:
    """Return the quantities whose shares are stated, or all if none is stated by its own name."""
    every = list(quantities)
    return [quantity for quantity in every if quantity.term in terms] or every


def _of_shares(case: _Case) -> HalfWidth:
    domain = case.question.domain
    shares = case.question.mechanism.shares(case.question.randomizer, domain).values
    if not shares:
        return _of_means(case)
    rows = []
    for share in _stated(shares, case.terms):
        # Shares that differ only by their names are computed once.
        alone = replace(share, term="")
        if case.truth is None:
            true = least_favorable_share(alone, case.n, case.level)
        else:
            true = share_of(domain, case.truth, share.term)
        rows.append(HalfWidth(share.term, true, of_share(alone, true, case.n, case.level)))
    return max(rows, key=lambda row: row.half_width)


def _of_means(case: _Case) -> HalfWidth:
    """Return the worst share without support counts, found by the normal law, then by tallies."""
    randomizer, domain = case.question.randomizer, case.question.domain
    candidates = []
    means = case.question.mechanism.means(randomizer, domain)
    for mean in _stated((mean for mean in means if domain.is_share(mean.term)), case.terms):
        truth = case.truth or two_values(mean, randomizer, domain, case.n, case.level)
        law = Law(randomizer, domain, truth)
        true = share_of(domain, truth, mean.term)
        error = math.sqrt(mean_variance(mean, law)[1] / case.n)
        width = normal_half_widths(np.array([true]), np.array([error]), case.level)
        candidates.append((float(width[0]), mean, law, true))
    _, mean, law, true = max(candidates, key=lambda candidate: candidate[0])
    half = drawn_mean(mean, law, case.n, case.level, case.rng)
    return HalfWidth(mean.term, true, half, law.truth)


def _of_number(case: _Case, domain: Numbers) -> HalfWidth:
    question = case.question
    mean, worst = worst_numbers(question.mechanism, question.randomizer, domain)
    truth = case.truth or worst
    law = Law(question.randomizer, domain, truth)
    if law.first(mean.floats[1]) <= NOBODY:
        raise ValueError(f'question "{question.id}": truth must leave a share of people who answer')
    half = domain.span * drawn_mean(mean, law, case.n, case.level, case.rng)
    middle = domain.start + domain.span * mean_variance(mean, law)[0]
    return HalfWidth("mean", middle, half, truth)


def _of_text(case: _Case, domain: Texts) -> HalfWidth:
    randomizer, n, level, truth = case.question.randomizer, case.n, case.level, case.truth
    share = text_share(randomizer)
    if domain.candidates is None:
        return HalfWidth("", 0.0, normal_half_width(share.variance(0.0), n, level))
    terms = (*domain.candidates, *[NO_ANSWER] * domain.no_answer)
    if truth is None:
        part = widest_at(lambda at: normal_half_widths(at, np.sqrt(share.variance(at) / n), level))
        terms = domain.candidates[:1]
        truth = Truth.of([(terms[0], part), (OTHER, 1 - part)])
    law = Law(randomizer, domain, truth)
    totals = dict.fromkeys(terms, 0.0)
    draws = 0

    def width() -> float:
        """Return the mean half-width of the worst term so far."""
        nonlocal draws
        draws += 1
        for quantity in text_quantities(randomizer, domain, law.draw(n, case.rng), level):
            if quantity.term in totals:
                totals[quantity.term] += (quantity.interval.high - quantity.interval.low) / 2
        return max(totals.values()) / draws

    _average(lambda draws: np.array([width() for _ in range(draws)]), _NEAR, 5, _MOST_TEXTS)
    term = max(totals, key=lambda term: totals[term])
    return HalfWidth(term, share_of(domain, truth, term), totals[term] / draws, truth)
