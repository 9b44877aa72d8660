"""A chart of several curves over one axis, each with its name at its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from analysis.charts.picture import (
    COLORS,
    FONT,
    WIDTH,
    Axis,
    line,
    number,
    numbers,
    picture,
    shortened,
    text,
)

_HEIGHT, _TOP, _BOTTOM, _LEFT = 290, 28, 46, 46
#: The most letters of a name at a curve's end, their width, and the distance between two names.
_LETTERS, _LETTER, _APART = 16, 6.9, FONT + 2
_DASHES = ("", "7 4", "2 3", "11 4 2 4", "13 5", "5 2 2 2 2 2")


@dataclass(frozen=True)
class Series:
    """A curve: its name and its points (x, y) by rising x. y is None if it is not known.

    A curve that is alone needs no name.
    """

    label: str
    points: Sequence[tuple[float, float | None]]

    @property
    def known(self) -> list[tuple[float, float]]:
        """The points that have a y."""
        return [(x, y) for x, y in self.points if y is not None]


@dataclass(frozen=True)
class Mark:
    """A line with a name, at an `x` or at a `y`."""

    label: str
    x: float | None = None
    y: float | None = None

    def __post_init__(self) -> None:
        if (self.x is None) == (self.y is None):
            got = "neither" if self.x is None else "both"
            raise ValueError(f'mark "{self.label}" must have an x or a y, got {got}')


def line_chart(
    title: str,
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    y_unit: str = "",
    marks: Sequence[Mark] = (),
) -> str:
    """Draw curves that differ in dashes and names, not only in colors.

    Parameters
    ----------
    title : str
        What is drawn, for people who do not see it; the description has every point.
    series : sequence of Series
        One to six, each with a point.
    x_label, y_label : str
        What the axes show, and their units.
    log_x, log_y : bool
        Whether an axis is logarithmic. A linear y axis begins at 0.
    y_unit : str
        "%" shows shares as percentages.
    marks : sequence of Mark
        Lines that are drawn over the curves.

    Raises
    ------
    ValueError
        If there are too few or too many curves, one has no point, or a number cannot be drawn.
    """
    if not 1 <= len(series) <= len(_DASHES):
        raise ValueError(f"series must be 1 to {len(_DASHES)}, got {len(series)}")
    for curve in series:
        if not curve.known:
            raise ValueError(f'series "{curve.label}" must have a point, got none')
    levels = [(mark.label, mark.y) for mark in marks if mark.y is not None]
    labels = [curve.label for curve in series] + [label for label, _ in levels]
    names = [shortened(label, _LETTERS) for label in labels]
    right = WIDTH - 22 - _LETTER * max(map(len, names))
    points = [point for curve in series for point in curve.known]
    xs = [x for x, _ in points] + [mark.x for mark in marks if mark.x is not None]
    ys = [y for _, y in points] + [y for _, y in levels]
    across = Axis.around(xs, _LEFT, right, log=log_x, tight=True)
    up = Axis.around(ys, _HEIGHT - _BOTTOM, _TOP, log=log_y, zero=True)
    parts = _grid(across, up, y_unit)
    parts += [
        text(0, FONT, y_label, opacity=0.8),
        text((_LEFT + right) / 2, _HEIGHT - 6, x_label, "middle", 0.8),
    ]
    for curve, color, dashes in zip(series, COLORS, _DASHES, strict=False):
        stroke = f'stroke="{color}" stroke-width="2.2" fill="none"'
        stroke += f' stroke-dasharray="{dashes}"' * bool(dashes)
        parts += [f'<path d="{path}" {stroke}/>' for path in _paths(curve, across, up)]
    ends = [(across(x), up(y)) for x, y in (curve.known[-1] for curve in series)]
    ends += [(right, up(y)) for _, y in levels]
    heights = _spread([y for _, y in ends], up.end, up.start)
    for name, (x, y), height in zip(names, ends, heights, strict=True):
        parts += bool(name) * [
            line(x + 2, y, right + 14, height, 0.45),
            text(right + 17, height + FONT / 3, name),
        ]
    parts += [line(across.start, up(y), across.end, up(y), 0.9) for _, y in levels]
    for mark in marks:
        if mark.x is not None:
            parts += _upright(mark.label, across(mark.x), across, up)
    return picture(title, _described(series, marks, y_unit), _HEIGHT, parts)


def _grid(across: Axis, up: Axis, y_unit: str) -> list[str]:
    parts, last = [], -1e9
    for value, label in zip(up.ticks, numbers(up.ticks, y_unit), strict=True):
        parts += [
            line(across.start, up(value), across.end, up(value)),
            text(across.start - 6, up(value) + FONT / 3, label, "end", 0.8),
        ]
    for value, label in zip(across.ticks, numbers(across.ticks), strict=True):
        half = _LETTER * len(label) / 2
        parts.append(line(across(value), up.start, across(value), up.start + 4, 0.6))
        if across(value) - half > last + 4:
            parts.append(text(across(value), up.start + 18, label, "middle", 0.8))
            last = across(value) + half
    return parts


def _paths(curve: Series, across: Axis, up: Axis) -> list[str]:
    """Return the pieces of a curve, which has gaps where y is not known."""
    drawn = []
    for _, piece in groupby(curve.points, lambda point: point[1] is None):
        places = [f"{across(x):.1f} {up(y):.1f}" for x, y in piece if y is not None]
        if places:
            # A single point becomes a dash.
            drawn.append("M" + " L".join(places if len(places) > 1 else places * 2))
    return drawn


def _spread(places: list[float], top: float, bottom: float) -> list[float]:
    """Return positions near those given, in their order, at least a line of text apart."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    spread = list(places)
    for before, after in pairwise(order):
        spread[after] = max(spread[after], spread[before] + _APART)
    limit = bottom
    for index in reversed(order):
        spread[index] = min(spread[index], limit)
        limit = spread[index] - _APART
    return [max(place, top) for place in spread]


def _upright(label: str, x: float, across: Axis, up: Axis) -> list[str]:
    """Return an upright line at `x`, with its name on the side where there is room."""
    name = shortened(label, 30)
    left = x + 8 + _LETTER * len(name) > across.end
    side, anchor = (-8, "end") if left else (8, "start")
    return [line(x, up.start, x, up.end, 0.9), text(x + side, up.end + FONT, name, anchor)]


def _described(series: Sequence[Series], marks: Sequence[Mark], y_unit: str) -> str:
    described = []
    for curve in series:
        values = (f"{number(x)}: {number(y, y_unit)}" for x, y in curve.known)
        described.append(f"{curve.label}: " * bool(curve.label) + ", ".join(values))
    for mark in marks:
        at = number(mark.x or 0.0) if mark.y is None else number(mark.y, y_unit)
        described.append(f"{mark.label}: {at}")
    return "; ".join(described)
