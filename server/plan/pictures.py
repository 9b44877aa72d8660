"""What a plan draws: totals over waves, half-widths against respondents and ε, made-up surveys."""

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from analysis.charts import Mark, Series, dot_plot, line_chart
from analysis.core.domain import Estimand
from analysis.privacy.accounting import Composition
from analysis.study.planning import Point, Sampled
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The totals of a composition by their attributes, as people call them.
METHODS = {
    "sum": "sum",
    "advanced": "advanced",
    "convolution": "convolution",
    "renyi": "Rényi",
    "zcdp": "zCDP",
}
#: Curves in one picture.
_MOST = 6


def telling_methods(rows: Sequence[Composition]) -> list[str]:
    """The sum where there is one, and the methods that differ from it, by their attributes."""
    return [
        name
        for name in METHODS
        if any(
            row.sum is not None if name == "sum" else _differs(getattr(row, name), row.sum)
            for row in rows
        )
    ]


def composition_chart(rows: Sequence[Composition], cap: float | None = None) -> str:
    """Totals over waves: a curve for each of `telling_methods`; the cap."""
    return line_chart(
        "Total ε over waves, by how it is proved",
        [
            Series(METHODS[name], [(row.waves, getattr(row, name)) for row in rows])
            for name in telling_methods(rows)
        ],
        "waves",
        "ε in total",
        marks=[] if cap is None else [Mark(f"cap {cap:.4g}", y=cap)],
    )


def respondents_charts(survey: Survey, points: Sequence[Point], planned: int) -> list[str]:
    """Half-widths against respondents, a curve for each question, six to a picture.

    In percentage points; of a number, as a part of its range. A line stands at the planned number.
    """
    series = []
    for name, own in groupby(points, lambda point: point.question):
        width = _question(survey, name).domain.span
        series.append(Series(name, [(one.respondents, one.half_width / width) for one in own]))
    return [
        line_chart(
            "Half-width of intervals against respondents",
            series[start : start + _MOST],
            "respondents",
            "half-width; of a number, of its range",
            log_x=True,
            log_y=True,
            y_unit="%",
            marks=[Mark(f"n = {planned:,}", x=planned)],
        )
        for start in range(0, len(series), _MOST)
    ]


def epsilon_chart(question: Question, points: Sequence[Point], unit: str = "") -> str:
    """Half-widths of one question against ε, a curve for each number of respondents.

    A line stands at the question's own ε. Of a number they are in its `unit`, else in percentage
    points.
    """
    ordered = sorted(points, key=lambda point: (point.respondents, point.epsilon))
    is_number = question.domain.estimand is Estimand.MEAN
    own = question.randomizer.epsilon
    return line_chart(
        f"Half-width of intervals against ε: {question.id}",
        [
            Series(f"n = {n:,}", [(one.epsilon, one.half_width) for one in group])
            for n, group in groupby(ordered, lambda point: point.respondents)
        ],
        "ε of one report",
        f"half-width {f'in {unit} ' if unit else ''}of {question.id}",
        log_x=True,
        log_y=True,
        y_unit="" if is_number else "%",
        marks=[Mark(f"ε = {own:.3g}", x=own)],
    )


def sample_charts(survey: Survey, rows: Sequence[Sampled]) -> dict[str, str]:
    """Of each question, by its id, the dots of its first quantity that a plain survey tells too.

    The band is the average interval of surveys that ask the same people directly.
    """
    found: dict[str, str] = {}
    by_quantity: dict[tuple[str, str], list[Sampled]] = {}
    for row in rows:
        if None not in (row.true, row.estimate, row.plain_low, row.plain_high):
            by_quantity.setdefault((row.question, row.term), []).append(row)
    for (name, term), own in by_quantity.items():
        is_mean = term in _question(survey, name).domain.mean_terms
        low, high = (
            fmean(one for row in own if (one := getattr(row, end)) is not None)
            for end in ("plain_low", "plain_high")
        )
        if name not in found:
            found[name] = dot_plot(
                f"Estimates of {len(own)} simulated surveys: {own[0].label}",
                [row.estimate for row in own if row.estimate is not None],
                own[0].true or 0.0,
                (low, high),
                f"{name}: {own[0].label}",
                "" if is_mean else "%",
            )
    return found


def _differs(total: float | None, plain: float | None) -> bool:
    """Whether a total is known, and not to be drawn over the plain one."""
    return total is not None and (plain is None or abs(total - plain) > 0.002 * plain)


def _question(survey: Survey, name: str) -> Question:
    return next(one for one in survey.questions if one.id == name)
