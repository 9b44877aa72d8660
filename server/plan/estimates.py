"""Sections of a plan about estimates: their precision, their power, and simulated examples."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.estimate.precision import Point
from analysis.privacy.ledger import in_epsilon
from analysis.study.planning import Sampled
from analysis.study.planning.together import HALF_WIDTH, SLOPE_WIDTH, possible_draws
from analysis.survey.survey import Survey
from server.plain_words import in_short
from server.plan import tables
from server.plan.parts import Figure, Part, Table, cell
from server.plan.pictures import (
    epsilon_chart,
    respondents_charts,
    sample_charts,
    tradeoff_charts,
)
from server.plan.tables import Asked

_PRECISION = {
    "question": "Question",
    "epsilon": "ε of a report",
    "half_width": "Half-width",
    "share": "At",
    "half_width_required": "If nobody could skip",
    "half_width_direct": "Asked directly",
    "half_width_curator": "With a trusted curator",
    "respondents_needed": "Respondents needed",
    "epsilon_needed": "ε needed",
    "floor": "Texts are found from a share of",
    "mechanism": "How reports are drawn (mechanism)",
}
_POWER = {
    "question": "Question",
    "term": "Of",
    "comparison": "Compared with",
    "null": "Between",
    "true": "And",
    "power": "Power",
    "respondents_needed": "Respondents needed",
}
_COMPARISONS = {"one": "a known value", "groups": "another half", "waves": "another wave"}
_TOGETHER = {
    "table": "Draw",
    "aim": "Aim",
    "epsilon": "ε of all",
    "epsilon_each": "ε of one",
    "share": "For shares",
    "pair": "For pairs",
    "model": "For the model",
    "share_saving": "Separate draws, times as many for shares",
    "pair_saving": "And for pairs",
}
_SPLIT = {
    "question": "Question",
    "own_epsilon": "ε now",
    "own_half_width": "Half-width now",
    "epsilon": "ε then",
    "half_width": "Half-width then",
}

_SAMPLES = (
    "Each dot is the estimate that one simulated survey would print, if the truth were as the line "
    "says. The band shows the average interval of a survey without randomization."
)
#: As of a scale of 5 points at ε = 1: `subset` names 2 of 6 values, and 1 of 5 without a skip.
_WIDER = (
    "If nobody could skip, the question would have one value fewer, and another randomizer. That "
    "one is better on average, or for the mean. It can be worse at the worst share, which is shown "
    "here, so some intervals are wider."
)


def precision(asked: Asked) -> Part:
    """Return the section with the half-widths of all questions."""
    text = (
        "The numbers are half of the interval that will be printed, on average over surveys like "
        "this. They are for the share of the worst answer, or for the mean of a number, in its "
        "unit. “At” says at which true share or mean"
    )
    text += "." if asked.truth else "; none was stated, so it is the least favorable."
    note, plans = "", tables.questions(asked)
    if asked.half_width is not None:
        note = (
            "The respondents, or the ε, that are needed for a half-width of "
            f"{asked.half_width:g} (for numbers, this part of the range), while the other stays as "
            "it is. A dash means that no number is enough."
        )
    if any(row.half_width < (row.half_width_required or 0) for row in plans):
        note = f"{note} {_WIDER}".strip()
    labels = _labels(asked.survey)
    drawn = {question.id: in_short(question) for question in asked.survey.questions}
    rows = [
        vars(row)
        | {"share": _readable(row.share, labels[row.question]), "mechanism": drawn[row.question]}
        for row in plans
    ]
    return Part([text], tables=[Table.of("Half-widths", _PRECISION, rows, note)])


def _labels(survey: Survey) -> dict[str, dict[str, str]]:
    """Return what the terms of each question are called."""
    return {question.id: survey.labels(question) for question in survey.questions}


def _readable(stated: str, labels: Mapping[str, str]) -> str:
    """Return a share or mean of the table, such as ``yes=0.7904``, as people read it."""
    term, _, value = stated.rpartition("=")
    return f"{labels.get(term, term)}: {cell(float(value))}"


def half_widths(asked: Asked) -> Part:
    """Return the section with half-widths against respondents and against ε."""
    questions = asked.survey.questions
    return half_widths_part(
        asked.survey,
        asked.respondents,
        [point for each in questions for point in tables.against_respondents(asked, each)],
        {question.id: tables.against_epsilon(asked, question) for question in questions},
    )


def one_draw(asked: Asked) -> Part:
    """Return the section on what one draw for several questions takes within its two limits."""
    rows = list(tables.together(asked))
    if not rows:
        return Part()
    width = asked.half_width or HALF_WIDTH
    texts = [] if asked.survey.joint else [f"If one draw were for {rows[0].table}:"]
    texts.append(
        "Answers that go into one draw have two limits: ε of all of them, and ε of one of them for "
        "somebody who knows the others. The looser the second limit is, the fewer respondents are "
        "needed. At the left end of each curve it is the total divided by the number of questions, "
        "and separate draws are about as good. The numbers are for a half-width of "
        f"{width:g} of a share and of the share of a pair of answers, as means over questions and "
        "over pairs (each option of choices counts as a question), and for one of "
        f"{SLOPE_WIDTH:g} of a slope in a logistic model of one answer by up to three others. All "
        "answers are taken to be equally common and unrelated."
    )
    figures = [
        Figure(svg)
        for draw in possible_draws(asked.survey)
        for svg in tradeoff_charts([row for row in rows if row.table == draw.id], draw)
    ]
    table = replace(Table.of("Respondents needed", _TOGETHER, rows), folded=True)
    return Part(texts, figures, [table])


def power(asked: Asked) -> Part:
    """Return the section on whether a difference will be found, or why that is unknown."""
    try:
        powers = tables.power(asked)
    except ValueError as error:
        return Part([f"Power cannot be computed: {error}."])
    if not powers:
        return Part()
    text = (
        f"Power is the probability that a difference of {asked.difference:g} (for numbers, this "
        f"part of their range) shows at the level of {100 * asked.level:g} %. The table also has "
        f"the respondents for a power of {asked.power:g}: in both halves together, or in each of "
        "two waves."
    )
    if {row.question for row in powers} != {question.id for question in asked.survey.questions}:
        text += " For texts it is not computed."
    labels = _labels(asked.survey)
    rows = [
        vars(row)
        | {
            "term": labels[row.question].get(row.term, row.term),
            "comparison": _COMPARISONS[row.comparison],
        }
        for row in powers
    ]
    return Part([text], tables=[Table.of("Power", _POWER, rows)])


def split(asked: Asked) -> Part:
    """Return the section on how to divide the cap over the questions, or why it cannot be."""
    cap = f"the cap of {in_epsilon(asked.survey.cap).normalize():f}"
    try:
        rows = tables.split(asked)
    except ValueError as error:
        return Part([f"There is no way to divide {cap}: {error}."])
    waves = f" and {asked.waves} waves" if asked.waves > 1 else ""
    text = (
        f"The table divides {cap} over the questions{waves} so that the worst half-width is as "
        "small as possible; half-widths of numbers count as parts of their range. Questions with a "
        "memory, and designs with probabilities of their own, keep their ε even if their "
        "half-width is the worst."
    )
    revealed = [row.question for row in rows if row.reveals]
    if revealed:
        text += (
            f" A report on {', '.join(revealed)} would nearly reveal the answer, so a smaller cap "
            "is enough."
        )
    return Part([text], tables=[Table.of("Division of the cap", _SPLIT, rows)])


def sample_run(asked: Asked) -> Part:
    """Return the section with the estimates of simulated surveys."""
    # No picture shows variances and quartiles.
    return sample_part(asked.survey, tables.sample(asked, spread=False))


def half_widths_part(
    survey: Survey,
    planned: int,
    of_respondents: Sequence[Point],
    of_epsilon: Mapping[str, Sequence[Point]],
) -> Part:
    """Return charts of half-widths.

    Parameters
    ----------
    planned : int
        Respondents.
    of_respondents : sequence of Point
        `analysis.estimate.precision.curve_of_respondents` of one question after the other.
    of_epsilon : mapping
        `analysis.study.planning.curve_of_epsilon` by question, for at most six numbers of
        respondents.
    """
    figures = [Figure(svg) for svg in respondents_charts(survey, of_respondents, planned)]
    for question in survey.questions:
        if of_epsilon.get(question.id):
            unit = survey.text(question.spec.get("unit", ""))
            drawn = epsilon_chart(question, of_epsilon[question.id], unit)
            figures.append(Figure(drawn, survey.wording(question)))
    return Part(figures=figures)


def sample_part(survey: Survey, rows: Sequence[Sampled]) -> Part:
    """Return pictures of simulated surveys, made by `analysis.study.planning.sample_run`."""
    drawn = sample_charts(survey, rows)
    figures = [
        Figure(drawn[question.id], survey.wording(question))
        for question in survey.questions
        if question.id in drawn
    ]
    return Part([_SAMPLES] if figures else [], figures)
