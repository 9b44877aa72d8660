"""Channels: the one random step, and so the only thing that protects an answer.

A channel takes an input ``0 <= x < inputs``, or, if it takes bits, the places of the ones among
`inputs` of them, and gives a report. Its probabilities are integer weights over their sum, at most
2^32, so that a draw of one 32-bit word realizes them exactly. Each stands once here and once in
``client/channels.js``, tied by the vectors in ``tests/vectors/``.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.bits import Bits
from analysis.core.channels.shift import Shift
from analysis.core.channels.subset import Subset
from analysis.core.channels.table import Table
from analysis.core.channels.window import Window
from analysis.core.types import Apart, Array
from analysis.core.words import Block


class Channel(Protocol):
    """What every channel offers."""

    name: ClassVar[str]
    #: Whether an input is a tuple of places of ones, rather than one symbol.
    takes_bits: ClassVar[bool]
    #: Whether a report is one of a table's symbols: then it has `weights` and `chances` of them.
    gives_one_symbol: ClassVar[bool]

    @property
    def inputs(self) -> int:
        """How many different inputs there are, or how many bits one has."""

    @property
    def symbols(self) -> int:
        """How many symbols a tally of its reports has."""

    @property
    def can_be_kept(self) -> bool:
        """Whether a device can keep its draws, and pass them through another of its kind."""

    def check(self) -> None:
        """Raise ValueError unless the weights form a channel: whole, positive, sums in range."""

    def ratio(self, apart: Apart = ()) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs; e^ε exactly.

        `apart` is used if it takes bits: in how many ones two inputs can differ, either way.
        """

    def contrasts(self, apart: Apart = ()) -> Array | None:
        """The (pairs, reports, 2) chances of reports under two inputs, for all pairs that matter.

        One of these pairs, either way round, tells its inputs apart at least as well as any two
        inputs can be, whatever ratio of chances is asked for. Reports of an equal ratio may stand
        as one. A single pair is its own mirror image: it tells as much either way round. None where
        there are too many pairs to look at. `apart` is used as by `ratio`.
        """

    def randomize(self, symbol: Any, words: Iterator[int]) -> Any:
        """Draw a report for the input `symbol`."""

    def distribution(self, symbol: Any) -> Iterator[tuple[Any, Fraction]]:
        """Every report with its exact probability for the input `symbol`."""

    def moments(self, symbol: Any) -> tuple[Array, Array]:
        """How a report counts, given an input: (symbols,) mean and (symbols, symbols) E[c c']."""

    def bounds(self) -> tuple[Array, Array]:
        """(symbols,) least and largest chances, over all inputs, that a report counts for each."""

    def size_chances(self, ones: int) -> Array | None:
        """How likely a report is to count for 0, 1, 2, ... symbols, if the input has so many ones.

        None where every report counts for equally many.
        """

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        """Return a JSON Schema that every report of every such channel fits."""

    def check_report(self, report: Any, field: str) -> None:
        """Raise ReportError unless `report` is one that this channel can make."""

    def longest(self) -> Any:
        """The report that takes the most room as JSON."""

    def reports_in(self, counts: Array) -> int:
        """The number of reports behind the ``(symbols,)`` tally `counts`."""

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        """A report for each of many inputs, drawn as exactly; sets and bits packed, 64 a word.

        Inputs of a channel that takes bits are packed, too.
        """

    def read_many(self, sent: Sequence[Any]) -> Array:
        """Return reports that were sent in the packed form that `randomize_many` gives.

        All that reads reports reads them so. Preconditions: each passes `check_report`.
        """

    def count_many(self, reports: Array) -> Array:
        """The ``(symbols,)`` tally of what `randomize_many` or `read_many` gave."""

    def entries(self, reports: Array) -> tuple[Array, Array]:
        """Everything that some reports count for: the places of the reports, and the symbols."""

    def sizes_many(self, reports: Array) -> Array | None:
        """For how many symbols each report counts; None where all count for equally many."""

    def holds_many(self, reports: Array, symbols: Sequence[Any]) -> NDArray[np.bool_]:
        """(n, inputs) whether each report counts for each input; inputs of bits have a single 1."""

    def log_chances(self, reports: Array, symbols: Sequence[Any]) -> Array:
        """(n, inputs) natural logarithms of how likely each report is under each of `symbols`."""


#: Every channel by its name on the wire.
CHANNELS: dict[str, type[Channel]] = {
    channel.name: channel for channel in (Window, Subset, Bits, Shift, Table)
}
