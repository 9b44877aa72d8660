"""The columns of a survey: each respondent's reports on each question."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.domain import NO_ANSWER, Estimand, Numbers
from analysis.core.encoders import Encoder
from analysis.core.joint_randomizer import Place
from analysis.core.reports import Reports
from analysis.estimate import Floats, Ints
from analysis.estimate.columns import Column, left_inverse
from analysis.survey.question import Question

#: The most values of a column. With more, nobody could read a table or fit a model.
MOST_VALUES = 64


def variable(name: str) -> str:
    """Return a column's name in a form that formulas and programs take: letters, digits and _."""
    return re.sub(r"\W", "_", name)


def column_names(question: Question) -> list[str]:
    """Return the names of the columns of a question, without its reports."""
    return [question.id + end for end in question.domain.columns or ("",)]


def has_columns(question: Question) -> bool:
    """Return whether the answers to a question make columns that can be crossed."""
    domain = question.of_asked.domain
    if len(domain.columns) > 1:
        return True
    is_number = domain.estimand is Estimand.MEAN and question.randomizer.channel.gives_one_symbol
    return is_number or 0 < len(domain.alternatives) <= MOST_VALUES


def one_draw(question: Question) -> bool:
    """Return whether a question's columns come from one draw, so that they cannot be crossed."""
    encoder = question.randomizer.encoder
    if question.place is not None:
        # Each option is a part of the draw, and reports say something about pairs of parts.
        return False
    return encoder.picks_part or encoder.ones is not None or question.domain.no_answer


def crossed_many(
    question: Question, options: Sequence[int], reports: Reports
) -> NDArray[np.bool_] | None:
    """Return (n,) whether a report is about several options together; None if none can be.

    Which options a report is about depends on no answer. This is only needed if `one_draw` holds.
    """
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    if encoder.told_pattern(channel) is None:
        return None
    told = encoder.tells_many(options, reports.cohorts)
    return told if told.any() or not len(told) else None


def told_together(question: Question, places: Sequence[int], reports: Reports) -> NDArray[np.bool_]:
    """Return (n,) whether a report is about several options; raise ValueError if none can be."""
    told = crossed_many(question, places, reports)
    if told is None:
        wanted = [column_names(question)[place] for place in places]
        raise ValueError(
            f"{' and '.join(wanted)}: expected columns from separate draws, but these options "
            "share one draw; options can be crossed if a [[together]] table names their "
            'question, or if it is required and has mechanism = "group" or "multihot"'
        )
    return told


def crossed_columns(question: Question, options: Sequence[int], reports: Reports) -> list[Column]:
    """Return the columns of several options, from reports that are about them together."""
    law = question.randomizer
    pattern = law.encoder.told_pattern(law.channel)
    drawn_so = replace(question, place=Place(question.id, pattern, 0))
    one = pattern.marginal(0)
    return [
        _ticked(
            drawn_so,
            option,
            law.encoder.flag_many(option, reports.cohorts, reports.drawn),
            (one.p, one.q),
            "no",
        )
        for option in options
    ]


def rounding(question: Question) -> str | None:
    """Return how random rounding of a number affects tables and models; None without rounding."""
    domain = question.domain
    if domain.estimand is not Estimand.MEAN:
        return None
    if question.randomizer.encoder.steps == domain.steps:
        return None
    step = float((domain.high - domain.low) / question.randomizer.encoder.steps)
    return (
        f"{question.id} was rounded at random, to numbers {step:g} apart, before it was "
        "randomized: its means stay unbiased, but its correlations and the slopes on it are "
        "pulled toward 0, most strongly if the true numbers hardly differ"
    )


def columns_of(question: Question, sent: Sequence[Any]) -> list[Column]:
    """Return the column of a question, or a column of yes and no for each of its options.

    Parameters
    ----------
    question : Question
        A question of a survey that is neither a text nor a ranking.
    sent : sequence
        The report of each respondent, as it was sent.

    Raises
    ------
    ValueError
        If the question's answers make no columns that can be crossed, or have too many values; or
        if a report comes from somebody who was not asked.
    """
    reports = question.randomizer.read_many(sent)
    unasked = len(sent) - int(question.randomizer.asked_many(reports).sum())
    if unasked:
        raise ValueError(
            f"{question.id}: expected reports of people who were asked, got {unasked} empty ones: "
            "leave these people out of all columns"
        )
    return read_columns(question, reports)


