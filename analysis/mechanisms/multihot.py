"""All bits at once, for several of d options: each option's bit is drawn anew.

Unary encoding (Wang et al., USENIX Security 2017, section 4.2) of a set; ε covers all bits
together, so with at most t options ticked, each of t bits either way has about its t-th part.
Channel: encoder `multihot`, `bits` with the p and q that have the least variance.
By hand: t = 1 is unary encoding of one of k.
"""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import scipy

from analysis.core.arrays import Integers
from analysis.core.channels.bits import Bits
from analysis.core.domain import NO_ANSWER, Sets
from analysis.core.encoders.several import Multihot
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Mechanism, Params, Share, Shares, spends


class AllBits(Mechanism):
    """Better than one option alone where few may be ticked of many, or ε is large."""

    name: ClassVar[str] = "multihot"
    serves: ClassVar[tuple[type, ...]] = (Sets,)

    def compile(
        self, domain: Sets, epsilon: Fraction, params: Params
    ) -> Randomizer[Multihot, Bits]:
        options = len(domain.options)
        encoder = Multihot(options, domain.at_most, options + 1 + domain.no_answer)
        bound = exp_lower(epsilon)
        share = domain.usual_share

        def chances(angle: float) -> tuple[float, float]:
            """p and q, where (ln of 1-ratio, ln of 0-ratio) has this direction."""
            ones, zeros = math.cos(angle), math.sin(angle)
            scale = float(epsilon) / max(
                raised * ones + lowered * zeros for raised, lowered in encoder.apart
            )
            one, zero = scale * ones, scale * zeros
            q = math.expm1(zero) / math.expm1(one + zero)
            return q * math.exp(one), q

        def cost(angle: float) -> float:
            p, q = chances(angle)
            return Share("", Fraction(p), Fraction(q)).variance(share)

        found = scipy.optimize.minimize_scalar(
            cost, bounds=(1e-3, math.pi / 2 - 1e-3), method="bounded"
        )
        p, q = chances(float(found.x))
        # Rounded so that both ratios fall; the bound is proved whatever floats have done.
        one, zero = math.floor(p * WORD), math.ceil(q * WORD)
        while (bits := Bits(encoder.inputs, one, zero, WORD)).ratio(encoder.apart) > bound:
            one, zero = one - 1, zero + 1
        return spends(Randomizer(encoder, bits), epsilon)

    def shares(self, randomizer: Randomizer[Multihot, Bits], domain: Sets) -> Shares:
        p, q = randomizer.channel.p, randomizer.channel.q
        terms = (*domain.flags, *[NO_ANSWER] * domain.no_answer)

        def count(counts: Integers) -> tuple[Integers, Integers]:
            return counts[0, :-1], np.full(len(terms), counts[0, -1])

        return Shares(tuple(Share(term, p, q) for term in terms), count)
