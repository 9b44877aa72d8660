"""The expected half-width of the intervals that will be printed, before anybody is asked."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TypeVar, assert_never

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from analysis.core.domain import NO_ANSWER, OTHER, Estimand, Numbers, Texts
from analysis.estimate.intervals import check_level, ratio_interval
from analysis.estimate.text import text_quantities
from analysis.mechanisms.base import Mean, Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.study.planning.check import check_respondents
from analysis.study.planning.law import Law
from analysis.study.planning.least_favorable import (
    mean_variance,
    normal_half_widths,
    scores_of,
    two_values,
    widest_at,
    worst_numbers,
)
from analysis.study.planning.share_width import least_favorable_share, of_share
from analysis.study.planning.truth import NOBODY, Truth, share_of, truth_of
from analysis.survey.question import Question

_Termed = TypeVar("_Termed", Share, Mean)

#: Relative standard error at which no more tallies are drawn; a batch; and the most, of tallies
#: that are quickly read and of those of texts.
_NEAR, _BATCH, _MOST, _MOST_TEXTS = 0.003, 100, 3000, 40


@dataclass(frozen=True)
class HalfWidth:
    """Expected half of an interval, in the unit of its term, at a true share of that term.

    Of a number `share` is its mean; then `truth` has shares of its range's places.
    """

    term: str
    share: float
    half_width: float
    truth: Truth | None = None


def normal_half_width(variance: float, n: int, confidence_level: float) -> float:
    """Half of the usual interval, from the variance of one report.

    By hand: Warner at ε = 1 has .25 / .4621² = 1.1707 at one half; 1.96 sqrt(1.1707/1000) = .0671.
    """
    return float(ndtri((1 + confidence_level) / 2)) * math.sqrt(variance / n)


def expected(
    question: Question,
    n: int,
    confidence_level: float = 0.95,
    truth: Mapping[str, float] | None = None,
    *,
    rng: Generator,
) -> HalfWidth:
    """The expected half-width of the worst share of a question, or of a number's mean.

    Parameters
    ----------
    question : Question
        Of any kind.
    n : int
        Respondents, at least 1.
    confidence_level : float
        Of the interval, in (0, 1).
    truth : mapping, optional
        True shares, as of `truth_of`; without them each share is the least favorable to itself.
        Of those that are stated the worst is taken, not of the rest.
    rng : Generator
        For tallies of what has no finite sum: of numbers, texts, and shares without support counts.
        The average over tallies is drawn to within about .3 %, of texts .5 %. Left as it was.

    Returns
    -------
    HalfWidth
        Of the share of a text that is a candidate, or no answer; without candidates that of a rare
        text by the normal law, as which texts will be found is not known.
    """
    check_level(confidence_level)
    check_respondents(n)
    domain, level, own = question.domain, confidence_level, deepcopy(rng)
    stated = None if truth is None else truth_of(question, truth)
    match domain.estimand:
        case Estimand.TEXTS:
            return _of_text(question, domain, n, level, stated, own)
        case Estimand.MEAN:
            return _of_number(question, domain, n, level, stated, own)
        case Estimand.SHARES:
            return _of_shares(question, n, level, stated, truth or {}, own)
        case _:
            assert_never(domain.estimand)


def _of_shares(
    question: Question,
    n: int,
    level: float,
    stated: Truth | None,
    terms: Container[str],
    rng: Generator,
) -> HalfWidth:
    domain = question.domain
    shares = question.mechanism.shares(question.randomizer, domain).values
    if not shares:
        return _of_means(question, n, level, stated, terms, rng)
    rows = []
    for share in _stated(shares, terms):
        # All that differ by their name alone are summed over once.
        alone = replace(share, term="")
        if stated is None:
            true = least_favorable_share(alone, n, level)
        else:
            true = share_of(domain, stated, share.term)
        rows.append(HalfWidth(share.term, true, of_share(alone, true, n, level)))
    return max(rows, key=lambda row: row.half_width)


def drawn_mean(mean: Mean, law: Law, n: int, level: float, rng: Generator) -> float:
    """Expected half-width of the interval of a mean, in 0..1, over tallies drawn from a law."""
    scores, present = scores_of(mean)

    def width() -> float:
        tally = law.draw(n, rng)
        second = None if mean.second is None else mean.second(tally)
        found = ratio_interval(tally.reshape(-1), scores, present, level, n, second).interval
        return (found.high - found.low) / 2

    return _average(width, _NEAR, _BATCH, _MOST)


def _average(width: Callable[[], float], near: float, batch: int, most: int) -> float:
    """The mean of draws, of as many as make its relative standard error small."""
    widths: list[float] = []
    while len(widths) < most:
        widths += [width() for _ in range(batch)]
        error = float(np.std(widths, ddof=1)) / math.sqrt(len(widths))
        if error <= near * float(np.mean(widths)):
            break
    return float(np.mean(widths))


def _of_number(
    question: Question, domain: Numbers, n: int, level: float, truth: Truth | None, rng: Generator
) -> HalfWidth:
    randomizer = question.randomizer
    (mean,) = question.mechanism.means(randomizer, domain)
    truth = truth or worst_numbers(mean, randomizer, domain)
    law = Law(randomizer, domain, truth)
    if law.first(scores_of(mean)[1]) <= NOBODY:
        raise ValueError(f'question "{question.id}": truth must have somebody who answers')
    half = domain.span * drawn_mean(mean, law, n, level, rng)
    middle = domain.start + domain.span * mean_variance(mean, law)[0]
    return HalfWidth("mean", middle, half, truth)


def _stated(quantities: Iterable[_Termed], terms: Container[str]) -> list[_Termed]:
    """Those whose shares are stated; all, if none is by its own name."""
    every = list(quantities)
    return [one for one in every if one.term in terms] or every


def _of_means(
    question: Question,
    n: int,
    level: float,
    truth: Truth | None,
    terms: Container[str],
    rng: Generator,
) -> HalfWidth:
    """Of shares without support counts: the worst by the normal law, and then by drawn tallies."""
    randomizer, domain = question.randomizer, question.domain
    found = []
    means = (mean for mean in question.mechanism.means(randomizer, domain) if mean.is_share)
    for mean in _stated(means, terms):
        own = truth or two_values(mean, randomizer, domain, n, level)
        law = Law(randomizer, domain, own)
        variance = mean_variance(mean, law)[1]
        true = share_of(domain, own, mean.term)
        error = math.sqrt(variance / n)
        width = normal_half_widths(np.array([true]), np.array([error]), level)
        found.append((float(width[0]), mean, law, true))
    _, mean, law, true = max(found, key=lambda one: one[0])
    return HalfWidth(mean.term, true, drawn_mean(mean, law, n, level, rng), law.truth)


def _of_text(
    question: Question, domain: Texts, n: int, level: float, truth: Truth | None, rng: Generator
) -> HalfWidth:
    randomizer = question.randomizer
    alone = text_share(randomizer)
    if domain.candidates is None:
        return HalfWidth("", 0.0, normal_half_width(alone.variance(0.0), n, level))
    terms = (*domain.candidates, *[NO_ANSWER] * domain.no_answer)
    if truth is None:
        part = widest_at(lambda at: normal_half_widths(at, np.sqrt(alone.variance(at) / n), level))
        terms = domain.candidates[:1]
        truth = Truth.of([(terms[0], part), (OTHER, 1 - part)])
    law = Law(randomizer, domain, truth)
    totals = dict.fromkeys(terms, 0.0)
    draws = 0

    def width() -> float:
        """Of the worst so far."""
        nonlocal draws
        draws += 1
        for one in text_quantities(randomizer, domain, law.draw(n, rng), level):
            if one.term in totals:
                totals[one.term] += (one.interval.high - one.interval.low) / 2
        return max(totals.values()) / draws

    _average(width, _NEAR, 5, _MOST_TEXTS)
    term = max(totals, key=lambda one: totals[one])
    return HalfWidth(term, share_of(domain, truth, term), totals[term] / draws, truth)
