"""The columns of a survey's reports: what each respondent's report says of each thing asked."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.channels.one_symbol import OneSymbol
from analysis.columns import Column, left_inverse
from analysis.domain import NO_ANSWER, Categories, Numbers, Scale, Sets
from analysis.encoders.several import Pick
from analysis.question import Question
from analysis.randomizer import Randomizer

#: More values than that make neither a table that could be read nor a model.
MOST_VALUES = 64
_YES, _NO = "yes", "no"


def variable(name: str) -> str:
    """A column's name as formulas and other programs take it: of letters, digits and _."""
    return re.sub(r"\W", "_", name)


def column_names(question: Question) -> list[str]:
    """The names of `columns_of` a question, without its reports."""
    if isinstance(question.domain, Sets):
        return [f"{question.id}.{flag}" for flag in question.domain.flags]
    return [question.id]


def one_draw(question: Question) -> bool:
    """Whether the columns of a question come from one draw, so that they cannot be crossed."""
    return isinstance(question.randomizer.encoder, Pick) or question.domain.no_answer


def rounding(question: Question) -> str | None:
    """What it does to tables and models that a number was rounded at random; None if it was not."""
    domain = question.domain
    if not isinstance(domain, Numbers) or question.randomizer.encoder.steps == domain.steps:
        return None
    step = float((domain.high - domain.low) / question.randomizer.encoder.steps)
    return (
        f"{question.id} was rounded at random, to numbers {step:g} apart, before it was "
        "randomized: that spares its means, but pulls its correlations, and slopes on it, toward "
        "0, the more the less numbers differ"
    )


def columns_of(question: Question, reports: Sequence[Any]) -> list[Column]:
    """The column of a question; of one with several options, a column for each, of yes and no.

    Parameters
    ----------
    question : Question
        Of a survey; not a text, and not a ranking.
    reports : sequence
        Of each respondent, as they were sent.

    Raises
    ------
    ValueError
        If the question's answers are no columns that can be crossed, or have too many values.
    """
    domain = question.domain
    if isinstance(domain, Sets):
        return [_option(question, domain, option, reports) for option in range(len(domain.flags))]
    if isinstance(domain, Categories) and len(domain.ids) <= MOST_VALUES:
        return [_categories(question, domain, reports)]
    if isinstance(domain, Numbers) and isinstance(question.randomizer.channel, OneSymbol):
        return [_number(question, domain, reports)]
    if isinstance(domain, Categories):
        raise ValueError(
            f"{question.id}: expected at most {MOST_VALUES} values, got {len(domain.ids)}"
        )
    raise ValueError(
        f"{question.id}: expected a yes-no, choice, choices, scale or number question, "
        f"got kind {question.spec['kind']}"
    )


def _categories(question: Question, domain: Categories, reports: Sequence[Any]) -> Column:
    randomizer = question.randomizer
    channel, encoder = randomizer.channel, randomizer.encoder
    values = range(len(domain.ids))
    whole = encoder.cohorts is None and isinstance(channel, OneSymbol)
    if whole:
        kinds, codes = list(range(channel.symbols)), np.asarray(reports, dtype=np.int64)
    else:
        kinds, codes = _distinct(reports)
    chances = np.empty((len(kinds), len(values)))
    for row, report in enumerate(kinds):
        cohort, drawn = _parts(randomizer, report)
        inputs = (encoder.encode(value, cohort, iter(())) for value in values)
        chances[row] = [channel.chance(drawn, one) for one in inputs]
    amounts = None
    if isinstance(domain, Scale):
        amounts = (*map(float, domain.scores), *[float("nan")] * domain.no_answer)
    scores = _support_scores(question, domain, kinds)
    if scores is None:
        scores = left_inverse(chances)
    return _column(question, question.id, domain.ids, codes, chances, scores, whole, amounts)


def _support_scores(
    question: Question, domain: Categories, kinds: list[Any]
) -> NDArray[np.float64] | None:
    """As shares are estimated: from which values a report supports; None if not by support."""
    shares = question.mechanism.shares(question.randomizer, domain)
    if len(shares.values) != len(domain.ids):
        return None
    p, q = (np.array([float(getattr(one, side)) for one in shares.values]) for side in "pq")
    scores = np.empty((len(kinds), len(domain.ids)))
    tally = np.zeros(question.randomizer.shape, dtype=np.int64)
    for row, report in enumerate(kinds):
        cells = question.randomizer.tallied(report)
        for cell in cells:
            tally[cell] = 1
        scores[row] = (shares.count(tally)[0] - q) / (p - q)
        for cell in cells:
            tally[cell] = 0
    return scores


