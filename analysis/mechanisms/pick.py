"""One part of the answer alone, at full ε: an option ticked or not, or a pair's order.

Sampling one attribute of d (SMP; Nguyên et al., "Collecting and analyzing data from smart device
users with local differential privacy", 2016, section III; Arcolezi et al., CIKM 2021, section 3).
The draw of the part is public and tells nothing.
Channel: encoder `pick`, `window` of width 1 over set, not set, and no-answer, near/far = e^ε.
By hand: ε = ln 3 and no no-answer: the part is told truly 3 times in 4, by one in d respondents.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from analysis.core.arrays import Integers
from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Rankings, Sets
from analysis.core.encoders.several import Pick
from analysis.core.randomizer import Randomizer
from analysis.mechanisms.base import Mean, Mechanism, Params, Share, Shares, spends
from analysis.mechanisms.krr import window_of


class PickOne(Mechanism):
    """The best where many options may be ticked, and for the order of many items."""

    name: ClassVar[str] = "pick"
    serves: ClassVar[tuple[type, ...]] = (Sets, Rankings)

    def compile(
        self, domain: Sets | Rankings, epsilon: Fraction, params: Params
    ) -> Randomizer[Pick, Window]:
        inputs = 2 + domain.no_answer
        encoder = Pick(len(domain.flags), inputs)
        return spends(Randomizer(encoder, window_of(inputs, epsilon)), epsilon)

    def shares(self, randomizer: Randomizer[Pick, Window], domain: Sets | Rankings) -> Shares:
        window, parts = randomizer.channel, randomizer.encoder.parts
        values = [Share(term, window.p, window.q, Fraction(1, parts)) for term in domain.terms]
        values += [Share(NO_ANSWER, window.p, window.q)] * domain.no_answer

        def count(counts: Integers) -> tuple[Integers, Integers]:
            supports, trials = counts[:, 0], counts.sum(axis=1)
            if domain.no_answer:
                supports = np.append(supports, counts[:, 2].sum())
                trials = np.append(trials, counts.sum())
            return supports, trials

        return Shares(tuple(values), count)

    def means(
        self, randomizer: Randomizer[Pick, Window], domain: Sets | Rankings
    ) -> tuple[Mean, ...]:
        """Of a ranking: the mean rank of each item, 1 the first."""
        window = randomizer.channel
        q, gap = window.q, window.p - window.q
        symbols = range(window.inputs)
        # Debiased: +1 for "in that order", -1 for "not", and whether there was an answer at all.
        side = [((s == 0) - (s == 1)) / gap for s in symbols]
        there = [1 - ((s == 2) - q) / gap if domain.no_answer else Fraction(1) for s in symbols]
        others, pairs = len(domain.mean_terms) - 1, list(combinations(domain.mean_terms, 2))

        def scores(item: str) -> Iterator[Fraction]:
            """Half, since an item is before half of the others by nature; and what pairs tell."""
            for first, second in pairs:
                worse = (second == item) - (first == item)
                for symbol in symbols:
                    told = worse * len(pairs) * side[symbol] / others
                    yield (there[symbol] + told) / 2

        present = tuple(there) * len(pairs)
        return tuple(
            Mean(item, tuple(scores(item)), present, None, Fraction(1), Fraction(others))
            for item in domain.mean_terms
        )
