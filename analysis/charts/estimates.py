"""Estimates as an SVG picture: a dot for the estimate, a bar for its interval.

Presentation attributes only, since a strict Content-Security-Policy forbids styles in the markup;
`currentColor` takes the page's text color, in the dark too.
"""

from collections.abc import Callable, Sequence
from html import escape

from analysis.estimate import Estimate

_WIDTH, _LEFT, _RIGHT, _ROW = 510, 170, 96, 34
#: Letters that fit to the left of the axis.
_LETTERS = 19


def chart(title: str, rows: Sequence[Estimate], low: float, high: float, unit: str = "") -> str:
    """A picture of estimates that share one axis.

    Parameters
    ----------
    title : str
        What the rows are about, for people who do not see the picture.
    rows : sequence of Estimate
        In the order to be drawn.
    low, high : float
        The ends of the axis: the possible values. Estimates beyond them are drawn at the ends.
    unit : str
        "%" shows shares as percentages; any other is written behind the numbers of the axis.
    """
    span = _WIDTH - _LEFT - _RIGHT

    def x(value: float) -> float:
        return round(_LEFT + span * (min(high, max(low, value)) - low) / (high - low), 1)

    def number(value: float) -> str:
        return f"{100 * value:.1f} %" if unit == "%" else f"{value:,.4g}"

    height = _ROW * len(rows) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="14" fill="currentColor">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape('; '.join(_sentence(row, number) for row in rows))}</desc>",
    ]
    bottom = _ROW * len(rows) + 6
    for step in range(5):
        value = low + (high - low) * step / 4
        label = f"{100 * value:.0f} %" if unit == "%" else f"{value:,.4g}"
        label += f" {unit}" if step == 4 and unit not in ("%", "") else ""
        parts += [
            f'<line x1="{x(value)}" x2="{x(value)}" y1="4" y2="{bottom}" '
            f'stroke="currentColor" stroke-opacity="0.2"/>',
            f'<text x="{x(value)}" y="{bottom + 20}" text-anchor="middle" '
            f'fill-opacity="0.75">{escape(label)}</text>',
        ]
    for index, row in enumerate(rows):
        y = _ROW * index + 22
        label = row.label if len(row.label) <= _LETTERS else row.label[: _LETTERS - 1] + "…"
        parts += [
            f'<text x="{_LEFT - 12}" y="{y + 5}" text-anchor="end">{escape(label)}</text>',
            f'<line x1="{x(row.conf_low)}" x2="{x(row.conf_high)}" y1="{y}" y2="{y}" '
            f'stroke="#3b82c4" stroke-width="8" stroke-linecap="round" stroke-opacity="0.6"/>',
        ]
        if row.estimate is not None:
            parts += [
                f'<circle cx="{x(row.estimate)}" cy="{y}" r="5"/>',
                f'<text x="{_WIDTH - _RIGHT + 14}" y="{y + 5}">{number(row.estimate)}</text>',
            ]
    return "\n".join([*parts, "</svg>"])


def _sentence(row: Estimate, number: Callable[[float], str]) -> str:
    middle = "no estimate" if row.estimate is None else number(row.estimate)
    return f"{row.label}: {middle}, {number(row.conf_low)} to {number(row.conf_high)}"
