"""Encoders of a value that consists of several yes-or-no flags; None is no-answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from analysis.core.channels.bits import Bits
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.window import Window
from analysis.core.domain import Rankings, Sets
from analysis.core.domain.sets import Flags
from analysis.core.encoders.base import Encoder
from analysis.core.errors import shown, whole
from analysis.core.packed import Packed, pack
from analysis.core.types import Apart, Array, Floats, Integers
from analysis.core.words import Block

#: The most bits in which values may differ. With more, a ratio could have more than 4,000 digits,
#: which are the most that are read.
_FURTHEST = 400


@dataclass(frozen=True)
class Multihot(Encoder):
    """A bit for each option, one for "none of these" and, if it is possible, one for no-answer.

    The value has a flag for each option and for "none", which is set if no option's flag is. At
    most `at_most` options are set, so that two inputs differ by at most that many ones either way.
    """

    options: int
    at_most: int
    inputs: int

    name: ClassVar[str] = "multihot"
    takes: ClassVar[tuple[type, ...]] = (Sets,)
    gives_bits: ClassVar[bool] = True

    @property
    def apart(self) -> Apart:
        # Both pairs are of a largest set and another that overlaps with it no more than it must, in
        # either order. "None" and no-answer are sets of one bit that overlap with no other. If
        # there is no room for two disjoint largest sets, other pairs lie on the line between these
        # two, where the logarithm is linear.
        other = max(1, min(self.at_most, self.options - self.at_most))
        return (self.at_most, other), (other, self.at_most)

    def check(self) -> None:
        if self.at_most > self.options:
            raise ValueError(f"multihot: at_most must be at most options, got {self.at_most}")
        if sum(self.apart[0]) > _FURTHEST:
            raise ValueError(
                f"multihot: values must differ in at most {_FURTHEST} bits, "
                f"got {sum(self.apart[0])}"
            )
        if self.inputs - self.options not in (1, 2):
            raise ValueError(
                f"multihot: inputs must be one or two more than options, got {self.inputs}"
            )

    def _has_room_for(self, domain: Sets) -> bool:
        return (
            len(domain.options) == self.options
            and domain.at_most == self.at_most
            and self.inputs == self.options + 1 + domain.no_answer
        )

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> tuple[int, ...]:
        if value is None and self.inputs == self.options + 2:
            return (self.options + 1,)
        return _ticked(value, self.options, self.at_most)

    @property
    def part_inputs(self) -> tuple[int, ...]:
        return (2,) * self.inputs

    def states_of(self, value: Flags | None) -> tuple[int, ...]:
        ones = self.encode(value, 0, iter(()))
        return tuple(int(place in ones) for place in range(self.inputs))

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Packed:
        """Return packed bits. Values are rows of flags, or rows of -1 for no answer."""
        flags = np.zeros((len(values), self.inputs), dtype=np.uint8)
        flags[:, : self.options + 1] = values == 1
        if self.inputs == self.options + 2:
            flags[:, -1] = values[:, 0] < 0
        return pack(flags)

    def told_of_option(
        self, option: int, channel: Bits, cohorts: Array, drawn: Packed
    ) -> tuple[Integers, Floats]:
        """Return what reports say about one option, by its bit and the bit of no-answer.

        Returns
        -------
        tuple
            The (n,) kinds of the reports, and the (kinds, values) probabilities of each kind. The
            values are: the option is ticked, it is not ticked and, if possible, no answer.
        """
        skips = self.inputs == self.options + 2
        one, zero = float(channel.p), float(channel.q)
        bit = np.array([one, zero, zero][: 2 + skips])
        chances = np.array([bit, 1 - bit])
        if skips:
            skipped = np.array([zero, zero, one])
            chances = np.vstack([chances * skipped, chances * (1 - skipped)])
        ticked, no_answer = channel.holds_many(drawn, ((option,), (self.inputs - 1,))).T
        return 1 - ticked.astype(np.int64) + 2 * (skips & ~no_answer), chances


@dataclass(frozen=True)
class Pick(Encoder):
    """The flag that the cohort picks from the value's: 0 if set, 1 if not, 2 for no-answer."""

    parts: int
    inputs: int

    name: ClassVar[str] = "pick"
    takes: ClassVar[tuple[type, ...]] = (Sets, Rankings)
    picks_part: ClassVar[bool] = True

    @property
    def cohorts(self) -> int:
        """There is a cohort for each flag."""
        return self.parts

    def check(self) -> None:
        if self.inputs not in (2, 3):
            raise ValueError(f"pick: inputs must be 2 or 3, got {self.inputs}")

    def _has_room_for(self, domain: Sets | Rankings) -> bool:
        return len(domain.flags) == self.parts and self.inputs == 2 + domain.no_answer

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> int:
        whole("cohort", cohort, self.parts)
        if value is None and self.inputs == 3:
            return 2
        return 1 - flags_of(value, self.parts)[cohort]

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return symbols; values are rows of flags, of -1 for no answer."""
        return np.asarray(1 - values[np.arange(len(values)), cohorts], dtype=np.int64)

    def told_of_option(
        self, option: int, channel: Window, cohorts: Array, drawn: Array
    ) -> tuple[Integers, Floats]:
        """Return what reports say about one option, as `Multihot` does, if it was picked."""
        told = channel.chances().T / self.parts
        # The last kind is that of reports about another option, which no value makes likelier.
        chances = np.vstack([told, np.full(channel.inputs, 1 - 1 / self.parts)])
        return np.where(cohorts == option, drawn.astype(np.int64), len(told)), chances


@dataclass(frozen=True)
class Padded(Encoder):
    """The positions of exactly `at_most` ones: those of the set flags, filled up with pads.

    There are positions for the options, for "none of these", for no-answer if it is possible, and
    for ``at_most - 1`` pads, of which the first ones are taken. "None of these" and no-answer each
    count as one option.
    """

    options: int
    at_most: int
    inputs: int

    name: ClassVar[str] = "padded"
    takes: ClassVar[tuple[type, ...]] = (Sets,)
    gives_bits: ClassVar[bool] = True

    @property
    def ones(self) -> int:
        return self.at_most

    @property
    def apart(self) -> Apart:
        return ((self.at_most, self.at_most),)

    def check(self) -> None:
        if self.at_most > self.options:
            raise ValueError(f"padded: at_most must be at most options, got {self.at_most}")
        if self.inputs - self.options - self.at_most not in (0, 1):
            raise ValueError(
                "padded: inputs must be as many as options and at_most, or one more, "
                f"got {self.inputs}"
            )

    @property
    def _skips(self) -> int:
        """1 if no-answer is possible, 0 otherwise. Its position is before the pads."""
        return self.inputs - self.options - self.at_most

    def _has_room_for(self, domain: Sets) -> bool:
        return (
            len(domain.options) == self.options
            and domain.at_most == self.at_most
            and self._skips == domain.no_answer
        )

    def encode(self, value: Flags | None, cohort: int, words: Iterator[int]) -> tuple[int, ...]:
        ticked: tuple[int, ...] = (self.options + 1,)
        if value is not None or not self._skips:
            ticked = _ticked(value, self.options, self.at_most)
        first = self.options + 1 + self._skips
        return (*ticked, *range(first, first + self.at_most - len(ticked)))

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Packed:
        """Return packed bits. Values are rows of flags, or rows of -1 for no answer."""
        flags = np.zeros((len(values), self.inputs), dtype=np.uint8)
        flags[:, : self.options + 1] = values == 1
        if self._skips:
            flags[:, self.options + 1] = values[:, 0] < 0
        first = self.options + 1 + self._skips
        missing = self.at_most - flags.sum(axis=1, dtype=np.int64)
        flags[:, first:] = np.arange(self.at_most - 1) < missing[:, None]
        return pack(flags)

    def told_of_option(
        self, option: int, channel: Overlap, cohorts: Array, drawn: Packed
    ) -> tuple[Integers, Floats]:
        """Return what reports say about one option, as `Multihot` does, by it and no-answer."""
        if not self._skips:
            held = np.array([float(channel.p), float(channel.q)])
            kinds = 1 - channel.holds_many(drawn, ((option,),))[:, 0].astype(np.int64)
            return kinds, np.array([held, 1 - held])
        # Under no answer, the input has the position of no-answer, and not that of the option.
        owned = (True, False), (False, False), (False, True)
        tables = [channel.chance_of_two(*own) for own in owned]
        both = channel.holds_many(drawn, ((option,), (self.options + 1,)))
        return 2 * ~both[:, 0] + ~both[:, 1], np.array([table.ravel() for table in tables]).T


def _ticked(value: Any, options: int, at_most: int) -> tuple[int, ...]:
    """Return the positions of a value's ones; raise ValueError unless it is a set of options."""
    flags = flags_of(value, options + 1)
    if not 1 <= sum(flags) <= at_most or (flags[-1] and sum(flags) > 1):
        raise ValueError(
            f'value must have 1 to {at_most} flags set, or only that of "none", '
            f"got {shown(list(flags))}"
        )
    return tuple(place for place, flag in enumerate(flags) if flag)


def flags_of(value: Any, number: int) -> Flags:
    """Return `value`; raise ValueError unless it consists of this number of flags."""
    if (
        not isinstance(value, tuple)
        or len(value) != number
        or any(type(flag) is not int or flag not in (0, 1) for flag in value)
    ):
        got = list(value) if isinstance(value, tuple) else value
        raise ValueError(f"value must be {number} flags of 0 or 1, got {shown(got)}")
    return value
