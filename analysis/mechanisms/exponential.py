"""Exponential mechanism on a scale: the further a point from the true one, the less likely.

McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, with the utility
-|y - x|. Their factor, ε / (2 · sensitivity), would spend about half of ε on a scale; here the rate
is found on the exact table. Channel: `table` with weights near e^(-rate |y - x|).
By hand: three points, rate ln 2: rows 4:2:1, 2:4:2 and 1:2:4 over 7 and 8; ratio (4/7) / (1/7) = 4.
"""

import math
from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.table import Table
from analysis.core.domain import Categories, Domain
from analysis.core.encoders.categories import Index
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, spends
from analysis.mechanisms.decoded import scale_means


class Exponential(Mechanism):
    """A mechanism for a scale whose neighboring points may be mixed up; its shares suffer."""

    name: ClassVar[str] = "exponential"
    serves: ClassVar[tuple[type, ...]] = (Categories,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and bool(domain.aims)

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Table]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        low, high = 0.0, float(epsilon)
        best = Table(k, _rows(domain, low))
        for _ in range(60):
            rate = (low + high) / 2
            table = Table(k, _rows(domain, rate))
            if table.ratio() <= bound:
                low, best = rate, table
            else:
                high = rate
        return spends(Randomizer(Index(k), best), epsilon)

    def means(self, randomizer: Randomizer[Index, Table], domain: Categories) -> tuple[Mean, ...]:
        return scale_means(randomizer, domain)


def _rows(domain: Categories, rate: float) -> tuple[tuple[int, ...], ...]:
    """Return whole weights; no-answer is as far from every point as the ends of the scale are."""
    points = len(domain.scores)
    values = range(len(domain.ids))

    def distance(x: int, y: int) -> int:
        return points - 1 if (x < points) != (y < points) else abs(x - y)

    rows = []
    for x in values:
        weights = [math.exp(-rate * distance(x, y)) for y in values]
        scale = WORD / sum(weights)
        whole = [max(1, math.floor(scale * weight)) for weight in weights]
        # What rounding left over goes where it matters least: to the likeliest report.
        whole[x] += WORD - sum(whole)
        rows.append(tuple(whole))
    return tuple(rows)
