"""Encoders of several parts of a value as one number: of some flags, or of some items' order."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import comb, factorial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.pattern import Pattern
from analysis.core.channels.window import Window
from analysis.core.domain import Rankings, Sets
from analysis.core.domain.sets import Flags
from analysis.core.encoders.base import Encoder
from analysis.core.encoders.several import flags_of
from analysis.core.errors import shown, whole
from analysis.core.types import Array, Floats, Integers
from analysis.core.words import Block

#: The most flags and the most items in one report. They have 256 and 120 patterns.
MOST_FLAGS, MOST_RANKED = 8, 5
#: A tally of this many cells takes 2 MB.
MOST_CELLS = 2**18


class SomeParts(Encoder):
    """Several of a value's parts together, as one number. The cohort says which parts.

    The cohorts are all sets of `picked` of `count` parts, in the order of `itertools.combinations`.
    """

    picks_part: ClassVar[bool] = True
    #: The number of parts that a report is about.
    picked: int

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of parts that a cohort picks from."""

    @property
    @abstractmethod
    def flags_told(self) -> int:
        """The number of flags that reports can be about, which are the first of the value."""

    @property
    @abstractmethod
    def portion_told(self) -> Fraction:
        """The proportion of reports that are about a given flag."""

    @property
    @abstractmethod
    def members(self) -> Integers:
        """(cohorts, m) the flags that each cohort reports on."""

    @property
    @abstractmethod
    def patterns(self) -> Integers:
        """(numbers, m) the flags that each number states about its cohort, except no-answer's."""

    @property
    def cohorts(self) -> int:
        """There is a cohort for each set of parts."""
        return comb(self.count, self.picked)

    @property
    def parts_told(self) -> int:
        return self.picked

    def _chosen(self, cohort: int) -> tuple[int, ...]:
        """Return the parts that a cohort picks; raise ValueError if there is no such cohort."""
        return chosen_at(whole("cohort", cohort, self.cohorts), self.count, self.picked)

    def _check_inputs(self, patterns: int) -> None:
        """Raise ValueError unless there is an input for each pattern, perhaps one more, and few."""
        if self.inputs - patterns not in (0, 1):
            raise ValueError(
                f"{self.name}: inputs must be {patterns} or one more, got {self.inputs}"
            )
        if self.cohorts * self.inputs > MOST_CELLS:
            raise ValueError(
                f"{self.name}: cohorts times inputs must be at most {MOST_CELLS}, got "
                f"{self.cohorts} * {self.inputs}"
            )


