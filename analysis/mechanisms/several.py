"""Mechanisms for an answer of several parts: options that are ticked or not, or ordered pairs."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import factorial
from typing import ClassVar

import numpy as np
import scipy

from analysis.core.channels.bits import Bits
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.domain import NO_ANSWER, Domain, Rankings, Sets
from analysis.core.encoders.groups import Order, orders
from analysis.core.encoders.several import Multihot, Pick
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.types import Integers
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, Share, Shares, spends
from analysis.mechanisms.inverted_table import decoded, everybody, share_means
from analysis.mechanisms.one_of_k import window_of

#: A table of the orders of five items would take over 100 KB in every page.
MOST_ITEMS = 4


class PickOne(Mechanism):
    """One part of the answer alone, at full ε: whether an option is ticked, or a pair's order.

    This is sampling one attribute of d (SMP; Nguyên et al., "Collecting and analyzing data from
    smart device users with local differential privacy", 2016, section III; Arcolezi et al., CIKM
    2021, section 3). The draw of the part is public and reveals nothing. Channel: encoder `pick`,
    `window` of width 1 over set, not set, and no-answer, near/far = e^ε.
    By hand: with ε = ln 3 and without no-answer, one in d respondents reports on a part, truly 3
    times in 4.

    It is the best if many options may be ticked, and for the order of many items.
    """

    name: ClassVar[str] = "pick"
    called: ClassVar[str] = "randomized response on one part of the answer, drawn in public"
    cites: ClassVar[tuple[str, ...]] = ("arcolezi2021",)
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
        """Return the mean rank of each item of a ranking, from 1 on; nothing for options."""
        window = randomizer.channel
        q, gap = window.q, window.p - window.q
        symbols = range(window.inputs)
        # The debiased order of a pair, +1 or -1, and whether there was an answer at all.
        side = [((s == 0) - (s == 1)) / gap for s in symbols]
        there = [1 - ((s == 2) - q) / gap if domain.no_answer else Fraction(1) for s in symbols]
        others, pairs = len(domain.mean_terms) - 1, list(combinations(domain.mean_terms, 2))

        def scores(item: str) -> Iterator[Fraction]:
            """Yield scores of the proportion of items before one: 1/2, plus or minus the pairs."""
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


class AllBits(Mechanism):
    """All bits at once, for several of d options: each option's bit is randomized.

    This is unary encoding (Wang et al., USENIX Security 2017, section 4.2) of a set. ε covers all
    bits together. So if at most t options are ticked, each of t bits either way has about a t-th of
    it. Channel: encoder `multihot`, `bits` with the p and q that have the least variance.
    By hand: t = 1 is unary encoding of one of k.

    It is better than one option alone if few of many may be ticked, or if ε is large.
    """

    name: ClassVar[str] = "multihot"
    called: ClassVar[str] = "unary encoding of several options"
    cites: ClassVar[tuple[str, ...]] = ("wang2017",)
    serves: ClassVar[tuple[type, ...]] = (Sets,)

    def compile(
        self, domain: Sets, epsilon: Fraction, params: Params
    ) -> Randomizer[Multihot, Bits]:
        options = len(domain.options)
        encoder = Multihot(options, domain.at_most, options + 1 + domain.no_answer)
        bound = exp_lower(epsilon)
        share = domain.usual_share

        def chances(angle: float) -> tuple[float, float]:
            """Return p and q if (ln of 1-ratio, ln of 0-ratio) has this direction."""
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

        best = scipy.optimize.minimize_scalar(
            cost, bounds=(1e-3, math.pi / 2 - 1e-3), method="bounded"
        )
        p, q = chances(float(best.x))
        # Weights are rounded so that both ratios fall. The proof of the bound uses no floats.
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


class Permutations(Mechanism):
    """A whole order, for few items: the true order and its neighbors are likelier than others.

    It is k-RR over all orders, or over balls of Kendall's distance 1 (an adjacent pair exchanged),
    whichever has less variance of the pairs' shares. Its columns are staircases (Kairouz, Oh and
    Viswanath, JMLR 2016). Channel: encoder `order`, `table` of two weights with the ratio e^ε.
    By hand: for 2 items it is randomized response on which comes first.

    It is the best for three items at ε above 1.5, and for four items above 2.
    """

    name: ClassVar[str] = "permutations"
    called: ClassVar[str] = "randomized response of the whole order"
    cites: ClassVar[tuple[str, ...]] = ("kairouz2016",)
    serves: ClassVar[tuple[type, ...]] = (Rankings,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and len(domain.mean_terms) <= MOST_ITEMS

    def compile(
        self, domain: Rankings, epsilon: Fraction, params: Params
    ) -> Randomizer[Order, Table]:
        encoder = Order(len(domain.items), factorial(len(domain.items)) + domain.no_answer)
        tables = [_order_table(len(domain.items), domain.no_answer, epsilon, r) for r in (0, 1)]
        best = min(tables, key=lambda table: _order_variance(table, len(domain.items)))
        return spends(Randomizer(encoder, best), epsilon)

    def means(self, randomizer: Randomizer[Order, Table], domain: Rankings) -> tuple[Mean, ...]:
        """Return mean ranks, then the share of each pair's order, and then that of no-answer."""
        every = orders(len(domain.items))
        skipped = (Fraction(0),) * domain.no_answer
        absent = (Fraction(0),) * len(every) + (Fraction(1),) * domain.no_answer
        ranks = [mean for item in domain.items if (mean := domain.mean_of(item))]
        places = [tuple(rank.place(order) or Fraction(0) for order in every) for rank in ranks]
        targets = (
            *(row + skipped for row in places),
            *(tuple(place**2 for place in row) + skipped for row in places),
            tuple(1 - away for away in absent),
            *(tuple(map(Fraction, flags)) + skipped for flags in zip(*every, strict=True)),
            *[absent] * domain.no_answer,
        )
        solved = decoded(randomizer.channel, targets)
        count = len(domain.items)
        scores, squares, shares = solved[:count], solved[count : 2 * count], solved[2 * count + 1 :]
        present = solved[2 * count] if domain.no_answer else everybody(randomizer.channel)
        terms = domain.terms + (NO_ANSWER,) * domain.no_answer
        return (
            *(
                Mean(item, score, present, square, rank.low, rank.width)
                for item, score, square, rank in zip(
                    domain.items, scores, squares, ranks, strict=True
                )
            ),
            *share_means(terms, shares, randomizer.channel),
        )


