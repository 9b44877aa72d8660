"""The domain of a ranking: all orders of some items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, ClassVar, Self

from analysis.core.domain.base import NO_ANSWER, MeanOf, Sides
from analysis.core.domain.sets import Flags, OfFlags

#: For more items, one order and its reverse stand for all orders: pairs have the same shares then.
_FEW_ITEMS = 4


@dataclass(frozen=True)
class Rankings(OfFlags):
    """The orders of some items; a value is a flag for each pair, set if it is in that order.

    None is no answer.
    """

    items: tuple[str, ...]
    no_answer: bool

    unasked: ClassVar[str] = "a ranking"
    symmetric: ClassVar[bool] = True
    #: The share of a pair at which variances are compared.
    usual_share: ClassVar[float] = 0.5

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """The pair of each flag. A set flag says that the first comes before the second."""
        return tuple(combinations(self.items, 2))

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of the shares of people who rank each pair in its order."""
        return tuple(f"{first}>{second}" for first, second in self.flags)

    @property
    def sensitivity(self) -> int:
        # All pairs change if the order is reversed, or if no answer replaces the order in which
        # every pair counts.
        return len(self.flags) + self.no_answer

    @property
    def mean_terms(self) -> tuple[str, ...]:
        return self.items

    def required(self) -> Self:
        return replace(self, no_answer=False)

    def value(self, order: Sequence[str]) -> Flags:
        """Return the flags of an order of all items."""
        places = {item: place for place, item in enumerate(order)}
        return tuple(int(places[first] < places[second]) for first, second in self.flags)

    def usual_values(self) -> list[Flags]:
        if len(self.items) > _FEW_ITEMS:
            return [self.value(self.items), self.value(self.items[::-1])]
        return [self.value(order) for order in permutations(self.items)]

    def mean_of(self, term: str) -> MeanOf | None:
        if term not in self.items:
            return None
        others = len(self.items) - 1

        def before(flags: Flags | None) -> Fraction | None:
            """Return the proportion of the other items that come before this one."""
            if flags is None:
                return None
            pairs = [pair for pair in zip(self.flags, flags, strict=True) if term in pair[0]]
            behind = sum(flag if pair[1] == term else 1 - flag for pair, flag in pairs)
            return Fraction(behind, others)

        return MeanOf(Fraction(1), Fraction(others), before)

    def label(self, term: str, labels: Mapping[str, str]) -> str:
        if term not in self.terms:
            return super().label(term, labels)
        first, second = (labels.get(item, item) for item in self._pair(term))
        return f"{first} before {second}"

    def people(self, term: str, quoted: Callable[[str], str]) -> tuple[str, str]:
        first, second = self._pair(term)
        return f"who put {quoted(first)} before {quoted(second)}", "who do not"

    def sent_as(self, term: str, quoted: Callable[[str], str], is_answer: bool) -> str:
        return "that they do not" if term == NO_ANSWER else "that order"

    def listed(
        self, labels: Mapping[str, str], quoted: Callable[[str], str]
    ) -> list[tuple[Any, str, str, str]]:
        orders = []
        for order in permutations(self.items):
            text = ", ".join(labels.get(item, item) for item in order)
            orders.append((self.value(order), "|".join(order), text, f"whose order is “{text}”"))
        return orders

    def sides(self, term: str, is_answer: bool) -> Sides:
        first, second = self._pair(term)
        return Sides("pair", "pairs", {"first": first, "second": second})

    def _pair(self, term: str) -> tuple[str, str]:
        return self.flags[self.terms.index(term)]
