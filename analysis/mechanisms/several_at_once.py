"""Mechanisms that report several parts of an answer in one draw: options, or orders of items."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, factorial, floor
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from analysis.core.channels.overlap import Overlap
from analysis.core.channels.set_reports import MOST_INPUTS
from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Domain, Rankings, Sets
from analysis.core.encoders.groups import (
    MOST_CELLS,
    MOST_FLAGS,
    MOST_RANKED,
    Group,
    SomeParts,
    Suborder,
)
from analysis.core.encoders.several import Padded
from analysis.core.epsilon import TooCoarse, exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.types import Floats, Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, Share, Shares, spends
from analysis.mechanisms.one_of_k import window_of

#: The most reports for which exact scores for each item are computed. More take seconds.
_MOST_SCORED = 8192


class _Group(Mechanism):
    """Some parts of the answer, picked by a public draw and reported together at full ε.

    The report on each part has the whole ε, as in `pick`, which reports on one part; but there are
    more parts. The number of parts with the least variance is computed. Sampling attributes is SMP
    (Nguyên et al., 2016, section III). Randomizing some together is RR-Joint (Domingo-Ferrer and
    Soria-Comas, arXiv 2010.10881, 2020).
    """

    @staticmethod
    @abstractmethod
    def encoders(domain: Any) -> Iterator[SomeParts]:
        """Yield the possible encoders of a domain."""

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and any(True for _ in self.encoders(domain))

    def compile(
        self, domain: Any, epsilon: Fraction, params: Params
    ) -> Randomizer[SomeParts, Window]:
        bound = exp_lower(epsilon)
        encoder = min(
            self.encoders(domain),
            key=lambda each: _flag(each, bound).variance(domain.usual_share),
        )
        return spends(Randomizer(encoder, window_of(encoder.inputs, epsilon)), epsilon)

    def shares(self, randomizer: Randomizer[SomeParts, Window], domain: Any) -> Shares:
        window, encoder = randomizer.channel, randomizer.encoder
        members, patterns = encoder.members, encoder.patterns
        told, one = encoder.flags_told, _flag(encoder, window.p / window.q)
        values = [replace(one, term=term) for term in domain.terms[:told]]
        # If reports are about all options, the first number stands for "none of these".
        rest = (*domain.terms[told:], *[NO_ANSWER] * domain.no_answer)
        values += [Share(term, window.p, window.q) for term in rest]
        of_rest = [*range(len(domain.terms) - told), *range(len(patterns), window.inputs)]

        def count(counts: Integers) -> tuple[Integers, Integers]:
            symbols, cohorts = counts.sum(axis=0), counts.sum(axis=1)
            supports, trials = np.zeros(told, dtype=np.int64), np.zeros(told, dtype=np.int64)
            np.add.at(supports, members, counts[:, : len(patterns)] @ patterns)
            np.add.at(trials, members, cohorts[:, None])
            everybody = np.full(len(of_rest), symbols.sum())
            return np.append(supports, symbols[of_rest]), np.append(trials, everybody)

        return Shares(tuple(values), count)


class GroupOfOptions(_Group):
    """A few options, picked by a public draw, together: k-RR over all sets of them.

    If reports are about all options, "none of these" is the empty set. Channel: encoder `group`,
    `window` of width 1, near/far = e^ε. Sources: see `_Group`.
    By hand: with two options, ε = ln 5, and without no-answer, both are reported truly 5 times in
    8, and each other combination once. So one option is reported truly 6 times in 8.

    It is the best if any number of three or more options may be ticked, at ε of 1.4 or more.
    """

    name: ClassVar[str] = "group"
    called: ClassVar[str] = "randomized response on a few options, drawn in public"
    cites: ClassVar[tuple[str, ...]] = ("domingo2020",)
    serves: ClassVar[tuple[type, ...]] = (Sets,)

    @staticmethod
    def encoders(domain: Sets) -> Iterator[Group]:
        options, skips = len(domain.options), domain.no_answer
        for picked in range(2, min(options, MOST_FLAGS) + 1):
            inputs = 2**picked + skips
            if comb(options + 1, picked) * inputs <= MOST_CELLS:
                yield Group(options + 1, picked, inputs)
            if picked == options:
                yield Group(options, picked, inputs)


class GroupOfItems(_Group):
    """The order of a few items, picked by a public draw: k-RR over all their orders.

    Channel: encoder `suborder`, `window` of width 1, near/far = e^ε. Sources: see `_Group`.
    By hand: with three items, ε = ln 7, and without no-answer, their order is reported truly 7
    times in 12, and each other order once. So each pair's order is reported truly 9 times in 12.

    It is the best for four items at ε from 1.5 to about 3.7, and for five or more from 1.5 on.
    """

    name: ClassVar[str] = "suborder"
    called: ClassVar[str] = "randomized response on the order of a few items, drawn in public"
    cites: ClassVar[tuple[str, ...]] = ("domingo2020",)
    serves: ClassVar[tuple[type, ...]] = (Rankings,)

    @staticmethod
    def encoders(domain: Rankings) -> Iterator[Suborder]:
        items, skips = len(domain.items), domain.no_answer
        for picked in range(3, min(items - 1, MOST_RANKED) + 1):
            inputs = factorial(picked) + skips
            if comb(items, picked) * inputs <= _MOST_SCORED:
                yield Suborder(items, picked, inputs)

    def means(self, randomizer: Randomizer[Suborder, Window], domain: Rankings) -> tuple[Mean, ...]:
        """Return the mean rank of each item, from 1 on."""
        window, encoder, items = randomizer.channel, randomizer.encoder, domain.items
        one, others = _flag(encoder, window.p / window.q), len(items) - 1
        pairs, orders = list(combinations(range(len(items)), 2)), encoder.patterns.tolist()
        there = [Fraction(1)] * len(orders)
        if domain.no_answer:
            present, skipped = -window.q, 1 - window.q
            there = [1 - x / (window.p - window.q) for x in [present] * len(orders) + [skipped]]
        # The debiased weight of a report on one pair, averaged over an item's other items.
        worth = 1 / ((one.p - one.q) * one.portion * others)

        def scores(item: int) -> Iterator[Fraction]:
            """Yield for each report the debiased proportion of other items that are before an item.

            It is one half, plus or minus the debiased pairs of the report.
            """
            for told in encoder.members.tolist():
                worse = [(pairs[pair][1] == item) - (pairs[pair][0] == item) for pair in told]
                before = [
                    sum(sign * (2 * flag - 1) for sign, flag in zip(worse, order, strict=True))
                    for order in orders
                ]
                before += [0] * (window.inputs - len(orders))
                for is_there, more in zip(there, before, strict=True):
                    yield (is_there + more * worth) / 2

        return tuple(
            Mean(
                *(term, tuple(scores(item)), tuple(there) * encoder.cohorts),
                *(None, Fraction(1), Fraction(others)),
            )
            for item, term in enumerate(items)
        )


def _flag(encoder: SomeParts, bound: Fraction) -> Share:
    """Return the rule of a flag's share: half of the patterns have it, whatever the others are."""
    half = Fraction(encoder.inputs // 2)
    total = bound + encoder.inputs - 1
    return Share("", (bound + half - 1) / total, half / total, encoder.portion_told)


class PrivSet(Mechanism):
    """A random set of options that is likelier to hold ticked options, or several of them.

    Ticks are padded to the largest number allowed. A report is a random set, whose probability is
    e^ε times as large if it holds at least some number of them. If that number is 1, it is PrivSet
    (Wang et al., "PrivSet: Set-Valued Data Analyses with Locale Differential Privacy", INFOCOM
    2018). The number and the size of the set are those with the least variance. Channel: encoder
    `padded`, `overlap` of two probabilities.
    By hand: with one of 3 options or none, and ε = ln 3, the set has one option, the true one 3
    times in 6.

    It is the best if at most a third of the options may be ticked.
    """

    name: ClassVar[str] = "privset"
    called: ClassVar[str] = "random sets that are likelier to hold ticked options"
    cites: ClassVar[tuple[str, ...]] = ("wang2018",)
    serves: ClassVar[tuple[type, ...]] = (Sets,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and _padded(domain).inputs <= MOST_INPUTS

    def compile(
        self, domain: Sets, epsilon: Fraction, params: Params
    ) -> Randomizer[Padded, Overlap]:
        encoder = _padded(domain)
        # This takes the first design that whole weights can serve.
        tried = _by_variance(encoder.inputs, encoder.ones, float(epsilon), domain.usual_share)
        for size, least in tried[:_TRIED]:
            with suppress(TooCoarse):
                return spends(Randomizer(encoder, _overlap(encoder, size, least, epsilon)), epsilon)
        raise TooCoarse(f"epsilon must be larger for so many options, got {float(epsilon)}")

    def shares(self, randomizer: Randomizer[Padded, Overlap], domain: Sets) -> Shares:
        channel = randomizer.channel
        terms = (*domain.flags, *[NO_ANSWER] * domain.no_answer)

        def count(counts: Integers) -> tuple[Integers, Integers]:
            reports = channel.reports_in(counts)
            return counts[0, : len(terms)], np.full(len(terms), reports)

        return Shares(tuple(Share(term, channel.p, channel.q) for term in terms), count)


#: The number of designs that are tried, in the order of their variances.
_TRIED = 20


def _padded(domain: Any) -> Padded:
    options, at_most = len(domain.options), domain.at_most
    return Padded(options, at_most, options + at_most + domain.no_answer)


def _by_variance(inputs: int, ones: int, epsilon: float, share: float) -> list[tuple[int, int]]:
    """Return sizes of sets and the least numbers of hits of likelier sets, by rising variance.

    Variances are those of an option's share, in floats. The best are computed exactly later.
    """
    found: list[tuple[float, int, int]] = []
    for size in range(1, inputs):
        hits = np.arange(max(0, size + ones - inputs), min(size, ones) + 1)
        logs = _log_comb(ones, hits) + _log_comb(inputs - ones, size - hits)
        cells = np.exp(logs - _log_comb(inputs, np.array(size)))
        # This leaves out the first number, with which all sets are equally likely.
        above, there = (np.cumsum((cells * x)[::-1])[::-1][1:] for x in (hits, np.ones(len(hits))))
        weight = 1 + np.expm1(epsilon) * there
        mean = (float(cells @ hits) + np.expm1(epsilon) * above) / weight
        for least, hit in zip(hits[1:].tolist(), mean.tolist(), strict=True):
            p, q = Fraction(hit / ones), Fraction((size - hit) / (inputs - ones))
            if p > q:
                found.append((Share("", p, q).variance(share), size, least))
    return [(size, least) for _, size, least in sorted(found)]


def _log_comb(count: int, chosen: Integers) -> Floats:
    return np.asarray(gammaln(count + 1) - gammaln(chosen + 1) - gammaln(count - chosen + 1))


def _overlap(encoder: Padded, size: int, least: int, epsilon: Fraction) -> Overlap:
    """Return the channel with whole weights, rounded so that the ratio is at most e^ε."""
    inputs, ones, bound = encoder.inputs, encoder.ones, exp_lower(epsilon)
    plain = Overlap(inputs, ones, size, ())
    chances = [plain.cells(hits) * (bound if hits >= least else 1) for hits in plain.hits]
    scale = (WORD - len(chances)) / sum(chances, Fraction(0))
    weights = (
        max(1, floor(chance * scale)) if hits >= least else ceil(chance * scale)
        for hits, chance in zip(plain.hits, chances, strict=True)
    )
    found = Overlap(inputs, ones, size, tuple(weights))
    if found.ratio() > bound:
        raise TooCoarse(f"weights of 32 bits are too coarse for sets of {size} of {inputs}")
    return found
