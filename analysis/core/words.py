"""Exact draws from a stream of uniform 32-bit words.

Whoever draws passes the stream: a browser's is filled by ``crypto.getRandomValues``, a test's by
a list, a simulation's by a seed. With equal words, Python and ``client/exact.js`` draw equally.
"""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

#: The number of values of a word.
WORD = 2**32

#: Gives an array of as many uniform words as it is asked for: the stream of those who draw for many
#: respondents at once.
Block = Callable[[int], NDArray[np.uint32]]


def check_total(name: str, total: int) -> None:
    """Raise ValueError unless a 32-bit word can draw from a channel's weights of this sum."""
    if total > WORD:
        raise ValueError(f"{name}: weights must sum to at most 2^32, got {total}")


def below(total: int, words: Iterator[int]) -> int:
    """A uniform integer of 0..total-1.

    A word at or above the largest multiple of `total` is drawn again, so that each result has
    exactly the same number of words behind it (no modulo bias).

    Preconditions: ``1 <= total <= 2**32``.
    """
    limit = WORD - WORD % total
    word = next(words)
    while word >= limit:
        word = next(words)
    return word % total


def bernoulli(chance: Fraction, words: Iterator[int]) -> int:
    """1 with exactly the probability `chance`, else 0.

    Compares the binary expansion of `chance` with random bits, a word at a time, and stops where
    they first differ; hence exact for any denominator. Preconditions: ``0 <= chance < 1``.
    """
    rest = chance
    while rest:
        cut, rest = divmod(rest * WORD, 1)
        word = next(words)
        if word != cut:
            return int(word < cut)
    return 0


def parts(n: int, size: int = 32768) -> Iterator[slice]:
    """Slices that cover 0..n-1, so short that a cache holds an array of words for each."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def below_many(total: int, n: int, block: Block) -> NDArray[np.uint32]:
    """`n` uniform integers of 0..total-1, each drawn as `below` does."""
    words = block(n)
    limit = WORD - WORD % total
    if limit < WORD and len(again := np.flatnonzero(words >= np.uint32(limit))):
        words = words.copy()
        while len(again):
            words[again] = drawn = block(len(again))
            again = again[drawn >= limit]
    if total == limit:
        return words
    # What % gives, with a division that numpy has vector instructions for.
    multiples = words // np.uint32(total)
    multiples *= np.uint32(total)
    np.subtract(words, multiples, out=multiples)
    return multiples


def bernoulli_bits(chance: Fraction, n: int, block: Block) -> NDArray[np.uint64]:
    """`n` words of 64 bits, each of which is 1 with exactly the probability `chance`.

    A byte at a time, by inversion: 16 binary digits of a uniform number tell between which of the
    256 bytes' cumulative probabilities it lies, but for at most 255 cases of 65,536, which draw
    more. So a bit takes two random bits. Preconditions: ``0 <= chance <= 1``.
    """
    if chance in (0, 1):
        return np.full(n, -int(chance) % 2**64, dtype=np.uint64)
    table, unclear, bounds = _table_of_bytes(chance)
    digits = block(4 * n).view(np.uint16)
    drawn = np.take(table, digits, mode="wrap")  # "raise" would be slower, and has no cause
    if len(unclear) and len(places := np.flatnonzero(digits < np.uint16(len(unclear)))):
        # 48 digits from here on: only once in 2^24 draws or so they lie too near to a bound.
        longer = unclear[digits[places]] << np.uint64(32) | block(len(places))
        found = np.searchsorted(bounds, longer, side="right")
        for tie in np.flatnonzero(found != np.searchsorted(bounds, longer, side="left")):
            found[tie] = _inverted(chance, int(longer[tie]), 48, block)
        drawn[places] = 255 - found
    return drawn.view(np.uint64)


def _inverted(chance: Fraction, drawn: int, digits: int, block: Block) -> int:
    """Which interval of `_cumulative` a number lies in, some of whose binary digits are drawn."""
    bounds, total = _cumulative(chance), chance.denominator**8
    while (found := bisect_right(bounds, drawn * total >> digits)) != bisect_left(
        bounds, -(-(drawn + 1) * total >> digits)
    ):
        drawn, digits = drawn << 32 | int(block(1)[0]), digits + 32
    return found


@lru_cache(maxsize=64)
def _cumulative(chance: Fraction) -> list[int]:
    """Bounds between the bytes 255, 254, ... 0, by their chances: parts of ``denominator ** 8``."""
    one, zero = chance.numerator, chance.denominator - chance.numerator
    ones = [(255 - place).bit_count() for place in range(255)]
    return list(accumulate(one**count * zero ** (8 - count) for count in ones))


@lru_cache(maxsize=64)
def _table_of_bytes(
    chance: Fraction,
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """For 16 digits, the byte; those first whose byte is unclear; and the bounds to 48 digits.

    Which digits stand for which does not matter, as all are equally likely: those that are unclear
    are put first, where they are easily told.
    """
    bounds, total = _cumulative(chance), chance.denominator**8
    unclear = sorted({(one << 16) // total for one in bounds if (one << 16) % total})
    places = np.arange(2**16)
    found = np.searchsorted([-(-(one << 16) // total) for one in bounds], places, side="right")
    table = np.append(np.zeros(len(unclear), np.int64), np.delete(255 - found, unclear))
    return (
        table.astype(np.uint8),
        np.array(unclear, dtype=np.uint64),
        np.array([(one << 48) // total for one in bounds], dtype=np.uint64),
    )


def seeded_block(*key: str | int) -> Block:
    """Arrays of words that `key` fixes, for simulations of many respondents: SHAKE-256."""
    state = {"number": 0}

    def block(n: int) -> NDArray[np.uint32]:
        data = json.dumps(["block", *key, state["number"]]).encode()
        state["number"] += 1
        return np.frombuffer(hashlib.shake_256(data).digest(4 * n), dtype=np.uint32)

    return block


def seeded_words(*key: str | int) -> Iterator[int]:
    """An endless stream of words that `key` fixes: SHAKE-256 of the key and a block number.

    For simulations and tests. Respondents' devices draw from their system's own source.
    """
    block = 0
    while True:
        data = hashlib.shake_256(json.dumps([*key, block]).encode()).digest(256)
        for start in range(0, 256, 4):
            yield int.from_bytes(data[start : start + 4], "big")
        block += 1


def seeded_bytes(length: int, *key: str | int) -> bytes:
    """`length` bytes that `key` fixes, independent of the words of the same key."""
    return hashlib.shake_256(json.dumps(["bytes", *key]).encode()).digest(length)
