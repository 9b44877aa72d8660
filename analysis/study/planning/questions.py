"""The plan of a survey: the precision of each question, and the cost of its waves."""

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from analysis.core.domain import NO_ANSWER
from analysis.core.epsilon import MICRO
from analysis.core.errors import check_count, check_positive
from analysis.core.options import MOST_WAVES
from analysis.estimate.discovery import LETTERS, floor
from analysis.estimate.intervals import check_level
from analysis.estimate.precision.check import check_respondents
from analysis.estimate.precision.truth import Stated, check_truth
from analysis.estimate.text import chances_of
from analysis.study.planning.check import or_none
from analysis.study.planning.directly import curator_half_width, direct_half_width
from analysis.study.planning.half_width import expected
from analysis.study.planning.needed import epsilon_for, respondents_for
from analysis.study.planning.redesign import required
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The number of letters of the texts that `Plan.floor` is about.
USUAL_LENGTH = 8


@dataclass(frozen=True)
class Plan:
    """The plan of one question. Its fields are the columns of the table that `plan` prints.

    `half_width` is the expected half-width of the printed interval: that of the worst share, or of
    a number's mean, in its unit. For texts without candidates, `floor` is the share from which on a
    text of at most eight letters is found nine times in ten. `epsilon_waves` is the cost of `waves`
    waves together, for any answers. `epsilon_if_constant` is the cost if no answer ever changes.
    `epsilon_fresh` is the cost with fresh draws. `cheaper` is ``memory`` or ``fresh``, whichever
    costs less for any answers, or empty without a memory.

    `share` is the term of `half_width` and its assumed share, such as ``yes=0.5``, or ``mean=`` and
    the mean of a number. `half_width_required` is the half-width if the question were required;
    None if it is. `half_width_direct` is the half-width if the same people were asked without
    randomization, at the same share; for a number, half of all are at either end of the range.
    `half_width_curator` is that of a curator who knows all answers and publishes them with Laplace
    noise at the ε of a report; None for texts without candidates. `respondents_needed` and
    `epsilon_needed` give a wanted half-width, each with the other unchanged. They are None if none
    is wanted, or if no number or ε is enough.
    """

    question: str
    kind: str
    mechanism: str
    epsilon: float
    respondents: int
    half_width: float
    floor: float | None
    waves: int
    epsilon_waves: float
    epsilon_if_constant: float
    epsilon_fresh: float
    cheaper: str
    share: str
    half_width_required: float | None
    half_width_direct: float
    half_width_curator: float | None
    respondents_needed: int | None
    epsilon_needed: float | None


def plan(
    survey: Survey,
    respondents: int,
    waves: int = 1,
    confidence_level: float = 0.95,
    *,
    truth: Stated | None = None,
    half_width: float | None = None,
    rng: Generator,
) -> list[Plan]:
    """Return a row for each question of a frozen survey.

    Parameters
    ----------
    survey : Survey
        The survey as it will be published.
    respondents : int
        The number of respondents in each wave, at least 1.
    waves : int
        The number of waves that each respondent answers, at least 1.
    confidence_level : float
        The level of the intervals, in (0, 1).
    truth : mapping, optional
        For each question, the shares of its answers, as `truth_of` takes them. Half-widths of
        questions that are not stated are those at the least favorable shares.
    half_width : float, optional
        The wanted half-width of every question, above 0. For numbers it is a fraction of the range.
    rng : Generator
        The generator for estimates without a finite sum. Its state is not changed, so that equal
        plans are equal.

    Raises
    ------
    ValueError
        If a number is out of range, or the truth is impossible.
    """
    check_level(confidence_level)
    check_respondents(respondents)
    check_count(waves, "waves", MOST_WAVES)
    if half_width is not None:
        check_positive(half_width, "half_width")
    stated = truth or {}
    check_truth(survey, stated)
    return [
        _row(question, respondents, waves, confidence_level, stated, half_width, rng)
        for question in survey.questions
    ]


def half_widths(
    question: Question, respondents: int, confidence_level: float = 0.95, *, rng: Generator
) -> tuple[float, float]:
    """Return only `half_width` and `half_width_direct` of a question's row of `plan`.

    A page shows both at once, while the whole row may take seconds. Arguments are those of `plan`.
    """
    half = expected(question, respondents, confidence_level, rng=rng)
    return half.half_width, direct_half_width(question, half, respondents, confidence_level)


def _row(
    question: Question,
    n: int,
    waves: int,
    level: float,
    truth: Stated,
    wanted: float | None,
    rng: Generator,
) -> Plan:
    randomizer, stated = question.randomizer, truth.get(question.id)
    worst, constant = (question.spent(waves, stable) / MICRO for stable in (False, True))
    fresh = waves * randomizer.charge / MICRO
    half = expected(question, n, level, stated, rng=rng)
    direct = direct_half_width(question, half, n, level, stated is not None)
    people = epsilon = None
    if wanted is not None:
        width = wanted * question.domain.span
        people = or_none(lambda: respondents_for(question, width, level, stated, rng=rng))
        epsilon = or_none(lambda: float(epsilon_for(question, width, n, level, stated, rng=rng)))
    return Plan(
        question=question.id,
        kind=question.spec["kind"],
        mechanism=question.mechanism.name,
        epsilon=randomizer.epsilon,
        respondents=n,
        half_width=half.half_width,
        floor=_floor(question, n),
        waves=waves,
        epsilon_waves=worst,
        epsilon_if_constant=constant,
        epsilon_fresh=fresh,
        cheaper=("fresh" if fresh < worst else "memory") if question.memo else "",
        share=f"{half.term or 'a rare text'}={half.share:.6g}",
        half_width_required=_required(question, n, level, stated, rng),
        half_width_direct=direct,
        half_width_curator=curator_half_width(question, direct, n, level),
        respondents_needed=people,
        epsilon_needed=epsilon,
    )


def _floor(question: Question, n: int) -> float | None:
    """Return the least share of a text that will be found; None if no texts are searched for."""
    if not question.domain.is_open:
        return None
    randomizer, spec = question.randomizer, question.spec
    letters, usual = spec.get("letters", LETTERS), min(spec["longest"], USUAL_LENGTH)
    return floor(randomizer.encoder, chances_of(randomizer), n, letters, usual)


def _required(
    question: Question, n: int, level: float, stated: Mapping[str, float] | None, rng: Generator
) -> float | None:
    """Return the half-width if people who would skip answered like the others."""
    given = dict(stated or {})
    answering = 1 - given.pop(NO_ANSWER, 0.0)
    if answering <= 0 or not question.spec["no_answer"] or question.table is not None:
        return None
    others = None
    if stated is not None:
        others = {answer: min(1.0, share / answering) for answer, share in given.items()}
    return expected(required(question), n, level, others, rng=rng).half_width
