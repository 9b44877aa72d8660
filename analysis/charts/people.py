"""A hundred people, of whom some send a report: natural frequencies to be seen.

Icon arrays beside the sentence, with the same denominator, are what readers of few numbers
understand best (Franzen et al., CCS 2022).
"""

from fractions import Fraction

from analysis.charts.picture import COLORS, picture

_CELL, _MARGIN = 16, 5


def icon_array(title: str, chance: Fraction | float) -> str:
    """A picture of 10 × 10 people; those who do are filled, the others outlined.

    Parameters
    ----------
    title : str
        Who they are, and what they send.
    chance : Fraction or float
        That one of them does, in 0..1. As many are filled, rounded; none or all only if exact.

    Raises
    ------
    ValueError
        If `chance` is outside 0..1, or NaN.
    """
    if isinstance(chance, bool) or not 0 <= chance <= 1:
        raise ValueError(f"chance must be a number from 0 to 1, got {chance}")
    count = int(100 * Fraction(chance) + Fraction(1, 2))
    if 0 < chance < 1:
        count = min(99, max(1, count))
    people = [_person(place) for place in range(100)]
    parts = [
        f'<path d="{"".join(people[:count])}" fill="{COLORS[0]}"/>' * bool(count),
        f'<path d="{"".join(people[count:])}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.65"/>' * (count < 100),
    ]
    size = 10 * _CELL + 2 * _MARGIN
    return picture(title, f"{count} of 100 people are filled", size, filter(None, parts), size)


def _person(place: int) -> str:
    """A head and shoulders in one cell."""
    x, y = _MARGIN + _CELL * (place % 10), _MARGIN + _CELL * (place // 10)
    return (
        f"M{x + 5.2} {y + 4.2}a2.8 2.8 0 1 1 5.6 0a2.8 2.8 0 1 1-5.6 0z"
        f"M{x + 2.5} {y + 14}a5.5 5.5 0 0 1 11 0z"
    )
