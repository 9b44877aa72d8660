"""Draws from words are exact."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from analysis.core.words import (
    LARGEST_TOTAL,
    WORD,
    Block,
    below,
    below_many,
    bernoulli,
    bernoulli_bits,
    seeded_block,
    seeded_bytes,
    seeded_words,
    under_many,
)

#: The probability that sound draws fail a test of many draws with a random seed.
CHANCE = 1e-6


def test_below_maps_equally_many_words_to_each_result() -> None:
    # With a word of three bits instead of 32 all words can be counted: the limit is 6 of 8.
    total, word = 3, 8
    limit = word - word % total
    assert Counter(word % total for word in range(limit)) == {0: 2, 1: 2, 2: 2}
    limit = WORD - WORD % total
    assert [below(total, iter([word, 5])) for word in (0, limit - 1, limit, WORD - 1)] == [
        0,
        2,
        2,
        2,
    ]


def test_below_draws_again_at_and_above_the_limit() -> None:
    assert below(2**31 + 1, iter([2**31 + 1, WORD - 1, 4])) == 4


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 2**40), Fraction(9, 10)])
def test_bernoulli_follows_the_binary_expansion_to_its_end(chance: Fraction) -> None:
    first, rest = divmod(chance * WORD, 1)
    second = int(rest * WORD)
    assert bernoulli(chance, iter([first - 1])) == 1 if first else True
    assert bernoulli(chance, iter([first + 1])) == 0
    # They are equal in the first word, so the second decides.
    assert bernoulli(chance, iter([first, second + 1])) == 0
    if second:
        assert bernoulli(chance, iter([first, second - 1])) == 1


def test_bernoulli_of_zero_draws_no_word() -> None:
    assert bernoulli(Fraction(0), iter(())) == 0


def test_seeds_fix_the_words_and_keys_separate_them() -> None:
    def take(*key: str | int) -> list[int]:
        words = seeded_words(*key)
        return [next(words) for _ in range(200)]

    assert take("a", 1) == take("a", 1)
    assert take("a", 1) != take("a", 2)
    assert len(set(take("a", 1))) == 200
    # Parts of a key cannot run into each other.
    assert seeded_bytes(16, "a", "b") != seeded_bytes(16, "ab")


def scripted(*answers: Iterable[int]) -> Block:
    """Return a block that gives these words, one list for each call, and no other."""
    left = iter(answers)

    def block(n: int) -> NDArray[np.uint32]:
        found = np.array(list(next(left)), dtype=np.uint32)
        assert len(found) == n
        found.flags.writeable = False
        return found

    return block


def test_many_draws_below_are_drawn_again_one_by_one() -> None:
    # 3 has the limit 2^32 - 1. 2^31 + 1 is its own limit, so almost every other draw is repeated.
    block = scripted([0, WORD - 1, 4, WORD - 1], [WORD - 1, 7], [5])
    assert below_many(3, 4, block).tolist() == [0, 2, 1, 1]
    block = scripted([2**31, 2**31 + 1, WORD - 1], [2**31 + 1, 2**31], [3])
    assert below_many(2**31 + 1, 3, block).tolist() == [2**31, 3, 2**31]


@pytest.mark.parametrize("total", [1, 2, 3, 10, 2**16, 2**31, 2**31 + 1, WORD - 1, WORD])
def test_many_draws_below_are_single_ones(total: int) -> None:
    limit = WORD - WORD % total
    edges = {0, 1, total - 1, total, 2 * total - 1, limit - 1, limit, WORD - 1}
    first = sorted(word for word in edges if word < WORD)
    again = [word for word in first if word >= limit]
    answers = [first, [5] * len(again)] if again else [first]
    many = below_many(total, len(first), scripted(*answers))
    assert many.tolist() == [below(total, iter([word, 5])) for word in first]
    assert below_many(total, 0, scripted([])).tolist() == []


@pytest.mark.parametrize("total", [WORD + 1, 3 * 2**40, LARGEST_TOTAL])
def test_many_draws_below_more_than_a_word_are_single_ones(total: int) -> None:
    # Two words hold a number. The limit is the largest multiple of the total that they can hold.
    limit = WORD**2 - WORD**2 % total
    edges = {0, 1, total - 1, total, limit - total, limit - 1, limit, WORD**2 - 1}
    pairs = [divmod(number, WORD) for number in sorted(edges)]
    rejected = sum(number >= limit for number in edges)
    expected = [below(total, iter([*pair, 0, 5])) for pair in pairs]
    # A block has all first words before all second ones; what is rejected comes last.
    firsts, seconds = zip(*pairs, strict=True)
    for part in {1, 5, 6, total - 1} | set(expected):
        block = scripted([*firsts, *seconds], [0] * rejected + [5] * rejected)
        drawn = under_many(part, total, len(pairs), block)
        assert drawn.tolist() == [number < part for number in expected]


CHANCES = [Fraction(1, 3), Fraction(9, 10), Fraction(5, 7), Fraction(1, 1000), Fraction(1, 2**32)]
CHANCES += [Fraction(1, 2), Fraction(3, 4), Fraction(271, 471), 1 - Fraction(1, 2**32)]


def of_byte(chance: Fraction) -> list[Fraction]:
    """Return the probability of each byte whose bits are 1 with this probability."""
    ones = [value.bit_count() for value in range(256)]
    return [chance**count * (1 - chance) ** (8 - count) for count in ones]


@pytest.mark.parametrize("chance", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_bits_of_a_probability_in_quarters_are_exact(chance: Fraction) -> None:
    # Sixteen binary digits determine a byte: each of their values occurs once.
    every = np.arange(2**16, dtype=np.uint16).view(np.uint32)
    drawn = bernoulli_bits(chance, 2**13, lambda n: every).view(np.uint8)
    assert np.bincount(drawn, minlength=256).tolist() == [2**16 * part for part in of_byte(chance)]


@pytest.mark.parametrize("chance", CHANCES)
def test_bits_are_exact_to_the_digits_that_follow(chance: Fraction) -> None:
    # There are sixteen digits, each value once; if they do not decide, more digits follow. If these
    # are all 0, or all 1, the exact number of each byte lies between the two. If they are 16
    # equally spaced numbers, it is their average, to within the spacing.
    every = np.arange(2**16, dtype=np.uint16).view(np.uint32)

    def drawn(word: int) -> NDArray[np.int64]:
        def block(n: int) -> NDArray[np.uint32]:
            return every if n == 2**15 else np.full(n, word, dtype=np.uint32)

        counts = np.bincount(bernoulli_bits(chance, 2**13, block).view(np.uint8), minlength=256)
        return np.cumsum(counts[::-1])

    exact = np.array([*accumulate(2**16 * part for part in reversed(of_byte(chance)))])
    low, high = np.sort([drawn(0), drawn(WORD - 1)], axis=0)
    assert (low <= exact).all()
    assert (exact <= high).all()
    assert (high - low <= 1).all()
    average = sum(drawn(place << 28) for place in range(16)) / 16
    assert (abs(average - exact.astype(float)) <= 1 / 16).all()


@pytest.mark.parametrize("chance", CHANCES)
def test_many_bits_have_their_probability_each_and_together(chance: Fraction) -> None:
    # Pearson's test of the bytes; bytes that are expected less than 5 times are one cell.
    drawn = bernoulli_bits(chance, 50_000, seeded_block("bits", str(chance)))
    counts = np.bincount(drawn.view(np.uint8), minlength=256)
    expected = np.array([float(part) for part in of_byte(chance)]) * counts.sum()
    rare = expected < 5
    cells = [*zip(counts[~rare], expected[~rare], strict=True)]
    if expected[rare].sum() >= 5:
        cells.append((counts[rare].sum(), expected[rare].sum()))
    else:
        assert counts[rare].sum() <= 30
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    assert statistic <= chi2.isf(CHANCE, max(1, len(cells) - 1))
    # The same holds for the place in a word: the sum of 64 squares.
    ones = np.unpackbits(drawn.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(axis=0)
    mean = len(drawn) * float(chance)
    if mean >= 5 and len(drawn) - mean >= 5:
        deviation = (ones - mean) ** 2 / (mean * (1 - float(chance)))
        assert deviation.sum() <= chi2.isf(CHANCE, 64)


def test_certain_bits_need_no_words() -> None:
    assert bernoulli_bits(Fraction(0), 3, scripted()).tolist() == [0] * 3
    assert bernoulli_bits(Fraction(1), 3, scripted()).tolist() == [2**64 - 1] * 3
    assert bernoulli_bits(Fraction(1, 3), 0, scripted([])).tolist() == []


def test_seeds_fix_the_blocks_and_keys_separate_them() -> None:
    def take(*key: str | int) -> Iterator[int]:
        block = seeded_block(*key)
        for n in (3, 1, 200):
            yield from block(n).tolist()

    assert list(take("a", 1)) == list(take("a", 1))
    assert not set(take("a", 1)) & set(take("a", 2))
    assert len(set(take("a"))) == 204
    # Every bit of a word is 1 in half of the cases.
    words = seeded_block("fair")(100_000)
    ones = [int((words >> np.uint32(bit) & np.uint32(1)).sum()) for bit in range(32)]
    assert sum((count - 50_000) ** 2 / 25_000 for count in ones) <= chi2.isf(CHANCE, 32)
