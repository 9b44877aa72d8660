"""What every encoder offers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from analysis.core.types import Apart, Array, Integers
from analysis.core.words import Block


class Encoder(ABC):
    """An encoder; most give one symbol that is certain, and each overrides what differs."""

    name: ClassVar[str]
    #: The domains whose values it takes.
    takes: ClassVar[tuple[type, ...]]
    #: Whether it gives a tuple of places of ones, rather than one symbol.
    gives_bits: ClassVar[bool] = False
    #: Whether a device has one cohort for all waves, even without a memory.
    keeps_cohort: ClassVar[bool] = False
    #: Whether the input is the value itself.
    is_identity: ClassVar[bool] = False
    #: Whether its inputs are words of SHA-256, which take long to compute.
    is_hashed: ClassVar[bool] = False
    #: Whether each report is about one part of the value, that of its cohort.
    picks_part: ClassVar[bool] = False
    #: How many inputs the channel behind it must have, or how many bits one has.
    inputs: int

    @property
    def cohorts(self) -> int | None:
        """How many cohorts it has, of which each report names one; None if none."""
        return None

    @property
    def apart(self) -> Apart:
        """If it gives bits: in how many ones two inputs can differ, (more, fewer), the extremes.

        No input has more ones than the largest of these numbers.
        """
        return ()

    @property
    def portion(self) -> Fraction:
        """The part of all reports that can tell the share of a whole value."""
        return Fraction(1)

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError unless its numbers make sense."""

    def fits(self, domain: Any) -> bool:
        """Whether it maps each value of `domain`, and nothing else, to an input."""
        return isinstance(domain, self.takes) and self._has_room_for(domain)

    @abstractmethod
    def _has_room_for(self, domain: Any) -> bool:
        """Whether its numbers are those of a domain that it takes."""

    @abstractmethod
    def encode(self, value: Any, cohort: int, words: Iterator[int]) -> Any:
        """The channel's input for `value`.

        Raises
        ------
        ValueError
            If there is no such value or cohort.
        """

    def chances(self, value: Any, cohort: int) -> list[tuple[Any, Fraction]]:
        """Every input that `value` can become, with its probability above 0; raises as `encode`."""
        return [(self.encode(value, cohort, iter(())), Fraction(1))]

    @abstractmethod
    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        """The inputs for many values, as arrays; bits packed. Preconditions: all are values."""

    def encode_all(self, values: Sequence[Any]) -> Integers:
        """Return the (cohorts, values, hashes) inputs, or places of ones, of some values.

        Preconditions: it draws nothing, and gives equally many ones for each value.
        """
        found = [
            [self.encode(value, cohort, iter(())) for value in values]
            for cohort in range(self.cohorts or 1)
        ]
        return np.array(found, dtype=np.int64).reshape(len(found), len(values), -1)
