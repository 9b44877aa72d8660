"""Bits channel: every bit is drawn anew, and is likelier to be 1 where the input has a 1.

    P[bit of y is 1] = one / total  if that bit of x is 1,  else  zero / total

Unary encodings (Wang et al., USENIX Security 2017, section 4.2), RAPPOR's one-time response
(Erlingsson, Pihur and Korolova, CCS 2014). Two inputs that differ by `raised` ones more and
`lowered` ones fewer have the ratio (one/zero)^raised ((total-zero)/(total-one))^lowered.
By hand: one 3, zero 1 of 4 (p = 3/4, q = 1/4), and inputs that differ in one bit each way have the
ratio 9, ε = 2 ln 3 = 2.197.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, gcd, prod
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from analysis.core.channels.bit_reports import BitReports
from analysis.core.packed import Packed, clear_tail, unpack
from analysis.core.types import Apart, Floats
from analysis.core.words import Block, below, bernoulli_bits, check_total, parts


@dataclass(frozen=True)
class Bits(BitReports):
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

    @cached_property
    def p(self) -> Fraction:
        """The probability that a bit of the report is 1 where the input has a 1."""
        return Fraction(self.one, self.total)

    @cached_property
    def q(self) -> Fraction:
        """The probability that a bit of the report is 1 where the input has a 0."""
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
        # The ratio of a report depends only on the number of raised bits that are 1, less the
        # number of lowered bits that are 1. All pairs of `apart` count, and those between two of
        # them, not only the pair of the largest ratio: others are easier to distinguish at
        # smaller ratios.
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
        """Return (bits + 1,) probabilities of 0, 1, ... ones, as products, which lose no digits."""
        one, zero = float(chance), float(1 - chance)
        return np.array([comb(bits, x) * one**x * zero ** (bits - x) for x in range(bits + 1)])

    def randomize(self, symbol: tuple[int, ...], words: Iterator[int]) -> str:
        return self.text_of(self._drawn(symbol, words))

    def _drawn(self, symbol: Container[int], words: Iterator[int]) -> tuple[int, ...]:
        """Return the positions of the ones of a report."""
        return tuple(
            place
            for place in range(self.inputs)
            if below(self.total, words) < (self.one if place in symbol else self.zero)
        )

    def followed_by(self, instant: "Bits") -> "Bits":
        """Return this channel followed by another as one channel, whose total may exceed 2^32.

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
        """Return the positions of the ones of the report that is kept for an input.

        Each position has two kept bits, one for a 1 of the input and one for a 0. The first is
        drawn from the words of 1, the second from the words of 0. So the kept bit stays the same
        wherever two inputs agree.
        """
        ones, zeros = self._drawn(range(self.inputs), words(1)), self._drawn((), words(0))
        return tuple(
            place for place in range(self.inputs) if place in (ones if place in symbol else zeros)
        )

    def distribution(self, symbol: tuple[int, ...]) -> Iterator[tuple[str, Fraction]]:
        for flags in product((0, 1), repeat=self.inputs):
            ones = (self.p if place in symbol else self.q for place in range(self.inputs))
            drawn = (p if flag else 1 - p for p, flag in zip(ones, flags, strict=True))
            report = self.text_of(np.flatnonzero(flags).tolist())
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

    def randomize_many(self, symbols: Packed, block: Block) -> Packed:
        reports = np.empty(symbols.shape, dtype=np.uint64)
        given, drawn = symbols.reshape(-1), reports.reshape(-1)
        # Each bit is 1 with probability q. Where x has a 1, one more draw can set it.
        more = (self.p - self.q) / (1 - self.q)
        for part in parts(len(given)):
            ones, new = given[part], drawn[part]
            new[:] = bernoulli_bits(self.q, len(new), block)
            places = np.flatnonzero(ones)
            new[places] |= ones[places] & bernoulli_bits(more, len(places), block)
        clear_tail(reports, self.inputs)
        return reports

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
    """Return the (n + 1,) binomial probabilities of 0..n."""
    x = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(np.exp(ways + xlogy(x, chance) + xlog1py(n - x, -chance)))
