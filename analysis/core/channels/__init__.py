"""Channels: the one random step, and so the only thing that protects an answer.

A channel takes an input ``0 <= x < inputs``, or, if it takes bits, the places of the ones among
`inputs` bits, and gives a report. Its probabilities are integer weights over their sum, at most
2^32, so that a draw of one 32-bit word realizes them exactly. Each stands once here and once in
``client/channels.js``, tied by the vectors in ``tests/vectors/``.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.bits import Bits
from analysis.core.channels.overlap import Overlap
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.types import Apart, Array
from analysis.core.words import Block


class Channel(Protocol):
    """The attributes and methods that every channel has."""

    name: ClassVar[str]
    #: True if an input is a tuple of places of ones, rather than one symbol.
    takes_bits: ClassVar[bool]
    #: True if a report is one of a table's symbols: then the channel has `weights` and `chances`.
    gives_one_symbol: ClassVar[bool]

    @property
    def inputs(self) -> int:
        """The number of different inputs, or of bits in an input."""

    @property
    def ones(self) -> int | None:
        """The number of ones that each input of bits must have; None if any number is allowed."""

    @property
    def symbols(self) -> int:
        """The number of symbols in a tally of its reports."""

    @property
    def can_be_kept(self) -> bool:
        """Return whether a device can keep its draws, and pass them on through such a channel."""

    def check(self) -> None:
        """Raise ValueError unless the weights form a channel: whole, positive, sums in range."""

    def ratio(self, apart: Apart = ()) -> Fraction:
        """Return the largest ratio of the chances of one report under two inputs; exactly e^ε.

        `apart` is used if it takes bits: in how many ones two inputs can differ, either way.
        """

    def contrasts(self, apart: Apart = ()) -> Array | None:
        """Return (pairs, reports, 2) chances of reports under two inputs, for pairs that matter.

        One of these pairs, either way round, tells its inputs apart at least as well as any two
        inputs can be, whatever ratio of chances is asked for. Reports of an equal ratio may stand
        as one. A single pair is its own mirror image: it tells as much either way round. It is None
        where there are too many pairs to look at. `apart` is used as by `ratio`.
        """

    def randomize(self, symbol: Any, words: Iterator[int]) -> Any:
        """Return a report that is drawn for the input `symbol`."""

    def distribution(self, symbol: Any) -> Iterator[tuple[Any, Fraction]]:
        """Yield every report with its exact probability for the input `symbol`."""

    def moments(self, symbol: Any) -> tuple[Array, Array]:
        """Return how a report of an input counts: (symbols,) mean, (symbols, symbols) E[c c']."""

    def bounds(self) -> tuple[Array, Array]:
        """Return the (symbols,) least and largest chances that a report counts for each symbol."""

    def size_chances(self, ones: int) -> Array | None:
        """Return chances that a report counts for 0, 1, ... symbols if its input has so many ones.

        It is None where every report counts for equally many.
        """

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        """Return a JSON Schema that every report of every such channel fits."""

    def check_report(self, report: Any, field: str) -> None:
        """Raise ReportError unless `report` is one that this channel can make."""

    def longest(self) -> Any:
        """Return the report that takes the most room as JSON."""

    def reports_in(self, counts: Array) -> int:
        """Return the number of reports behind the ``(symbols,)`` tally `counts`."""

    def report_of(self, symbol: int) -> Any | None:
        """Return the only report, as it is sent, that counts for a symbol, and for no other.

        It is None where reports count for several symbols: then their tally does not say which
        reports came.
        """

    def is_tally(self, counts: Array) -> bool:
        """Return whether some reports have these ``(cohorts, symbols)`` counts, none below 0."""

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        """Return a report for each of many inputs, drawn as exactly as by `randomize`.

        Sets and bits are packed, 64 a word; so are the inputs of a channel that takes bits.
        """

    def read_many(self, sent: Sequence[Any]) -> Array:
        """Return reports that were sent in the packed form that `randomize_many` gives.

        Reports are read in no other way. Preconditions: each passes `check_report`.
        """

    def count_many(self, reports: Array) -> Array:
        """Return the ``(symbols,)`` tally of reports from `randomize_many` or `read_many`."""

    def entries(self, reports: Array) -> tuple[Array, Array]:
        """Return all that some reports count for: the rows of the reports, and the symbols."""

    def sizes_many(self, reports: Array) -> Array | None:
        """Return for how many symbols each report counts; None where it is the same for all."""

    def holds_many(self, reports: Array, symbols: Sequence[Any]) -> NDArray[np.bool_]:
        """Return (n, inputs) whether each report counts for each input; one of bits has one 1."""

    def log_chances(self, reports: Array, symbols: Sequence[Any]) -> Array:
        """Return (n, inputs) logarithms of how likely each report is under each of `symbols`."""


#: Every channel by its name on the wire.
CHANNELS: dict[str, type[Channel]] = {
    channel.name: channel for channel in (Window, Subset, Overlap, Bits, Shift, Table)
}
