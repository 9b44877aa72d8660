"""The base of all encoders."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from analysis.core.types import Apart, Array, Integers
from analysis.core.words import Block


class Encoder(ABC):
    """An encoder. Most give one symbol without a draw; each overrides what differs."""

    name: ClassVar[str]
    #: The domains whose values it takes.
    takes: ClassVar[tuple[type, ...]]
    #: True if it gives a tuple of positions of ones, rather than one symbol.
    gives_bits: ClassVar[bool] = False
    #: True if a device keeps one cohort for all waves, even without a memory.
    keeps_cohort: ClassVar[bool] = False
    #: True if the input is the value itself.
    is_identity: ClassVar[bool] = False
    #: True if its inputs are words of SHA-256, which take long to compute.
    is_hashed: ClassVar[bool] = False
    #: True if each report is about one part of the value, which its cohort names.
    picks_part: ClassVar[bool] = False
    #: The number of inputs of its channel, or of bits in one input.
    inputs: int

    @property
    def cohorts(self) -> int | None:
        """The number of cohorts; None if there are none. Each report names its cohort."""
        return None

    @property
    def apart(self) -> Apart:
        """The extreme numbers of ones by which two inputs of bits can differ, as (more, fewer).

        No input has more ones than the largest of these numbers.
        """
        return ()

    @property
    def ones(self) -> int | None:
        """The number of ones in every input of bits; None if inputs differ in that number."""
        return None

    @property
    def part_inputs(self) -> tuple[int, ...]:
        """The number of inputs of each part of a value's `Pattern`, in a draw of several questions.

        It is empty if values cannot be drawn together with other questions.
        """
        return ()

    @property
    def parts_told(self) -> int:
        """The number of parts of the value that a report is about; 1 if it is about the whole."""
        return 1

    @property
    def portion(self) -> Fraction:
        """The proportion of reports that are about the share of a whole value."""
        return Fraction(1)

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError unless its numbers make sense."""

    def fits(self, domain: Any) -> bool:
        """Return whether it maps each value of `domain`, and nothing else, to an input."""
        return isinstance(domain, self.takes) and self._has_room_for(domain)

    @abstractmethod
    def _has_room_for(self, domain: Any) -> bool:
        """Return whether its numbers are those of a domain that it takes."""

    @abstractmethod
    def encode(self, value: Any, cohort: int, words: Iterator[int]) -> Any:
        """Return the channel's input for `value`.

        Raise ValueError if there is no such value or cohort.
        """

    def chances(self, value: Any, cohort: int) -> list[tuple[Any, Fraction]]:
        """Return every input that `value` can become, with its probability; raise as `encode`."""
        return [(self.encode(value, cohort, iter(())), Fraction(1))]

    @abstractmethod
    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """Return the inputs for many values, with packed bits. Preconditions: all are values."""

    def states_of(self, value: Any) -> tuple[int, ...]:
        """Return the inputs of the parts of a `Pattern` for `value`; raise as `encode`.

        Preconditions: `part_inputs` is not empty.
        """
        return (self.encode(value, 0, iter(())),)

    def told_pattern(self, channel: Any) -> Any:
        """Return the `Pattern` of the flags that one report is about; None if it has none.

        The law is the same for all sets of flags that can be picked, in any order.
        """
        return None

    def encode_all(self, values: Sequence[Any]) -> Integers:
        """Return the (cohorts, values, hashes) inputs, or positions of ones, of some values.

        Preconditions: the encoder draws nothing, and gives the same number of ones for each value.
        """
        inputs = [
            [self.encode(value, cohort, iter(())) for value in values]
            for cohort in range(self.cohorts or 1)
        ]
        return np.array(inputs, dtype=np.int64).reshape(len(inputs), len(values), -1)
