"""Exact draws from a stream of uniform 32-bit words.

Whoever draws passes the stream: a browser's is filled by ``crypto.getRandomValues``, a test's by
a list, a simulation's by a seed. With equal words, Python and ``client/draw.js`` draw equally.
"""

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction

#: The number of values of a word.
WORD = 2**32


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
