"""The expected half-width of the intervals that will be printed, before anybody is asked."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri, xlog1py, xlogy

from analysis.domain import NO_ANSWER, OTHER, Categories, Numbers, Rankings, Texts
from analysis.estimate.text import text_quantities
from analysis.intervals import check_level, ratio_interval, share_interval
from analysis.mechanisms.base import Mean, Share
from analysis.mechanisms.one_of_texts import text_share
from analysis.planning.law import Law
from analysis.planning.limits import check_respondents
from analysis.planning.truth import Truth, share_of, truth_of
from analysis.planning.worst import (
    clipped,
    least_favorable,
    mean_variance,
    scores_of,
    two_values,
    variances_at,
    worst_numbers,
)
from analysis.survey import Question

_Floats = NDArray[np.float64]

#: Standard deviations beyond which less than 1e-12 of a binomial's mass lies.
_FAR = 7.2
#: Counts, and numbers of trials, that are looked at: of more, one in so many.
_COUNTS, _TRIALS = 257, 17
#: Relative standard error at which no more tallies are drawn; a batch; and the most, of tallies
#: that are quickly read and of those of texts.
_NEAR, _BATCH, _MOST, _MOST_TEXTS = 0.003, 100, 3000, 40
#: A share of those who answer below which it is none.
_NOBODY = 1e-9


@dataclass(frozen=True)
class HalfWidth:
    """Expected half of an interval, in the unit of its term, at a true share of that term.

    Of a number `share` is its mean; then `truth` has shares of its range's places.
    """

    term: str
    share: float
    half_width: float
    truth: Truth | None = None


def thinned(n: int, chance: float, most: int = _COUNTS) -> tuple[NDArray[np.int64], _Floats]:
    """Counts of a binomial and their weights, which sum to 1, but for 1e-12 of its mass.

    Every count if these are at most `most`, and else one in so many: for functions smooth at the
    scale of 1 / `most` of the range.
    """
    spread = math.sqrt(n * chance * (1 - chance))
    # By Bernstein's inequality, where counts are few.
    reach = _FAR * spread + 20
    low, high = max(0, math.floor(n * chance - reach)), min(n, math.ceil(n * chance + reach))
    counts = np.arange(low, high + 1, -(-(high - low + 1) // most))
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    weights = np.exp(ways + xlogy(counts, chance) + xlog1py(n - counts, -chance))
    return counts, weights / weights.sum()


def of_share(share: Share, true: float, n: int, level: float) -> float:
    """Expected half-width of the default interval of a share, by a sum over all counts.

    Parameters
    ----------
    share : Share
        How reports support it; with a `portion` the number of its trials is random, too.
    true : float
        The share, in [0, 1].
    n : int
        Reports, at least 1.
    level : float
        Of the interval, in (0, 1).

    By hand: two reports that tell the truth (p = 1, q = 0), share 1/2, 95 %: the counts 0, 1 and 2
    have the intervals [0, .842], [.013, .987], [.158, 1] and chances 1/4, 1/2, 1/4: .454.
    """
    return _of_chances(float(share.p), float(share.q), float(share.portion), true, n, level)


@lru_cache(maxsize=4096)
def _of_chances(p: float, q: float, portion: float, true: float, n: int, level: float) -> float:
    if portion < 1:
        trials, weights = thinned(n, portion, _TRIALS)
        widths = [_of_chances(p, q, 1.0, true, int(one), level) if one else 0.5 for one in trials]
        return float(weights @ widths)
    counts, weights = thinned(n, min(1.0, max(0.0, q + (p - q) * true)))
    found = (share_interval(int(one), n, p, q, level) for one in counts)
    return float(weights @ [(one.high - one.low) / 2 for one in found])


def normal_half_width(variance: float, n: int, level: float) -> float:
    """Half of the usual interval, from the variance of one report.

    By hand: Warner at ε = 1 has .25 / .4621² = 1.1707 at one half; 1.96 sqrt(1.1707/1000) = .0671.
    """
    return float(ndtri((1 + level) / 2)) * math.sqrt(variance / n)


def expected(
    question: Question,
    n: int,
    level: float = 0.95,
    stated: Mapping[str, float] | None = None,
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
    level : float
        Of the interval, in (0, 1).
    stated : dict, optional
        True shares, as of `truth_of`; without them each share is the least favorable to itself.
    rng : Generator
        For tallies of what has no finite sum: of numbers, texts, and shares without support counts.
        The average over tallies is drawn to within about .3 %, of texts .5 %.

    Returns
    -------
    HalfWidth
        Of the share of a text that is a candidate, or no answer; without candidates that of a rare
        text by the normal law, as which texts will be found is not known.
    """
    check_level(level)
    check_respondents(n)
    domain = question.domain
    truth = None if stated is None else truth_of(question, stated)
    if isinstance(domain, Texts):
        return _of_text(question, domain, n, level, truth, rng)
    if isinstance(domain, Numbers):
        return _of_number(question, domain, n, level, truth, rng)
    shares = question.mechanism.shares(question.randomizer, domain).values
    if not shares:
        return _of_means(question, n, level, truth, rng)
    rows = []
    for share in shares:
        if truth is None:
            true = least_favorable(lambda at, one=share: variances_at(one, at), n, level)  # type: ignore[misc]
        else:
            true = share_of(domain, truth, share.term)
        rows.append(HalfWidth(share.term, true, of_share(share, true, n, level)))
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
    width, low = float(domain.high - domain.low), float(domain.low)
    if law.first(scores_of(mean)[1]) <= _NOBODY:
        raise ValueError(f'question "{question.id}": truth must have somebody who answers')
    half = width * drawn_mean(mean, law, n, level, rng)
    return HalfWidth("mean", low + width * mean_variance(mean, law)[0], half, truth)


def _of_means(
    question: Question, n: int, level: float, truth: Truth | None, rng: Generator
) -> HalfWidth:
    """Of shares without support counts: the worst by the normal law, and then by drawn tallies."""
    randomizer, domain = question.randomizer, question.domain
    assert isinstance(domain, Categories | Rankings)
    found = []
    for mean in question.mechanism.means(randomizer, domain):
        if not mean.is_share:
            continue
        own = truth or two_values(mean, randomizer, domain, n, level)
        law = Law(randomizer, domain, own)
        variance = mean_variance(mean, law)[1]
        true = share_of(domain, own, mean.term)
        error = np.array([math.sqrt(variance / n)])
        reach = float(ndtri((1 + level) / 2)) * error
        found.append((float(clipped(np.array([true]), error, reach)[0]), mean, law, true))
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
        part = least_favorable(lambda at: variances_at(alone, at), n, level)
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
