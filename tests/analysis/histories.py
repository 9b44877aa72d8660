"""The largest ratio of reports of permanent bits, by enumeration of all histories of answers."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

from analysis.core.channels.bits import Bits

STAGES = [
    ((1, 2, 1, 8), (3, 1, 4)),
    ((1, 2, 1, 3), (9, 1, 10)),
    ((3, 4, 1, 4), (2, 1, 3)),
    ((1, 2, 1, 50), (3, 2, 5)),
]


def bit_stages(weights: tuple[tuple[int, ...], tuple[int, ...]], k: int) -> tuple[Bits, Bits]:
    (one, one_of, zero, zero_of), (told, other, total) = weights
    permanent = Bits(k, one * zero_of, zero * one_of, one_of * zero_of)
    return permanent, Bits(k, told, other, total)


def bits_by_force(
    permanent: Bits,
    instant: Bits,
    codewords: list[tuple[int, ...]],
    waves: int,
    alike: bool = True,
) -> Fraction:
    """Return the largest ratio of any reports under any two histories of inputs.

    Bits are independent, so each one's reports are looked at alone. `codewords` are the places of
    the ones of each input. If inputs are `alike`, any of them can be the first.
    """
    stages = [(Fraction(c.zero, c.total), Fraction(c.one, c.total)) for c in (permanent, instant)]
    kept, told = stages

    def chance(reports: tuple[int, ...], given: tuple[int, ...]) -> Fraction:
        """Return the probability of one bit's reports, given its inputs."""
        total = Fraction(0)
        for both in product((0, 1), repeat=2):
            drawn = prod(kept[x] if both[x] else 1 - kept[x] for x in (0, 1))
            for report, x in zip(reports, given, strict=True):
                drawn *= told[both[x]] if report else 1 - told[both[x]]
            total += drawn
        return total

    @cache
    def largest(one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
        every = product((0, 1), repeat=waves)
        return max(chance(reports, one) / chance(reports, other) for reports in every)

    def histories(first: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        for history in product(first, *[codewords] * (waves - 1)):
            yield [tuple(int(i in word) for word in history) for i in range(permanent.inputs)]

    def ratio(one: list[tuple[int, ...]], other: list[tuple[int, ...]]) -> Fraction:
        pairs = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
        return prod((largest(*pair) for pair in pairs), start=Fraction(1))

    others = list(histories(codewords))
    ones = list(histories(codewords[:1])) if alike else others
    return max(ratio(one, other) for one in ones for other in others)
