"""Optimized unary encoding: a bit for each value; a 1 stays so half of the time, a 0 mostly.

Wang et al., USENIX Security 2017, section 4.2. Channel: `bits` with p = 1/2, q = 1 / (e^ε + 1).
By hand: ε = ln 3 turns a 0 into a 1 once in 4 times.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.channels.bits import Bits
from analysis.domain import Categories
from analysis.encoders.categories import Onehot
from analysis.epsilon import best_weights, exp_lower
from analysis.mechanisms.base import Params, spends
from analysis.mechanisms.one_of_k import OneOfK
from analysis.randomizer import Randomizer
from analysis.words import WORD


class OptimizedUnary(OneOfK):
    """Within 2 % of subset selection for a hundred values and more, at ε of 1 or less."""

    name: ClassVar[str] = "oue"

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Onehot, Bits]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        keep, flip = best_weights(bound, int(WORD / (bound + 1)) // 2)
        half = keep + flip
        return spends(Randomizer(Onehot(k), Bits(k, half, 2 * flip, 2 * half)), epsilon)

    def support(self, randomizer: Randomizer[Onehot, Bits]) -> tuple[Fraction, Fraction]:
        return randomizer.channel.p, randomizer.channel.q
