"""Simulated estimates as dots, with the interval of a survey without randomization behind them.

Quantile dot plots let people judge where a release may fall (Kay et al., CHI 2016; for privacy
Nanayakkara et al., "Visualizing privacy-utility trade-offs in differentially private data
releases", PoPETs 2022, which also draw the ordinary interval behind).
"""

import math
from collections import Counter
from collections.abc import Sequence

from analysis.charts.picture import COLORS, WIDTH, Axis, line, number, picture, text

#: If there are more estimates than this, this many quantiles of them are drawn.
MOST_DOTS = 100
_SIDE, _TOP, _TALLEST, _LEGEND = 18, 8, 150, 20


def dot_plot(
    title: str,
    values: Sequence[float],
    truth: float,
    plain: tuple[float, float],
    x_label: str,
    unit: str = "",
) -> str:
    """Draw a dot for each estimate, or a dot for each of 100 quantiles if there are more estimates.

    Parameters
    ----------
    title : str
        What is drawn, for people who do not see it.
    values : sequence of float
        The estimates of simulated surveys, at least one. They may lie outside the possible values.
    truth : float
        The true value that they estimate. It is drawn as a line.
    plain : (float, float)
        The interval of a survey that asks as many people directly. It is drawn as a band.
    x_label, unit : str
        What the axis shows, and its unit. The unit "%" shows shares as percentages.

    Raises
    ------
    ValueError
        If there is no estimate, a number is not finite, or the band's low end is above its high
        end.
    """
    low, high = plain
    if not values:
        raise ValueError("values must be at least one, got none")
    if not low <= high:
        raise ValueError(f"plain must be a low and a high end, got {low:g} and {high:g}")
    axis = Axis.around([*values, truth, low, high], _SIDE, WIDTH - _SIDE, tight=True)
    shown = _quantiles(sorted(values))
    cell, stacks = _stacked([axis(value) for value in shown])
    bottom = _TOP + max(60.0, cell * max(stacks.values())) + 6
    band = f'fill="{COLORS[1]}" fill-opacity="0.25" stroke="{COLORS[1]}" stroke-dasharray="4 3"'
    parts = [
        f'<rect x="{axis(low):.1f}" y="{_TOP}" width="{max(2.0, axis(high) - axis(low)):.1f}" '
        f'height="{bottom - _TOP:.1f}" {band}/>',
        line(axis.start, bottom, axis.end, bottom, 0.6),
        line(axis(truth), _TOP - 4, axis(truth), bottom + 6, 1),
    ]
    parts += [
        f'<circle cx="{cell * (column + 0.5):.1f}" cy="{bottom - cell * (row + 0.5):.1f}" '
        f'r="{0.42 * cell:.1f}" fill="{COLORS[0]}"/>'
        for column, height in sorted(stacks.items())
        for row in range(height)
    ]
    last = -1e9
    for value in axis.ticks:
        label = number(value, unit)
        half = 3.6 * len(label)
        if axis(value) - half > max(last + 4, -2) and axis(value) + half < WIDTH + 2:
            parts.append(text(axis(value), bottom + 20, label, "middle", 0.8))
            last = axis(value) + half
    each = "a simulated survey" if len(values) == len(shown) else "1 in 100 simulated surveys"
    direct = f"{number(low, unit)} to {number(high, unit)}"
    legend = bottom + 40
    parts += [
        text(WIDTH / 2, legend, x_label, "middle", 0.8),
        f'<circle cx="13" cy="{legend + _LEGEND - 4:.1f}" r="4" fill="{COLORS[0]}"/>',
        text(26, legend + _LEGEND, f"the estimate of {each}"),
        line(13, legend + 2 * _LEGEND - 12, 13, legend + 2 * _LEGEND + 2, 1),
        text(26, legend + 2 * _LEGEND, f"the true value, {number(truth, unit)}"),
        f'<rect x="6" y="{legend + 3 * _LEGEND - 11:.1f}" width="14" height="12" {band}/>',
        text(26, legend + 3 * _LEGEND, f"asked directly: {direct}"),
    ]
    description = (
        f"{len(values)} estimates from {number(min(values), unit)} to {number(max(values), unit)}; "
        f"true value {number(truth, unit)}; interval of a survey that asks directly: {direct}"
    )
    return picture(title, description, math.ceil(legend + 3 * _LEGEND + 8), parts)


def _quantiles(values: list[float]) -> list[float]:
    """Return the values or, if there are too many, the middle value of each hundredth of them."""
    n = len(values)
    if n <= MOST_DOTS:
        return values
    return [values[int((part + 0.5) * n / MOST_DOTS)] for part in range(MOST_DOTS)]


def _stacked(places: list[float]) -> tuple[float, Counter[int]]:
    """Return the largest cell in which all stacks fit, and the number of dots of each column."""
    for cell in (8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.5):
        stacks = Counter(int(place / cell) for place in places)
        if cell * max(stacks.values()) <= _TALLEST:
            break
    return cell, stacks
