"""Mechanisms for one of k values whose reports each support some of the values."""

from abc import abstractmethod
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
import scipy

from analysis.core.channels.bits import Bits
from analysis.core.channels.subset import Subset
from analysis.core.channels.window import Window
from analysis.core.domain import Categories
from analysis.core.encoders.categories import Index, Onehot
from analysis.core.epsilon import best_weights, exp_lower, root_lower
from analysis.core.randomizer import AnyRandomizer, Randomizer
from analysis.core.types import Floats, Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, Share, Shares, spends


class OneOfK(Mechanism):
    """A pure protocol: a report supports its own value with probability p, any other with q."""

    serves: ClassVar[tuple[type, ...]] = (Categories,)

    @abstractmethod
    def support(self, randomizer: Any) -> tuple[Fraction, Fraction]:
        """Return p and q, which are the same for every value."""

    def shares(self, randomizer: AnyRandomizer, domain: Categories) -> Shares:
        p, q = self.support(randomizer)

        def count(counts: Integers) -> tuple[Integers, Integers]:
            supports = self.supports(randomizer, counts)[: len(domain.ids)]
            return supports, np.full(len(supports), randomizer.reports_in(counts))

        return Shares(tuple(Share(term, p, q) for term in domain.ids), count)

    def supports(self, randomizer: AnyRandomizer, counts: Integers) -> Integers:
        """Return how many of the reports in a (cohorts, symbols) tally support each value."""
        return np.asarray(counts[0])

    def cells(self, randomizer: AnyRandomizer, value: int) -> list[int]:
        """Return the cells of a flattened tally that support a value."""
        return [value]

    def share_scores(self, randomizer: AnyRandomizer, domain: Categories) -> Any:
        p, q = (float(chance) for chance in self.support(randomizer))
        k = len(domain.ids)
        cells = [self.cells(randomizer, value) for value in range(k)]
        entries = np.repeat(np.arange(k), [len(row) for row in cells]), np.concatenate(cells)
        shape = k, prod(randomizer.shape)
        return scipy.sparse.csr_array((np.full(len(entries[0]), 1 / (p - q)), entries), shape=shape)

    def means(self, randomizer: AnyRandomizer, domain: Categories) -> tuple[Mean, ...]:
        """Return the mean of a scale's scores, as a sum of the estimates of its shares."""
        if not domain.mean_terms:
            return ()
        p, q = self.support(randomizer)
        cells = [self.cells(randomizer, value) for value in range(len(domain.ids))]
        counted = len(randomizer.tallied(randomizer.longest()))
        # The fraction of a report that each cell stands for, so that a report sums to 1. All
        # reports of bits count for the last symbol.
        parts = [Fraction(1, counted)] * prod(randomizer.shape)
        if randomizer.channel.takes_bits:
            parts = [Fraction(0)] * (len(parts) - 1) + [Fraction(1)]

        def scored(scores: list[Fraction]) -> tuple[Fraction, ...]:
            """Return the scores of the symbols: the debiased scores of the values they support."""
            of_report = -q * sum(scores) / (p - q)
            sums = [of_report * part for part in parts]
            for score, supporting in zip(scores, cells, strict=True):
                for cell in supporting:
                    sums[cell] += score / (p - q)
            return tuple(sums)

        low, width = domain.score_range
        skipped = [Fraction(0)] * domain.no_answer
        places = domain.places
        several = None
        if randomizer.channel.takes_bits or counted > 1:

            def several(counts: Integers) -> Floats:
                n = max(1, randomizer.reports_in(counts))
                estimates = (self.supports(randomizer, counts) / n - float(q)) / float(p - q)
                likely = np.maximum(estimates[: len(domain.ids)], 1 / (n + 2))
                inputs = [randomizer.encoder.encode(x, 0, iter(())) for x in range(len(likely))]
                second = [randomizer.channel.moments(symbol)[1] for symbol in inputs]
                return np.tensordot(likely / likely.sum(), np.array(second), 1)

        return (
            Mean(
                "mean",
                scored(places + skipped),
                scored([Fraction(1)] * len(places) + skipped),
                scored([place**2 for place in places] + skipped),
                low,
                width,
                several,
            ),
        )


