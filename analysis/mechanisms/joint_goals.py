"""What one draw for several questions is designed for: shares of its parts, and of pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp

import numpy as np

from analysis.core.domain import DomainOfShares
from analysis.core.types import Floats
from analysis.mechanisms.selection import candidates

#: What a design may be made for: the questions' shares, those of pairs of answers, or both. The
#: first is what a survey gets that names none. The best design for shares alone can take four times
#: the respondents that separate draws take for pairs (3, 5 and 6 values, total 3, each 1.5); that
#: for both is nearly as good for shares there.
AIMS = ("both", "shares", "pairs")


@dataclass(frozen=True)
class Part:
    """The input of the design for a part: its number of values, and a usual share of one.

    A question that has several parts, as that of several options has, is named by each, and its
    domain is what it would be drawn by alone. What is learned about one answer is then about all
    parts of it.
    """

    k: int
    share: float
    question: str = ""
    domain: DomainOfShares | None = None


def questions_of(parts: Sequence[Part]) -> list[list[int]]:
    """Return the places of the parts of each question."""
    names = [part.question or place for place, part in enumerate(parts)]
    return [
        [place for place, name in enumerate(names) if name == one] for one in dict.fromkeys(names)
    ]


def contrast_variance(contrast: Floats, k: int, size: int, share: float) -> Floats:
    """Return n times the variance of a share, from the contrast p - ω/k of its reports."""
    rate = size / k
    support = rate + contrast * (share - 1 / k) * k / (k - 1)
    with np.errstate(divide="ignore"):
        return np.asarray(support * (1 - support) / (contrast * k / (k - 1)) ** 2)


def over_square(noise: float, contrast: Floats) -> Floats:
    """Return the variance of a product of two shares, from its contrast."""
    return noise / contrast**2


@dataclass(frozen=True)
class Goal:
    """A variance that counts with a weight: convex in a contrast, which is linear in v.

    `contrast` is that of each case.
    """

    contrast: Floats
    weight: float
    variance: Callable[[Floats], Floats]

    def value(self, contrast: Floats) -> Floats:
        """Return the variance at a contrast; infinite if it is not above 0."""
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

    It is by subset selection of the best size (Ye and Barg 2018, section III), or, of an option, by
    the best mechanism for all options of its question.
    """
    if part.domain is not None:
        return candidates(part.domain, epsilon)[0].variance
    bound = exp(epsilon)
    return min(_alone_of_size(part, size, bound) for size in range(1, part.k))


def _alone_of_size(part: Part, size: int, bound: float) -> float:
    agree = size * bound / (size * bound + part.k - size)
    contrast = np.array(agree - size / part.k)
    return float(contrast_variance(contrast, part.k, size, part.share))
