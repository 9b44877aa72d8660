"""Encoders: the public step before a channel, from a value of a domain to one of its inputs.

An encoder protects nothing. Its counterpart in the browser is ``client/encoders.js``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from analysis.domain import Categories, Domain, Numbers
from analysis.words import bernoulli


class Encoder(Protocol):
    """What every encoder offers."""

    name: ClassVar[str]

    @property
    def inputs(self) -> int:
        """How many inputs the channel behind it must have."""

    def check(self) -> None:
        """Raise ValueError unless its numbers make sense."""

    def fits(self, domain: Domain) -> bool:
        """Whether it maps each value of `domain`, and nothing else, to an input."""

    def encode(self, value: Any, words: Iterator[int]) -> int:
        """The channel's input for `value`."""


@dataclass(frozen=True)
class Index:
    """The value itself: the place 0..inputs-1 of an answer in its domain."""

    inputs: int

    name: ClassVar[str] = "index"

    def check(self) -> None:
        if self.inputs < 2:
            raise ValueError("index: inputs must be at least 2")

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Categories) and len(domain.ids) == self.inputs

    def encode(self, value: int, words: Iterator[int]) -> int:
        return value


@dataclass(frozen=True)
class Grid:
    """A number to one of the `steps` + 1 points of a grid, by unbiased stochastic rounding.

    The value is the number's place in its range, a fraction of 0..1, or None for no-answer, which
    becomes the last input. It is there only if ``inputs > steps + 1``; the inputs between are never
    used, so that the window of no-answer overlaps with that of no number.
    """

    steps: int
    inputs: int

    name: ClassVar[str] = "grid"

    def check(self) -> None:
        if not 1 <= self.steps < self.inputs:
            raise ValueError("grid: steps must be in 1..inputs-1")

    def fits(self, domain: Domain) -> bool:
        skips = self.inputs > self.steps + 1
        return isinstance(domain, Numbers) and skips == domain.no_answer

    def encode(self, value: Fraction | None, words: Iterator[int]) -> int:
        if value is None:
            return self.inputs - 1
        point, rest = divmod(value * self.steps, 1)
        return int(point) + bernoulli(rest, words)


#: Every encoder by its name on the wire.
ENCODERS: dict[str, type[Encoder]] = {encoder.name: encoder for encoder in (Index, Grid)}
