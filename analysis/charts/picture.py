"""The parts of all pictures: frame, texts, lines, numbers and axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

#: The width at which a phone shows a picture at its own size, and the size of letters there.
WIDTH, FONT = 340, 13
#: Their contrast is at least 3:1 (WCAG 1.4.11), on white and on the dark page.
COLORS = ("#3b82c4", "#c2651f", "#2e8b57", "#9a63c9", "#b8860b", "#c0508a")


def picture(
    title: str, description: str, height: float, parts: Iterable[str], width: int = WIDTH
) -> str:
    """Return an SVG element of this size. All that it has scales with it."""
    return _element(title, description, f'viewBox="0 0 {width} {height:g}"', parts)


def fluid_picture(title: str, description: str, height: float, parts: Iterable[str]) -> str:
    """Return an SVG element as wide as the page. Positions are in percent of that width."""
    return _element(title, description, f'width="100%" height="{height:g}"', parts)


def _element(title: str, description: str, size: str, parts: Iterable[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
            f'font-family="system-ui, sans-serif" font-size="{FONT}" fill="currentColor">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            *parts,
            "</svg>",
        ]
    )


def text(x: float, y: float, words: str, anchor: str = "start", opacity: float = 1) -> str:
    """Return a line of text."""
    return text_at(f"{x:.1f}", f"{y:.1f}", words, anchor, opacity)


def text_at(x: str, y: str, words: str, anchor: str = "start", opacity: float = 1) -> str:
    """Return a line of text at a position that may be in percent."""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill-opacity="{opacity:g}">'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.2) -> str:
    """Return a thin straight line in the color of the text."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-opacity="{opacity:g}"/>'
    )


def numbers(values: Sequence[float], unit: str = "") -> list[str]:
    """Return the numbers of one axis; thousands are short in all of them or in none."""
    thousands = 1e3 if max(map(abs, values), default=0) >= 1e4 else 1e4
    return [number(value, unit, thousands) for value in values]


def number(value: float, unit: str = "", thousands: float = 1e4) -> str:
    """Return a number as an axis shows it: shares in percent with the unit "%", 12,000 as 12k.

    `thousands` is the least number that is shown in thousands.
    """
    if unit == "%":
        return f"{100 * value:.3g} %"
    for least, size, letter in ((1e6, 1e6, "M"), (thousands, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / size:.4g}{letter}"
    if 0 < abs(value) < 1e-3:
        return f"{value:.3g}" if abs(value) < 1e-4 else f"{value:.0e}"
    return f"{value:,.4g}"


def shortened(words: str, letters: int) -> str:
    """Return words of at most so many letters, with … in place of the rest."""
    return words if len(words) <= letters else words[: letters - 1].rstrip() + "…"


@dataclass(frozen=True)
class Axis:
    """An axis from the value `low` at the position `start` to the value `high` at `end`.

    With `log` it is logarithmic. Ticks are at least `apart` from each other, which is 1 where only
    whole values are possible.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    apart: float = 0

    @classmethod
    def around(
        cls,
        values: list[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        zero: bool = False,
        tight: bool = False,
    ) -> "Axis":
        """Return an axis that covers all values, and with `zero` also 0.

        The ends of a linear axis are ticks. If `tight`, they are its least and largest value, and
        ticks are whole if all values are. Raise `ValueError` if there is no value, if one is not
        finite, or if one is not above 0 on a logarithmic axis.
        """
        if not values:
            raise ValueError("axis must have at least one value, got none")
        for value in values:
            if not math.isfinite(value) or (log and value <= 0):
                wanted = "numbers above 0" if log else "finite numbers"
                raise ValueError(f"axis must have {wanted}, got {value:g}")
        low, high = min([*values, 0.0] if zero and not log else values), max(values)
        if low == high:
            room = abs(low) / 2 or 1.0
            low, high = (low / 2, high * 2) if log else (low - room, high + room)
        if tight and not log:
            return cls(low, high, start, end, apart=float(all(x == int(x) for x in values)))
        if not log:
            step = _step(high - low)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        return cls(low, high, start, end, log)

    def __call__(self, value: float) -> float:
        """Return the position of a value. Values beyond the ends lie at the ends."""
        low, high, at = self.low, self.high, min(self.high, max(self.low, value))
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    @property
    def ticks(self) -> list[float]:
        """At most eight round values within the axis."""
        if not self.log:
            step = max(self.apart, _step(self.high - self.low))
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [step * index for index in range(first, last + 1)]
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            ticks = [digit * 10.0**decade for decade in decades for digit in digits]
            ticks = [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]
            if len(ticks) <= 5:
                break
        return ticks[:: math.ceil(len(ticks) / 8)] if len(ticks) > 1 else [self.low, self.high]


def _step(span: float) -> float:
    """Return a round step that fits three to seven times into the span."""
    size = 10.0 ** math.floor(math.log10(span / 3))
    return max(size * part for part in (1, 2, 5) if size * part <= span / 3 * 1.0001)
