"""Draws from words are exact."""

from collections import Counter
from fractions import Fraction

import pytest

from analysis.words import WORD, below, bernoulli, seeded_bytes, seeded_words


def test_below_maps_equally_many_words_to_each_result() -> None:
    # With a word of three bits instead of 32 the whole space can be counted: limit is 6 of 8.
    total, word = 3, 8
    limit = word - word % total
    assert Counter(one % total for one in range(limit)) == {0: 2, 1: 2, 2: 2}
    limit = WORD - WORD % total
    assert [below(total, iter([one, 5])) for one in (0, limit - 1, limit, WORD - 1)] == [0, 2, 2, 2]


def test_below_draws_again_at_and_above_the_limit() -> None:
    assert below(2**31 + 1, iter([2**31 + 1, WORD - 1, 4])) == 4


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 2**40), Fraction(9, 10)])
def test_bernoulli_follows_the_binary_expansion_to_its_end(chance: Fraction) -> None:
    first, rest = divmod(chance * WORD, 1)
    second = int(rest * WORD)
    assert bernoulli(chance, iter([first - 1])) == 1 if first else True
    assert bernoulli(chance, iter([first + 1])) == 0
    # Equal in the first word: the second decides.
    assert bernoulli(chance, iter([first, second + 1])) == 0
    if second:
        assert bernoulli(chance, iter([first, second - 1])) == 1


def test_bernoulli_of_nothing_draws_nothing() -> None:
    assert bernoulli(Fraction(0), iter(())) == 0


def test_seeds_fix_the_words_and_keys_part_them() -> None:
    def take(*key: str | int) -> list[int]:
        words = seeded_words(*key)
        return [next(words) for _ in range(200)]

    assert take("a", 1) == take("a", 1)
    assert take("a", 1) != take("a", 2)
    assert len(set(take("a", 1))) == 200
    # Parts of a key cannot flow into each other.
    assert seeded_bytes(16, "a", "b") != seeded_bytes(16, "ab")
