"""Packed sets give the plain sums of flags, for sizes that fill no word and no third of one."""

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.core.packed import clear_tail, column_sums, one_bit, pack, sizes, words_for
from analysis.core.words import seeded_block


def flags_of(n: int, bits: int) -> NDArray[np.uint8]:
    """Return flags from a fixed seed; the columns are not equally often 1."""
    words = seeded_block("flags", n, bits)(n * bits).reshape(n, bits)
    return np.array(words % np.arange(2, bits + 2) == 0, dtype=np.uint8)


def unpack(packed: NDArray[np.uint64], bits: int) -> list[list[int]]:
    """Return the flags of each set, bit by bit."""
    return [[row[bit // 64] >> bit % 64 & 1 for bit in range(bits)] for row in packed.tolist()]


@pytest.mark.parametrize(("bits", "words"), [(1, 1), (63, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_a_set_takes_as_many_words_as_it_needs(bits: int, words: int) -> None:
    assert words_for(bits) == words


@pytest.mark.parametrize("bits", [1, 2, 63, 64, 65, 130])
def test_packed_flags_are_at_their_stated_places(bits: int) -> None:
    flags = flags_of(7, bits)
    packed = pack(flags)
    assert packed.shape == (7, words_for(bits))
    assert unpack(packed, bits) == flags.tolist()
    # Beyond the last bit all bits are 0.
    assert not any(any(row[bits:]) for row in unpack(packed, 64 * words_for(bits)))


@pytest.mark.parametrize("bits", [1, 2, 63, 64, 65, 130])
def test_one_bit_is_at_its_place(bits: int) -> None:
    assert unpack(one_bit(np.arange(bits), bits), bits) == np.eye(bits, dtype=int).tolist()


@pytest.mark.parametrize("bits", [1, 2, 63, 64, 65, 130])
def test_sizes_are_the_plain_sums(bits: int) -> None:
    flags = flags_of(50, bits)
    assert sizes(pack(flags)).tolist() == flags.sum(axis=1, dtype=int).tolist()


@pytest.mark.parametrize("bits", [1, 5, 63, 64, 65, 128, 130])
def test_tail_is_cleared_and_nothing_else(bits: int) -> None:
    packed = np.full((3, words_for(bits)), 2**64 - 1, dtype=np.uint64)
    clear_tail(packed, bits)
    assert np.bitwise_count(packed).sum(axis=1).tolist() == [bits] * 3
    assert unpack(packed, bits) == [[1] * bits] * 3


@pytest.mark.parametrize("bits", [1, 7, 64, 65, 130])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 9, 26, 27, 100, 1001])
def test_column_sums_are_the_plain_sums(n: int, bits: int) -> None:
    flags = flags_of(n, bits)
    assert column_sums(pack(flags), bits).tolist() == flags.sum(axis=0, dtype=int).tolist()


@pytest.mark.parametrize(("n", "bits"), [(32767, 3), (32769, 64), (70001, 5), (25_013, 130)])
def test_column_sums_of_several_blocks_are_the_plain_sums(n: int, bits: int) -> None:
    flags = flags_of(n, bits)
    assert column_sums(pack(flags), bits).tolist() == flags.sum(axis=0, dtype=int).tolist()


def test_column_sums_of_full_sets_lose_no_carry() -> None:
    packed = np.full((100_003, 2), 2**64 - 1, dtype=np.uint64)
    assert column_sums(packed, 128).tolist() == [100_003] * 128
    assert (packed == 2**64 - 1).all()