def _order_table(items: int, no_answer: bool, epsilon: Fraction, radius: int) -> Table:
    every = orders(items)
    n, bound = len(every), exp_lower(epsilon)
    near = [
        [sum(a != b for a, b in zip(order, other, strict=True)) <= radius for other in every]
        for order in every
    ]
    members = sum(near[0])
    inputs = n + no_answer
    low = int(WORD / (members * bound + inputs - members))
    # The row of no-answer is even over the orders. `high` is chosen so that it is whole.
    high = low + int(low * (bound - 1)) // n * n
    rows = [[high if is_near else low for is_near in row] + [low] * no_answer for row in near]
    if no_answer:
        rest = (members * high + (inputs - members) * low - high) // n
        rows.append([rest] * n + [high])
    return Table(inputs, tuple(map(tuple, rows)))


def _order_variance(table: Table, items: int) -> float:
    """Return the variance of pairs' shares from one report if all orders are equally frequent."""
    every = np.array(orders(items), dtype=float)
    weights = np.array(table.rows, dtype=float) / table.total
    target = np.vstack([every, np.zeros((table.inputs - len(every), every.shape[1]))])
    if np.linalg.matrix_rank(weights) < table.inputs:
        return float("inf")
    scores = np.linalg.solve(weights, target)
    return float((weights[: len(every)] @ scores**2).mean())