@dataclass(frozen=True)
class Group(SomeParts):
    """Several of the value's flags as a binary number, lowest digit first; or no-answer.

    If all parts are picked, they are the flags of the options alone, and "none of these" is 0.
    """

    parts: int
    picked: int
    inputs: int

    name: ClassVar[str] = "group"
    takes: ClassVar[tuple[type, ...]] = (Sets,)

    @property
    def count(self) -> int:
        return self.parts

    def check(self) -> None:
        if not 2 <= self.picked <= min(self.parts, MOST_FLAGS):
            raise ValueError(
                f"group: picked must be from 2 to parts, at most {MOST_FLAGS}, got {self.picked}"
            )
        self._check_inputs(2**self.picked)

    @cached_property
    def members(self) -> Integers:
        return np.array(list(combinations(range(self.parts), self.picked)))

    @property
    def flags_told(self) -> int:
        return self.parts

    @property
    def portion_told(self) -> Fraction:
        return Fraction(self.picked, self.parts)

    @property
    def patterns(self) -> Integers:
        return np.arange(2**self.picked)[:, None] >> np.arange(self.picked) & 1

    @property
    def _flags(self) -> int:
        return self.parts + (self.picked == self.parts)

    def _has_room_for(self, domain: Sets) -> bool:
        return len(domain.flags) == self._flags and self.inputs == 2**self.picked + domain.no_answer

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> int:
        chosen = self._chosen(cohort)
        if value is None and self.inputs > 2**self.picked:
            return self.inputs - 1
        flags = flags_of(value, self._flags)
        return sum(flags[part] << place for place, part in enumerate(chosen))

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return symbols. Values are rows of flags, or rows of -1 for no answer."""
        told = np.take_along_axis(values, self.members[cohorts], axis=1).astype(np.int64)
        return np.where(told[:, 0] < 0, self.inputs - 1, told @ (1 << np.arange(self.picked)))

    def told_pattern(self, channel: Window) -> Pattern | None:
        """Return the law of the picked flags as a `Pattern`; None if no-answer is possible.

        The true number is likelier, and all others are equally likely. So the weight of m flags
        that do not agree is the weight of one number times how many numbers have m such flags.
        """
        if self.inputs > 2**self.picked:
            return None
        ways = [comb(self.picked, number) for number in range(1, self.picked + 1)]
        weights = (channel.near, *(channel.far * number for number in ways))
        return Pattern((2,) * self.picked, (1,) * self.picked, weights)

    def tells_many(self, options: Sequence[int], cohorts: Array) -> NDArray[np.bool_]:
        """Return (n,) whether reports of these cohorts are about all these flags."""
        told = [(self.members == option).any(axis=1) for option in options]
        return np.asarray(np.all(told, axis=0)[cohorts])

    def flag_many(self, option: int, cohorts: Array, drawn: Array) -> Integers:
        """Return (n,) the value of a flag of their cohort that each report states."""
        place = np.argmax(self.members == option, axis=1)
        return np.asarray(drawn.astype(np.int64) >> place[cohorts] & 1)

    def told_of_option(
        self, option: int, channel: Window, cohorts: Array, drawn: Array
    ) -> tuple[Integers, Floats]:
        """Return what reports say about one option, as `Pick` does, if it is among those picked."""
        place = np.argmax(self.members == option, axis=1)
        is_told = (self.members == option).any(axis=1)
        ticked, others, portion = 1, 0, float(self.portion_told)
        flags = np.arange(self.inputs) & 1
        if option == self.parts:
            # If reports are about all options, one number stands for "none of these".
            is_told, ticked, others, portion = ~is_told, 0, 1, 1.0
            flags = np.arange(self.inputs) == 0
        kinds, inputs = 1 - flags.astype(np.int64), [ticked, others]
        if self.inputs > 2**self.picked:
            kinds[-1], inputs = 2, [*inputs, self.inputs - 1]
        law = channel.chances()[inputs]
        chances = np.array([law[:, kinds == kind].sum(axis=1) for kind in np.unique(kinds)])
        if option < self.parts:
            numbers = np.where(drawn < 2**self.picked, drawn >> place[cohorts], drawn)
            told = np.where(drawn < 2**self.picked, 1 - (numbers & 1), 2)
        else:
            told = kinds[drawn]
        # The last kind is that of reports that are not about the option.
        chances = np.vstack([portion * chances, np.full(len(inputs), 1 - portion)])
        return np.where(is_told[cohorts], told, len(chances) - 1).astype(np.int64), chances


@dataclass(frozen=True)
class Suborder(SomeParts):
    """The order of some of the items, as its position among all their orders, as in `Order`."""

    items: int
    picked: int
    inputs: int

    name: ClassVar[str] = "suborder"
    takes: ClassVar[tuple[type, ...]] = (Rankings,)

    @property
    def count(self) -> int:
        return self.items

    def check(self) -> None:
        if not 3 <= self.picked <= min(self.items - 1, MOST_RANKED):
            raise ValueError(
                f"suborder: picked must be from 3 to items - 1, at most {MOST_RANKED}, "
                f"got {self.picked}"
            )
        self._check_inputs(factorial(self.picked))

    @property
    def _own(self) -> "Order":
        return Order(self.picked, self.inputs)

    @cached_property
    def members(self) -> Integers:
        pairs = {pair: place for place, pair in enumerate(combinations(range(self.items), 2))}
        chosen = combinations(range(self.items), self.picked)
        return np.array([[pairs[pair] for pair in combinations(some, 2)] for some in chosen])

    @property
    def flags_told(self) -> int:
        return comb(self.items, 2)

    @property
    def portion_told(self) -> Fraction:
        return Fraction(comb(self.picked, 2), self.flags_told)

    @property
    def patterns(self) -> Integers:
        return np.array(orders(self.picked))

    def _has_room_for(self, domain: Rankings) -> bool:
        return (
            len(domain.items) == self.items
            and self.inputs == factorial(self.picked) + domain.no_answer
        )

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> int:
        chosen = self._chosen(cohort)
        if value is not None:
            flags = flags_of(value, self.flags_told)
            pairs = zip(combinations(range(self.items), 2), flags, strict=True)
            value = tuple(flag for pair, flag in pairs if set(pair) <= set(chosen))
        return self._own.encode(value, 0, words)

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return positions of orders. Values are rows of flags, or rows of -1 for no answer."""
        told = np.take_along_axis(values, self.members[cohorts], axis=1)
        return self._own.encode_many(told, cohorts, block)