def read_columns(question: Question, reports: Reports) -> list[Column]:
    """Return the columns of `columns_of` from reports that `read_many` has read.

    Preconditions: all reports come from people who were asked.
    """
    question, reports = question.of_asked, question.randomizer.as_of_asked(reports)
    domain = question.domain
    if len(domain.columns) > 1:
        return [_option(question, option, reports) for option in range(len(domain.columns))]
    if domain.estimand is Estimand.MEAN and question.randomizer.channel.gives_one_symbol:
        return [_number(question, domain, reports)]
    if len(domain.alternatives) > MOST_VALUES:
        raise ValueError(
            f"{question.id}: expected at most {MOST_VALUES} values, got {len(domain.alternatives)}"
        )
    if domain.alternatives:
        return [_categories(question, reports)]
    raise ValueError(
        f"{question.id}: expected a yes-no, choice, choices, scale or number question, "
        f"got kind {question.spec['kind']}"
    )


def _categories(question: Question, reports: Reports) -> Column:
    randomizer, domain = question.randomizer, question.domain
    channel = randomizer.channel
    whole = randomizer.encoder.cohorts is None and channel.gives_one_symbol
    if whole:
        symbols = np.arange(channel.symbols)
        kinds = Reports(np.zeros(len(symbols), dtype=np.uint8), symbols)
        codes = reports.drawn.astype(np.int64)
    else:
        kinds, codes = reports.distinct()
    logs = _by_inputs(question, kinds, channel.log_chances)
    # If not all reports are listed, only ratios matter. A probability may be too small for a float.
    logs -= 0.0 if whole else logs.max(axis=1, keepdims=True)
    chances = np.exp(logs)
    scores = _support_scores(question, kinds)
    if scores is None:
        scores = left_inverse(chances)
    values, amounts = domain.alternatives, domain.amounts
    return _column(question, question.id, values, codes, chances, scores, whole, amounts)


def _by_inputs(
    question: Question,
    reports: Reports,
    evaluate: Callable[[NDArray[Any], Sequence[Any]], NDArray[Any]],
) -> NDArray[Any]:
    """Return (n, values) the result of `evaluate` for each report and each value's input."""
    encoder, values = question.randomizer.encoder, len(question.domain.alternatives)
    order = np.argsort(reports.cohorts, kind="stable")
    cohorts, starts, sizes = np.unique(
        reports.cohorts[order], return_index=True, return_counts=True
    )
    if len(cohorts) == 1:
        return evaluate(reports.drawn, _inputs(encoder, values, int(cohorts[0])))
    evaluated = np.empty((len(order), values))
    for cohort, start, size in zip(cohorts.tolist(), starts, sizes, strict=True):
        members = order[start : start + size]
        evaluated[members] = evaluate(reports.drawn[members], _inputs(encoder, values, cohort))
    return evaluated


@lru_cache(maxsize=2**16)
def _inputs(encoder: Encoder, values: int, cohort: int) -> tuple[Any, ...]:
    """Return the inputs that encode the first `values` values in a cohort."""
    return tuple(encoder.encode(value, cohort, iter(())) for value in range(values))


def _support_scores(question: Question, reports: Reports) -> Floats | None:
    """Return (n, values) reports debiased by support; None if shares do not come from support.

    A report supports a value if it counts for the input that encodes the value.
    """
    randomizer, values = question.randomizer, question.domain.alternatives
    shares = question.mechanism.shares(randomizer, question.domain)
    if not values or len(shares.values) != len(values):
        return None
    p, q = np.array([share.chances for share in shares.values]).T
    supports = _by_inputs(question, reports, randomizer.channel.holds_many)
    return np.asarray((supports - q) / (p - q))


def _number(question: Question, domain: Numbers, reports: Reports) -> Column:
    """Return a column whose values are the grid points to which numbers were rounded."""
    channel, steps = question.randomizer.channel, question.randomizer.encoder.steps
    points = [domain.low + (domain.high - domain.low) * step / steps for step in range(steps + 1)]
    inputs = [*range(steps + 1), *[channel.inputs - 1] * domain.no_answer]
    weights = np.array([channel.weights(symbol) for symbol in inputs], dtype=np.float64)
    chances = (weights / weights[0].sum()).T
    values = [*(f"{float(point):.10g}" for point in points), *[NO_ANSWER] * domain.no_answer]
    amounts = (*map(float, points), *[float("nan")] * domain.no_answer)
    codes, scores = reports.drawn.astype(np.int64), left_inverse(chances)
    return _column(question, question.id, values, codes, chances, scores, True, amounts)


