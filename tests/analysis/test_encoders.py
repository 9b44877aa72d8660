"""The contract of every encoder: which inputs it gives, by enumeration, singly and in bulk."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial, nan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER, Categories, Domain, Numbers, Rankings, Sets
from analysis.core.encoders import ENCODERS, Encoder
from analysis.core.encoders.categories import Hash, Index, Onehot, is_prime
from analysis.core.encoders.grid import Grid
from analysis.core.encoders.groups import Group, Order, Suborder, chosen_at
from analysis.core.encoders.several import Multihot, Padded, Pick
from analysis.core.encoders.text import Bloom, Digest, Prefix
from analysis.core.words import WORD


def ordered(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the flags of an order of items, one for each pair."""
    pairs = combinations(range(len(order)), 2)
    return tuple(int(order.index(first) < order.index(second)) for first, second in pairs)


def sets(options: int, at_most: int) -> list[tuple[int, ...]]:
    """Return the flags of every set that may be ticked."""
    every = product((0, 1), repeat=options)
    return [(*ticked, int(not any(ticked))) for ticked in every if sum(ticked) <= at_most]


#: Encoders, each with all its values, and as arrays; a grid's are points, which need no draw.
CASES: list[tuple[Any, list[Any]]] = [
    (Index(3), [0, 1, 2]),
    (Onehot(3), [0, 1, 2]),
    (Onehot(70), list(range(70))),
    (Hash(20, 3, 3), list(range(20))),
    (Hash(300, 2, 251), list(range(300))),
    (Grid(4, 5), [Fraction(point, 4) for point in range(5)]),
    (Grid(4, 7), [*(Fraction(point, 4) for point in range(5)), None]),
    (Multihot(4, 2, 5), sets(4, 2)),
    (Multihot(4, 4, 6), [*sets(4, 4), None]),
    (Multihot(70, 1, 72), [(1,) + (0,) * 70, (0,) * 70 + (1,), None]),
    (Padded(4, 2, 6), sets(4, 2)),
    (Padded(4, 4, 9), [*sets(4, 4), None]),
    (Padded(70, 1, 72), [(1,) + (0,) * 70, (0,) * 70 + (1,), None]),
    (Group(4, 2, 4), sets(3, 3)),
    (Group(5, 3, 9), [*sets(4, 4), None]),
    (Group(3, 3, 9), [*sets(3, 3), None]),
    (Suborder(4, 3, 6), [ordered(places) for places in permutations(range(4))]),
    (Suborder(5, 4, 25), [*(ordered(places) for places in permutations(range(5))), None]),
    (Pick(4, 2), sets(3, 3)),
    (Pick(4, 3), [*sets(3, 3), None]),
    (Order(3, 6), [ordered(places) for places in permutations(range(3))]),
    (Digest(64, 5), ["", "a", "größe", None]),
    (Bloom(9, 2, 70), ["a", "b", "ab", None]),
    (Prefix(4, (1, 3), 7), ["a", "abc", "abcd", None]),
    (Order(4, 25), [*(ordered(places) for places in permutations(range(4))), None]),
]
every_case = pytest.mark.parametrize(("encoder", "values"), CASES, ids=str)


def arrayed(encoder: Any, values: list[Any]) -> NDArray[Any]:
    """Return values in the form that `encode_many` takes."""
    if isinstance(encoder, Grid):
        return np.array([nan if value is None else float(value) for value in values])
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    width = max(np.size(value) for value in values if value is not None)
    if isinstance(values[0], tuple):
        return np.array([(-1,) * width if value is None else value for value in values])
    return np.array(values)


def test_every_encoder_has_cases() -> None:
    assert {encoder.name for encoder, _ in CASES} == set(ENCODERS)
    for encoder, _ in CASES:
        encoder.check()


