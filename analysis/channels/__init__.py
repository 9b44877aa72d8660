"""Channels: the one random step, and so the only thing that protects an answer.

A channel takes an input ``0 <= x < inputs`` and gives a report. Its probabilities are integer
weights over their sum, at most 2^32, so that a draw of one 32-bit word realises them exactly. Each
stands once here and once in ``client/channels/``, tied by the vectors in ``tests/vectors/``.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from analysis.channels.subset import Subset
from analysis.channels.window import Window


class Channel(Protocol):
    """What every channel offers."""

    name: ClassVar[str]

    @property
    def inputs(self) -> int:
        """How many different inputs there are."""

    @property
    def symbols(self) -> int:
        """How many symbols a tally of its reports has."""

    def check(self) -> None:
        """Raise ValueError unless the weights form a channel: whole, positive, sums in range."""

    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs; e^ε exactly."""

    def randomize(self, symbol: int, words: Iterator[int]) -> Any:
        """Draw a report for the input `symbol`."""

    def distribution(self, symbol: int) -> Iterator[tuple[Any, Fraction]]:
        """Every report with its exact probability for the input `symbol`."""

    def check_report(self, report: Any, field: str) -> None:
        """Raise ReportError unless `report` is one that this channel can make."""

    def longest(self) -> Any:
        """The report that takes the most room as JSON."""

    def tallied(self, report: Any) -> tuple[int, ...]:
        """The symbols that a report counts for."""

    def reports_in(self, counts: Any) -> int:
        """The number of reports behind the ``(symbols,)`` tally `counts`."""


#: Every channel by its name on the wire.
CHANNELS: dict[str, type[Channel]] = {channel.name: channel for channel in (Window, Subset)}
