"""Assumed shares of the values, before anybody is asked.

A truth is stated as a mapping of each answer to its share. An answer is written as in a table of
answers (`analysis.survey.simulate`): an option's id, a decimal, a text, or an order ``a|b|c``.
`no-answer` and, for a text, `other` are terms of their own. If several options can be ticked, the
share of each is that of the people who tick it, so that shares need not sum to 1. Combinations are
then as even as possible.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from analysis.core.domain import Domain
from analysis.core.domain.base import ROUNDING
from analysis.core.errors import shown
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: For each question's id, the share of each answer.
Stated = Mapping[str, Mapping[str, float]]

#: A smaller share of people who answer counts as 0.
NOBODY = 1e-9


@dataclass(frozen=True)
class Truth:
    """The share of each value of a question's domain. Values are those of `Question.value`."""

    values: tuple[Any, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, parts: Iterable[tuple[Any, float]]) -> "Truth":
        """Return the truth of values whose shares sum to 1 up to rounding, without shares of 0."""
        kept = [(value, share) for value, share in parts if share > ROUNDING]
        total = sum(share for _, share in kept)
        return cls(tuple(value for value, _ in kept), tuple(share / total for _, share in kept))


def check_truth(survey: Survey, truth: Stated) -> None:
    """Raise `ValueError` unless all questions are the survey's, and their shares can be true."""
    ids = [question.id for question in survey.questions]
    for name in truth:
        if name not in ids:
            raise ValueError(f"truth: expected questions {', '.join(ids)}, got {shown(name)}")
    for question in survey.questions:
        if question.id in truth:
            truth_of(question, truth[question.id])


def truth_of(question: Question, truth: Mapping[str, float] | None = None) -> Truth:
    """Return all values with their shares. Values that are not stated share the rest evenly.

    Nobody skips the question unless that is stated. If nothing is stated, all values are equally
    frequent, or each of several options is ticked with the share at which variances are compared.

    Parameters
    ----------
    question : Question
        A question of any kind.
    truth : mapping, optional
        The share of each answer, at least 0. The shares of numbers sum to 1, and those of others to
        at most 1. For several options, each share is at most 1, and nobody ticks more options than
        allowed.

    Raises
    ------
    ValueError
        If an answer or a share is impossible, or if the shares cannot be true together.
    """
    stated, where = dict(truth or {}), f'true share of question "{question.id}"'
    for answer, share in stated.items():
        fine = isinstance(share, int | float) and not isinstance(share, bool) and isfinite(share)
        if not fine or not 0 <= share <= 1:
            raise ValueError(f"{where}: {shown(answer)} must be in [0, 1], got {share}")
    try:
        return Truth.of(question.domain.completed(stated, partial(_read, question)))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _read(question: Question, answer: str) -> Any:
    try:
        return question.value(answer)
    except ValueError as error:
        raise ValueError(f"expected {error}, got {shown(answer)}") from None


def shares_of_answers(survey: Survey, rows: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Return the truth of a table of answers, in the form of `plan`'s argument.

    Parameters
    ----------
    survey : Survey
        The survey, whose `shows_if` decides which answers count.
    rows : iterable of mappings
        Each respondent's cells by question, as `analysis.survey.simulate.read_answers` returns
        them.

    Raises
    ------
    ValueError
        If there are no rows, or if a cell is not a possible answer.
    """
    given: dict[str, Counter[str]] = {question.id: Counter() for question in survey.questions}
    people = 0
    for row in rows:
        people += 1
        for name, answer in survey.shown(dict(row)).items():
            given[name][answer] += 1
    if not people:
        raise ValueError("answers: expected a row for each respondent, got none")
    truth: dict[str, dict[str, float]] = {}
    for question in survey.questions:
        counts: Counter[str] = Counter()
        for answer, times in given[question.id].items():
            try:
                question.domain.value_of(answer, partial(_read, question))
            except ValueError as error:
                raise ValueError(f'question "{question.id}": {error}') from None
            for term in question.domain.answers_in(answer):
                counts[term] += times
        truth[question.id] = {term: times / people for term, times in counts.items()}
    check_truth(survey, truth)
    return truth


def every_value(domain: Domain) -> list[Any]:
    """Return `usual_values` of a domain, followed by the value of no answer, if it is possible."""
    return [*domain.usual_values(), *[domain.skipped] * domain.no_answer]


def share_of(domain: Domain, truth: Truth, term: str) -> float:
    """Return the true share of a term: a value, an option, a pair's order, a text, or no answer."""
    return sum(
        share
        for value, share in zip(truth.values, truth.shares, strict=True)
        if domain.counts_for(value, term)
    )
