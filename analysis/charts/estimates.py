"""A chart as wide as the page: estimates with nested intervals, each below its name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from analysis.charts.picture import COLORS, FONT, Axis, fluid_picture, number, shortened, text_at
from analysis.estimate.estimates import Estimate

_SIDE, _ROW = 4.0, 46
#: The number of letters that fit beside a number on a phone.
_LETTERS = 40
#: These words stand in place of an estimate that is None.
_UNTOLD = "cannot be estimated"
#: The confidence level of the inner interval: the odds that it holds the true value are even.
_INNER = 0.5
#: The number of dots, and the hundredths of the width within which dots are stacked.
_DOTS, _APART = 20, 1.6
#: The height of the highest stack, in pixels.
_HIGHEST = 26.0


@dataclass(frozen=True)
class Bar:
    """What is drawn of one estimate. The estimate is None if only an interval is known.

    `direct` is the interval if the same people were asked directly: it has the sampling error
    alone. It is None if it is not known.
    """

    label: str
    estimate: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    direct: tuple[float, float] | None = None

    def at(self, quantile: float) -> float:
        """Return the upper bound of the true value at this confidence.

        Each half of the interval is drawn as half of a normal distribution with the same end. Its
        middle is the estimate, or the nearest end of the interval if the estimate lies outside.
        """
        middle = self.estimate
        if middle is None:
            middle = (self.conf_low + self.conf_high) / 2
        middle = min(max(middle, self.conf_low), self.conf_high)
        reach = float(ndtri(quantile)) / float(ndtri((1 + self.conf_level) / 2))
        end = self.conf_high if reach > 0 else self.conf_low
        return middle + abs(reach) * (end - middle)


def bar_of(row: Estimate, unit_low: float, unit_high: float) -> Bar:
    """Return the bar of an estimate on a scale between two values."""
    direct = None
    if row.estimate is not None and row.direct_error is not None:
        middle = min(max(row.estimate, unit_low), unit_high)
        reach = float(ndtri((1 + row.conf_level) / 2)) * row.direct_error
        direct = max(middle - reach, unit_low), min(middle + reach, unit_high)
    return Bar(row.label, row.estimate, row.conf_low, row.conf_high, row.conf_level, direct)


def chart(
    title: str, bars: Sequence[Bar], low: float, high: float, unit: str = "", dots: bool = False
) -> str:
    """Draw several estimates over one axis.

    Parameters
    ----------
    title : str
        What the rows are about, for people who do not see the picture.
    bars : sequence of Bar
        The rows, from top to bottom.
    low, high : float
        The least and the largest possible value. The axis is longer, by at most half, if an
        estimate lies beyond them. Only possible values have marks.
    unit : str
        "%" shows shares as percentages; any other is written below the axis.
    dots : bool
        Whether to draw plausible values as dots, each for a twentieth, instead of intervals.

    References
    ----------
    Correll and Gleicher 2014 (gradients and violins instead of bars); Kay et al., CHI 2016 (dots).
    """
    beyond = (high - low) / 2
    known = [bar.estimate for bar in bars if bar.estimate is not None]
    start, end = max(min([low, *known]), low - beyond), min(max([high, *known]), high + beyond)
    axis = Axis(start, end, _SIDE, 100 - _SIDE)

    def exactly(value: float) -> str:
        return f"{100 * value:.1f} %" if unit == "%" else f"{value:,.4g}"

    marks = [low + (high - low) * step / 4 for step in range(5)]
    parts, described = [], []
    for index, bar in enumerate(bars):
        top = _ROW * index + 4
        middle = top + 30
        estimate = _UNTOLD if bar.estimate is None else exactly(bar.estimate)
        letters = _LETTERS - (len(_UNTOLD) // 2 if bar.estimate is None else 0)
        parts.append(text_at("0", f"{top + FONT}", shortened(bar.label, letters)))
        parts += [_upright(axis(value), middle - 10, middle + 10, 0.2) for value in marks]
        parts += _dots(bar, axis, middle) if dots else _nested(bar, axis, middle)
        parts.append(text_at("100%", f"{top + FONT}", estimate, "end"))
        if bar.estimate is not None and not dots:
            parts.append(f'<circle cx="{axis(bar.estimate):.2f}%" cy="{middle}" r="5"/>')
        told = f"{exactly(bar.conf_low)} to {exactly(bar.conf_high)}"
        if bar.direct is not None:
            told += f", asked directly {exactly(bar.direct[0])} to {exactly(bar.direct[1])}"
        described.append(f"{bar.label}: {estimate}, {told}")
    below = _ROW * len(bars) + FONT + 8
    parts += [_tick(axis(value), below, number(value, unit)) for value in marks]
    if unit not in ("%", ""):
        below += FONT + 5
        parts.append(text_at("50%", f"{below}", shortened(unit, _LETTERS), "middle", 0.8))
    return fluid_picture(title, "; ".join(described), below + 8, parts)


def _nested(bar: Bar, axis: Axis, middle: float) -> list[str]:
    """Return the interval, the interval of even odds within it, and a line for sampling alone.

    Without an estimate there is no interval of even odds.
    """
    parts = [_band(axis, bar.conf_low, bar.conf_high, middle, 12, 0.35)]
    if bar.estimate is not None:
        inner = bar.at((1 - _INNER) / 2), bar.at((1 + _INNER) / 2)
        parts.append(_band(axis, *inner, middle, 12, 0.9))
    if bar.direct is not None:
        low, high = map(axis, bar.direct)
        parts.append(
            f'<line x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}" '
            'stroke="currentColor" stroke-width="2"/>'
        )
        parts += [_upright(end, middle - 5, middle + 5, 1) for end in (low, high)]
    return parts


def _dots(bar: Bar, axis: Axis, middle: float) -> list[str]:
    """Return a dot for each twentieth of the plausible values. Near dots are stacked."""
    places = [axis(bar.at((index + 0.5) / _DOTS)) for index in range(_DOTS)]
    columns = [int(place / _APART) for place in places]
    apart = min(6.5, _HIGHEST / max(Counter(columns).values()))
    stacks = Counter[int]()
    parts = []
    for column in columns:
        height = middle + 8 - apart * stacks[column]
        stacks[column] += 1
        parts.append(
            f'<circle cx="{(column + 0.5) * _APART:.2f}%" cy="{height:.1f}" r="3.2" '
            f'fill="{COLORS[0]}"/>'
        )
    return parts


def _tick(place: float, y: float, words: str) -> str:
    """Return the words below a mark. At the ends they do not reach beyond the picture."""
    if place <= _SIDE:
        return text_at("0", f"{y}", words, "start", 0.8)
    if place >= 100 - _SIDE:
        return text_at("100%", f"{y}", words, "end", 0.8)
    return text_at(f"{place:.2f}%", f"{y}", words, "middle", 0.8)


def _band(axis: Axis, low: float, high: float, middle: float, height: float, opacity: float) -> str:
    width = max(axis(high) - axis(low), 0.3)
    return (
        f'<rect x="{axis(low):.2f}%" width="{width:.2f}%" y="{middle - height / 2:g}" '
        f'height="{height:g}" rx="3" fill="{COLORS[0]}" fill-opacity="{opacity:g}" '
        f'stroke="{COLORS[0]}"/>'
    )


def _upright(place: float, top: float, bottom: float, opacity: float) -> str:
    return (
        f'<line x1="{place:.2f}%" x2="{place:.2f}%" y1="{top:g}" y2="{bottom:g}" '
        f'stroke="currentColor" stroke-opacity="{opacity:g}"/>'
    )
