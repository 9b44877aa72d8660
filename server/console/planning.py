"""What a study can find out, before anybody is asked: fast answers first, then exact numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from flask import g, request
from markupsafe import Markup
from scipy.special import ndtri

from analysis.core.domain import NO_ANSWER, Estimand
from analysis.core.epsilon import MICRO
from analysis.estimate.precision import Point, curve_of_epsilon, curve_of_respondents
from analysis.estimate.precision.curves import EPSILONS
from analysis.privacy.meaning import rounded_up
from analysis.study.planning import respondents_between
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server import work
from server.console.blueprint import blueprint
from server.console.costs import MOST, USUAL
from server.console.live import follow_work
from server.console.mistakes import is_page, note
from server.console.piloting import page_of
from server.console.precision import quick, told
from server.console.typed import decimal_number, whole_number
from server.editing.spending import wave_total
from server.extensions import the_store
from server.pages.cards import as_cards
from server.plan.pictures import respondents_charts
from server.stored_results import Missing
from server.work.planning import Planning
from server.work.trial import to_try

#: Half-widths are drawn at these multiples of the planned respondents.
_TIMES = (0.25, 0.5, 1, 2, 4, 8)
#: The labels of the fields for numbers.
_LABELS = {
    "respondents": "Respondents",
    "waves": "Waves",
    "width": "Wanted half-width, points",
    "difference": "Difference to see, points",
}
#: The probability with which a difference should be found.
POWER = 0.8


@dataclass(frozen=True)
class Wishes:
    """The wishes in the address: numbers as they are shown, and the questions to compare."""

    respondents: int
    waves: int
    difference: float
    width: float
    outcome: str
    groups: str
    pair: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Line:
    """A question: how precise it is, what it takes to be so precise, and its fair part of ε."""

    name: str
    text: str
    epsilon: str
    width: str
    direct: str
    epsilon_needed: str
    share: str
    width_then: str


def _wishes(survey: Survey, planned: int) -> Wishes:
    shares = [one.id for one in survey.questions if one.domain.estimand is Estimand.SHARES]
    outcome = request.args.get("outcome") or (shares[0] if shares else "")
    groups = request.args.get("groups", _best_groups(survey, outcome, planned))
    answers = next((_answers(one) for one in survey.questions if one.id == groups), [])
    first = _chosen("one", answers, "")
    pair = (first, _chosen("other", answers, first))
    return Wishes(
        int(_asked("respondents", planned, 1, MOST)),
        int(_asked("waves", 1, 1, 100)),
        _asked("difference", 10.0, 0.1, 100),
        _asked("width", 10.0, 0.1, 50),
        outcome,
        groups,
        pair,
    )


def _best_groups(survey: Survey, outcome: str, planned: int) -> str:
    """Return the most precise question that everybody answers; empty if there is none.

    If only some people are asked a question, one of its groups has hardly anybody in it.
    """
    every = [
        one
        for one in survey.questions
        if one.id != outcome and _answers(one)[1:] and not one.spec["no_answer"]
    ]
    best = min(every, key=lambda one: quick(one, planned)[0], default=None)
    return "" if best is None else best.id


def _chosen(name: str, answers: Sequence[str], but: str) -> str:
    """Return the answer that the address names, or the first one that differs from `but`."""
    given = request.args.get(name, "")
    others = [answer for answer in answers if answer != but]
    return given if given in others else next(iter(others), "")


def _asked(name: str, usual: float, least: float, most: float) -> float:
    """Return a number of the address; whole, if the usual one is typed without decimals.

    If the address has another number, the page says what is wrong, and uses the usual one.
    """
    given = request.args.get(name, "").strip()
    if not given:
        return usual
    number = whole_number(given) if isinstance(usual, int) else decimal_number(given)
    if number is None or not least <= number <= most:
        kind = "a whole number" if isinstance(usual, int) else "a number such as 5 or 2.5,"
        label = _LABELS[name]
        told = f"{label}: expected {kind} from {least:g} to {most:,}, got {given[:20]!a}"
        if not is_page():
            raise Missing(told)
        note(name, told)
        return usual
    return number


@blueprint.get("/surveys/<survey_id>/plan")
def show_plan(survey_id: str) -> str:
    store = the_store()
    survey = to_try(store, survey_id)
    wishes = _wishes(survey, store.studies.get(survey_id).planned or USUAL)
    asked = Planning(
        survey_id,
        survey.version,
        wishes.respondents,
        wishes.waves,
        wishes.difference / 100,
        wishes.width / 100,
    )
    job = work.find(store, asked)
    if job is None and "exact" in request.args:
        if not work.ask(store, asked):
            raise Missing("Too much work is waiting already; try again later.")
        job = work.find(store, asked)
    live = {}
    if job is not None and not job.is_over:
        live = follow_work(job)
    numbers = [max(1, round(wishes.respondents * times)) for times in _TIMES]
    points = [point for one in survey.questions for point in curve_of_respondents(one, numbers)]
    return page_of(
        "planned.html",
        survey_id,
        wishes=wishes,
        lines=_lines(survey, wishes),
        total=f"{wave_total(survey):f}",
        pictures=[Markup(one) for one in respondents_charts(survey, points, wishes.respondents)],
        differences=_differences(survey, wishes),
        asked={one.id: survey.wording(one) for one in survey.questions
               if one.domain.estimand is Estimand.SHARES},
        grouping={one.id: survey.wording(one) for one in survey.questions if _answers(one)[1:]},
        answers=_labels(survey, wishes.groups),
        job=job,
        sections=as_cards(Markup(job.result.get("sections", ""))) if job is not None else "",
        query=request.query_string.decode(),
        may_compute=g.researcher is not None,
        **live,
    )  # fmt: skip


def _labels(survey: Survey, name: str) -> dict[str, str]:
    """Return the answers that groups can be compared by, with their labels."""
    question = next((one for one in survey.questions if one.id == name), None)
    if question is None:
        return {}
    labels = survey.labels(question)
    return {answer: survey.text(labels.get(answer, answer)) for answer in _answers(question)}


def _lines(survey: Survey, wishes: Wishes) -> list[Line]:
    """Return how precise each question is, and the ε that each needs for the wished half-width."""
    n = wishes.respondents
    curves = {one.id: _curve(one, n) for one in survey.questions}
    free = [one for one in survey.questions if _is_free(one)]
    fixed = survey.charge / MICRO - sum(one.randomizer.charge for one in free) / MICRO
    shares = _divided(free, curves, survey.charge / MICRO - fixed)
    lines = []
    for question in survey.questions:
        width, direct = quick(question, n)
        curve, part = curves[question.id], shares.get(question.id)
        needed = _epsilon_at(curve, wishes.width / 100) if _is_free(question) else None
        then = None if part is None else _width_at(curve, part) * question.domain.span
        lines.append(
            Line(
                question.id,
                survey.wording(question),
                rounded_up(question.randomizer.epsilon, 4),
                told(survey, question, width),
                told(survey, question, direct),
                "–" if needed is None else f"{needed:.2g}",
                "–" if part is None else f"{part:.2g}",
                told(survey, question, then),
            )
        )
    return lines


def _is_free(question: Question) -> bool:
    """Return whether a question's ε can change while everything else stays."""
    has_own = question.table is None and question.memo is None
    return has_own and question.mechanism.parameters is None


