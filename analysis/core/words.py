"""Exact draws from a stream of uniform 32-bit words.

The caller passes the stream: ``crypto.getRandomValues`` fills it in a browser, a list in a test,
and a seed in a simulation. From equal words, Python and ``client/exact.js`` draw equal results.
"""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, count

import numpy as np
from numpy.typing import NDArray

#: The number of values of a word.
WORD = 2**32

#: A function that returns an array of this many uniform words: the stream for drawing for many
#: respondents at once.
Block = Callable[[int], NDArray[np.uint32]]


#: The largest sum of weights that JavaScript adds up without rounding.
LARGEST_TOTAL = 2**53 - 1


def check_total(name: str, total: int, most: int = WORD) -> None:
    """Raise ValueError unless weights of this sum can be drawn from words."""
    if total > most:
        words = "2^32" if most == WORD else f"{most:,}"
        raise ValueError(f"{name}: weights must sum to at most {words}, got {total}")


def below(total: int, words: Iterator[int]) -> int:
    """Return a uniform integer of 0..total-1.

    A word at or above the largest multiple of `total` is drawn again, so that exactly the same
    number of words leads to each result (no modulo bias). A total above 2^32 takes two words, of
    which the first counts 2^32 times.

    Preconditions: ``1 <= total <= 2**53 - 1``.
    """
    if total > WORD:
        limit = WORD**2 - WORD**2 % total
        while (wide := next(words) * WORD + next(words)) >= limit:
            pass
        return wide % total
    limit = WORD - WORD % total
    word = next(words)
    while word >= limit:
        word = next(words)
    return word % total


def by_weight(weights: Sequence[int], words: Iterator[int]) -> int:
    """Return a position in a list of whole weights, with probability proportional to its weight."""
    sums = list(accumulate(weights))
    return bisect_right(sums, below(sums[-1], words))


def chosen(needed: int, count: int, words: Iterator[int]) -> Iterator[bool]:
    """Yield for each of `count` items whether it is among the `needed` items that are drawn.

    All choices of that many items are equally likely. This is selection sampling: Knuth, The Art of
    Computer Programming, volume 2, 3.4.2, algorithm S.
    """
    for left in range(count, 0, -1):
        is_chosen = below(left, words) < needed
        needed -= is_chosen
        yield is_chosen


def bernoulli(chance: Fraction, words: Iterator[int]) -> int:
    """Return 1 with exactly the probability `chance`, and 0 otherwise.

    It compares the binary expansion of `chance` with random bits, a word at a time, and stops where
    they first differ. So it is exact for any denominator. Preconditions: ``0 <= chance < 1``.
    """
    rest = chance
    while rest:
        cut, rest = divmod(rest * WORD, 1)
        word = next(words)
        if word != cut:
            return int(word < cut)
    return 0


