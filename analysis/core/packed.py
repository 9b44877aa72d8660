"""Many sets of bits, packed 64 in a word: bit b of a set is bit b % 64 of its word b // 64."""

import numpy as np
from numpy.typing import NDArray

from analysis.core.types import Array, Integers

Packed = NDArray[np.uint64]

#: The number of words that are added at once: 32 KiB. A cache holds several such blocks.
_WORDS = 4096

#: For each byte, the byte with its bits in reverse order.
_TURNED = np.packbits(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), axis=1
)[:, 0]


def words_for(bits: int) -> int:
    """Return the number of words of a set with this number of bits."""
    return -(-bits // 64)


def one_bit(places: Array, bits: int) -> Packed:
    """Return (n, words) sets of one bit each, at `places`."""
    packed = np.zeros((len(places), words_for(bits)), dtype=np.uint64)
    packed[np.arange(len(places)), places >> 6] = np.uint64(1) << (places & 63).astype(np.uint64)
    return packed


def pack(flags: Array) -> Packed:
    """Return (n, bits) flags as (n, words) sets."""
    padded = np.zeros((len(flags), 64 * words_for(flags.shape[1])), dtype=np.uint8)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpack(packed: Packed, bits: int) -> NDArray[np.uint8]:
    """Return (n, words) sets as (n, bits) flags of 0 and 1."""
    return np.unpackbits(packed.view(np.uint8), axis=1, count=bits, bitorder="little")


def from_bytes(rows: NDArray[np.uint8], bits: int) -> Packed:
    """Return packed sets from (n, bytes) whose first bit is the highest of a byte."""
    padded = np.zeros((len(rows), 8 * words_for(bits)), dtype=np.uint8)
    padded[:, : rows.shape[1]] = _TURNED[rows]
    return padded.view(np.uint64)


def clear_tail(packed: Packed, bits: int) -> None:
    """Set the bits past the last one to 0."""
    if bits % 64:
        packed[:, -1] &= np.uint64((1 << bits % 64) - 1)


def sizes(packed: Packed) -> Integers:
    """Return how many bits each of the sets has."""
    return np.asarray(np.bitwise_count(packed).sum(axis=1, dtype=np.int64))


def column_sums(packed: Packed, bits: int) -> Integers:
    """Return how many of the sets have each bit: the (bits,) sums.

    They are added by carry-save adders (Warren, Hacker's Delight, 2nd edition 2013, section 5-1):
    three words of equal weight become a word with the sums of their bits, and a word of twice the
    weight with the carries. Here words are blocks of rows. At most two blocks of each weight wait.
    """
    width = packed.shape[1]
    rows = max(1, _WORDS // width)
    sums = np.zeros(64 * width, dtype=np.int64)
    waiting: list[list[Packed]] = [[]]
    whole = len(packed) // rows * rows
    for start in range(0, whole, rows):
        waiting[0].append(packed[start : start + rows])
        weight = 0
        while len(waiting[weight]) == 3:
            added, carried = _added(*waiting[weight])
            waiting[weight], weight = [added], weight + 1
            if weight == len(waiting):
                waiting.append([])
            waiting[weight].append(carried)
    for weight, blocks in enumerate([[packed[whole:]], *waiting]):
        for block in blocks:
            added_up = unpack(block, 64 * width).sum(axis=0, dtype=np.int64)
            sums += added_up << max(0, weight - 1)
    return sums[:bits]


def _added(a: Packed, b: Packed, c: Packed) -> tuple[Packed, Packed]:
    """Return the sums of the bits of three blocks, and the carries, which have twice the weight."""
    either = a ^ b
    carry = either & c
    carry |= a & b
    either ^= c
    return either, carry
