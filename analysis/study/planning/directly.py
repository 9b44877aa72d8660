"""The precision of the same people without randomization, and with a curator's noise on sums."""

from fractions import Fraction

import numpy as np
from scipy.special import stdtrit

from analysis.core.domain import Estimand
from analysis.mechanisms.base import Share
from analysis.privacy.central import half_width_of_curator
from analysis.study.planning.half_width import HalfWidth
from analysis.study.planning.share_width import of_share
from analysis.survey.question import Question


def direct_half_width(
    question: Question, half: HalfWidth, n: int, level: float, stated: bool = False
) -> float:
    """Return the half-width without randomization; for a mean, Student's at its true spread."""
    domain = question.domain
    if domain.estimand is not Estimand.MEAN:
        return of_share(Share(half.term, Fraction(1), Fraction(0)), half.share, n, level)
    deviation, answering = 0.5, 1.0
    if stated and half.truth is not None:
        shares = np.array(half.truth.shares)
        there = np.array([value is not None for value in half.truth.values])
        answering = float(shares[there].sum())
        places = np.array([float(value or 0) for value in half.truth.values])
        middle = float((shares * places)[there].sum()) / answering
        deviation = (float((shares * (places - middle) ** 2)[there].sum()) / answering) ** 0.5
    people = round(n * answering)
    if people < 2:
        return 0.5 * domain.span
    reach = float(stdtrit(people - 1, (1 + level) / 2)) * deviation / people**0.5
    return float(min(0.5, reach) * domain.span)


def curator_half_width(question: Question, direct: float, n: int, level: float) -> float | None:
    """Return the half-width with Laplace noise on the exact numbers; None if they cannot be listed.

    The number of people who gave a number is assumed to be public.
    """
    domain, epsilon = question.domain, question.randomizer.epsilon
    if domain.sensitivity is None or epsilon <= 0:
        return None
    noise = domain.sensitivity / (epsilon * n) * domain.span
    return min(half_width_of_curator(direct, noise, level), 0.5 * domain.span)
