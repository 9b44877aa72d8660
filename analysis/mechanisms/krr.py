"""k-ary randomized response: the true value with the largest weight, else any other.

Warner, JASA 1965, for two values; Kairouz, Oh and Viswanath, JMLR 2016, section 4.1, for k.
Channel: `window` of width 1 with near/far = e^ε.
By hand: k = 2, ε = ln 3 keeps the true value 3 times in 4.
"""

from fractions import Fraction
from typing import ClassVar

from analysis.channels.window import Window
from analysis.domain import Categories
from analysis.encoders import Index
from analysis.epsilon import best_weights, exp_lower
from analysis.mechanisms.base import Share, spends
from analysis.randomizer import Randomizer
from analysis.words import WORD


class Krr:
    """Least variance of all for few values or large ε."""

    name: ClassVar[str] = "krr"
    domain: ClassVar[type[Categories]] = Categories

    def compile(self, domain: Categories, epsilon: Fraction) -> Randomizer[Index, Window]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        near, far = best_weights(bound, int(WORD / (bound + k - 1)))
        return spends(Randomizer(Index(k), Window(k, 1, near, far)), epsilon)

    def shares(
        self, randomizer: Randomizer[Index, Window], domain: Categories
    ) -> tuple[Share, ...]:
        window = randomizer.channel
        p, q = Fraction(window.near, window.total), Fraction(window.far, window.total)
        return tuple(Share(term, (value,), p, q) for value, term in enumerate(domain.ids))

    def mean(self, randomizer: Randomizer[Index, Window], domain: Categories) -> None:
        return None