def _number(question: Question, domain: Numbers, reports: Sequence[Any]) -> Column:
    """Its values are the points of the encoder's grid, to which numbers were rounded unbiased."""
    channel, steps = question.randomizer.channel, question.randomizer.encoder.steps
    points = [domain.low + (domain.high - domain.low) * step / steps for step in range(steps + 1)]
    inputs = [*range(steps + 1), *[channel.inputs - 1] * domain.no_answer]
    weights = np.array([channel.weights(one) for one in inputs], dtype=np.float64)
    chances = (weights / weights[0].sum()).T
    values = tuple(f"{float(point):.10g}" for point in points)
    codes = np.asarray(reports, dtype=np.int64)
    missing = domain.no_answer
    return _column(
        question,
        question.id,
        values + (NO_ANSWER,) * missing,
        codes,
        chances,
        left_inverse(chances),
        True,
        (*map(float, points), *[float("nan")] * missing),
    )


def _option(question: Question, domain: Sets, option: int, reports: Sequence[Any]) -> Column:
    """Whether one of several options was ticked, from its bit, or if it was the one picked."""
    randomizer = question.randomizer
    values = (_YES, _NO, *[NO_ANSWER] * domain.no_answer)
    if isinstance(randomizer.encoder, Pick):
        channel, parts = randomizer.channel, randomizer.encoder.parts
        told = channel.chances().T / parts
        # The last row is of those who told of another option, as likely under every value.
        chances = np.vstack([told, np.full(channel.inputs, 1 - 1 / parts)])
        codes = np.array(
            [one["report"] if one["cohort"] == option else len(told) for one in reports],
            dtype=np.int64,
        )
    else:
        bits = randomizer.channel
        one, zero = bits.one / bits.total, bits.zero / bits.total
        own = np.array([one, zero, zero][: len(values)])
        skipped = np.array([zero, zero, one][: len(values)])
        chances = np.array([own, 1 - own])
        if domain.no_answer:
            chances = np.vstack([chances * skipped, chances * (1 - skipped)])
        last = bits.inputs - 1
        codes = np.empty(len(reports), dtype=np.int64)
        for row, report in enumerate(reports):
            ticked = bits.tallied(report)
            codes[row] = (option not in ticked) + 2 * (domain.no_answer and last not in ticked)
    name = f"{question.id}.{domain.flags[option]}"
    return _column(question, name, values, codes, chances, left_inverse(chances), True, None)


def _column(
    question: Question,
    name: str,
    values: Iterable[str],
    codes: NDArray[np.int64],
    chances: NDArray[np.float64],
    scores: NDArray[np.float64],
    whole: bool,
    amounts: tuple[float, ...] | None,
) -> Column:
    epsilon, mechanism = question.randomizer.epsilon, question.mechanism.name
    return Column(name, tuple(values), codes, chances, scores, whole, amounts, epsilon, mechanism)


def debiasing(question: Question) -> tuple[tuple[str, ...], Callable[[Any], list[float]]]:
    """What single reports are worth, debiased, for programs that know nothing of the channel.

    Averages of these weights over respondents are unbiased: of each value's share, or for a number
    of what it is where there is one, and of whether there is.

    Parameters
    ----------
    question : Question
        Of a survey; texts and rankings have none.

    Returns
    -------
    tuple
        Names, such as ``team_lab``, and the function that gives the weights of a report.
    """
    name, domain = variable(question.id), question.domain
    if isinstance(domain, Numbers):
        (mean,) = question.mechanism.means(question.randomizer, domain)
        amounts = [
            [float(mean.low * there + mean.width * score), float(there)][: 1 + domain.no_answer]
            for score, there in zip(mean.scores, mean.present, strict=True)
        ]
        return (name, f"{name}_answered")[: 1 + domain.no_answer], amounts.__getitem__
    try:
        columns = columns_of(question, [])
    except ValueError:
        return (), lambda _: []
    names = tuple(
        variable(f"{column.name}_{value}") for column in columns for value in column.values
    )
    known: dict[Hashable, list[float]] = {}

    def weights(report: Any) -> list[float]:
        key = _key(report)
        if key not in known:
            own = columns_of(question, [report])
            known[key] = [float(one) for column in own for one in column.scores[column.codes[0]]]
        return known[key]

    return names, weights


def _parts(randomizer: Randomizer[Any, Any], report: Any) -> tuple[int, Any]:
    """The cohort of a report, 0 if it has none, and what was drawn."""
    if randomizer.encoder.cohorts is None:
        return 0, report
    return report["cohort"], report["report"]


def _distinct(reports: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Reports that differ, as they were sent, and which of them each respondent's is."""
    places: dict[Hashable, int] = {}
    kinds: list[Any] = []
    codes = np.empty(len(reports), dtype=np.int64)
    for row, report in enumerate(reports):
        key = _key(report)
        if key not in places:
            places[key] = len(kinds)
            kinds.append(report)
        codes[row] = places[key]
    return kinds, codes


def _key(report: Any) -> Hashable:
    if isinstance(report, dict):
        return report["cohort"], _key(report["report"])
    return tuple(report) if isinstance(report, list) else report