def parts(n: int, size: int = 32768) -> Iterator[slice]:
    """Return slices that cover 0..n-1, each so short that a cache holds an array of its words."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def below_many(total: int, n: int, block: Block) -> NDArray[np.uint32]:
    """Return `n` uniform integers of 0..total-1, at most 2^32, each drawn as `below` does."""
    if total > WORD:
        raise ValueError(f"total must be at most 2^32, got {total}")
    words = block(n)
    limit = WORD - WORD % total
    if limit < WORD and len(again := np.flatnonzero(words >= np.uint32(limit))):
        words = words.copy()
        while len(again):
            words[again] = drawn = block(len(again))
            again = again[drawn >= limit]
    if total == limit:
        return words
    # This is words % total, written as a division, for which numpy has vector instructions.
    multiples = words // np.uint32(total)
    multiples *= np.uint32(total)
    np.subtract(words, multiples, out=multiples)
    return multiples


def by_weight_many(weights: Sequence[int], n: int, block: Block) -> NDArray[np.int64]:
    """Return `n` positions in a list of whole weights, each drawn as `by_weight` does."""
    sums = np.cumsum(weights, dtype=np.uint64)
    return np.searchsorted(sums, _wide_below(int(sums[-1]), n, block), side="right")


def under_many(part: int, total: int, n: int, block: Block) -> NDArray[np.bool_]:
    """Return whether each of `n` uniform integers of 0..total-1, drawn as by `below`, is < `part`.

    Preconditions: ``part < total <= 2**53 - 1``.
    """
    if total <= WORD:
        return below_many(total, n, block) < np.uint32(part)
    return _wide_below(total, n, block) < np.uint64(part)


def _wide_below(total: int, n: int, block: Block) -> NDArray[np.uint64]:
    """Return `n` integers as `below_many` does, of any total that `below` takes."""
    if total <= WORD:
        return below_many(total, n, block).astype(np.uint64)
    last, wide = np.uint64(WORD**2 - WORD**2 % total - 1), np.empty(0, dtype=np.uint64)
    while len(wide) < n:
        first, second = block(2 * (n - len(wide))).astype(np.uint64).reshape(2, -1)
        drawn = first << np.uint64(32) | second
        wide = np.concatenate([wide, drawn[drawn <= last] % np.uint64(total)])
    return wide


def bernoulli_bits(chance: Fraction, n: int, block: Block) -> NDArray[np.uint64]:
    """Return `n` words of 64 bits, each bit 1 with exactly the probability `chance`.

    Bytes are drawn by inversion. 16 binary digits of a uniform number say between which cumulative
    probabilities of the 256 bytes it lies, except in at most 255 of 65,536 cases, which draw more
    digits. So a bit takes two random bits. Preconditions: ``0 <= chance <= 1``.
    """
    if chance in (0, 1):
        return np.full(n, -int(chance) % 2**64, dtype=np.uint64)
    table, unclear, bounds = _table_of_bytes(chance)
    digits = block(4 * n).view(np.uint16)
    drawn = np.take(table, digits, mode="wrap")  # "raise" would be slower, and is not needed
    if len(unclear) and len(places := np.flatnonzero(digits < np.uint16(len(unclear)))):
        # From here on there are 48 digits. About once in 2^24 draws they lie too near to a bound.
        longer = unclear[digits[places]] << np.uint64(32) | block(len(places))
        intervals = np.searchsorted(bounds, longer, side="right")
        for tie in np.flatnonzero(intervals != np.searchsorted(bounds, longer, side="left")):
            intervals[tie] = _inverted(chance, int(longer[tie]), 48, block)
        drawn[places] = 255 - intervals
    return drawn.view(np.uint64)


def _inverted(chance: Fraction, drawn: int, digits: int, block: Block) -> int:
    """Return the interval of `_cumulative` that holds a number, given its first binary digits."""
    bounds, total = _cumulative(chance), chance.denominator**8
    while (interval := bisect_right(bounds, drawn * total >> digits)) != bisect_left(
        bounds, -(-(drawn + 1) * total >> digits)
    ):
        drawn, digits = drawn << 32 | int(block(1)[0]), digits + 32
    return interval


@lru_cache(maxsize=64)
def _cumulative(chance: Fraction) -> list[int]:
    """Return bounds between the bytes 255, 254, ..., 0, in units of 1/``denominator ** 8``."""
    one, zero = chance.numerator, chance.denominator - chance.numerator
    ones = [byte.bit_count() for byte in range(255, 0, -1)]
    return list(accumulate(one**number * zero ** (8 - number) for number in ones))


@lru_cache(maxsize=64)
def _table_of_bytes(
    chance: Fraction,
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the byte of each 16 digits, the digits whose byte is open, and bounds of 48 digits.

    All digits are equally likely, so any digits may stand for any byte. Those whose byte is open
    come first, where they are easily recognized.
    """
    bounds, total = _cumulative(chance), chance.denominator**8
    unclear = sorted({(bound << 16) // total for bound in bounds if (bound << 16) % total})
    rounded_up = [-(-(bound << 16) // total) for bound in bounds]
    intervals = np.searchsorted(rounded_up, np.arange(2**16), side="right")
    table = np.append(np.zeros(len(unclear), np.int64), np.delete(255 - intervals, unclear))
    return (
        table.astype(np.uint8),
        np.array(unclear, dtype=np.uint64),
        np.array([(bound << 48) // total for bound in bounds], dtype=np.uint64),
    )


def seeded_block(*key: str | int) -> Block:
    """Return a source of words that `key` fixes by SHAKE-256, for simulations of many people."""
    numbers = count()

    def block(n: int) -> NDArray[np.uint32]:
        data = json.dumps(["block", *key, next(numbers)]).encode()
        return np.frombuffer(hashlib.shake_256(data).digest(4 * n), dtype=np.uint32)

    return block


def seeded_words(*key: str | int) -> Iterator[int]:
    """Yield endless words that `key` fixes: SHAKE-256 of the key and a block number.

    They are for simulations and tests. Respondents' devices draw from their own system's source.
    """
    for block in count():
        data = hashlib.shake_256(json.dumps([*key, block]).encode()).digest(256)
        for start in range(0, 256, 4):
            yield int.from_bytes(data[start : start + 4], "big")


def seeded_bytes(length: int, *key: str | int) -> bytes:
    """Return `length` bytes that `key` fixes, independent of the words of the same key."""
    return hashlib.shake_256(json.dumps(["bytes", *key]).encode()).digest(length)