def _curve(question: Question, n: int) -> list[Point]:
    """Return half-widths as parts of the range, by ε."""
    span = question.domain.span
    points = curve_of_epsilon(question, [n], EPSILONS[::2]) if _is_free(question) else []
    return [Point(p.question, p.epsilon, n, p.half_width / span) for p in points]


def _width_at(curve: Sequence[Point], epsilon: float) -> float:
    """Return the half-width at an ε, between the points of a curve, by logarithms."""
    before = max((p for p in curve if p.epsilon <= epsilon), key=lambda p: p.epsilon, default=None)
    after = min((p for p in curve if p.epsilon > epsilon), key=lambda p: p.epsilon, default=None)
    if before is None or after is None:
        return (before or after or curve[0]).half_width
    part = log(epsilon / before.epsilon) / log(after.epsilon / before.epsilon)
    return exp((1 - part) * log(before.half_width) + part * log(after.half_width))


def _epsilon_at(curve: Sequence[Point], width: float) -> float | None:
    """Return the least ε of a curve with such a half-width; None if none is enough."""
    if not curve or curve[-1].half_width > width:
        return None
    low, high = curve[0].epsilon, curve[-1].epsilon
    while high / low > 1.005:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _width_at(curve, middle) <= width else (middle, high)
    return high


def _divided(
    questions: Sequence[Question], curves: dict[str, list[Point]], total: float
) -> dict[str, float]:
    """Return an ε for each question, so that all are equally precise and the sum is `total`."""
    if len(questions) < 2:
        return {}
    low, high = 1e-4, 0.5
    parts: dict[str, float] = {}
    for _ in range(40):
        width = (low * high) ** 0.5
        needed = {one.id: _epsilon_at(curves[one.id], width) for one in questions}
        if (
            any(part is None for part in needed.values())
            or sum(part or 0.0 for part in needed.values()) > total
        ):
            low = width
        else:
            high, parts = width, {name: part or 0.0 for name, part in needed.items()}
    return parts


def _differences(survey: Survey, wishes: Wishes) -> list[tuple[str, str]]:
    """Return how many respondents it takes to see the wished difference, by what is compared."""
    questions = {one.id: one for one in survey.questions}
    outcome = questions.get(wishes.outcome)
    if outcome is None:
        return []
    apart = wishes.difference / 100
    shares = (0.5 - apart / 2, 0.5 + apart / 2)
    # Each of two groups has half of the respondents, and so twice the variance of all.
    one = quick(outcome, 10_000)[0] / float(ndtri(0.975))
    reach = float(ndtri(0.975)) + float(ndtri(POWER))
    groups = 4 * one**2 * 10_000 * (reach / apart) ** 2
    term = next(iter(_answers(outcome)), "")
    found = [
        ("in all, between two halves that you know, such as two links", f"{_rounded(groups)}"),
        ("in each wave, between two waves", f"{_rounded(groups / 2)}"),
    ]
    other = questions.get(wishes.groups)
    if other is not None and other is not outcome and term and _answers(other)[1:]:
        known = _labels(survey, other.id)
        labels = [known[name] for name in wishes.pair]
        told = f"between “{labels[0]}” and “{labels[1]}”, as randomized answers show"
        try:
            n = respondents_between(outcome, term, other, wishes.pair, shares)
            found.append((told, _rounded(n)))
        except ValueError:
            found.append((told, ""))
    return found


def _answers(question: Question) -> list[str]:
    """Return the answers of a question that takes only one of them, except no answer."""
    return [name for name in question.domain.alternatives if name != NO_ANSWER]


def _rounded(number: float) -> str:
    """Return a number of respondents with two digits, rounded up: it is an approximation."""
    n = max(1, round(number))
    step = 10 ** max(0, len(str(n)) - 2)
    return f"{-(-n // step) * step:,}"
