"""A whole order, for few items: the true one and its neighbors are likelier than the others.

k-RR over all orders, or over balls of Kendall's distance 1 (an adjacent pair exchanged), whichever
tells the pairs' preferences with less variance: staircase columns, Kairouz, Oh and Viswanath, JMLR
2016. Channel: encoder `order`, `table` of two weights with the ratio e^ε.
By hand: 2 items are randomized response on which comes first.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import ClassVar

import numpy as np

from analysis.core.channels.table import Table
from analysis.core.domain import NO_ANSWER, Domain, Rankings
from analysis.core.encoders.several import Order
from analysis.core.epsilon import exp_lower
from analysis.core.randomizer import Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Mean, Mechanism, Params, spends
from analysis.mechanisms.decoded import decoded, everybody, share_means

#: A table of five items' orders would take over 100 KB in every page.
MOST_ITEMS = 4


class Permutations(Mechanism):
    """The best for three items at ε above 1.5, and for four above 2."""

    name: ClassVar[str] = "permutations"
    serves: ClassVar[tuple[type, ...]] = (Rankings,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and len(domain.mean_terms) <= MOST_ITEMS

    def compile(
        self, domain: Rankings, epsilon: Fraction, params: Params
    ) -> Randomizer[Order, Table]:
        encoder = Order(len(domain.items), factorial(len(domain.items)) + domain.no_answer)
        tables = [_table(len(domain.items), domain.no_answer, epsilon, r) for r in (0, 1)]
        best = min(tables, key=lambda table: _variance(table, len(domain.items)))
        return spends(Randomizer(encoder, best), epsilon)

    def means(self, randomizer: Randomizer[Order, Table], domain: Rankings) -> tuple[Mean, ...]:
        """Mean ranks, then the share of each pair's order, then that of no-answer."""
        flags = [tuple(map(Fraction, one)) for one in _orders(len(domain.items))]
        skipped = (Fraction(0),) * domain.no_answer
        others = len(domain.items) - 1
        ranks = []
        for item in domain.items:
            behind = [
                sum(
                    flag if second == item else 1 - flag
                    for flag, (first, second) in zip(order, domain.flags, strict=True)
                    if item in (first, second)
                )
                for order in flags
            ]
            ranks.append(tuple(Fraction(one) / others for one in behind) + skipped)
        pairs = [tuple(order[place] for order in flags) + skipped for place in range(len(flags[0]))]
        present = (Fraction(1),) * len(flags) + skipped
        absent = tuple(1 - there for there in present)
        squares = [tuple(place**2 for place in rank) for rank in ranks]
        targets = (*ranks, *squares, present, *pairs, *[absent] * domain.no_answer)
        found = decoded(randomizer.channel, targets)
        count = len(domain.items)
        all_there = everybody(randomizer.channel)
        there = found[2 * count] if domain.no_answer else all_there
        terms = domain.terms + (NO_ANSWER,) * domain.no_answer
        return (
            *(
                Mean(item, score, there, square, Fraction(1), Fraction(others))
                for item, score, square in zip(
                    domain.items, found, found[count : 2 * count], strict=False
                )
            ),
            *share_means(terms, found[2 * count + 1 :], all_there),
        )


@lru_cache
def _orders(items: int) -> tuple[tuple[int, ...], ...]:
    """The flags of every order, as encoder `order` numbers them."""
    encoder = Order(items, factorial(items))
    found: dict[int, tuple[int, ...]] = {}
    for order in permutations(range(items)):
        flags = tuple(
            int(order.index(first) < order.index(second))
            for first in range(items)
            for second in range(first + 1, items)
        )
        found[encoder.encode(flags, 0, iter(()))] = flags
    return tuple(found[place] for place in sorted(found))


def _table(items: int, no_answer: bool, epsilon: Fraction, radius: int) -> Table:
    orders = _orders(items)
    n, bound = len(orders), exp_lower(epsilon)
    near = [
        [sum(a != b for a, b in zip(one, other, strict=True)) <= radius for other in orders]
        for one in orders
    ]
    members = sum(near[0])
    inputs = n + no_answer
    low = int(WORD / (members * bound + inputs - members))
    # No-answer spreads over the orders what their neighbors get: so that it comes out whole.
    high = low + int(low * (bound - 1)) // n * n
    rows = [[high if one else low for one in row] + [low] * no_answer for row in near]
    if no_answer:
        rest = (members * high + (inputs - members) * low - high) // n
        rows.append([rest] * n + [high])
    return Table(inputs, tuple(map(tuple, rows)))


def _variance(table: Table, items: int) -> float:
    """Of the pairs' preferences, one report each, when all orders are equally frequent."""
    orders = np.array(_orders(items), dtype=float)
    weights = np.array(table.rows, dtype=float) / table.total
    target = np.vstack([orders, np.zeros((table.inputs - len(orders), orders.shape[1]))])
    if np.linalg.matrix_rank(weights) < table.inputs:
        return float("inf")
    scores = np.linalg.solve(weights, target)
    return float((weights[: len(orders)] @ scores**2).mean())
