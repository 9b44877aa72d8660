"""Encoders of a value that is a position 0..k-1 in a list of categories."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from analysis.core.domain import Categories
from analysis.core.encoders.base import Encoder
from analysis.core.errors import whole
from analysis.core.packed import Packed, one_bit
from analysis.core.types import Apart, Array
from analysis.core.words import WORD, Block, parts


@dataclass(frozen=True)
class _OfEach(Encoder):
    """An encoder with an input, or a bit of one, for each category."""

    inputs: int

    takes: ClassVar[tuple[type, ...]] = (Categories,)

    def check(self) -> None:
        if self.inputs < 2:
            raise ValueError(f"{self.name}: inputs must be at least 2, got {self.inputs}")

    def _has_room_for(self, domain: Categories) -> bool:
        return len(domain.ids) == self.inputs


@dataclass(frozen=True)
class Index(_OfEach):
    """The value itself."""

    name: ClassVar[str] = "index"
    is_identity: ClassVar[bool] = True

    @property
    def part_inputs(self) -> tuple[int, ...]:
        return (self.inputs,)

    def encode(self, value: int, cohort: int, words: Iterator[int]) -> int:
        return whole("value", value, self.inputs)

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        return values


@dataclass(frozen=True)
class Onehot(_OfEach):
    """A bit for each category. The bit of the value is 1."""

    name: ClassVar[str] = "onehot"
    gives_bits: ClassVar[bool] = True
    apart: ClassVar[Apart] = ((1, 1),)

    def encode(self, value: int, cohort: int, words: Iterator[int]) -> tuple[int, ...]:
        return (whole("value", value, self.inputs),)

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Packed:
        return one_bit(values, self.inputs)


@dataclass(frozen=True)
class Hash(Encoder):
    """The sum of products of the value's and the cohort's digits, modulo the prime base `inputs`.

    This is the linear family: any two values have equal symbols in exactly 1/`inputs` of all
    ``inputs ** digits`` cohorts, and any value but 0 has each symbol equally often (Carter and
    Wegman, Journal of Computer and System Sciences 1979, section 3, without the additive term).
    """

    values: int
    digits: int
    inputs: int

    name: ClassVar[str] = "hash"
    takes: ClassVar[tuple[type, ...]] = (Categories,)

    @property
    def cohorts(self) -> int:
        """There is a cohort for each list of digits."""
        return int(self.inputs**self.digits)

    def check(self) -> None:
        if self.values < 2:
            raise ValueError(f"hash: values must be at least 2, got {self.values}")
        if self.inputs > 65536 or not is_prime(self.inputs):
            raise ValueError(f"hash: inputs must be a prime below 2^16, got {self.inputs}")
        if self.digits > 32 or not self.values <= self.cohorts <= WORD:
            raise ValueError(
                f"hash: inputs to the power of digits must be from values to 2^32, "
                f"got digits {self.digits}"
            )

    def _has_room_for(self, domain: Categories) -> bool:
        return len(domain.ids) == self.values

    def encode(self, value: int, cohort: int, words: Iterator[int]) -> int:
        left, factors = whole("value", value, self.values), whole("cohort", cohort, self.cohorts)
        symbol = 0
        for _ in range(self.digits):
            symbol += left % self.inputs * (factors % self.inputs)
            left, factors = left // self.inputs, factors // self.inputs
        return symbol % self.inputs

    def encode_many(self, values: Array, cohorts: Array, block: Block) -> Array:
        # Integers of 32 bits are divided twice as fast. They are used if the sum of products fits.
        dtype = np.uint32 if self.digits * self.inputs**2 < WORD else np.uint64
        symbols = np.empty(len(values), dtype=np.min_scalar_type(self.inputs - 1))
        for part in parts(len(values)):
            symbols[part] = self._hashed(values[part].astype(dtype), cohorts[part].astype(dtype))
        return symbols

    def _hashed(self, left: Array, factors: Array) -> Array:
        base, total = left.dtype.type(self.inputs), np.zeros_like(left)
        for _ in range(self.digits):
            # numpy divides fast by a single number, but takes remainders slowly.
            rest, others = left // base, factors // base
            total += (left - rest * base) * (factors - others * base)
            left, factors = rest, others
        return np.asarray(total - total // base * base)


def is_prime(number: int) -> bool:
    """Return whether a small number is a prime."""
    return number > 1 and all(number % part for part in range(2, int(number**0.5) + 1))
