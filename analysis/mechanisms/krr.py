"""k-ary randomized response: the true value with the largest weight, else any other.

Warner, JASA 1965, for two values; Kairouz, Oh and Viswanath, JMLR 2016, section 4.1, for k.
Channel: `window` of width 1 with near/far = e^ε.
By hand: k = 2, ε = ln 3 keeps the true value 3 times in 4.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.window import Window
from analysis.core.domain import Categories
from analysis.core.encoders.categories import Index
from analysis.core.epsilon import best_weights, exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Params, spends
from analysis.mechanisms.one_of_k import OneOfK


class Krr(OneOfK):
    """Least variance of all for few values or large ε."""

    name: ClassVar[str] = "krr"

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Window]:
        k = len(domain.ids)
        return spends(Randomizer(Index(k), window_of(k, epsilon)), epsilon)

    def support(self, randomizer: Randomizer[Index, Window]) -> tuple[Fraction, Fraction]:
        window = randomizer.channel
        return window.p, window.q


def window_of(k: int, epsilon: Fraction) -> Window:
    """k-ary randomized response of any k symbols, for mechanisms that end in it."""
    bound = exp_lower(epsilon)
    near, far = best_weights(bound, int(WORD / (bound + k - 1)))
    return Window(k, 1, near, far)
