"""Probabilities in words: of 100 people, or in percent. They sound certain only if they are.

People understand natural frequencies with one denominator best (Franzen et al., CCS 2022;
Nanayakkara et al., USENIX Security 2023).
"""

import math
from fractions import Fraction


def of_100(chance: Fraction | float) -> str:
    """Return how many of 100 people: "75", "about 73", "fewer than 1", "more than 99".

    Raises
    ------
    ValueError
        If `chance` is outside 0..1, or NaN.
    """
    share = 100 * check_chance(chance, "chance")
    near = math.floor(share + Fraction(1, 2))
    if share == near:
        return str(near)
    if near in (0, 100):
        return "fewer than 1" if near == 0 else "more than 99"
    return f"about {near}"


def percent(chance: Fraction | float) -> str:
    """Return a probability in percent to three digits: "99.3 %", and "over 99.9 %" instead of 100.

    Raises
    ------
    ValueError
        If `chance` is outside 0..1, or NaN.
    """
    share = float(100 * check_chance(chance, "chance"))
    if 99.9 < share < 100:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.1 else f"{share:.3g} %"


def percent_at_most(chance: Fraction | float) -> str:
    """Return a probability as `percent` does, but rounded up: an upper bound stays one.

    Raises
    ------
    ValueError
        If `chance` is outside 0..1, or NaN.
    """
    # Without the last digits of a float, 75 % is not 75.1 %.
    share = float(f"{float(100 * check_chance(chance, 'chance')):.12g}")
    return "less than 100 %" if 99.9 < share < 100 else f"{rounded_up(share)} %"


def rounded_up(value: Fraction | float, digits: int = 3) -> str:
    """Return a number of at least 0, rounded up to `digits` digits, so that a bound stays one.

    Everything that people read as "at most" goes through here: ε in four digits, odds in three.
    """
    if not 0 < value < math.inf:
        return f"{float(value):g}"
    # The exact binary value of a float is not used, so that 0.1 stays 0.1.
    exact = value if isinstance(value, Fraction) else Fraction(repr(value))
    step = Fraction(10) ** (math.floor(math.log10(value)) + 1 - digits)
    bound = float(math.ceil(exact / step) * step)
    return f"{bound:,.0f}" if step >= 1 and bound <= 1e9 else f"{bound:,.{digits + 1}g}"


def check_chance(chance: Fraction | float, name: str) -> Fraction:
    """Return the same number exactly; raise ValueError unless it is in 0..1."""
    if isinstance(chance, bool) or not 0 <= chance <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {chance}")
    return Fraction(chance)
