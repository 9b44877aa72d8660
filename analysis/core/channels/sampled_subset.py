"""Sampled subset: reports on a question that only some people are asked, by a public draw.

A respondent who is asked sends a set, as by `Subset`. A respondent who is not asked sends an empty
set, which says nothing about an answer. This is the law of a question of a table that asks each
person some of its questions. A device draws by the whole pattern, while estimates and plans use
this law.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.subset import Subset
from analysis.core.packed import Packed, pack, unpack
from analysis.core.part_json import written
from analysis.core.types import Array, Floats, Integers
from analysis.core.words import Block, below, under_many


@dataclass(frozen=True)
class SampledSubset(Subset):
    """A `Subset` channel for a question that a proportion `portion` < 1 of people is asked."""

    portion: Fraction

    name: ClassVar[str] = "sampled-subset"

    @property
    def asked(self) -> Subset:
        """The channel of respondents who are asked."""
        return Subset(self.inputs, self.size, self.include, self.exclude)

    @property
    def symbols(self) -> int:
        """There is one symbol for each input, and a last one for respondents who are not asked."""
        return self.inputs + 1

    @property
    def law(self) -> dict[str, Any]:
        return {**super().law, "portion": written(self.portion).split("/")}

    def distribution(self, symbol: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        for members, chance in super().distribution(symbol):
            yield members, chance * self.portion
        yield (), 1 - self.portion

    def moments(self, symbol: int) -> tuple[Floats, Floats]:
        portion = float(self.portion)
        mean, second = super().moments(symbol)
        mean, second = np.append(portion * mean, 1 - portion), np.pad(portion * second, (0, 1))
        second[-1, -1] = 1 - portion
        return mean, second

    def bounds(self) -> tuple[Floats, Floats]:
        low, high = (float(self.portion) * end for end in super().bounds())
        return np.append(low, 1 - float(self.portion)), np.append(high, 1 - float(self.portion))

    def size_chances(self, ones: int) -> Floats | None:
        if self.size == 1:
            return None
        chances = np.zeros(self.symbols + 1)
        chances[[1, self.size]] = 1 - float(self.portion), float(self.portion)
        return chances

    def randomize(self, symbol: int, words: Iterator[int]) -> list[int]:
        asked = below(self.portion.denominator, words) < self.portion.numerator
        return super().randomize(symbol, words) if asked else []

    def randomize_many(self, symbols: Array, block: Block) -> Packed:
        top, bottom = self.portion.numerator, self.portion.denominator
        asked = under_many(top, bottom, len(symbols), block)
        return self._with_others(asked, super().randomize_many(symbols[asked], block))

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        return {**super().report_schema(), "minItems": 0}

    def check_report(self, report: Any, field: str) -> None:
        if report != []:
            super().check_report(report, field)

    def reports_in(self, counts: Array) -> int:
        return self.asked_in(counts) + int(counts[self.inputs])

    def report_of(self, symbol: int) -> list[int] | None:
        if self.size == 1 and symbol == self.inputs:
            return []
        return super().report_of(symbol)

    def is_tally(self, counts: Array) -> bool:
        return super().is_tally(counts[:, : self.inputs])

    def asked_in(self, counts: Array) -> int:
        """Return the number of a tally's reports that came from respondents who were asked."""
        return int(counts[: self.inputs].sum()) // self.size

    def read_many(self, sent: Sequence[list[int]]) -> Packed:
        asked = np.array([len(report) > 0 for report in sent], dtype=np.bool_)
        return self._with_others(asked, super().read_many([report for report in sent if report]))

    def _with_others(self, asked: NDArray[np.bool_], sets: Packed) -> Packed:
        """Return the packed reports of all respondents, given the sets of those who were asked."""
        flags = np.zeros((len(asked), self.symbols), dtype=np.uint8)
        flags[~asked, -1] = 1
        flags[asked, :-1] = unpack(sets, self.inputs)
        return pack(flags)

    def sizes_many(self, reports: Packed) -> Integers | None:
        if self.size == 1:
            return None
        return np.asarray(unpack(reports, self.symbols).sum(axis=1, dtype=np.int64))

    def asked_many(self, reports: Packed) -> NDArray[np.bool_]:
        """Return (n,) whether each report comes from a respondent who was asked."""
        return np.asarray(unpack(reports, self.symbols)[:, -1] == 0)

    def sets_of(self, reports: Packed) -> Packed:
        """Return packed reports as sets, which are empty if the respondent was not asked."""
        return pack(unpack(reports, self.symbols)[:, :-1])

    def log_chances(self, reports: Packed, symbols: Sequence[int]) -> Floats:
        logs = super().log_chances(reports, symbols) + log(self.portion)
        return np.where(self.asked_many(reports)[:, None], logs, log(1 - self.portion))
