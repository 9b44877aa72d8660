"""The respondents that one draw for several questions takes, by its two limits.

All answers are assumed to be equally common and independent. Estimates are assumed to follow the
normal law, with the variances of `analysis.mechanisms.joint_design` and the Fisher information of a
model.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import ceil, inf, prod

import numpy as np
from scipy.special import ndtri

from analysis.core.channels.pattern import MOST_PARTS, Pattern
from analysis.core.channels.set_reports import MOST_INPUTS
from analysis.core.epsilon import LARGEST
from analysis.core.types import Floats
from analysis.estimate.intervals import check_level
from analysis.mechanisms.joint_design import design, pair_variances, savings, share_variances
from analysis.mechanisms.joint_goals import AIMS, Part, questions_of
from analysis.survey.joint_draw import JointDraw, limits_of, parts_of
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The default half-width of a share, or of the share of a pair of answers.
HALF_WIDTH = 0.05
#: The half-width of a slope of the model. Its true slopes are 1, and its intercept is -1.
SLOPE_WIDTH = 0.4
#: The most predictors of the model, which has one outcome.
_PREDICTORS = 3
#: For the most cases of programs: multiples of the draw's total, and the number of limits of one
#: answer for each. Programs of 40 cases take up to two seconds each, those of a thousand 20.
_GRIDS = ((16, ("1/2", "1", "2"), 5), (40, ("1",), 5), (300, ("1",), 4), (None, ("1",), 2))
#: The fraction of a variance by which designs may miss the best if they are only looked at.
_LOOKED_AT = 1e-3
#: The most cases of questions in `suggestion`, which take about a second.
_QUICK = 16
#: A saving below this is not worth a change.
_WORTH = 1.05


@dataclass(frozen=True)
class Tradeoff:
    """The respondents that one draw with an aim takes within two limits.

    `share` and `pair` are means, over questions and over pairs of questions, of the respondents for
    the half-width. An option counts as a question. `model` is the number for slopes known to ±
    `SLOPE_WIDTH`. A number is None if no number is enough. `share_saving` and `pair_saving` are the
    factors by which separate draws of the same total need more.
    """

    table: str
    aim: str
    epsilon: float
    epsilon_each: float
    share: int | None
    pair: int | None
    model: int | None
    share_saving: float
    pair_saving: float


@dataclass(frozen=True)
class PossibleDraw:
    """A possible draw: that of a survey's table, or of questions that have separate draws.

    `each` is None if it is not stated yet. If each person is asked some questions, `parts` are
    those that are asked together most often. `times` has the factors by which that takes more
    respondents, for a share, for a pair of answers, and for the model.
    """

    id: str
    parts: tuple[Part, ...]
    total: Fraction
    each: Fraction | None = None
    aim: str = AIMS[0]
    times: tuple[float, float, float] = (1.0, 1.0, 1.0)


def possible_draws(survey: Survey) -> list[PossibleDraw]:
    """Return the draws of a survey's tables or, without tables, one of all questions that fit.

    Its id joins the ids of these questions, and its total is what they spend together.
    """
    tables = [_drawn(joint) for joint in survey.joint]
    able = _able(survey)
    return [_of(able)] if not tables and len(able) > 1 else tables


def _drawn(joint: JointDraw) -> PossibleDraw:
    parts, times = parts_of(question.spec for question in joint.questions), (1.0, 1.0, 1.0)
    if joint.randomizer.asks_some:
        asked = Counter(tuple(parts[place] for place in sample) for sample in joint.samples)
        parts = max(asked, key=lambda parts: asked[parts])
        share, pair, model = (_times(joint, n) for n in (1, 2, min(1 + _PREDICTORS, joint.asks)))
        times = share, pair, model
    limits, aim = limits_of(joint.spec), joint.spec.get("aim", AIMS[0])
    return PossibleDraw(joint.id, parts, *limits, aim, times)


def _times(joint: JointDraw, number: int) -> float:
    """Return the factor by which asking `number` questions together takes more respondents.

    It is the mean over all sets of that many questions that somebody is asked.
    """
    asked = Counter(some for sample in joint.samples for some in combinations(sample, number))
    return float(np.mean([len(joint.samples) / count for count in asked.values()]))


def _able(survey: Survey) -> list[Question]:
    """Return the first questions that a table could name, at most as many as it may have."""
    able: list[Question] = []
    for question in filter(can_be_together, survey.questions):
        if sum(len(one.domain.parts) for one in (*able, question)) <= MOST_PARTS:
            able.append(question)
    return able


def _of(questions: list[Question]) -> PossibleDraw:
    total = sum((Fraction(repr(question.spec["epsilon"])) for question in questions), Fraction(0))
    name = " + ".join(question.id for question in questions)
    return PossibleDraw(
        name, parts_of(question.spec for question in questions), min(total, LARGEST)
    )


def can_be_together(question: Question) -> bool:
    """Return whether a ``[[together]]`` table could name a question."""
    parts = question.domain.parts
    return bool(parts) and max(parts) <= MOST_INPUTS and question.memo is None


def suggestion(survey: Survey) -> str | None:
    """Return a sentence on the saving of one draw for questions that have separate draws.

    It is about the first questions alone if programs for all would be large. It is None if a table
    draws some together, if there are fewer than two such questions, or if nothing would be saved.
    """
    able = [] if survey.joint else _able(survey)
    while able and _cases(_of(able).parts) > _QUICK:
        able.pop()
    if len(able) < 2:
        return None
    draw, told = _of(able), []
    for multiple in (Fraction(3, 2), Fraction(2)):
        each = Fraction(f"{float(draw.total / len(able) * multiple):.2g}")
        each = min(draw.total, max(each, draw.total / len(able)))
        with suppress(ValueError):
            found = design(draw.parts, draw.total, each, draw.aim)
            saving, _ = savings(found.channel, draw.parts, draw.total)
            if saving >= _WORTH:
                told.append(f"{saving:.1f} times fewer at a limit of ε = {float(each):g}")
    if not told:
        return None
    return (
        f"{', '.join(question.id for question in able)} are drawn one by one. One draw for all of "
        f"them, at a total of ε = {float(draw.total):g}, needs fewer respondents for their shares "
        "than separate draws of equal ε. The saving depends on how much somebody who knows the "
        f"other answers may learn about one: {', '.join(told)}; see [[together]], and "
        "`deniable plan --table together`"
    )


def tradeoffs(
    draw: PossibleDraw,
    half_width: float = HALF_WIDTH,
    confidence_level: float = 0.95,
    other_totals: bool = True,
) -> list[Tradeoff]:
    """Return the respondents for a draw's own limits, and for limits around them.

    For half of its total, the total and twice the total (the total alone if programs are large),
    the limit of one answer goes from that of separate draws to the total. Limits that whole weights
    cannot serve are left out.

    Parameters
    ----------
    draw : PossibleDraw
    half_width : float
        The half-width of the interval of a share, and of a pair's share, above 0.
    confidence_level : float
        The level of the intervals, in (0, 1).
    other_totals : bool
        Whether to look at half of the draw's total and twice as much, too.
    """
    check_level(confidence_level)
    reach = float(ndtri((1 + confidence_level) / 2))
    parts, d = draw.parts, len(questions_of(draw.parts))
    multiples, points = next(
        (multiples, points)
        for most, multiples, points in _GRIDS
        if most is None or _cases(parts) <= most
    )
    rows = []
    for multiple in multiples if other_totals else ("1",):
        total = min(LARGEST, draw.total * Fraction(multiple))
        between = np.geomspace(float(total / d), float(total), points)[1:-1]
        rounded = (min(total, Fraction(f"{each:.2g}")) for each in between)
        limits = {total / d, *(max(total / d, each) for each in rounded), total}
        if draw.each is not None and multiple == "1":
            limits.add(draw.each)
        for each in sorted(limits):
            try:
                is_own = (total, each) == (draw.total, draw.each)
                near = () if is_own else (_LOOKED_AT,)
                channel = design(parts, total, each, draw.aim, *near).channel
            except ValueError:
                continue
            shares, pairs = share_variances(channel, parts), pair_variances(channel)
            saved = savings(channel, parts, total)
            rows.append(
                Tradeoff(
                    draw.id,
                    draw.aim,
                    float(total),
                    float(each),
                    share=_needed((reach / half_width) ** 2 * float(shares.mean()) * draw.times[0]),
                    pair=_needed((reach / half_width) ** 2 * float(pairs.mean()) * draw.times[1]),
                    model=_needed(
                        (reach / SLOPE_WIDTH) ** 2 * slope_variance(channel) * draw.times[2]
                    ),
                    share_saving=saved[0],
                    pair_saving=saved[1],
                )
            )
    return rows


def _cases(parts: tuple[Part, ...]) -> int:
    """Return the number of unknowns of the programs; see `joint_program.Program.cases`."""
    return prod(parts.count(part) + 1 for part in set(parts))


def _needed(respondents: float) -> int | None:
    return ceil(respondents) if respondents < inf else None


def slope_variance(channel: Pattern) -> float:
    """Return n times the largest variance of a slope in a logistic model of the first parts.

    The outcome is whether the first part's input is its first value, and the predictors are the
    same for up to three other parts. The intercept is -1, slopes are 1, and predictors are
    independent. Their distribution is estimated, too. The model uses whether a report's set has the
    first value.
    """
    places = range(min(1 + _PREDICTORS, len(channel.inputs)))
    some = channel.of(places)
    truths = np.array(list(product((0, 1), repeat=len(places))))
    outcome, predictors = truths[:, 0], truths[:, 1:]
    lines = np.column_stack([np.ones(len(truths)), predictors])
    likely = 1 / (1 + np.exp(-(lines @ np.append(-1.0, np.ones(len(places) - 1)))))
    law = np.where(outcome, likely, 1 - likely)
    even = 1 / np.array(some.inputs[1:])
    spread = np.where(predictors, even, 1 - even).prod(axis=1)
    # These are derivatives of the law of answers by the coefficients and by the predictors' law.
    slopes = (law * spread * (outcome - likely))[:, None] * lines
    kinds = predictors @ (1 << np.arange(len(places) - 1))
    mixes = [law * ((kinds == kind).astype(float) - (kinds == 0)) for kind in set(kinds) - {0}]
    reports = _supports(some, truths)
    derivatives = reports @ np.column_stack([slopes, *mixes])
    information = derivatives.T @ (derivatives / (reports @ (law * spread))[:, None])
    try:
        return float(np.linalg.inv(information).diagonal()[1 : len(places)].max())
    except np.linalg.LinAlgError:
        return inf


def _supports(channel: Pattern, truths: Floats) -> Floats:
    """Return (cases, cases) probabilities that sets have first values (rows), by true answers."""
    total, chances = sum(channel.weights), np.zeros((len(truths), len(truths)))
    for pattern, weight in enumerate(channel.weights):
        here = np.full(chances.shape, float(Fraction(weight, total)))
        for part, (k, size) in enumerate(zip(channel.inputs, channel.sizes, strict=True)):
            agrees = not pattern >> part & 1
            # A set that holds another value has the first value as often as any other.
            has = np.where(truths[:, part], float(agrees), (size - agrees) / (k - 1))
            here *= np.where(truths[:, part, None], has, 1 - has)
        chances += here
    return chances
