"""A chart of named values as points over one axis, each below its name."""

from collections.abc import Sequence
from itertools import accumulate
from textwrap import wrap

from analysis.charts.picture import (
    COLORS,
    FONT,
    WIDTH,
    Axis,
    line,
    number,
    picture,
    text,
)

_SIDE, _TOP = 8, 8
#: The height of a line of text, that of a row in addition to its lines, and how far a point is
#: above the end of its row.
_LINE, _ROW, _POINT = FONT + 2, 26, 18
#: The letters of a name that fit beside its number on a phone, and those of a note below it.
_LETTERS, _NOTE = 37, 45


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
    lines = [(_wrapped(name, _LETTERS), _wrapped(note, _NOTE)) for name, note, _ in points]
    tops = list(accumulate((_height(*words) for words in lines), initial=top))
    bottom = tops.pop()
    parts = [line(axis.start, bottom, axis.end, bottom, 0.6)]
    for y, (names, notes), (*_, value) in zip(tops, lines, points, strict=True):
        for place, words in enumerate((*names, *notes)):
            opacity = 1 if place < len(names) else 0.8
            parts.append(text(0, y + FONT + _LINE * place, words, opacity=opacity))
        at = y + _height(names, notes) - _POINT
        parts += [
            text(WIDTH, y + FONT, number(value), "end"),
            line(axis.start, at, axis.end, at),
            f'<circle cx="{axis(value):.1f}" cy="{at}" r="5" fill="{COLORS[0]}"/>',
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
        ends = [*tops[1:], bottom]
        pieces = [(top - 6, top), *((end - _ROW + 4, end) for end in ends)]
        parts += [line(x, begin, x, end, 0.9) for begin, end in pieces]
        parts.append(text(x, FONT, name, anchor))
        described += f"; {name}: {number(value)}"
    return picture(title, described, bottom + 42, parts)


def _wrapped(words: str, letters: int) -> list[str]:
    return wrap(words, letters, break_on_hyphens=False)


def _height(names: list[str], notes: list[str]) -> int:
    """Return the height of a row: its lines, and the point below them."""
    return _LINE * (len(names) + len(notes)) + _ROW
