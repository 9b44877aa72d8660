"""What tells most where reports do not count for answers: from the channel's whole table, exactly.

By hand: of weights 4:2:1, 2:4:2 (over 8) and 1:2:4 (over 7), the first report is 4 times as likely
for the first value as for the third; no other report tells as much for it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analysis.randomizer import Randomizer

#: Reports tell as much if they do to within this factor: weights are rounded.
_ABOUT = Fraction(999, 1000)


@dataclass(frozen=True)
class Telling:
    """The reports that tell most for a value: their chance `p`, and `q` for the place `other`."""

    p: Fraction
    q: Fraction
    other: int


def telling_reports(randomizer: Randomizer[Any, Any], values: list[Any]) -> list[Telling]:
    """Of each value the reports whose chance is most times that for another of the values.

    Where such reports tell it from several others, from that one which most of them do.
    Preconditions: reports have no cohorts, and their space is small enough to be listed.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    laws = [
        [p for _, p in channel.distribution(encoder.encode(value, 0, iter(())))] for value in values
    ]

    def against(own: list[Fraction], other: int, ratio: Fraction) -> Telling:
        pairs = [(p, q) for p, q in zip(own, laws[other], strict=True) if p >= ratio * q]
        return Telling(_sum(p for p, _ in pairs), _sum(q for _, q in pairs), other)

    found = []
    for own in laws:
        ratio = max(p / min(column) for p, column in zip(own, zip(*laws, strict=True), strict=True))
        ways = [against(own, other, _ABOUT * ratio) for other in range(len(laws))]
        found.append(max(ways, key=lambda way: way.p))
    return found


def telling_ends(randomizer: Randomizer[Any, Any]) -> tuple[Fraction, Fraction]:
    """How likely the highest number, and the lowest, make a report that is likelier of the highest.

    Those are the reports that tell the two apart best; where all reports are such of one end or the
    other, as of noise on two points, they are the upper half. Preconditions: as above.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    low, high = (
        [p for _, p in channel.distribution(encoder.encode(Fraction(end), 0, iter(())))]
        for end in (0, 1)
    )
    told = [(p, q) for p, q in zip(high, low, strict=True) if p > q]
    return _sum(p for p, _ in told), _sum(q for _, q in told)


def _sum(chances: Iterable[Fraction]) -> Fraction:
    return sum(chances, Fraction(0))
