"""What the two limits of one draw for several questions cost in respondents.

All answers are taken to be equally common and unrelated, and estimates to follow the normal law:
with the variances of `analysis.mechanisms.joint_program`, and Fisher's information of a model.
"""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, inf, prod

import numpy as np
from scipy.special import ndtri

from analysis.core.channels.pattern import MOST_INPUTS, MOST_PARTS, Pattern
from analysis.core.epsilon import LARGEST
from analysis.core.types import Floats
from analysis.estimate.intervals import check_level
from analysis.mechanisms.joint_design import design, pair_variances, savings, share_variances
from analysis.mechanisms.joint_program import AIMS, Part
from analysis.survey.joint_draw import limits_of, parts_of
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: Half-width of a share, or of the share of a pair of answers, if none is asked for.
HALF_WIDTH = 0.05
#: The half-width of a slope of the model whose true slopes are 1, and its intercept -1.
SLOPE_WIDTH = 0.4
#: A model has one outcome and so many predictors at most.
_PREDICTORS = 3
#: Multiples of the draw's total, and limits of one answer for each, by how many cases the programs
#: have at most: those of 40 take a tenth of a second each, those of a thousand 20 seconds.
_QUICK = 40
_GRIDS = ((_QUICK, ("1/2", "1", "2"), 5), (300, ("1",), 4), (None, ("1",), 2))


@dataclass(frozen=True)
class Tradeoff:
    """The respondents that one draw with this aim takes within two limits.

    `share` and `pair` are means over questions, and over pairs of questions, of the respondents for
    the half-width; `model` is for slopes known to ± `SLOPE_WIDTH`. None where no number is enough.
    `saving` says how many times as many separate draws of the same total take for what is aimed at.
    """

    table: str
    aim: str
    epsilon: float
    epsilon_each: float
    share: int | None
    pair: int | None
    model: int | None
    saving: float


@dataclass(frozen=True)
class OneDraw:
    """One draw that is considered: of a survey's table, or of questions that are drawn one by one.

    `each` is None if it is not stated yet.
    """

    id: str
    parts: tuple[Part, ...]
    total: Fraction
    each: Fraction | None


def one_draws(survey: Survey) -> list[OneDraw]:
    """Return the draws of a survey's tables; if it has none, that of the questions that could go.

    These are at most 12 of a kind that can be drawn together and has no memory. Their id is that of
    all of them, and the total what they spend together.
    """
    tables = [
        OneDraw(
            joint.id,
            parts_of(question.spec for question in joint.questions),
            *limits_of(joint.spec),
        )
        for joint in survey.joint
    ]
    able = [question for question in survey.questions if can_be_together(question)][:MOST_PARTS]
    if tables or len(able) < 2:
        return tables
    total = sum((Fraction(repr(question.spec["epsilon"])) for question in able), Fraction(0))
    name = " + ".join(question.id for question in able)
    return [OneDraw(name, parts_of(question.spec for question in able), min(total, LARGEST), None)]


def can_be_together(question: Question) -> bool:
    """Return whether a question could be named in a ``[[together]]`` table."""
    return 0 < len(question.domain.alternatives) <= MOST_INPUTS and question.memo is None


def suggestion(survey: Survey) -> str | None:
    """Return what one draw for questions that are drawn one by one would save, in words.

    It is told of the first questions for which this takes no second. None if there are no such
    questions, or nothing is to be saved.
    """
    draws = [draw for draw in one_draws(survey) if draw.each is None]
    if not draws:
        return None
    names, parts, total = draws[0].id.split(" + "), draws[0].parts, draws[0].total
    while _cases(parts) > _QUICK:
        names, parts, total = names[:-1], parts[:-1], total * (len(parts) - 1) / len(parts)
    told = []
    for multiple in (Fraction(3, 2), Fraction(2)):
        each = Fraction(f"{float(total / len(parts) * multiple):.2g}")
        with suppress(ValueError):
            saving, _ = savings(design(parts, total, each, AIMS[0]).channel, total)
            told.append(f"{saving:.1f} times fewer if it may be ε = {float(each):g}")
    if not told:
        return None
    return (
        f"{', '.join(names)} are drawn one by one. In one draw for all of them, the same total of "
        f"ε = {float(total):g} would need fewer respondents, the more may be learned of one answer "
        f"by somebody who knows the others: {', '.join(told)}; see [[together]], and `deniable "
        "plan --table together`"
    )


