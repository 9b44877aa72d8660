"""The plan of a survey as one HTML file, to be kept, sent and printed; it asks nothing of anybody.

`render` makes what the survey alone tells, what ε means and who else spends as much; the other
parts are handed to it, from `server.plan.sections` or of own tables and figures.
"""

import re
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.epsilon import MICRO
from analysis.meaning import rounded_up
from analysis.survey import Survey, spent_on
from server.plan.sections import (
    Figure,
    Part,
    Table,
    cell,
    composition,
    half_widths_part,
    meaning_of,
    sample_part,
    who_else,
)

__all__ = [
    "Figure",
    "Part",
    "Table",
    "composition",
    "half_widths_part",
    "render",
    "sample_part",
]

_NOTHING = Part()

_MEANING = (
    "A report is drawn by chance, so it is not the answer. How many people with an answer send "
    "what speaks for it, and how many others do too, says what a report can tell about one person. "
    "The tables say what becomes of a belief that somebody's answer is this one, if such a report "
    "is seen, and if another one is."
)

_TEMPLATES = Environment(
    loader=PackageLoader("server"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _tied(words: str) -> str:
    """The same with spaces at which no line ends: in ε = 1, and between a number and its %."""
    return re.sub(r"(?<=[εδρn]) (?==)|(?<=[εδρn] =) |(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", words)


_TEMPLATES.filters |= {"cell": cell, "tied": _tied}


def render(
    survey: Survey,
    respondents: int,
    waves: int = 1,
    level: float = 0.95,
    *,
    precision: Part = _NOTHING,
    totals: Part = _NOTHING,
    half_widths: Part = _NOTHING,
    power: Part = _NOTHING,
    split: Part = _NOTHING,
    sample_run: Part = _NOTHING,
    computed: Sequence[str] = (),
) -> str:
    """The page as one HTML text, without a script and without a request to anywhere.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    respondents, waves, level
        Planned: people in each wave, waves that each answers, level of the intervals.
    precision, totals, half_widths, power, split, sample_run : Part
        Of the sections with these contents; left out if empty. `composition` makes
        `totals`, `half_widths_part` and `sample_part` those of their names.
    computed : sequence of str
        How the numbers came about, a paragraph each.
    """
    sections = [
        ("precision", "How precise each question will be", precision),
        ("meaning", "What ε means here", Part(texts=[_MEANING])),
        ("totals", "What several waves tell together", totals),
        ("half-widths", "What more respondents, or more ε, would buy", half_widths),
        ("power", "Which differences will be found", power),
        ("split", "How to divide the cap over the questions", split),
        ("sample-run", "Surveys that could happen", sample_run),
        ("deployments", "Who else spends how much", who_else(survey, waves)),
        ("computed", "How this was computed", Part(texts=computed)),
    ]
    return _TEMPLATES.get_template("plan.html").render(
        title=survey.text(survey.spec["title"]),
        survey=survey,
        plan=_plan(survey, respondents, waves, level),
        sections=[section for section in sections if section[2]],
        meanings=[meaning_of(survey, question) for question in survey.questions],
    )


def _plan(survey: Survey, respondents: int, waves: int, level: float) -> str:
    people = f"{respondents:,} respondent{'s' * (respondents != 1)}"
    often = "in one wave" if waves == 1 else f"in each of {waves} waves"
    spent = spent_on([(survey, waves)])
    cap = f"a cap of {survey.cap / MICRO:g}"
    within = f"of {cap}" if spent <= survey.cap else f"more than {cap}: nobody could answer all"
    return (
        f"{people} {often}, {100 * level:g} % intervals; a respondent spends "
        f"ε = {rounded_up(spent / MICRO, 6)} in total, {within}."
    )
