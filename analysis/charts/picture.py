"""The frame of a picture, and its texts."""

from collections.abc import Iterable
from html import escape

#: As wide as a phone shows it one to one; texts are then of 13 pixels.
WIDTH, FONT = 340, 13
#: Seen well, at least 3:1 (WCAG 1.4.11), on white and on the dark page.
COLORS = ("#3b82c4", "#c2651f", "#2e8b57", "#9a63c9", "#b8860b", "#c0508a")


def picture(title: str, description: str, height: float, parts: Iterable[str], width: int) -> str:
    """An SVG element of this size."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" role="img" '
            f'font-family="system-ui, sans-serif" font-size="{FONT}" fill="currentColor">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            *parts,
            "</svg>",
        ]
    )


def text(x: float, y: float, words: str, anchor: str = "start", opacity: float = 1) -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill-opacity="{opacity:g}">'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.2) -> str:
    """A thin straight line in the color of the text."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-opacity="{opacity:g}"/>'
    )


def number(value: float, unit: str = "") -> str:
    """A number of an axis: shares in percent if the unit is "%", thousands and millions short."""
    if unit == "%":
        return f"{100 * value:.3g} %"
    for size, letter in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.4g}{letter}"
    return f"{value:,.4g}"


def shortened(words: str, letters: int) -> str:
    """At most so many letters, with … in place of the rest."""
    return words if len(words) <= letters else words[: letters - 1].rstrip() + "…"
