"""Channels: the one random step, which alone protects an answer.

A channel takes an input ``0 <= x < inputs`` or, if it takes bits, the positions of the ones among
`inputs` bits, and gives a report. Its probabilities are integer weights over their sum, at most
2^32, so that a draw of one 32-bit word realizes them exactly. Each channel is written once here and
once in ``client/channels.js``; the vectors in ``tests/vectors/`` check that both agree.
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
    #: True if an input is a tuple of positions of ones, rather than one symbol.
    takes_bits: ClassVar[bool]
    #: True if a report is one symbol of a table. Then the channel has `weights` and `chances`.
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
        """Return whether a device can keep its draws and pass them through another such channel."""

    def check(self) -> None:
        """Raise ValueError unless the weights form a channel: whole, positive, sums in range."""

    def ratio(self, apart: Apart = ()) -> Fraction:
        """Return e^ε: the largest ratio of a report's probabilities under two inputs, exactly.

        `apart` says in how many ones two inputs can differ, either way. Only channels that take
        bits use it.
        """

    def contrasts(self, apart: Apart = ()) -> Array | None:
        """Return (pairs, reports, 2) probabilities of reports under the two inputs of some pairs.

        They may be weights instead: whole numbers, with one sum for all inputs.

        Whatever ratio of probabilities is asked for, one of these pairs, in one of its two orders,
        is at least as easy to distinguish as any other pair of inputs. Reports of an equal ratio
        may be merged into one. If there is only one pair, both of its orders are equally easy to
        distinguish. The result is None if there are too many pairs to look at. `apart` is used as
        by `ratio`.
        """

    def randomize(self, symbol: Any, words: Iterator[int]) -> Any:
        """Return a report that is drawn for the input `symbol`."""

    def distribution(self, symbol: Any) -> Iterator[tuple[Any, Fraction]]:
        """Yield every report with its exact probability for the input `symbol`."""

    def moments(self, symbol: Any) -> tuple[Array, Array]:
        """Return moments of a report's counts c: (symbols,) E[c] and (symbols, symbols) E[c c']."""

    def bounds(self) -> tuple[Array, Array]:
        """Return (symbols,) least and largest probabilities that a report counts for a symbol."""

    def size_chances(self, ones: int) -> Array | None:
        """Return the probabilities that a report counts for 0, 1, ... symbols.

        `ones` is the number of ones of its input. The result is None if every report counts for the
        same number of symbols.
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
        """Return the report, as it is sent, that counts for this symbol and for no other.

        The result is None if reports count for several symbols, since then a tally does not say
        which reports came.
        """

    def is_tally(self, counts: Array) -> bool:
        """Return whether reports can have these ``(cohorts, symbols)`` counts, none below 0."""

    def randomize_many(self, symbols: Array, block: Block) -> Array:
        """Return a report for each of many inputs, drawn from exactly the law of `randomize`.

        Sets and bits are packed, 64 in a word. So are the inputs of a channel that takes bits.
        """

    def read_many(self, sent: Sequence[Any]) -> Array:
        """Return reports that were sent, in the packed form that `randomize_many` gives.

        This is the only reader of reports. Preconditions: each passes `check_report`.
        """

    def count_many(self, reports: Array) -> Array:
        """Return the ``(symbols,)`` tally of reports from `randomize_many` or `read_many`."""

    def entries(self, reports: Array) -> tuple[Array, Array]:
        """Return all pairs of a report and a symbol that it counts for: rows, and symbols."""

    def sizes_many(self, reports: Array) -> Array | None:
        """Return the number of symbols that each report counts for; None if all have the same."""

    def holds_many(self, reports: Array, symbols: Sequence[Any]) -> NDArray[np.bool_]:
        """Return (n, inputs) whether each report counts for each input; one of bits has one 1."""

    def log_chances(self, reports: Array, symbols: Sequence[Any]) -> Array:
        """Return (n, inputs) log-probabilities of each report under each of `symbols`."""


#: Every channel by its name on the wire.
CHANNELS: dict[str, type[Channel]] = {
    channel.name: channel for channel in (Window, Subset, Overlap, Bits, Shift, Table)
}
