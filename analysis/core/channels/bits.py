"""Bits channel: every bit is drawn anew, likelier 1 where the input has a 1.

    P[bit of y is 1] = one / total  if that bit of x is 1,  else  zero / total

Unary encodings (Wang et al., USENIX Security 2017, section 4.2), RAPPOR's one-time response
(Erlingsson, Pihur and Korolova, CCS 2014). Two inputs that differ by `raised` ones more and
`lowered` ones fewer have the ratio (one/zero)^raised ((total-zero)/(total-one))^lowered.
By hand: one 3, zero 1 of 4 (p = 3/4, q = 1/4), and inputs that differ in a bit each way: ratio 9,
ε = 2 ln 3 = 2.197.
"""

import base64
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, gcd, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from analysis.core.errors import ReportError, shown
from analysis.core.packed import Packed, clear_tail, column_sums, from_bytes, sizes, unpack
from analysis.core.types import Apart, Array, Floats, Integers
from analysis.core.words import Block, below, bernoulli_bits, check_total, parts

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True)
class Bits:
    """The channel with these whole numbers: ``1 <= zero <= one < total <= 2**32``."""

    inputs: int
    one: int
    zero: int
    total: int

    name: ClassVar[str] = "bits"
    takes_bits: ClassVar[bool] = True
    ones: ClassVar[int | None] = None
    gives_one_symbol: ClassVar[bool] = False
    can_be_kept: ClassVar[bool] = True

    @property
    def symbols(self) -> int:
        """There is a symbol for each bit, and a last one that every report counts for."""
        return self.inputs + 1

    @property
    def length(self) -> int:
        """The characters of a report: base64url, the first bit in each byte's highest place."""
        return -(-8 * -(-self.inputs // 8) // 6)

    @cached_property
    def p(self) -> Fraction:
        """The chance that a bit of the report is 1 where the input has a 1."""
        return Fraction(self.one, self.total)

    @cached_property
    def q(self) -> Fraction:
        """The chance that a bit of the report is 1 where the input has a 0."""
        return Fraction(self.zero, self.total)

    def check(self) -> None:
        if not self.zero <= self.one < self.total:
            raise ValueError(
                f"bits: zero must be at most one, one less than total, "
                f"got {self.zero}, {self.one}, {self.total}"
            )
        check_total(self.name, self.total)

    def ratio(self, apart: Apart = ()) -> Fraction:
        raised = Fraction(self.one, self.zero)
        lowered = Fraction(self.total - self.zero, self.total - self.one)
        return max(raised**up * lowered**down for up, down in apart)

    def contrasts(self, apart: Apart = ()) -> Floats | None:
        # Reports differ in ratio only by how many of the raised bits are 1, less how many of the
        # lowered ones. Between two ends of a line all pairs count, not only those of the largest
        # ratio: they can be told apart better at smaller ones.
        if len({up + down for up, down in apart}) > 1:
            return None
        (least, rest), (most, _) = min(apart), max(apart)
        both = self.p, self.q
        pairs = [
            [
                np.convolve(self._chances(up, first), self._chances(least + rest - up, other)[::-1])
                for first, other in (both, both[::-1])
            ]
            for up in range(least, most + 1)
        ]
        return np.array(pairs).swapaxes(1, 2)

    def _chances(self, bits: int, chance: Fraction) -> Floats:
        """Return (bits + 1,) chances of 0, 1, .. ones: products, precise to the last digits."""
        one, zero = float(chance), float(1 - chance)
        return np.array([comb(bits, x) * one**x * zero ** (bits - x) for x in range(bits + 1)])

    def randomize(self, symbol: tuple[int, ...], words: Iterator[int]) -> str:
        bits = bytearray(-(-self.inputs // 8))
        for place in self._drawn(symbol, words):
            bits[place // 8] |= 128 >> place % 8
        return base64.urlsafe_b64encode(bits).rstrip(b"=").decode()

    def _drawn(self, symbol: Container[int], words: Iterator[int]) -> tuple[int, ...]:
        """Return the places of the ones of a report."""
        return tuple(
            place
            for place in range(self.inputs)
            if below(self.total, words) < (self.one if place in symbol else self.zero)
        )

    def followed_by(self, instant: "Bits") -> "Bits":
        """Return this channel and another one after it as one; its total may be more than 2^32.

        Preconditions: ``inputs == instant.inputs``.
        """
        total = self.total * instant.total
        one, zero = (
            weight * instant.one + (self.total - weight) * instant.zero
            for weight in (self.one, self.zero)
        )
        common = gcd(one, zero, total)
        return Bits(self.inputs, one // common, zero // common, total // common)

    def remember(
        self, symbol: tuple[int, ...], words: Callable[[int], Iterator[int]]
    ) -> tuple[int, ...]:
        """Return the places of the ones of the report that is kept for an input.

        Each place has a kept bit for a 1 and one for a 0 of the input, drawn from the words of 1
        and of 0. So another input changes no bit that both have.
        """
        ones, zeros = self._drawn(range(self.inputs), words(1)), self._drawn((), words(0))
        return tuple(
            place for place in range(self.inputs) if place in (ones if place in symbol else zeros)
        )

    def distribution(self, symbol: tuple[int, ...]) -> Iterator[tuple[str, Fraction]]:
        for flags in product((0, 1), repeat=self.inputs):
            ones = (self.p if place in symbol else self.q for place in range(self.inputs))
            drawn = (p if flag else 1 - p for p, flag in zip(ones, flags, strict=True))
            packed = np.packbits(flags).tobytes()
            report = base64.urlsafe_b64encode(packed).rstrip(b"=").decode()
            yield report, prod(drawn, start=Fraction(1))

    def moments(self, symbol: tuple[int, ...]) -> tuple[Floats, Floats]:
        mean = np.full(self.symbols, float(self.q))
        mean[list(symbol)], mean[-1] = float(self.p), 1.0
        second = np.outer(mean, mean)
        np.fill_diagonal(second, mean)
        return mean, second

    def bounds(self) -> tuple[Floats, Floats]:
        least = np.full(self.symbols, float(self.q))
        most = np.full(self.symbols, float(self.p))
        least[-1] = most[-1] = 1.0
        return least, most

    def size_chances(self, ones: int) -> Floats:
        told = _binomial(ones, float(self.p))
        rest = _binomial(self.inputs - ones, float(self.q))
        # Every report counts for the last symbol, too.
        return np.convolve(np.append(0.0, told), rest)

    @classmethod
    def report_schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}

    def check_report(self, report: Any, field: str) -> None:
        if not isinstance(report, str) or not self._pattern.fullmatch(report):
            expected = f"{self.inputs} bits as {self.length} characters of base64url"
            raise ReportError(field, expected, shown(report))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """A pattern that matches every report, and no other text: bits past the last one are 0."""
        free, left = divmod(self.inputs, 6)
        # In the character with the last bits, the higher `left` places are free.
        last = re.escape(_ALPHABET[:: 2 ** (6 - left)])
        zeros = "A" * (self.length - free - 1)
        end = f"[{last}]{zeros}" if self.length > free else ""
        return re.compile(f"[{re.escape(_ALPHABET)}]{{{free}}}{end}")

    def longest(self) -> str:
        return "A" * self.length

    def reports_in(self, counts: Array) -> int:
        return int(counts[self.inputs])

    def randomize_many(self, symbols: Packed, block: Block) -> Packed:
        reports = np.empty(symbols.shape, dtype=np.uint64)
        given, drawn = symbols.reshape(-1), reports.reshape(-1)
        # A bit that is 1 anyway with chance q is made so by one more draw, where x has a 1.
        more = (self.p - self.q) / (1 - self.q)
        for part in parts(len(given)):
            ones, new = given[part], drawn[part]
            new[:] = bernoulli_bits(self.q, len(new), block)
            places = np.flatnonzero(ones)
            new[places] |= ones[places] & bernoulli_bits(more, len(places), block)
        clear_tail(reports, self.inputs)
        return reports

    def read_many(self, sent: Sequence[str]) -> Packed:
        # Filled up with zeros to whole groups of four characters, all are decoded in one go.
        width = self.length + -self.length % 4
        text = "".join([report.ljust(width, "A") for report in sent])
        read = np.frombuffer(base64.urlsafe_b64decode(text), dtype=np.uint8)
        rows = read.reshape(len(sent), width // 4 * 3)
        return from_bytes(rows[:, : -(-self.inputs // 8)], self.inputs)

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

    def log_chances(self, reports: Packed, symbols: Sequence[tuple[int, ...]]) -> Floats:
        rates = np.full((len(symbols), self.inputs), float(self.q))
        for row, ones in enumerate(symbols):
            rates[row, list(ones)] = float(self.p)
        odds, none = np.log(rates) - np.log1p(-rates), np.log1p(-rates).sum(axis=1)
        logarithms = np.empty((len(reports), len(symbols)))
        for part in parts(len(reports), 4096):
            logarithms[part] = unpack(reports[part], self.inputs).astype(float) @ odds.T + none
        return logarithms


def _binomial(n: int, chance: float) -> Floats:
    """Return (n + 1,) chances of 0..n."""
    x = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(np.exp(ways + xlogy(x, chance) + xlog1py(n - x, -chance)))
