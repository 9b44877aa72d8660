"""Half-widths for charts, against ε and against the number of respondents.

They follow the normal law, with the variance at the least favorable truth, so that a page of curves
takes no longer than a table. `analysis.study.planning.half_width.expected` differs slightly if
intervals are clipped, or if respondents are few. At another ε than the file's, the variance is that
of the best mechanism with a closed form, times the ratio between the question's mechanism and this
one at the file's ε. A linear program for each point would take too long.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite

import numpy as np

from analysis.core.domain import Domain
from analysis.core.epsilon import LARGEST, SMALLEST, TooCoarse
from analysis.estimate.intervals import check_level
from analysis.estimate.precision.check import check_respondents
from analysis.estimate.precision.least_favorable import normal_half_width, worst_variance
from analysis.mechanisms import MECHANISMS
from analysis.survey.question import Question

#: The ε of a chart: 0.1 to 10, evenly spaced on a logarithmic scale.
EPSILONS = tuple(float(f"{epsilon:.3g}") for epsilon in np.geomspace(0.1, 10, 21))


@dataclass(frozen=True)
class Point:
    """One point of a curve. `half_width` is in the question's unit, at most half of its range."""

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
    """Return half-widths against ε: a point for each number of respondents and each ε, in order.

    Parameters
    ----------
    question : Question
        A question of any kind.
    respondents : sequence of int
        Numbers of respondents, each at least 1.
    epsilons : sequence of float
        The ε of one report. 32-bit weights must be able to serve each ε for some number of values.
        A point is left out if they cannot serve the question's values.
    confidence_level : float
        The level of the intervals, in (0, 1).
    """
    check_level(confidence_level)
    for n in respondents:
        check_respondents(n)
    for epsilon in epsilons:
        if not (isfinite(epsilon) and SMALLEST <= epsilon <= LARGEST):
            raise ValueError(
                f"epsilon must be from {float(SMALLEST):g} to {float(LARGEST):g}, got {epsilon:g}"
            )
    domain = question.domain
    closed = closed_variance(domain, min(Fraction(repr(question.spec["epsilon"])), LARGEST))
    factor = _variance(question) / closed if closed else 1.0
    variances = [closed_variance(domain, Fraction(repr(float(epsilon)))) for epsilon in epsilons]
    return [
        _point(question, epsilon, n, factor * variance, confidence_level)
        for n in respondents
        for epsilon, variance in zip(epsilons, variances, strict=True)
        if variance is not None
    ]


def curve_of_respondents(
    question: Question, respondents: Sequence[int], confidence_level: float = 0.95
) -> list[Point]:
    """Return half-widths against the number of respondents, at the ε of the file.

    The parameters are those of `curve_of_epsilon`.
    """
    check_level(confidence_level)
    for n in respondents:
        check_respondents(n)
    epsilon, variance = question.randomizer.epsilon, _variance(question)
    return [_point(question, epsilon, n, variance, confidence_level) for n in respondents]


def _variance(question: Question) -> float:
    """Return the variance of a report by the question's own mechanism, at the worst truth."""
    return worst_variance(question.mechanism, question.randomizer, question.domain)


@lru_cache(maxsize=4096)
def closed_variance(domain: Domain, epsilon: Fraction) -> float | None:
    """Return the least variance among mechanisms that use nothing but ε.

    It is that of one report at the worst truth, in a domain whose numbers go from 0 to 1. It is
    None if 32-bit weights cannot serve this ε.
    """
    variances = []
    for mechanism in MECHANISMS.values():
        if mechanism.parameters is None and not mechanism.heeds and mechanism.fits(domain):
            with suppress(TooCoarse):
                randomizer = mechanism.compile(domain, epsilon, {})
                variances.append(worst_variance(mechanism, randomizer, domain))
    return min(variances, default=None)


def _point(question: Question, epsilon: float, n: int, variance: float, level: float) -> Point:
    half = min(0.5, normal_half_width(variance, n, level)) * question.domain.span
    return Point(question.id, epsilon, n, half)
