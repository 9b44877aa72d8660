"""Joint bits: reports on several parts of one answer, each of which is whether a flag is set.

It is the law of a question whose answer goes into several parts of one `Pattern`, each of two
symbols. A device draws by the whole pattern, while estimates and plans use this law. Reports have
the form of those of a `Bits` channel, but their bits are not independent under a given input.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log
from typing import Any, ClassVar

import numpy as np

from analysis.core.channels.bit_reports import BitReports
from analysis.core.channels.pattern import Pattern
from analysis.core.packed import Packed, pack, unpack
from analysis.core.part_json import written
from analysis.core.types import Apart, Floats
from analysis.core.words import Block


@dataclass(frozen=True)
class JointBits(BitReports):
    """The channel of the reports on the `inputs` parts of a pattern, all of which are yes or no."""

    inputs: int
    pattern: Pattern

    name: ClassVar[str] = "joint-bits"
    takes_bits: ClassVar[bool] = True
    ones: ClassVar[int | None] = None
    gives_one_symbol: ClassVar[bool] = False
    can_be_kept: ClassVar[bool] = False

    def check(self) -> None:
        self.pattern.check()

    def ratio(self, apart: Apart = ()) -> Fraction:
        return self.pattern.ratio()

    def contrasts(self, apart: Apart = ()) -> None:
        return None

    @property
    def law(self) -> dict[str, Any]:
        """The probabilities of reports, in a form that does not depend on the choice of weights."""
        return {"chances": [written(chance) for chance in self.pattern.likelihoods]}

    def supports(self, part: int) -> tuple[Fraction, Fraction]:
        """Return the probabilities that a part's bit is 1: if the input's is 1, and if it is 0."""
        own = self.pattern.marginal(part)
        return own.p, own.q

    def joined(self, sets: Sequence[Sequence[int]]) -> str:
        """Return the report that the sets of all parts make. Each set has one symbol."""
        return self.text_of(part for part, (symbol,) in enumerate(sets) if symbol)

    def joined_many(self, sets: Sequence[Packed]) -> Packed:
        """Return the packed reports that the packed sets of all parts make."""
        # A set with one of two symbols is packed as 1 or 2. Its second bit is the report's bit.
        return pack(np.column_stack([one[:, 0] >> np.uint64(1) for one in sets]).astype(np.uint8))

    def _flags(self, ones: Sequence[int]) -> list[int]:
        return [int(part in ones) for part in range(self.inputs)]

    def randomize(self, symbol: tuple[int, ...], words: Iterator[int]) -> str:
        return self.joined(self.pattern.randomize(self._flags(symbol), words))

    def distribution(self, symbol: tuple[int, ...]) -> Iterator[tuple[str, Fraction]]:
        for sets, chance in self.pattern.distribution(self._flags(symbol)):
            yield self.joined(sets), chance

    def moments(self, symbol: tuple[int, ...]) -> tuple[Floats, Floats]:
        every = np.array(list(product((0, 1), repeat=self.inputs)))
        counted = np.column_stack([every, np.ones(len(every))])
        chances = np.array([float(chance) for _, chance in self.distribution(symbol)])
        return chances @ counted, (counted * chances[:, None]).T @ counted

    def bounds(self) -> tuple[Floats, Floats]:
        chances = [[*map(float, self.supports(part))] for part in range(self.inputs)]
        both = np.array([*chances, [1.0, 1.0]])
        return both.min(axis=1), both.max(axis=1)

    def size_chances(self, ones: int) -> Floats:
        # This is the mean over all inputs with this number of ones.
        patterns = np.arange(2**self.inputs)
        given = patterns[np.bitwise_count(patterns) == ones]
        chances = np.array([float(chance) for chance in self.pattern.likelihoods])
        law = np.zeros(self.symbols + 1)
        for flags in given:
            told = np.bitwise_count(flags ^ patterns)
            law[1:] += np.bincount(told, chances, self.symbols) / len(given)
        return law

    def randomize_many(self, symbols: Packed, block: Block) -> Packed:
        flags = unpack(symbols, self.inputs).astype(np.int64)
        return self.joined_many(self.pattern.randomize_many(flags, block))

    def log_chances(self, reports: Packed, symbols: Sequence[tuple[int, ...]]) -> Floats:
        logs = np.array([log(v.numerator) - log(v.denominator) for v in self.pattern.likelihoods])
        flags, bits = unpack(reports, self.inputs), 1 << np.arange(self.inputs)
        return np.column_stack([logs[(flags != self._flags(ones)) @ bits] for ones in symbols])
