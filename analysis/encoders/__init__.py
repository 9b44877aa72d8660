"""Encoders: the public step before a channel, from a value of a domain to one of its inputs.

An encoder protects nothing. Its counterpart in the browser is ``client/encoders.js``.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from analysis.domain import Domain
from analysis.encoders.categories import Hash, Index, Onehot
from analysis.encoders.grid import Grid
from analysis.encoders.several import Multihot, Order, Pick
from analysis.encoders.text import Bloom, Digest, Prefix
from analysis.words import Block


class Encoder(Protocol):
    """What every encoder offers."""

    name: ClassVar[str]
    #: Whether it gives a tuple of places of ones, rather than one symbol.
    gives_bits: ClassVar[bool]
    #: Whether a device has one cohort for all waves, even without a memory.
    keeps_cohort: ClassVar[bool]

    @property
    def inputs(self) -> int:
        """How many inputs the channel behind it must have, or how many bits one has."""

    @property
    def cohorts(self) -> int | None:
        """How many cohorts it has, of which each report names one; None if none."""

    @property
    def apart(self) -> tuple[tuple[int, int], ...]:
        """If it gives bits: in how many ones two inputs can differ, (more, fewer), the extremes.

        No input has more ones than the largest of these numbers.
        """

    def check(self) -> None:
        """Raise ValueError unless its numbers make sense."""

    def fits(self, domain: Domain) -> bool:
        """Whether it maps each value of `domain`, and nothing else, to an input."""

    def encode(self, value: Any, cohort: int, words: Iterator[int]) -> Any:
        """The channel's input for `value`.

        Raises
        ------
        ValueError
            If there is no such value or cohort.
        """

    def chances(self, value: Any, cohort: int) -> list[tuple[Any, Fraction]]:
        """Every input that `value` can become, with its probability above 0; raises as `encode`."""

    def encode_many(
        self, values: NDArray[Any], cohorts: NDArray[Any], block: Block
    ) -> NDArray[Any]:
        """The inputs for many values, as arrays; bits packed. Preconditions: all are values."""


#: Every encoder by its name on the wire.
ENCODERS: dict[str, type[Encoder]] = {
    encoder.name: encoder
    for encoder in (Index, Onehot, Hash, Grid, Multihot, Pick, Order, Digest, Bloom, Prefix)
}
