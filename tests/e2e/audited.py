"""Randomizers for an audit: small ones, and ones at every ε with every encoder."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from analysis.core.domain import Categories, Domain, Numbers, Rankings, Sets
from analysis.core.randomizer import Randomizer
from analysis.mechanisms import MECHANISMS
from analysis.mechanisms.noise import Noise


@dataclass(frozen=True)
class Case:
    """A randomizer, and values of its domain as the device gets them."""

    mechanism: str
    domain: Domain
    epsilon: str
    params: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def randomizer(self) -> Randomizer[Any, Any]:
        """Return the randomizer as the survey states it."""
        return self.spending(Fraction(self.epsilon))

    def spending(self, epsilon: Fraction) -> Randomizer[Any, Any]:
        """Return the same at another ε."""
        mechanism = MECHANISMS[self.mechanism]
        if isinstance(mechanism, Noise) and isinstance(self.domain, Numbers):
            # The grid of least variance is so coarse that little of it would be tested.
            return mechanism.noise(self.domain.steps, epsilon, self.params)
        return mechanism.compile(self.domain, epsilon, self.params)

    @cached_property
    def values(self) -> list[Any]:
        """Return all values.

        For numbers, the points of the grid. None is no answer, if there is one.
        """
        domain, found = self.domain, list[Any]()
        if isinstance(domain, Categories):
            return list(range(len(domain.ids)))
        if isinstance(domain, Numbers):
            steps = self.randomizer.encoder.steps
            found = [f"{point}/{steps}" for point in range(steps + 1)]
        elif isinstance(domain, Sets):
            places = range(len(domain.options))
            ticked = [*combinations(places, 1), *combinations(places, 2)]
            sets = [one for one in ticked if len(one) <= domain.at_most]
            found = [[int(place in one) for place in places] + [0] for one in sets]
            found.append([0] * len(places) + [1])
        else:
            assert isinstance(domain, Rankings)
            places = range(len(domain.items))
            found = [
                [int(order.index(a) < order.index(b)) for a, b in combinations(places, 2)]
                for order in permutations(places)
            ]
        return found + [None] * domain.no_answer


def names(count: int) -> tuple[str, ...]:
    return tuple(f"v{value}" for value in range(count))


def categories(k: int) -> Categories:
    return Categories(names(k))


def numbers(steps: int, no_answer: bool = False) -> Numbers:
    return Numbers(Fraction(0), Fraction(8), steps, no_answer)


SCALE = Categories(names(5), tuple(map(Fraction, range(5))))
#: Coarse enough that every single report occurs often.
SMALL = {
    "krr": Case("krr", categories(3), "1"),
    "square-wave": Case("square-wave", numbers(8, no_answer=True), "2"),
    "hadamard": Case("hadamard", categories(4), "1"),
    "pick": Case("pick", Sets(names(3), 2, True), "1"),
    "subset": Case("subset", categories(6), "1/2"),
    "sue": Case("sue", categories(3), "1"),
    "multihot": Case("multihot", Sets(names(3), 2, False), "1"),
    "laplace": Case("laplace", numbers(4), "2"),
    "gaussian": Case("gaussian", numbers(3), "2", {"delta": 0.01}),
    "exponential": Case("exponential", SCALE, "2"),
    "optimal": Case("optimal", numbers(2, no_answer=True), "1"),
    "permutations": Case("permutations", Rankings(names(3), True), "2"),
    "privset": Case("privset", Sets(names(3), 2, True), "1"),
    "group": Case("group", Sets(names(3), 3, True), "1"),
    "suborder": Case("suborder", Rankings(names(4), False), "2"),
}
#: Every channel at every ε, and every encoder.
GAMES = {
    "krr of 2": Case("krr", categories(2), "1/2"),
    "krr of 100": Case("krr", categories(100), "1"),
    "square-wave": Case("square-wave", numbers(40, no_answer=True), "2"),
    "hashed-krr": Case("hashed-krr", categories(100), "2"),
    "pick of options": Case("pick", Sets(names(5), 2, False), "1"),
    "subset of 5": Case("subset", categories(5), "1/2"),
    "subset of 8": Case("subset", categories(8), "1"),
    "subset of 50": Case("subset", categories(50), "2"),
    "sue": Case("sue", categories(3), "1/2"),
    "multihot": Case("multihot", Sets(names(4), 2, False), "1"),
    "oue": Case("oue", categories(8), "2"),
    "laplace on a fine grid": Case("laplace", numbers(12), "1/2"),
    "gaussian": Case("gaussian", numbers(8), "1"),
    "laplace": Case("laplace", numbers(4), "2"),
    "exponential": Case("exponential", SCALE, "1/2"),
    "permutations": Case("permutations", Rankings(names(3), False), "1"),
    "privset of 4": Case("privset", Sets(names(4), 2, False), "1/2"),
    "privset of 5": Case("privset", Sets(names(5), 2, True), "1"),
    "privset of 6": Case("privset", Sets(names(6), 2, False), "2"),
    "group": Case("group", Sets(names(3), 2, False), "2"),
    "suborder": Case("suborder", Rankings(names(4), False), "2"),
    "optimal": Case("optimal", numbers(20, no_answer=True), "2"),
}