class Krr(OneOfK):
    """k-ary randomized response: the true value has the largest weight, and all others the same.

    Warner, JASA 1965, for two values; Kairouz, Oh and Viswanath, JMLR 2016, section 4.1, for k.
    See docs/methods.md, (1), for p and q. Channel: `window` of width 1 with near/far = e^ε.
    By hand: k = 2, ε = ln 3 keeps the true value 3 times in 4.

    It has the least variance of all mechanisms for few values or large ε.
    """

    name: ClassVar[str] = "krr"
    called: ClassVar[str] = "k-ary randomized response"
    cites: ClassVar[tuple[str, ...]] = ("warner1965", "kairouz2016")

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Window]:
        k = len(domain.ids)
        return spends(Randomizer(Index(k), window_of(k, epsilon)), epsilon)

    def support(self, randomizer: Randomizer[Index, Window]) -> tuple[Fraction, Fraction]:
        window = randomizer.channel
        return window.p, window.q


def window_of(k: int, epsilon: Fraction) -> Window:
    """Return k-ary randomized response of any k symbols, for mechanisms that end in it."""
    bound = exp_lower(epsilon)
    near, far = best_weights(bound, int(WORD / (bound + k - 1)))
    return Window(k, 1, near, far)


class SubsetSelection(OneOfK):
    """Subset selection: a set of ω values, which holds the true value with a larger weight.

    Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential
    privacy", IEEE Transactions on Information Theory 2018, section III; ω = max(1,
    round(k/(e^ε+1))). Channel: `subset` with include (k-ω) / (exclude ω) = e^ε.
    See docs/methods.md, (2), for p and q.
    By hand: k = 4, ε = ln 3 gives ω = 1, which is k-ary randomized response.

    It has the least variance of all mechanisms for many values at small ε. No other design has less
    for all k shares together: symmetric designs whose reports have a constant size reach the lower
    bound (Pan, "Strict optimality", arXiv 2603.11523, 2026).
    """

    name: ClassVar[str] = "subset"
    called: ClassVar[str] = "subset selection"
    cites: ClassVar[tuple[str, ...]] = ("ye2018",)

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Index, Subset]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        size = max(1, round(k / (bound + 1)))
        bound *= Fraction(size, k - size)
        include, exclude = best_weights(bound, int(WORD / (bound + 1)))
        return spends(Randomizer(Index(k), Subset(k, size, include, exclude)), epsilon)

    def support(self, randomizer: Randomizer[Index, Subset]) -> tuple[Fraction, Fraction]:
        return randomizer.channel.p, randomizer.channel.q


class Unary(OneOfK):
    """A bit for each value. The bit of the true value is 1, and each bit is randomized."""

    def support(self, randomizer: Randomizer[Onehot, Bits]) -> tuple[Fraction, Fraction]:
        return randomizer.channel.p, randomizer.channel.q


class SymmetricUnary(Unary):
    """Symmetric unary encoding: a bit for each value, all flipped with the same probability.

    This is basic one-time RAPPOR (Erlingsson, Pihur and Korolova, CCS 2014, section 3), named in
    Wang et al., USENIX Security 2017, section 4.2. Channel: `bits` with p = 1 - q = s / (s + 1), s
    = e^(ε/2).
    By hand: ε = 2 ln 3 keeps each bit 3 times in 4.

    It is never the best for one of k values. It serves comparisons, and RAPPOR.
    """

    name: ClassVar[str] = "sue"
    called: ClassVar[str] = "symmetric unary encoding"
    cites: ClassVar[tuple[str, ...]] = ("erlingsson2014", "wang2017")

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Onehot, Bits]:
        k, root = len(domain.ids), root_lower(exp_lower(epsilon))
        keep, flip = best_weights(root, int(WORD / (root + 1)))
        return spends(Randomizer(Onehot(k), Bits(k, keep, flip, keep + flip)), epsilon)


class OptimizedUnary(Unary):
    """Optimized unary encoding: a bit for each value. A 1 is kept half of the time, a 0 mostly.

    Wang et al., USENIX Security 2017, section 4.2. Channel: `bits` with p = 1/2, q = 1 / (e^ε + 1).
    By hand: ε = ln 3 turns a 0 into a 1 once in 4 times.

    It is within 2 % of subset selection for a hundred values or more, at ε of at most 1.
    """

    name: ClassVar[str] = "oue"
    called: ClassVar[str] = "optimized unary encoding"
    cites: ClassVar[tuple[str, ...]] = ("wang2017",)

    def compile(
        self, domain: Categories, epsilon: Fraction, params: Params
    ) -> Randomizer[Onehot, Bits]:
        k, bound = len(domain.ids), exp_lower(epsilon)
        keep, flip = best_weights(bound, int(WORD / (bound + 1)) // 2)
        half = keep + flip
        return spends(Randomizer(Onehot(k), Bits(k, half, 2 * flip, 2 * half)), epsilon)
