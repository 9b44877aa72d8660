"""The whole plan as one page: every table of it in its section."""

from collections.abc import Callable
from itertools import chain

from analysis.epsilon import MICRO
from analysis.planning import public_view
from server.plan import tables
from server.plan.page import render
from server.plan.sections import Part, Table, composition, half_widths_part, sample_part
from server.plan.tables import Asked

_PRECISION = {
    "question": "Question",
    "epsilon": "ε of a report",
    "half_width": "Half-width",
    "share": "At",
    "half_width_required": "If nobody could skip",
    "half_width_direct": "Asked directly",
    "respondents_needed": "Respondents needed",
    "epsilon_needed": "ε needed",
    "floor": "Texts found from",
    "mechanism": "Mechanism",
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
_SPLIT = {
    "question": "Question",
    "own_epsilon": "ε now",
    "own_half_width": "Half-width now",
    "epsilon": "ε then",
    "half_width": "Half-width then",
}


def whole_page(asked: Asked, tick: Callable[[int], None] = lambda _: None) -> str:
    """The page as HTML; `tick` is called as often as `STEPS`, after each part of the work."""
    survey = asked.survey
    parts = {}
    for name, make in _PARTS.items():
        parts[name] = make(asked)
        tick(1)
    return render(
        survey, asked.respondents, asked.waves, asked.level, computed=_computed(asked), **parts
    )


def _precision(asked: Asked) -> Part:
    text = (
        "Half of the interval that will be printed, on average over surveys like this: of the "
        "share of the worst answer, or of the mean of a number, in its unit. “At” says at which "
        "true share or mean"
    )
    text += "." if asked.truth else "; none was stated, so it is the least favorable."
    note = ""
    if asked.half_width is not None:
        note = (
            f"Needed for a half-width of {asked.half_width:g}, of numbers that part of the range, "
            "each with the other as it is; – where none is enough."
        )
    rows = tables.questions(asked)
    return Part([text], tables=[Table.of("Half-widths", _PRECISION, rows, note)])


def _totals(asked: Asked) -> Part:
    public = public_view(asked.survey, asked.respondents, asked.delta)
    return composition(tables.totals(asked), asked.delta, asked.survey.cap / MICRO, public)


def _half_widths(asked: Asked) -> Part:
    questions = asked.survey.questions
    return half_widths_part(
        asked.survey,
        asked.respondents,
        list(chain.from_iterable(tables.against_respondents(asked, one) for one in questions)),
        {one.id: tables.against_epsilon(asked, one) for one in questions},
    )


def _power(asked: Asked) -> Part:
    rows = [vars(row) | {"comparison": _COMPARISONS[row.comparison]} for row in tables.power(asked)]
    if not rows:
        return Part()
    text = (
        f"The chance that a difference of {asked.difference:g}, of numbers that part of their "
        f"range, shows at the level of {100 * asked.level:g} %; and the respondents with which it "
        f"is {asked.power:g} or more: of both halves together, or in each of two waves."
    )
    return Part([text], tables=[Table.of("Power", _POWER, rows)])


def _split(asked: Asked) -> Part:
    cap = f"the cap of {asked.survey.cap / MICRO:g}"
    try:
        rows = tables.split(asked)
    except ValueError as error:
        return Part([f"There is no way to divide {cap}: {error}."])
    waves = f" and {asked.waves} waves" if asked.waves > 1 else ""
    text = (
        f"How to divide {cap} over the questions{waves}, so that the worst half-width is as small "
        "as it can be; numbers count as parts of their range. Questions with a memory, and designs "
        "with probabilities of their own, are kept."
    )
    return Part([text], tables=[Table.of("Division of the cap", _SPLIT, rows)])


def _sample_run(asked: Asked) -> Part:
    return sample_part(asked.survey, tables.sample(asked))


_PARTS: dict[str, Callable[[Asked], Part]] = {
    "precision": _precision,
    "totals": _totals,
    "half_widths": _half_widths,
    "power": _power,
    "split": _split,
    "sample_run": _sample_run,
}
#: How many parts of the work there are.
STEPS = len(_PARTS)


def _computed(asked: Asked) -> list[str]:
    return [
        "Half-widths of shares are exact sums over all counts; those of means, and of shares that "
        "reports do not simply support, averages over drawn tallies. Power of shares is an exact "
        "sum, too, up to some thousand respondents. Curves follow the normal law, at other ε than "
        "the survey's by mechanisms with closed formulas, scaled to the question's own.",
        "Totals of ε are proved for replacing all answers of one respondent, whatever they are; "
        "the smallest, by convolution of all losses, if questions and waves are chosen without "
        f"regard to this respondent's reports. All but the sum hold at δ = {asked.delta:g}.",
        f"What is drawn, is drawn with the seed {asked.seed}: the same command gives the same "
        "page.",
    ]
