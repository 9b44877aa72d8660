"""A chart of named values as points over one axis, each below its name."""

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

_SIDE, _ROW, _TOP = 8, 50, 8
#: The letters of a name that fit beside its number on a phone, and those of a note below it.
_LETTERS, _NOTE = 38, 46


def point_chart(
    title: str,
    points: Sequence[tuple[str, str, float]],
    x_label: str,
    mark: tuple[str, float] | None = None,
) -> str:
    """Draw a point for each value, on a logarithmic axis, in the order given.

    Parameters
    ----------
    title : str
        What is drawn, for people who do not see it; the description has every point.
    points : sequence of (str, str, float)
        A name, a note that stands below it, and a value above 0; at least one.
    x_label : str
        What the axis shows, and its unit.
    mark : (str, float), optional
        A line with a name, at a value above 0.

    Raises
    ------
    ValueError
        If there is no point, or a value is not above 0.
    """
    values = [value for *_, value in points] + ([mark[1]] if mark else [])
    axis = Axis.around(values, _SIDE, WIDTH - _SIDE, log=True)
    top = _TOP + (FONT + 6) * (mark is not None)
    bottom = top + _ROW * len(points)
    parts = [line(axis.start, bottom, axis.end, bottom, 0.6)]
    for place, (name, note, value) in enumerate(points):
        y = top + _ROW * place
        x = axis(value)
        parts += [
            text(0, y + FONT, shortened(name, _LETTERS)),
            text(WIDTH, y + FONT, number(value), "end"),
            text(0, y + 2 * FONT + 2, shortened(note, _NOTE), opacity=0.8),
            line(axis.start, y + 38, axis.end, y + 38),
            f'<circle cx="{x:.1f}" cy="{y + 38}" r="5" fill="{COLORS[0]}"/>',
        ]
    for value in axis.ticks:
        parts.append(line(axis(value), bottom, axis(value), bottom + 4, 0.6))
        anchor = "start" if axis(value) < 20 else "end" if axis(value) > WIDTH - 20 else "middle"
        parts.append(text(axis(value), bottom + 18, number(value), anchor, 0.8))
    parts.append(text(WIDTH / 2, bottom + 36, x_label, "middle", 0.8))
    described = "; ".join(f"{name} ({note}): {number(value)}" for name, note, value in points)
    if mark is not None:
        name, value = mark
        x = axis(value)
        anchor = "start" if x < WIDTH / 2 else "end"
        # The line has gaps at names and notes, so that it does not run through them.
        gaps = [top + _ROW * place + 2 * FONT + 6 for place in range(len(points))]
        ends = [top + _ROW * place for place in range(1, len(points) + 1)]
        pieces = [(top - 6, top), *zip(gaps, ends, strict=True)]
        parts += [line(x, begin, x, end, 0.9) for begin, end in pieces]
        parts.append(text(x, FONT, name, anchor))
        described += f"; {name}: {number(value)}"
    return picture(title, described, bottom + 42, parts)
