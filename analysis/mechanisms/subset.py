"""Subset selection: a set of ω values that holds the true one with a larger weight.

Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential
privacy", IEEE Transactions on Information Theory 2018, section III; ω = max(1, round(k/(e^ε+1))).
Channel: `subset` with include (k-ω) / (exclude ω) = e^ε.
By hand: k = 4, ε = ln 3 gives ω = 1, which is k-ary randomized response.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.subset import Subset
from analysis.core.domain import Categories
from analysis.core.encoders.categories import Index
from analysis.core.epsilon import best_weights, exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Params, spends
from analysis.mechanisms.one_of_k import OneOfK


class SubsetSelection(OneOfK):
    """Least variance of all for many values at small ε."""

    name: ClassVar[str] = "subset"

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Subset]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        size = max(1, round(k / (bound + 1)))
        bound *= Fraction(size, k - size)
        include, exclude = best_weights(bound, int(WORD / (bound + 1)))
        return spends(Randomizer(Index(k), Subset(k, size, include, exclude)), epsilon)

    def support(self, randomizer: Randomizer[Index, Subset]) -> tuple[Fraction, Fraction]:
        subset = randomizer.channel
        p = Fraction(subset.include, subset.include + subset.exclude)
        # Another value is in the set by chance, whether or not the true one is.
        return p, (p * (subset.size - 1) + (1 - p) * subset.size) / (subset.inputs - 1)
