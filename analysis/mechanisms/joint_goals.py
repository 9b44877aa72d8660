"""The goals of a design of one draw for several questions: shares of parts and of pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp

import numpy as np

from analysis.core.domain import DomainOfShares
from analysis.core.types import Floats
from analysis.mechanisms.selection import candidates

#: The aims of a design: the questions' shares, those of pairs of answers, or both. The first is the
#: default of a survey. For pairs, the best design for shares alone can take four times the
#: respondents of separate draws (3, 5 and 6 values, total 3, each 1.5). The design for both is
#: nearly as good for shares there.
AIMS = ("both", "shares", "pairs")


@dataclass(frozen=True)
class Part:
    """The input of the design for a part: its number of values, and the usual share of a value.

    If a question has several parts, such as options, each part names the question. Its domain is
    the one for drawing the question alone. The limit for one answer then covers all its parts.
    """

    k: int
    share: float
    question: str = ""
    domain: DomainOfShares | None = None


def questions_of(parts: Sequence[Part]) -> list[list[int]]:
    """Return the positions of the parts of each question."""
    names = [part.question or place for place, part in enumerate(parts)]
    return [
        [place for place, name in enumerate(names) if name == one] for one in dict.fromkeys(names)
    ]


def contrast_variance(contrast: Floats, k: int, size: int, share: float) -> Floats:
    """Return n times the variance of a share, given the contrast p - ω/k of its reports."""
    rate = size / k
    support = rate + contrast * (share - 1 / k) * k / (k - 1)
    with np.errstate(divide="ignore"):
        return np.asarray(support * (1 - support) / (contrast * k / (k - 1)) ** 2)


def over_square(noise: float, contrast: Floats) -> Floats:
    """Return the variance of a product of two shares, given its contrast."""
    return noise / contrast**2


@dataclass(frozen=True)
class Goal:
    """A variance with a weight. It is convex in a contrast, which is linear in v.

    `contrast` has the contrast of each case.
    """

    contrast: Floats
    weight: float
    variance: Callable[[Floats], Floats]

    def value(self, contrast: Floats) -> Floats:
        """Return the variance at a contrast; infinite if the contrast is not above 0."""
        with np.errstate(divide="ignore"):
            return np.where(contrast > 0, self.variance(contrast), np.inf)

    def tangents(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the variances at contrasts, and their slopes there."""
        step = 1e-6 * at
        low, middle, high = self.value(np.array([at - step, at, at + step]))
        return middle, (high - low) / (2 * step)


@lru_cache(maxsize=1024)
def alone(part: Part, epsilon: Fraction) -> float:
    """Return n times the variance of the share if the question is drawn by itself.

    It is drawn by subset selection of the best size (Ye and Barg 2018, section III) or, if it is an
    option, by the best mechanism for all options of its question.
    """
    if part.domain is not None:
        return candidates(part.domain, epsilon)[0].variance
    bound = exp(epsilon)
    return min(_alone_of_size(part, size, bound) for size in range(1, part.k))


def _alone_of_size(part: Part, size: int, bound: float) -> float:
    agree = size * bound / (size * bound + part.k - size)
    contrast = np.array(agree - size / part.k)
    return float(contrast_variance(contrast, part.k, size, part.share))
