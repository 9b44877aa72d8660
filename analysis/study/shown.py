"""The display of results in a notebook: a short table, and pictures of the intervals."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import floor, isfinite, log10
from typing import Any, TypeVar

from analysis.charts import Bar, bar_of, chart
from analysis.estimate.estimates import Estimate
from analysis.estimate.number import QUARTILES
from analysis.study.frames import to_frame
from analysis.survey.survey import Survey

T = TypeVar("T")
#: A title, and a picture as SVG.
Picture = tuple[str, str]

#: The columns of a short table. A column is shown if some row has a value in it.
_SHOWN = (
    *("question", "quantity", "term", "first", "second", "value"),
    *("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high", "flag"),
)
#: The most rows that a notebook shows. A data frame has all.
_MOST = 60


class Results(list[T]):
    """A list of results of one kind, which a notebook shows as a table with pictures.

    Parameters
    ----------
    rows : iterable of dataclasses
        Results, such as estimates.
    draw : function, optional
        Returns pictures of the rows.
    """

    def __init__(
        self, rows: Iterable[T] = (), draw: Callable[[Sequence[T]], Iterable[Picture]] | None = None
    ) -> None:
        super().__init__(rows)
        self._draw = draw

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each result."""
        return to_frame(self)

    def _repr_html_(self) -> str:
        pictures = self._draw(self) if self._draw else ()
        return html_table(self) + html_pictures(pictures)


def html_table(rows: Sequence[Any]) -> str:
    """Return a short table of results in HTML."""
    names = [name for name in _SHOWN if any(getattr(row, name, None) for row in rows)]
    heads = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(getattr(row, name, None))}</td>' for name in names)}</tr>"
        for row in rows[:_MOST]
    )
    more = f"<p>{len(rows) - _MOST} more rows: to_frame() has all.</p>" * (len(rows) > _MOST)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def html_pictures(pictures: Iterable[Picture]) -> str:
    """Return pictures in HTML, each below its title and no wider than a line of text."""
    return "".join(
        f'<p><strong>{escape(title)}</strong></p><div style="max-width:40rem">{picture}</div>'
        for title, picture in pictures
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else escape(f"{value}")


def draw_estimates(survey: Survey, rows: Sequence[Estimate]) -> Iterable[Picture]:
    """Yield for each question a picture of its means and quartiles, and one of its shares."""
    for question in survey.questions:
        own = [row for row in rows if row.question == question.id]
        means = {
            mean.term: (float(mean.low), float(mean.low) + float(mean.width))
            for mean in question.mechanism.means(question.randomizer, question.domain)
            if not question.domain.is_share(mean.term)
        }
        if means:
            low, high = next(iter(means.values()))
            unit = survey.text(question.spec.get("unit", ""))
            drawn = [row for row in own if row.term in means or row.term in QUARTILES]
            yield (
                survey.wording(question),
                chart(survey.wording(question), _bars(drawn, low, high), low, high, unit),
            )
        shares = [row for row in own if row.term not in {*means, *QUARTILES, "variance"}]
        if shares:
            yield (
                survey.wording(question),
                chart(survey.wording(question), _bars(shares, 0, 1), 0, 1, "%"),
            )


def _bars(rows: Sequence[Estimate], low: float, high: float) -> list[Bar]:
    return [bar_of(row, low, high) for row in rows]


def draw_groups(second: str, rows: Sequence[Any]) -> Iterable[Picture]:
    """Yield for each answer to the second question a picture of its share in each group."""
    shares = [row for row in rows if row.quantity == "row-share"]
    for answer in dict.fromkeys(row.second for row in shares):
        bars = [
            Bar(row.first, row.estimate, row.conf_low, row.conf_high, row.conf_level)
            for row in shares
            if row.second == answer
        ]
        told = f"{second}: {answer}, in each group"
        yield told, chart(told, bars, 0, 1, "%")


def draw_differences(rows: Sequence[Any]) -> Iterable[Picture]:
    """Yield a picture of the differences of shares, and one of those of means, around 0."""
    for quantity, unit in (("share", "%"), ("mean", "")):
        bars = [
            Bar(
                f"{row.term}: {row.second} − {row.first}",
                *(row.estimate, row.conf_low, row.conf_high, row.conf_level),
            )
            for row in rows
            if row.quantity == quantity and isfinite(row.conf_low) and isfinite(row.conf_high)
        ]
        yield from _around_zero(f"differences of {quantity}s", bars, unit)


def draw_terms(title: str, rows: Sequence[Any], level: float) -> Iterable[Picture]:
    """Yield a picture of the coefficients whose limits are both finite."""
    bars = [
        Bar(row.term, row.estimate, row.conf_low, row.conf_high, level)
        for row in rows
        if None not in (row.conf_low, row.conf_high)
        and isfinite(row.conf_low)
        and isfinite(row.conf_high)
    ]
    yield from _around_zero(title, bars, "")


def _around_zero(title: str, bars: Sequence[Bar], unit: str) -> Iterable[Picture]:
    most = max((max(abs(bar.conf_low), abs(bar.conf_high)) for bar in bars), default=0.0)
    if most:
        step = 10.0 ** floor(log10(most))
        reach = next(part * step for part in (1, 2, 4, 6, 8, 10) if part * step >= most)
        yield title, chart(title, bars, -reach, reach, unit)
