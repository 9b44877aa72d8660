"""The common base of channels whose reports are sets of `size` of `inputs` symbols."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.core.errors import ReportError, shown
from analysis.core.packed import Packed, column_sums, pack, unpack
from analysis.core.types import Array, Floats, Integers

#: Binomial coefficients of larger numbers take long to compute.
MOST_INPUTS = 1024


class SetReports:
    """Check, read and count reports of sets: sorted lists, packed to a bit for each symbol."""

    inputs: int
    size: int

    @property
    def symbols(self) -> int:
        """There are as many symbols as inputs, since a set counts for each of its members."""
        return self.inputs

    def size_chances(self, ones: int) -> Floats | None:
        return None

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        members = {"type": "integer", "minimum": 0}
        return {"type": "array", "items": members, "minItems": 1, "uniqueItems": True}

    def check_report(self, report: Any, field: str) -> None:
        if (
            not isinstance(report, list)
            or len(report) != self.size
            or not all(type(member) is int and 0 <= member < self.inputs for member in report)
            or not all(first < second for first, second in pairwise(report))
        ):
            expected = f"{self.size} different integers of 0..{self.inputs - 1} in rising order"
            raise ReportError(field, expected, shown(report))

    def longest(self) -> list[int]:
        return list(range(self.inputs - self.size, self.inputs))

    def reports_in(self, counts: Array) -> int:
        return int(counts.sum()) // self.size

    def report_of(self, symbol: int) -> list[int] | None:
        return [symbol] if self.size == 1 else None

    def is_tally(self, counts: Array) -> bool:
        # Some sets of this size have these counts if the counts sum to a multiple of the size, and
        # none is larger than the number of sets (Gale, Pacific Journal of Mathematics 1957).
        totals = counts.sum(axis=1)
        reports, left = np.divmod(totals, self.size)
        return not left.any() and bool((counts.max(axis=1) <= reports).all())

    def read_many(self, sent: Sequence[list[int]]) -> Packed:
        members = np.array(sent, dtype=np.int64).reshape(len(sent), self.size)
        flags = np.zeros((len(sent), self.inputs), dtype=np.uint8)
        np.put_along_axis(flags, members, 1, axis=1)
        return pack(flags)

    def count_many(self, reports: Packed) -> Integers:
        return column_sums(reports, self.symbols)

    def entries(self, reports: Packed) -> tuple[Integers, Integers]:
        rows, symbols = np.nonzero(unpack(reports, self.symbols))
        return rows, symbols

    def sizes_many(self, reports: Packed) -> Integers | None:
        return None
