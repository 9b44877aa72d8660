"""Subset channel: a random set of `size` symbols that is likelier to hold the input.

    P[S | x] = include / total / C(inputs-1, size-1)  if x in S
               exclude / total / C(inputs-1, size)    otherwise,   total = include + exclude

Subset selection (Ye and Barg, IEEE Transactions on Information Theory 2018; Wang et al., "Mutual
information optimally local private discrete distribution estimation", 2016). Its ratio, without a
δ, is include (inputs - size) / (exclude size).
By hand: 4 inputs, size 2, include 3, exclude 1 gives 3 * 2 / (1 * 2) = 3, ε = ln 3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, log
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.core.channels.set_reports import SetReports
from analysis.core.packed import Packed, clear_tail, sizes, unpack, words_for
from analysis.core.part_json import written
from analysis.core.types import Apart, Array, Floats, Integers
from analysis.core.words import (
    Block,
    below,
    below_many,
    bernoulli_bits,
    check_total,
    chosen,
    parts,
    under_many,
)

#: If there are at most this many sets, they are drawn from a list of all.
_FEW = 16384


@dataclass(frozen=True)
class Subset(SetReports):
    """The channel with these whole numbers: ``1 <= size < inputs``, weights at least 1."""

    inputs: int
    size: int
    include: int
    exclude: int

    name: ClassVar[str] = "subset"
    takes_bits: ClassVar[bool] = False
    ones: ClassVar[int | None] = None
    gives_one_symbol: ClassVar[bool] = False
    can_be_kept: ClassVar[bool] = False

    def check(self) -> None:
        if self.size >= self.inputs:
            raise ValueError(f"subset: size must be less than inputs, got {self.size}")
        check_total(self.name, self.include + self.exclude)

    @property
    def p(self) -> Fraction:
        """The probability that the input is in the report."""
        return Fraction(self.include, self.include + self.exclude)

    @property
    def q(self) -> Fraction:
        """The probability that a given symbol other than the input is in the report."""
        return (self.size - self.p) / (self.inputs - 1)

    def ratio(self, apart: Apart = ()) -> Fraction:
        """Return the ratio of the two probabilities above, or its inverse if that is larger."""
        ratio = Fraction(self.include * (self.inputs - self.size), self.exclude * self.size)
        return max(ratio, 1 / ratio)

    def contrasts(self, apart: Apart = ()) -> Floats:
        # These are the sets that hold just one of the two inputs. All other sets are equally
        # likely under both.
        one, other = self.include * (self.inputs - self.size), self.exclude * self.size
        total = (self.include + self.exclude) * (self.inputs - 1)
        alike = total - one - other
        return np.array([[(one, other), (other, one), (alike, alike)]]) / total

    @property
    def law(self) -> dict[str, Any]:
        """The probabilities of reports, in a form that does not depend on the choice of weights."""
        return {"size": self.size, "included": written(self.p).split("/")}

    def joined(self, sets: Sequence[list[int]]) -> list[int]:
        """Return the report that the sets of all parts of a pattern make; there is one part."""
        return sets[0]

    def randomize(self, symbol: int, words: Iterator[int]) -> list[int]:
        """Return a sorted list: whether the input is a member is drawn first, then the others."""
        member = below(self.include + self.exclude, words) < self.include
        return draw_set(self.inputs, self.size, symbol, member, words)

    def distribution(self, symbol: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        total = self.include + self.exclude
        within = Fraction(self.include, total) / comb(self.inputs - 1, self.size - 1)
        without = Fraction(self.exclude, total) / comb(self.inputs - 1, self.size)
        for members in combinations(range(self.inputs), self.size):
            yield members, within if symbol in members else without

    def moments(self, symbol: int) -> tuple[Floats, Floats]:
        others, include = self.inputs - 1, self.include / (self.include + self.exclude)
        # The set has `needed` or `needed + 1` of the other symbols, all equally likely.
        needed = self.size - 1
        other = (include * needed + (1 - include) * self.size) / others
        pairs = include * needed * (needed - 1) + (1 - include) * self.size * needed
        mean = np.full(self.inputs, other)
        mean[symbol] = include
        second = np.full((self.inputs, self.inputs), pairs / max(1, others * (others - 1)))
        second[symbol] = second[:, symbol] = include * needed / others
        np.fill_diagonal(second, mean)
        return mean, second

    def bounds(self) -> tuple[Floats, Floats]:
        include = self.include / (self.include + self.exclude)
        chances = include, (self.size - include) / (self.inputs - 1)
        return np.full(self.inputs, min(chances)), np.full(self.inputs, max(chances))

    def randomize_many(self, symbols: Array, block: Block) -> Packed:
        reports = np.empty((len(symbols), words_for(self.inputs)), dtype=np.uint64)
        for part in parts(len(symbols)):
            total = self.include + self.exclude
            members = under_many(self.include, total, part.stop - part.start, block)
            reports[part] = self.sets_many(symbols[part], members, block)
        return reports

    def sets_many(self, symbols: Array, members: NDArray[np.bool_], block: Block) -> Packed:
        """Return a packed set for each symbol, drawn uniformly among the sets with or without it.

        `members` says for each symbol whether its set holds it.
        """
        sets = np.empty((len(symbols), words_for(self.inputs)), dtype=np.uint64)
        few = self.inputs <= 64 and comb(self.inputs, self.size) <= _FEW
        draw = self._draw_from_list if few else self._draw
        draw(symbols, members, sets, block)
        return sets

    def _draw_from_list(
        self, symbols: Array, members: NDArray[np.bool_], sets: Packed, block: Block
    ) -> None:
        """Draw each set from the list of all sets of other symbols, and insert the symbol's bit."""
        others = np.empty(len(symbols), dtype=np.uint64)
        for is_in in (False, True):
            places = np.flatnonzero(members == is_in)
            every = _sets(self.inputs - 1, self.size - is_in)
            others[places] = every[below_many(len(every), len(places), block)]
        bit = np.uint64(1) << symbols.astype(np.uint64)
        lower = others & (bit - np.uint64(1))
        sets[:, 0] = (others << np.uint64(1)) - lower + bit * members

    def _draw(self, symbols: Array, members: NDArray[np.bool_], sets: Packed, block: Block) -> None:
        """Draw each other symbol as a member, then remove or add members until the size is right.

        If members are drawn independently, a set is uniform among those of its size. It stays
        uniform, since all members are equally likely to be removed, and all others to be added.
        """
        sets[:] = bernoulli_bits(self._start, sets.size, block).reshape(sets.shape)
        clear_tail(sets, self.inputs)
        rows = np.arange(len(symbols))
        word, bit = symbols >> 6, np.uint64(1) << (symbols & 63).astype(np.uint64)
        sets[rows, word] &= ~bit
        surplus = sizes(sets) + members - self.size
        self._flip(sets, np.flatnonzero(surplus > 0), surplus, block)
        # The input's bit is 1 meanwhile, since a bit that is 1 cannot be added.
        sets[rows, word] |= bit
        self._flip(sets, np.flatnonzero(surplus < 0), surplus, block)
        sets[rows, word] ^= bit * ~members

    @property
    def _start(self) -> Fraction:
        """The probability that each other symbol is a member at first, chosen to take few flips.

        To add a member takes inputs / (inputs - size) tries on average, and to remove one takes
        inputs / size. So it is best if a proportion size / inputs of the sets is too large, by the
        normal approximation. Any probability would be correct.
        """
        share = self.size / self.inputs
        spread = (self.inputs * share * (1 - share)) ** 0.5
        first = round(self.size + spread * NormalDist().inv_cdf(share))
        return Fraction(min(max(first, 0), self.inputs), self.inputs)

    def _flip(self, sets: Packed, rows: Array, surplus: Integers, block: Block) -> None:
        """Flip |surplus| bits of each of the `rows`: ones if it is positive, zeros otherwise.

        Positions are drawn until enough of them have hit such a bit. A miss changes nothing.
        """
        if not len(rows):
            return
        words, width = sets.reshape(-1), sets.shape[1]
        left, starts = np.abs(surplus[rows]), rows * width
        out = surplus[rows[0]] > 0
        while len(left):
            places = below_many(self.inputs, len(left), block)
            cells = starts + (places >> np.uint32(6))
            bits = np.uint64(1) << (places & np.uint32(63)).astype(np.uint64)
            old = words[cells]
            new = old & ~bits if out else old | bits
            words[cells] = new
            left -= new != old
            if not left.all():
                rows = np.flatnonzero(left)
                left, starts = left[rows], starts[rows]

    def holds_many(self, reports: Packed, symbols: Sequence[int]) -> NDArray[np.bool_]:
        flags = unpack(reports, self.symbols)
        return np.asarray(flags[:, np.asarray(symbols, dtype=np.int64)] == 1)

    def log_chances(self, reports: Packed, symbols: Sequence[int]) -> Floats:
        total = self.include + self.exclude
        within = log(self.include / total) - log(comb(self.inputs - 1, self.size - 1))
        without = log(self.exclude / total) - log(comb(self.inputs - 1, self.size))
        return np.where(self.holds_many(reports, symbols), within, without)


def draw_set(inputs: int, size: int, symbol: int, member: bool, words: Iterator[int]) -> list[int]:
    """Return a sorted list of `size` of `inputs` symbols, drawn uniformly of all such sets.

    These are the sets that hold `symbol` if `member` is true, and the other sets otherwise.
    """
    others = chosen(size - member, inputs - 1, words)
    return [other for other in range(inputs) if (member if other == symbol else next(others))]


@lru_cache(maxsize=16)
def _sets(inputs: int, size: int) -> NDArray[np.uint64]:
    """Return all sets of this size, each in one word."""
    members = combinations([1 << place for place in range(inputs)], size)
    return np.array([sum(bits) for bits in members], dtype=np.uint64)
