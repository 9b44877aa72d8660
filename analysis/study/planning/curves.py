"""Half-widths for charts: against ε, and against the number of respondents.

By the normal law, from the variance at the least favorable truth, so that a page of curves takes no
longer than a table: a little off `analysis.study.planning.half_width.expected` where intervals are
clipped, and where respondents are few. Other ε than the file's are those of mechanisms with closed
forms, the best at each, times what the question's own is better or worse at its own ε: a linear
program for each point would take long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

import numpy as np

from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.estimate.intervals import check_level
from analysis.mechanisms import MECHANISMS
from analysis.study.planning.check import check_respondents
from analysis.study.planning.half_width import normal_half_width
from analysis.study.planning.least_favorable import worst_variance
from analysis.survey.question import Question

#: ε of a chart: 0.1 to 10, equally far apart on a logarithmic scale.
EPSILONS = tuple(float(f"{one:.3g}") for one in np.geomspace(0.1, 10, 21))


@dataclass(frozen=True)
class Point:
    """One point of a curve; `half_width` in the unit of the question, at most half its range."""

    question: str
    epsilon: float
    respondents: int
    half_width: float


def curve_of_epsilon(
    question: Question,
    respondents: Sequence[int],
    epsilons: Sequence[float] = EPSILONS,
    confidence_level: float = 0.95,
) -> list[Point]:
    """Half-widths against ε, a curve for each number of respondents.

    Parameters
    ----------
    question : Question
        Of any kind.
    respondents : sequence of int
        At least 1 each.
    epsilons : sequence of float
        Of one report, each one that 32-bit weights can serve for some number of values; where they
        cannot for these values, the point is left out.
    confidence_level : float
        Of the intervals, in (0, 1).

    Returns
    -------
    list of Point
        For each number of respondents one for each ε, in their order.
    """
    check_level(confidence_level)
    for n in respondents:
        check_respondents(n)
    for epsilon in epsilons:
        if not (isfinite(epsilon) and SMALLEST <= epsilon <= LARGEST):
            raise ValueError(
                f"epsilon must be from {float(SMALLEST):g} to {float(LARGEST):g}, got {epsilon:g}"
            )
    own = Fraction(repr(question.spec["epsilon"]))
    closed = _closed(question, min(own, LARGEST))
    factor = _own(question) / closed if closed else 1.0
    variances = [(one, _closed(question, Fraction(repr(float(one))))) for one in epsilons]
    return [
        _point(question, one, n, factor * variance, confidence_level)
        for n in respondents
        for one, variance in variances
        if variance is not None
    ]


def curve_of_respondents(
    question: Question, respondents: Sequence[int], confidence_level: float = 0.95
) -> list[Point]:
    """Half-widths against the number of respondents, at the ε of the file.

    Parameters
    ----------
    question, respondents, confidence_level
        As of `curve_of_epsilon`.
    """
    check_level(confidence_level)
    for n in respondents:
        check_respondents(n)
    variance = _own(question)
    return [
        _point(question, question.randomizer.epsilon, n, variance, confidence_level)
        for n in respondents
    ]


def _own(question: Question) -> float:
    return worst_variance(question.mechanism, question.randomizer, question.domain)


def _closed(question: Question, epsilon: Fraction) -> float | None:
    """The least variance among mechanisms that take an ε and heed nothing else."""
    found = []
    for mechanism in MECHANISMS.values():
        if (
            mechanism.parameters is not None
            or mechanism.heeds
            or not mechanism.fits(domain := question.domain)
        ):
            continue
        try:
            randomizer = mechanism.compile(domain, epsilon, {})
        except TooCoarse:
            continue
        found.append(worst_variance(mechanism, randomizer, domain))
    return min(found, default=None)


def _point(question: Question, epsilon: float, n: int, variance: float, level: float) -> Point:
    half = min(0.5, normal_half_width(variance, n, level)) * question.domain.span
    return Point(question.id, epsilon, n, half)
