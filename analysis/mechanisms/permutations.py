"""A whole order, for few items: the true one and its neighbors are likelier than the others.

k-RR over all orders, or over balls of Kendall's distance 1 (an adjacent pair exchanged), whichever
tells the pairs' preferences with less variance: staircase columns, Kairouz, Oh and Viswanath, JMLR
2016. Channel: encoder `order`, `table` of two weights with the ratio e^ε.
By hand: 2 items are randomized response on which comes first.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations
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

#: A table of the orders of five items would take over 100 KB in every page.
MOST_ITEMS = 4


class Permutations(Mechanism):
    """A mechanism that is the best for three items at ε above 1.5, and for four above 2."""

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
        """Return mean ranks, then the share of each pair's order, then that of no-answer."""
        orders = _orders(len(domain.items))
        skipped = (Fraction(0),) * domain.no_answer
        absent = (Fraction(0),) * len(orders) + (Fraction(1),) * domain.no_answer
        ranks = [mean for item in domain.items if (mean := domain.mean_of(item))]
        places = [tuple(rank.place(order) or Fraction(0) for order in orders) for rank in ranks]
        targets = (
            *(row + skipped for row in places),
            *(tuple(place**2 for place in row) + skipped for row in places),
            tuple(1 - away for away in absent),
            *(tuple(map(Fraction, flags)) + skipped for flags in zip(*orders, strict=True)),
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


@lru_cache
def _orders(items: int) -> tuple[tuple[int, ...], ...]:
    """Return the flags of every order, as encoder `order` numbers them."""
    # By where each item is placed, permutations come in the order of their Lehmer codes.
    return tuple(
        tuple(int(first < second) for first, second in combinations(places, 2))
        for places in permutations(range(items))
    )


def _table(items: int, no_answer: bool, epsilon: Fraction, radius: int) -> Table:
    orders = _orders(items)
    n, bound = len(orders), exp_lower(epsilon)
    near = [
        [sum(a != b for a, b in zip(order, other, strict=True)) <= radius for other in orders]
        for order in orders
    ]
    members = sum(near[0])
    inputs = n + no_answer
    low = int(WORD / (members * bound + inputs - members))
    # The row of no-answer spreads evenly over the orders: `high` is such that this comes out whole.
    high = low + int(low * (bound - 1)) // n * n
    rows = [[high if is_near else low for is_near in row] + [low] * no_answer for row in near]
    if no_answer:
        rest = (members * high + (inputs - members) * low - high) // n
        rows.append([rest] * n + [high])
    return Table(inputs, tuple(map(tuple, rows)))


def _variance(table: Table, items: int) -> float:
    """Return the variance of the pairs' shares from one report, if all orders are as frequent."""
    orders = np.array(_orders(items), dtype=float)
    weights = np.array(table.rows, dtype=float) / table.total
    target = np.vstack([orders, np.zeros((table.inputs - len(orders), orders.shape[1]))])
    if np.linalg.matrix_rank(weights) < table.inputs:
        return float("inf")
    scores = np.linalg.solve(weights, target)
    return float((weights[: len(orders)] @ scores**2).mean())
