"""Numbers as people read them, in whichever language they will be said."""

import math
from fractions import Fraction

from analysis.privacy.meaning import rounded_up
from server.words import Phrase


def bound(value: float) -> float:
    """The number to three digits, and no smaller: what is a bound stays one."""
    return float(rounded_up(value).replace(",", ""))


def one_in(chance: Fraction) -> int:
    """Of how many a chance is one, to two digits, and no more: what is a bound stays one."""
    whole = math.floor(1 / chance)
    step: int = 10 ** max(0, len(str(whole)) - 2)
    return whole // step * step


def sends(chance: Fraction) -> Phrase:
    """Of 100 people, how many send it: counts as of `analysis.privacy.meaning.of_100`."""
    near = math.floor(100 * chance + Fraction(1, 2))
    if near == 100 * chance:
        return Phrase.of("sends.one" if near == 1 else "sends.exactly", n=near)
    if near in (0, 100):
        return Phrase.of("sends.more" if near else "sends.fewer")
    return Phrase.of("sends.about-one" if near == 1 else "sends.about", n=near)
