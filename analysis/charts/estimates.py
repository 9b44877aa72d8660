"""Estimates as dots, with their intervals as bars, each below its name."""

from collections.abc import Sequence

from analysis.charts.picture import (
    COLORS,
    FONT,
    WIDTH,
    Axis,
    line,
    number,
    picture,
    shortened,
    text,
)
from analysis.estimate.estimates import Estimate

_SIDE, _ROW = 22, 44
#: Letters that fit beside a number.
_LETTERS = 38


def chart(title: str, rows: Sequence[Estimate], low: float, high: float, unit: str = "") -> str:
    """Draw estimates that share one axis.

    Parameters
    ----------
    title : str
        What the rows are about, for people who do not see the picture.
    rows : sequence of Estimate
        In the order to be drawn.
    low, high : float
        The ends of the axis: the possible values. Estimates beyond them are drawn there, so that
        the axis is longer, by half at most; only what is possible has marks.
    unit : str
        "%" shows shares as percentages; any other is written below the axis.
    """
    beyond = (high - low) / 2
    known = [row.estimate for row in rows if row.estimate is not None]
    start, end = max(min([low, *known]), low - beyond), min(max([high, *known]), high + beyond)
    axis = Axis(start, end, _SIDE, WIDTH - _SIDE)

    def exactly(value: float) -> str:
        return f"{100 * value:.1f} %" if unit == "%" else f"{value:,.4g}"

    marks = [low + (high - low) * step / 4 for step in range(5)]
    parts, described = [], []
    for index, row in enumerate(rows):
        top = _ROW * index + 4
        middle = top + 29
        parts += [
            text(0, top + FONT, shortened(row.label, _LETTERS)),
            *(line(axis(value), middle - 10, axis(value), middle + 10) for value in marks),
            f'<line x1="{axis(row.conf_low):.1f}" x2="{axis(row.conf_high):.1f}" '
            f'y1="{middle}" y2="{middle}" stroke="{COLORS[0]}" stroke-width="8" '
            'stroke-linecap="round"/>',
        ]
        if row.estimate is not None:
            parts += [
                text(WIDTH, top + FONT, exactly(row.estimate), "end"),
                f'<circle cx="{axis(row.estimate):.1f}" cy="{middle}" r="5"/>',
            ]
        interval = f"{exactly(row.conf_low)} to {exactly(row.conf_high)}"
        estimate = "no estimate" if row.estimate is None else exactly(row.estimate)
        described.append(f"{row.label}: {estimate}, {interval}")
    below = _ROW * len(rows) + FONT + 8
    parts += [text(axis(value), below, number(value, unit), "middle", 0.8) for value in marks]
    if unit not in ("%", ""):
        below += FONT + 5
        parts.append(text(WIDTH / 2, below, shortened(unit, _LETTERS), "middle", 0.8))
    return picture(title, "; ".join(described), below + 8, parts)