@dataclass(frozen=True)
class Order(Encoder):
    """An order of `items`, told by a flag for each pair, to its place among all orders.

    Pairs stand as (0,1), (0,2), ..., (1,2), ...; a flag is set if the first comes before the
    second. The place is the Lehmer code, read as a number (Knuth, The Art of Computer Programming,
    volume 3, 5.1.1): how many later items come before each, in the base of factorials.
    """

    items: int
    inputs: int

    name: ClassVar[str] = "order"
    takes: ClassVar[tuple[type, ...]] = (Rankings,)

    def check(self) -> None:
        if not 2 <= self.items <= 8:
            raise ValueError(f"order: items must be 2 to 8, got {self.items}")
        if self.inputs - factorial(self.items) not in (0, 1):
            raise ValueError(
                f"order: inputs must be as many as orders, or one more, got {self.inputs}"
            )

    def _has_room_for(self, domain: Rankings) -> bool:
        return (
            len(domain.items) == self.items
            and self.inputs == factorial(self.items) + domain.no_answer
        )

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> int:
        if value is None and self.inputs > factorial(self.items):
            return self.inputs - 1
        left = list(flags_of(value, self.items * (self.items - 1) // 2))
        before = [0] * self.items
        for flag, pair in zip(left, combinations(range(self.items), 2), strict=True):
            before[pair[flag]] += 1
        if sorted(before) != list(range(self.items)):
            raise ValueError(f"value must be the flags of an order, got {shown(left)}")
        place = 0
        for item in range(self.items - 1):
            later = self.items - 1 - item
            place += (later - sum(left[:later])) * factorial(later)
            left = left[later:]
        return place

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return positions of orders. Values are rows of flags, or rows of -1 for no answer."""
        places, start = np.zeros(len(values), dtype=np.int64), 0
        for later in range(self.items - 1, 0, -1):
            before = values[:, start : start + later].sum(axis=1)
            places += (later - before) * factorial(later)
            start += later
        return np.where(values[:, 0] < 0, self.inputs - 1, places)


@lru_cache
def orders(items: int) -> tuple[Flags, ...]:
    """Return the flags of every order, as encoder `order` numbers them."""
    # By where each item is placed, permutations come in the order of their Lehmer codes.
    return tuple(
        tuple(int(first < second) for first, second in combinations(places, 2))
        for places in permutations(range(items))
    )


def chosen_at(place: int, count: int, size: int) -> tuple[int, ...]:
    """Return which `size` of ``0..count-1`` stand at a place of `itertools.combinations`."""
    chosen: list[int] = []
    for member in range(count):
        if len(chosen) == size:
            break
        beginning = comb(count - 1 - member, size - 1 - len(chosen))
        if place < beginning:
            chosen.append(member)
        else:
            place -= beginning
    return tuple(chosen)