def _option(question: Question, option: int, reports: Reports) -> Column:
    """Return the column of whether one of several options was ticked."""
    randomizer, domain = question.randomizer, question.domain
    if question.place is not None:
        # One part of the draw is about this option alone, and another is about no answer.
        held = randomizer.channel.holds_many(reports.drawn, ((option,),))[:, 0]
        unticked = "not-ticked" if domain.no_answer else "no"
        return _ticked(question, option, held, randomizer.channel.supports(option), unticked)
    values = ("yes", "no", *[NO_ANSWER] * domain.no_answer)
    codes, chances = randomizer.encoder.told_of_option(
        option, randomizer.channel, reports.cohorts, reports.drawn
    )
    name, scores = question.id + domain.columns[option], left_inverse(chances)
    return _column(question, name, values, codes, chances, scores, True, None)


def _ticked(
    question: Question,
    option: int,
    told: NDArray[Any],
    support: tuple[Fraction, Fraction],
    unticked: str,
) -> Column:
    """Return the column of an option that is a part of a draw.

    `told` (n,) is 1 if the report says that the option is ticked. `support` has the probabilities
    of that if the option is ticked, and if it is not. `unticked` is the value of the latter.
    """
    p, q = map(float, support)
    chances = np.array([[p, q], [1 - p, 1 - q]])
    codes, name = 1 - told.astype(np.int64), question.id + question.domain.columns[option]
    return _column(
        *(question, name, ("yes", unticked), codes, chances, left_inverse(chances), True, None),
        part=option,
    )


def _column(
    question: Question,
    name: str,
    values: Iterable[str],
    codes: Ints,
    chances: Floats,
    scores: Floats,
    whole: bool,
    amounts: tuple[float, ...] | None,
    part: int = 0,
) -> Column:
    """Return a column; `part` is its number if its question's draw has several parts."""
    epsilon, mechanism, place = question.randomizer.epsilon, question.mechanism.name, question.place
    if place is not None:
        place, whole, k = replace(place, part=place.part + part), False, chances.shape[1]
        chances = np.vstack([chances, np.zeros(k)])
        scores = np.vstack([scores, np.full(k, 1 / k)])
    return Column(
        *(name, tuple(values), codes, chances, scores, whole, amounts, epsilon, mechanism),
        place=place,
    )


def debiasing(question: Question) -> tuple[tuple[str, ...], Callable[[Reports], Floats]]:
    """Return the debiased weights of single reports, for programs that do not know the channel.

    Averages of these weights over respondents are unbiased. They estimate each value's share or,
    for a number, the average, with 0 for no-answer, and the share of respondents who gave a number.

    Parameters
    ----------
    question : Question
        A question of a survey. Texts and rankings have no weights.

    Returns
    -------
    tuple
        Names, such as ``team_lab``, and the function that returns the (n, names) weights of
        reports.
    """
    name, domain = variable(question.id), question.domain
    if domain.estimand is Estimand.MEAN:
        (mean,) = question.mechanism.means(question.randomizer, domain)
        low, width = float(mean.low), float(mean.width)
        present = np.array(mean.present, dtype=np.float64)
        amounts = low * present + width * np.array(mean.scores, dtype=np.float64)
        worth = np.column_stack([amounts, present])[:, : 1 + domain.no_answer]
        names = (name, f"{name}_answered")[: 1 + domain.no_answer]
        return names, lambda reports: worth[reports.drawn]
    try:
        columns = columns_of(question, [])
    except ValueError:
        return (), lambda reports: np.zeros((len(reports.drawn), 0))
    names = tuple(
        variable(f"{column.name}_{value}") for column in columns for value in column.values
    )

    def weights(reports: Reports) -> Floats:
        # Respondents who were not asked count for nothing, and the others count for more.
        law, asked = question.randomizer, question.randomizer.asked_many(reports)
        told = reports.of(asked)
        scores = _support_scores(question.of_asked, law.as_of_asked(told))
        if scores is None:
            read = read_columns(question, told)
            scores = np.hstack([column.scores[column.codes] for column in read])
        worth = np.zeros((len(asked), len(names)))
        worth[asked] = scores / float(law.portion)
        return worth

    return names, weights