def tradeoffs(
    draw: OneDraw, half_width: float = HALF_WIDTH, confidence_level: float = 0.95
) -> list[Tradeoff]:
    """Return what limits around a draw's own take, and what its own take.

    For the aims of shares and of pairs, and half of its total, itself and twice as much (itself
    alone where programs are large, and for both aims together), the limit of one answer goes from
    that of separate draws to the total. What cannot be drawn with whole weights is left out.

    Parameters
    ----------
    draw : OneDraw
    half_width : float
        Of the interval of a share, and of a pair's, above 0.
    confidence_level : float
        Of the intervals, in (0, 1).
    """
    check_level(confidence_level)
    reach = float(ndtri((1 + confidence_level) / 2))
    parts, d = draw.parts, len(draw.parts)
    multiples, points = next(
        (multiples, points)
        for most, multiples, points in _GRIDS
        if most is None or _cases(parts) <= most
    )
    rows = []
    for aim, multiple in product(AIMS, multiples):
        if aim == AIMS[0] and multiple != "1":
            continue
        total = min(LARGEST, draw.total * Fraction(multiple))
        between = np.geomspace(float(total / d), float(total), points)[1:-1]
        limits = {total / d, *(Fraction(f"{each:.2g}") for each in between), total}
        if draw.each is not None and multiple == "1":
            limits.add(draw.each)
        for each in sorted(limits):
            try:
                found = design(parts, total, each, aim)
            except ValueError:
                continue
            shares, pairs = share_variances(found.channel), pair_variances(found.channel)
            rows.append(
                Tradeoff(
                    draw.id,
                    aim,
                    float(total),
                    float(each),
                    share=_needed((reach / half_width) ** 2 * float(shares.mean())),
                    pair=_needed((reach / half_width) ** 2 * float(pairs.mean())),
                    model=_needed((reach / SLOPE_WIDTH) ** 2 * slope_variance(found.channel)),
                    saving=found.saving,
                )
            )
    return rows


def _cases(parts: tuple[Part, ...]) -> int:
    """Return the number of unknowns of the programs: see `joint_program.Program.cases`."""
    return prod(parts.count(part) + 1 for part in set(parts))


def _needed(respondents: float) -> int | None:
    return ceil(respondents) if respondents < inf else None


def slope_variance(channel: Pattern) -> float:
    """Return n times the largest variance of a slope in a logistic model of the first parts.

    Whether the first part's input is its first value is modelled by the same of up to three others:
    the intercept is -1, slopes are 1, predictors unrelated, and their distribution is estimated,
    too. A report tells of that whether its set has the first value.
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
    # Derivatives of the law of answers: by the coefficients, and by the predictors' distribution.
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
    """Return (cases, cases) chances that sets have their first values (rows) by who does."""
    total, chances = sum(channel.weights), np.zeros((len(truths), len(truths)))
    for pattern, weight in enumerate(channel.weights):
        here = np.full(chances.shape, float(Fraction(weight, total)))
        for part, (k, size) in enumerate(zip(channel.inputs, channel.sizes, strict=True)):
            agrees = not pattern >> part & 1
            # A set that holds another value has the first one as often as any other.
            has = np.where(truths[:, part], float(agrees), (size - agrees) / (k - 1))
            here *= np.where(truths[:, part, None], has, 1 - has)
        chances += here
    return chances
