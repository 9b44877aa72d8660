"""Charts of a plan: totals over waves, half-widths against respondents and ε, simulated surveys."""

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from analysis.charts import Mark, Series, dot_plot, line_chart
from analysis.core.domain import Estimand
from analysis.estimate.precision import Point
from analysis.privacy.accounting import Composition
from analysis.privacy.meaning import rounded_up
from analysis.study.planning import Sampled, Tradeoff
from analysis.study.planning.together import PossibleDraw
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: What people call the methods of a composition, by their attributes.
METHODS = {
    "sum": "sum",
    "advanced": "advanced",
    "convolution": "convolution",
    "renyi": "Rényi",
    "zcdp": "zCDP",
}
#: What respondents are needed for, by the attributes of a trade-off.
TRADEOFFS = {"share": "a share", "pair": "a pair of answers", "model": "a model"}
#: The most curves in one picture.
_MOST = 6


def telling_methods(rows: Sequence[Composition]) -> list[str]:
    """Return the attributes of the sum, if there is one, and of the methods that differ from it."""
    return [
        name
        for name in METHODS
        if any(
            row.sum is not None if name == "sum" else _differs(getattr(row, name), row.sum)
            for row in rows
        )
    ]


def composition_chart(rows: Sequence[Composition], cap: float | None = None) -> str:
    """Draw totals over waves: a curve for each of `telling_methods`, and the cap as a line."""
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
    """Draw half-widths against respondents, a curve for each question, six to a picture.

    They are in percentage points, or for a number in parts of its range. A line stands at the
    planned number of respondents. The title names a question that is alone.
    """
    series, has_numbers = [], False
    for name, curve in groupby(points, lambda point: point.question):
        domain = _question(survey, name).domain
        width, has_numbers = domain.span, has_numbers or domain.estimand is Estimand.MEAN
        series.append(Series(name, [(at.respondents, at.half_width / width) for at in curve]))
    title = "Half-width of intervals against respondents"
    if len(series) == 1:
        title, series = f"{title}: {series[0].label}", [Series("", series[0].points)]
    return [
        line_chart(
            title,
            series[start : start + _MOST],
            "respondents",
            "half-width" + "; for numbers, in % of the range" * has_numbers,
            log_x=True,
            log_y=True,
            y_unit="%",
            marks=[Mark(f"n = {planned:,}", x=planned)],
        )
        for start in range(0, len(series), _MOST)
    ]


def epsilon_chart(question: Question, points: Sequence[Point], unit: str = "") -> str:
    """Draw half-widths of one question against ε, a curve for each number of respondents.

    A line stands at the question's own ε. For a number they are in its `unit`, otherwise in
    percentage points.
    """
    ordered = sorted(points, key=lambda point: (point.respondents, point.epsilon))
    is_number = question.domain.estimand is Estimand.MEAN
    planned = question.randomizer.epsilon
    return line_chart(
        f"Half-width of intervals against ε: {question.id}",
        [
            Series(f"n = {n:,}", [(point.epsilon, point.half_width) for point in group])
            for n, group in groupby(ordered, lambda point: point.respondents)
        ],
        "ε of one report",
        f"half-width {f'in {unit} ' if unit else ''}of {question.id}",
        log_x=True,
        log_y=True,
        y_unit="" if is_number else "%",
        marks=[Mark(f"ε = {rounded_up(planned)}", x=planned)],
    )


def tradeoff_charts(rows: Sequence[Tradeoff], own: PossibleDraw) -> list[str]:
    """Draw the respondents of one draw for several questions against the limit of one answer.

    There is a picture for shares, pairs and a model, with a curve for each total.
    """
    drawn = []
    marks = [] if own.each is None else [Mark(f"{float(own.each):g}", x=float(own.each))]
    for name, told in TRADEOFFS.items():
        known = [row for row in rows if getattr(row, name) is not None]
        series = [
            Series(f"total {of_all:g}", [(row.epsilon_each, getattr(row, name)) for row in curve])
            for of_all, curve in groupby(known, lambda row: row.epsilon)
        ]
        if series:
            drawn.append(
                line_chart(
                    f"Respondents of one draw for {own.id}: {told}",
                    series,
                    "ε of one answer, for whoever knows the others",
                    f"respondents for {told}",
                    log_x=True,
                    log_y=True,
                    marks=marks,
                )
            )
    return drawn


def sample_charts(survey: Survey, rows: Sequence[Sampled]) -> dict[str, str]:
    """Draw for each question the estimates of the first quantity that direct asking gives, too.

    The band is the average interval of surveys that ask the same people directly.
    """
    charts: dict[str, str] = {}
    by_quantity: dict[tuple[str, str], list[Sampled]] = {}
    for row in rows:
        if None not in (row.true, row.estimate, row.plain_low, row.plain_high):
            by_quantity.setdefault((row.question, row.term), []).append(row)
    for (name, term), sample in by_quantity.items():
        if name not in charts:
            charts[name] = dot_plot(
                f"Estimates of {len(sample)} simulated surveys: {sample[0].label}",
                [row.estimate for row in sample if row.estimate is not None],
                sample[0].true or 0.0,
                (
                    fmean(row.plain_low or 0 for row in sample),
                    fmean(row.plain_high or 0 for row in sample),
                ),
                f"{name}: {sample[0].label}",
                "" if term in _question(survey, name).domain.mean_terms else "%",
            )
    return charts


def _differs(total: float | None, plain: float | None) -> bool:
    """Return whether a total is known, and its curve would not hide that of the plain sum."""
    return total is not None and (plain is None or abs(total - plain) > 0.002 * plain)


def _question(survey: Survey, name: str) -> Question:
    return next(question for question in survey.questions if question.id == name)
