"""The common base of channels whose reports are bits, one for each bit of the input."""

import base64
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.errors import ReportError, shown
from analysis.core.packed import Packed, column_sums, from_bytes, sizes, unpack
from analysis.core.types import Array, Integers

#: The characters of reports: base64url, each of six bits, the first bit being the highest.
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


class BitReports:
    """Write, check, read and count reports of bits: sent as base64url, and packed to words."""

    inputs: int

    @property
    def symbols(self) -> int:
        """There is a symbol for each bit, and a last one that every report counts for."""
        return self.inputs + 1

    @property
    def length(self) -> int:
        """The number of characters of a report: base64url, the first bit being a byte's highest."""
        return -(-8 * -(-self.inputs // 8) // 6)

    def text_of(self, ones: Iterable[int]) -> str:
        """Return the report whose ones have these positions."""
        bits = bytearray(-(-self.inputs // 8))
        for place in ones:
            bits[place // 8] |= 128 >> place % 8
        return base64.urlsafe_b64encode(bits).rstrip(b"=").decode()

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}

    def check_report(self, report: Any, field: str) -> None:
        if not isinstance(report, str) or not self._pattern.fullmatch(report):
            expected = f"{self.inputs} bits as {self.length} characters of base64url"
            raise ReportError(field, expected, shown(report))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """A pattern that matches every report and no other text. Bits past the last one are 0."""
        free, left = divmod(self.inputs, 6)
        # In the character with the last bits, only the `left` highest bits can be 1.
        last = re.escape(ALPHABET[:: 2 ** (6 - left)])
        zeros = "A" * (self.length - free - 1)
        end = f"[{last}]{zeros}" if self.length > free else ""
        return re.compile(f"[{re.escape(ALPHABET)}]{{{free}}}{end}")

    def longest(self) -> str:
        return "A" * self.length

    def reports_in(self, counts: Array) -> int:
        return int(counts[self.inputs])

    def report_of(self, symbol: int) -> None:
        return None

    def is_tally(self, counts: Array) -> bool:
        return bool((counts <= counts[:, -1:]).all())

    def read_many(self, sent: Sequence[str]) -> Packed:
        # Zeros fill each report to whole groups of four characters, so that one call decodes all.
        width = self.length + -self.length % 4
        text = "".join([report.ljust(width, "A") for report in sent])
        read = np.frombuffer(base64.urlsafe_b64decode(text), dtype=np.uint8)
        rows = read.reshape(len(sent), width // 4 * 3)
        return from_bytes(rows[:, : -(-self.inputs // 8)], self.inputs)

    def counts_of_characters(self, often: Integers) -> Integers:
        """Return the (symbols,) tally of reports whose characters alone were counted.

        `often` has (length, 64) counts: how many reports have each character of `ALPHABET` at each
        position. Raise ValueError if a bit is set that no report has.
        """
        bits = np.unpackbits(np.arange(64, dtype=np.uint8)[:, None], axis=1)[:, 2:]
        ones = (often @ bits.astype(np.int64)).reshape(-1)
        if ones[self.inputs :].any():
            raise ValueError(f"expected {self.inputs} bits, and zeros after them")
        return np.append(ones[: self.inputs], often[0].sum())

    def count_many(self, reports: Packed) -> Integers:
        return np.append(column_sums(reports, self.inputs), len(reports))

    def entries(self, reports: Packed) -> tuple[Integers, Integers]:
        rows, symbols = np.nonzero(unpack(reports, self.inputs))
        last = np.full(len(reports), self.inputs)
        return np.append(rows, np.arange(len(reports))), np.append(symbols, last)

    def sizes_many(self, reports: Packed) -> Integers:
        return sizes(reports) + 1

    def holds_many(self, reports: Packed, symbols: Sequence[tuple[int]]) -> NDArray[np.bool_]:
        flags = unpack(reports, self.inputs)
        return np.asarray(flags[:, np.array([place for (place,) in symbols], dtype=np.int64)] == 1)
