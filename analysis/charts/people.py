"""Pictures of a hundred people, some of whom send a report: natural frequencies.

Readers who are not used to numbers understand best an icon array beside a sentence with the same
denominator (Franzen et al., CCS 2022).
"""

from fractions import Fraction

from analysis.charts.picture import COLORS, picture

_CELL, _MARGIN = 16, 5
_OUTLINE = 'fill="none" stroke="currentColor" stroke-opacity="0.65"'


def icon_array(title: str, chance: Fraction | float) -> str:
    """Draw 10 × 10 people. Those who send a report are filled, and the others are outlined.

    `title` says who they are, and what they send. `chance`, in 0..1, is the probability that one of
    them sends it. The number of filled people is rounded, but is 0 or 100 only if that is exact.
    Raise `ValueError` if `chance` is outside 0..1.
    """
    count = _filled(chance)
    places = [(_MARGIN + _CELL * x, _MARGIN + _CELL * y) for y in range(10) for x in range(10)]
    people = [_shape(x, y) for x, y in places]
    parts = [
        f'<path d="{"".join(people[:count])}" fill="{COLORS[0]}"/>' * bool(count),
        f'<path d="{"".join(people[count:])}" {_OUTLINE}/>' * (count < 100),
    ]
    size = 10 * _CELL + 2 * _MARGIN
    return picture(title, f"{count} of 100 people are filled", size, filter(None, parts), size)


def small_icon_array(chance: Fraction | float) -> str:
    """Draw an icon array as two areas, which are filled with the page's `icon_patterns`.

    It is short, so that a page can have many. It is hidden from assistive technology, since the
    sentence beside it says the same. Errors are those of `icon_array`.
    """
    count = _filled(chance)
    tens, ones = _CELL * (count // 10), _CELL * (count % 10)
    whole = 10 * _CELL
    did, others = f"M0 0H{whole}V{tens}H0z", f"M0 {tens}H{whole}V{whole}H0z"
    if ones:
        did = f"M0 0H{whole}V{tens}H{ones}v{_CELL}H0z"
        others = f"M{ones} {tens}H{whole}V{whole}H0V{tens + _CELL}H{ones}z"
    areas = [
        f'<path d="{did}" fill="url(#did)"/>' * bool(count),
        f'<path d="{others}" fill="url(#did-not)"/>' * (count < 100),
    ]
    return f'<svg viewBox="0 0 {whole} {whole}" aria-hidden="true">{"".join(areas)}</svg>'


def icon_patterns() -> str:
    """Return the two drawings of people that `small_icon_array` repeats, in the text's color.

    They must not be inside an element whose `display` is none.
    """
    looks = {"did": 'fill="currentColor"', "did-not": _OUTLINE}
    patterns = (
        f'<pattern id="{name}" patternUnits="userSpaceOnUse" width="{_CELL}" height="{_CELL}">'
        f'<path d="{_shape(0, 0)}" {look}/></pattern>'
        for name, look in looks.items()
    )
    return (
        '<svg class="hidden-text" width="0" height="0" aria-hidden="true">'
        f"<defs>{''.join(patterns)}</defs></svg>"
    )


def _filled(chance: Fraction | float) -> int:
    """Return how many of 100 people are filled: rounded, but 0 or 100 only if that is exact."""
    if isinstance(chance, bool) or not 0 <= chance <= 1:
        raise ValueError(f"chance must be a number from 0 to 1, got {chance}")
    count = int(100 * Fraction(chance) + Fraction(1, 2))
    return min(99, max(1, count)) if 0 < chance < 1 else count


def _shape(x: int, y: int) -> str:
    """Return a head and shoulders."""
    return (
        f"M{x + 5.2} {y + 4.2}a2.8 2.8 0 1 1 5.6 0a2.8 2.8 0 1 1-5.6 0z"
        f"M{x + 2.5} {y + 14}a5.5 5.5 0 0 1 11 0z"
    )