@every_case
def test_many_values_are_encoded_as_single_ones(encoder: Encoder, values: list[Any]) -> None:
    count = encoder.cohorts or 1
    cohorts = sorted({0, 1 % count, count // 2, count - 1} | set(range(min(count, 30))))
    both = list(product(values, cohorts))
    many = encoder.encode_many(
        arrayed(encoder, [value for value, _ in both]),
        np.array([cohort for _, cohort in both]),
        lambda n: np.zeros(n, dtype=np.uint32) + np.uint32(WORD - 1),
    )
    assert len(many) == len(both)
    for (value, cohort), got in zip(both, many.tolist(), strict=True):
        single = encoder.encode(value, cohort, iter(()))
        if encoder.gives_bits:
            got = tuple(
                bit for bit in range(64 * len(got)) if got[bit // 64] >> bit % 64 & 1
            )  # fmt: skip
        assert got == single, (value, cohort)


@every_case
def test_every_value_is_encoded_to_an_input(encoder: Encoder, values: list[Any]) -> None:
    for value in values:
        for cohort in range(min(100, encoder.cohorts or 1)):
            symbol = encoder.encode(value, cohort, iter(()))
            for place in symbol if encoder.gives_bits else (symbol,):
                assert type(place) is int
                assert 0 <= place < encoder.inputs


@every_case
def test_probabilities_cover_every_input_that_a_value_can_become(
    encoder: Encoder, values: list[Any]
) -> None:
    for value in values:
        for cohort in range(min(30, encoder.cohorts or 1)):
            chances = dict(encoder.chances(value, cohort))
            assert sum(chances.values()) == 1
            assert all(part > 0 for part in chances.values())
            # The least and the largest word give all possible draws.
            drawn = {encoder.encode(value, cohort, iter([word] * 99)) for word in (0, WORD - 1)}
            assert drawn == set(chances)


def test_a_number_is_rounded_up_as_often_as_it_is_near() -> None:
    # 1/3 of 10 steps is a third of a step above 3.
    assert Grid(10, 11).chances(Fraction(1, 3), 0) == [(3, Fraction(2, 3)), (4, Fraction(1, 3))]


@pytest.mark.parametrize("encoder", [encoder for encoder, _ in CASES if encoder.cohorts is None])
def test_encoders_without_cohorts_lose_nothing(encoder: Encoder) -> None:
    values = next(values for other, values in CASES if other == encoder)
    assert len({encoder.encode(value, 0, iter(())) for value in values}) == len(values)


@every_case
def test_no_input_has_more_ones_than_two_can_differ_in(encoder: Encoder, values: list[Any]) -> None:
    if encoder.gives_bits:
        most = max(max(pair) for pair in encoder.apart)
        cohorts = range(min(100, encoder.cohorts or 1))
        inputs = [encoder.encode(value, c, iter(())) for value in values for c in cohorts]
        assert max(map(len, inputs)) <= most


HASHES = [Hash(4, 2, 2), Hash(9, 2, 3), Hash(20, 3, 3), Hash(7, 1, 7), Hash(24, 2, 5)]
HASHES += [Hash(32, 5, 2), Hash(121, 2, 11)]


@pytest.mark.parametrize("encoder", HASHES, ids=str)
def test_two_values_collide_in_exactly_one_of_inputs_cohorts(encoder: Hash) -> None:
    encoder.check()
    symbols = np.array(
        [
            [encoder.encode(value, cohort, iter(())) for cohort in range(encoder.cohorts)]
            for value in range(encoder.values)
        ]
    )
    for one, other in combinations(symbols, 2):
        assert (one == other).sum() * encoder.inputs == encoder.cohorts
    assert not symbols[0].any()
    for row in symbols[1:]:
        counts = np.bincount(row, minlength=encoder.inputs)
        assert (counts * encoder.inputs == encoder.cohorts).all()


def test_a_hash_has_as_many_cohorts_as_a_word_has_values_and_no_more() -> None:
    largest = Hash(3, 32, 2)
    largest.check()
    assert largest.cohorts == WORD
    # The last cohort has the digit 1 everywhere. Of 0, 1 and 2 it adds up the binary digits.
    assert [largest.encode(value, WORD - 1, iter(())) for value in range(3)] == [0, 1, 1]
    for larger in (Hash(3, 33, 2), Hash(3, 21, 3), Hash(3, 3, 65521)):
        with pytest.raises(ValueError, match=r"must be from values to 2\^32, got digits"):
            larger.check()


def test_two_values_have_jointly_uniform_symbols_unless_their_digits_are_multiples() -> None:
    encoder = Hash(9, 2, 3)
    for one, other in combinations(range(1, 9), 2):
        pairs = Counter(
            (encoder.encode(one, cohort, iter(())), encoder.encode(other, cohort, iter(())))
            for cohort in range(9)
        )
        multiple = any(
            all(one // 3**d * times % 3 == other // 3**d % 3 for d in (0, 1)) for times in (1, 2)
        )
        assert len(pairs) == (3 if multiple else 9)


def test_primes_are_those_that_no_smaller_number_divides() -> None:
    primes = [n for n in range(2, 3000) if all(n % part for part in range(2, n))]
    assert [n for n in range(-3, 3000) if is_prime(n)] == primes
    assert is_prime(65521)
    assert not is_prime(251 * 257)


@pytest.mark.parametrize("items", [2, 3, 4, 5, 6])
def test_orders_and_places_are_one_to_one(items: int) -> None:
    encoder = Order(items, factorial(items))
    places = [encoder.encode(ordered(order), 0, iter(())) for order in permutations(range(items))]
    assert sorted(places) == list(range(factorial(items)))
    assert encoder.encode(ordered(tuple(range(items))), 0, iter(())) == 0
    assert encoder.encode(ordered(tuple(reversed(range(items)))), 0, iter(())) == len(places) - 1


@pytest.mark.parametrize("items", [2, 3, 4])
def test_flags_without_an_order_are_refused(items: int) -> None:
    encoder = Order(items, factorial(items))
    orders = {ordered(order) for order in permutations(range(items))}
    for flags in product((0, 1), repeat=comb(items, 2)):
        if flags in orders:
            encoder.encode(flags, 0, iter(()))
        else:
            with pytest.raises(ValueError, match="value must be the flags of an order"):
                encoder.encode(flags, 0, iter(()))


@pytest.mark.parametrize(("options", "at_most"), [(1, 1), (3, 1), (3, 2), (3, 3), (5, 4)])
def test_sets_are_the_flags_that_may_be_set_together(options: int, at_most: int) -> None:
    encoder = Multihot(options, at_most, options + 1)
    allowed = set(sets(options, at_most))
    for flags in product((0, 1), repeat=options + 1):
        if flags in allowed:
            ones = tuple(place for place, flag in enumerate(flags) if flag)
            assert encoder.encode(flags, 0, iter(())) == ones
        else:
            with pytest.raises(ValueError, match="value must have 1 to"):
                encoder.encode(flags, 0, iter(()))


def test_sets_are_in_the_order_of_their_members() -> None:
    for count, size in ((4, 2), (6, 4), (5, 5), (51, 3)):
        every = list(combinations(range(count), size))
        assert [chosen_at(place, count, size) for place in range(len(every))] == every


def test_groups_give_their_flags_and_none_if_all_are_given() -> None:
    # Cohorts of four flags, two each: 01 02 03 12 13 23.
    group = Group(4, 2, 4)
    assert [group.encode((0, 1, 1, 0), c, iter(())) for c in range(6)] == [2, 2, 0, 3, 1, 1]
    assert Group(3, 3, 8).encode((0, 0, 0, 1), 0, iter(())) == 0
    assert Group(3, 3, 8).encode((1, 0, 1, 0), 0, iter(())) == 5
    # The items 0, 1, 2, 3 are in the order 2, 0, 3, 1; the cohorts are 012 013 023 123.
    value = ordered((2, 0, 3, 1))
    own = Order(3, 6)
    expected = [ordered(one) for one in ((2, 0, 1), (0, 2, 1), (1, 0, 2), (1, 2, 0))]
    found = [Suborder(4, 3, 6).encode(value, cohort, iter(())) for cohort in range(4)]
    assert found == [own.encode(one, 0, iter(())) for one in expected]


def test_pads_make_all_inputs_as_large() -> None:
    encoder = Padded(3, 3, 7)
    assert encoder.encode((1, 0, 1, 0), 0, iter(())) == (0, 2, 5)
    assert encoder.encode((0, 0, 0, 1), 0, iter(())) == (3, 5, 6)
    assert encoder.encode(None, 0, iter(())) == (4, 5, 6)


def test_pick_gives_the_flag_of_its_cohort() -> None:
    assert [Pick(3, 3).encode((1, 0, 1), cohort, iter(())) for cohort in range(3)] == [0, 1, 0]
    assert [Pick(3, 3).encode(None, cohort, iter(())) for cohort in range(3)] == [2, 2, 2]


@pytest.mark.parametrize("steps", [1, 3, 10])
@pytest.mark.parametrize("place", ["1/3", "1/7", "5/7", "1/1024", "999/1000"])
def test_rounding_is_unbiased(steps: int, place: str) -> None:
    # The probability to round up is the part of words that do, and, at the one word that does not
    # decide, the part of the words after it. It is compared with the rest to 64 binary places.
    encoder = Grid(steps, steps + 1)
    point, rest = divmod(Fraction(place) * steps, 1)
    cut, second = divmod(int(rest * WORD**2), WORD)

    def up(*words: int) -> int:
        return encoder.encode(Fraction(place), 0, iter(words)) - int(point)

    if cut:
        assert up(0) == up(cut - 1) == 1
    if cut < WORD - 1:
        assert up(cut + 1) == up(WORD - 1) == 0
    exact = rest * WORD**2
    if exact % WORD:
        assert [up(cut, word) for word in (second - 1, second + 1) if 0 <= word < WORD][-1] == 0
        assert second == 0 or up(cut, second - 1) == 1
    else:
        assert up(cut) == 0
    # Hence the probability is the rest, and the expectation is the place.
    many = encoder.encode_many(
        np.full(3, float(Fraction(place))),
        np.zeros(3, dtype=int),
        lambda n: np.array([max(0, cut - 2), min(WORD - 1, cut + 2), WORD - 1], dtype=np.uint32),
    )
    assert (many - int(point)).tolist() == [int(cut >= 2), 0, 0]


FITTING: list[tuple[Any, Domain]] = [
    (Index(3), Categories(("a", "b", NO_ANSWER))),
    (Onehot(3), Categories(("a", "b", "c"))),
    (Hash(3, 2, 2), Categories(("a", "b", "c"))),
    (Grid(4, 5), Numbers(Fraction(0), Fraction(1), 8, False)),
    (Grid(4, 7), Numbers(Fraction(0), Fraction(1), 8, True)),
    (Multihot(3, 2, 4), Sets(("a", "b", "c"), 2, False)),
    (Multihot(3, 2, 5), Sets(("a", "b", "c"), 2, True)),
    (Pick(4, 3), Sets(("a", "b", "c"), 2, True)),
    (Pick(3, 2), Rankings(("a", "b", "c"), False)),
    (Order(3, 6), Rankings(("a", "b", "c"), False)),
    (Order(3, 7), Rankings(("a", "b", "c"), True)),
]


@pytest.mark.parametrize(("encoder", "domain"), FITTING, ids=str)
def test_an_encoder_fits_only_its_domain(encoder: Encoder, domain: Domain) -> None:
    others: list[Domain] = [
        *(Categories(tuple("abcd"[:size])) for size in (2, 3, 4)),
        *(Numbers(Fraction(0), Fraction(1), 8, skip) for skip in (False, True)),
        *(Sets(tuple("abcd"[:size]), 2, skip) for size in (2, 3) for skip in (False, True)),
        Sets(("a", "b", "c"), 3, True),
        *(Rankings(tuple("abcd"[:size]), skip) for size in (2, 3, 4) for skip in (False, True)),
    ]

    def like(other: Domain) -> bool:
        """Return whether it has as many values of the same form, as far as the encoder can see."""
        if isinstance(encoder, Pick):
            # One flag of this many, whatever the others may be.
            return (
                isinstance(other, Sets | Rankings)
                and len(other.flags) == encoder.parts
                and other.no_answer == domain.no_answer
            )
        if isinstance(domain, Categories):
            return isinstance(other, Categories) and len(other.ids) == 3
        return other == domain

    assert encoder.fits(domain)
    for other in others:
        assert encoder.fits(other) == like(other), other
