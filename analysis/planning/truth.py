"""What respondents are taken to answer before anybody is asked: shares of the values.

A truth is stated as a mapping of each answer to its share. An answer is written as in a table of
answers (`analysis.simulate`): an option's id, a decimal, a text, an order ``a|b|c``; `no-answer`,
and of a text `other`, are terms of their own. Of several options each has the share of those who
tick it, so these need not sum to 1; who ticks what together is then as even as it can be.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from math import isfinite
from typing import Any

import numpy as np

from analysis.domain import (
    NO_ANSWER,
    NONE,
    OTHER,
    Categories,
    Domain,
    Numbers,
    Sets,
    Texts,
)
from analysis.errors import shown
from analysis.question import Question
from analysis.survey import Survey

#: For each question's id the share of each answer.
Stated = Mapping[str, Mapping[str, float]]

#: Shares are sums of floats.
_ROUNDING = 1e-9
#: A share of those who answer below which it is none.
NOBODY = 1e-9
#: Texts that are no candidates are as many different ones.
_STRANGERS = 200
#: Of more items, an order and its reverse stand for all orders: pairs have the same shares then.
_FEW_ITEMS = 4


@dataclass(frozen=True)
class Truth:
    """The share of each value of a question's domain; values as `Question.value` gives them."""

    values: tuple[Any, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, parts: Iterable[tuple[Any, float]]) -> "Truth":
        """Of values with shares that sum to 1, but for rounding; those of none are left out."""
        kept = [(value, share) for value, share in parts if share > _ROUNDING]
        total = sum(share for _, share in kept)
        return cls(tuple(one for one, _ in kept), tuple(share / total for _, share in kept))


def check_truth(survey: Survey, truth: Stated) -> None:
    """ValueError unless every question is one of the survey's, and its shares can be true."""
    ids = [question.id for question in survey.questions]
    for name in truth:
        if name not in ids:
            raise ValueError(f"truth: expected questions {', '.join(ids)}, got {shown(name)}")
    for question in survey.questions:
        if question.id in truth:
            truth_of(question, truth[question.id])


def truth_of(question: Question, truth: Mapping[str, float] | None = None) -> Truth:
    """All values with their shares; what is not stated goes evenly to the other values.

    Nobody gives no answer unless that is stated. With nothing stated, all values are equally
    frequent; of several options, each is ticked as often as variances are compared at.

    Parameters
    ----------
    question : Question
        Of any kind.
    truth : mapping, optional
        The share of each answer, at least 0. Of numbers they sum to 1; of others to 1 at most; of
        several options each is at most 1, and so many are ticked as may be.

    Raises
    ------
    ValueError
        If an answer or a share is none, or they cannot be true together.
    """
    domain, given = question.domain, dict(truth or {})
    place = f'truth of question "{question.id}"'
    for answer, share in given.items():
        fine = isinstance(share, int | float) and not isinstance(share, bool) and isfinite(share)
        if not fine or not 0 <= share <= 1:
            raise ValueError(f"{place}: share of {shown(answer)} must be in [0, 1], got {share}")
    if isinstance(domain, Sets):
        return _of_sets(question.id, domain, given)
    total = sum(given.values())
    if total > 1 + _ROUNDING:
        raise ValueError(f"{place}: shares must sum to at most 1, got {total:g}")
    parts = [(_value(question, answer), share) for answer, share in given.items()]
    rest = max(0.0, 1 - total)
    if isinstance(domain, Numbers) and given and rest > 1e-6:
        raise ValueError(f"{place}: shares of numbers must sum to 1, got {total:g}")
    if rest <= _ROUNDING:
        return Truth.of(parts)
    told = {value for value, _ in parts}
    others = [value for value in usual_values(domain) if value not in told]
    if not others:
        raise ValueError(f"{place}: shares of all answers must sum to 1, got {total:g}")
    return Truth.of([*parts, *((value, rest / len(others)) for value in others)])


def _value(question: Question, answer: str) -> Any:
    domain = question.domain
    if answer == NO_ANSWER and not isinstance(domain, Categories):
        answer = ""
    if isinstance(domain, Texts) and answer == OTHER:
        return OTHER
    try:
        return question.value(answer)
    except ValueError as error:
        raise ValueError(
            f'truth of question "{question.id}": expected {error}, got {shown(answer)}'
        ) from None


def usual_values(domain: Any) -> list[Any]:
    """The values that share what is not stated; no answer is none of them."""
    if isinstance(domain, Categories):
        return [place for place, name in enumerate(domain.ids) if name != NO_ANSWER]
    if isinstance(domain, Texts):
        return [*(domain.candidates or ()), OTHER]
    if isinstance(domain, Numbers):
        # Evenly over the range; more points would tell nothing more.
        steps = min(domain.steps, 100)
        return [Fraction(place, domain.steps) for place in _points(domain.steps, steps)]
    orders = list(permutations(range(len(domain.items)))) if len(domain.items) <= _FEW_ITEMS else []
    orders = orders or [tuple(range(len(domain.items))), tuple(range(len(domain.items)))[::-1]]
    return [_flags(order) for order in orders]


def _points(steps: int, parts: int) -> list[int]:
    return sorted({round(steps * part / parts) for part in range(parts + 1)})


def _flags(order: tuple[int, ...]) -> tuple[int, ...]:
    pairs = ((a, b) for a in range(len(order)) for b in range(a + 1, len(order)))
    return tuple(int(order.index(a) < order.index(b)) for a, b in pairs)


def _of_sets(name: str, domain: Sets, given: dict[str, float]) -> Truth:
    """Sets with the stated share of each option, drawn systematically (Madow 1949).

    With one uniform start, each option is in the set whose part of a line, as long as its share, a
    point of the grid of step 1 hits: sets are as equally large as they can be.
    """
    place = f'truth of question "{name}"'
    known = (*domain.flags, *[NO_ANSWER] * domain.no_answer)
    for answer in given:
        if answer not in known:
            raise ValueError(f"{place}: expected {', '.join(known)}, got {shown(answer)}")
    skipped = given.get(NO_ANSWER, 0.0)
    told = [option for option in domain.options if option in given]
    free = max(0.0, 1 - skipped - given.get(NONE, 0.0))
    usual = 0.0 if told else free * domain.usual_share
    shares = np.array([given.get(option, usual) for option in domain.options])
    total = float(shares.sum())
    # Without a stated "none", whoever needs tick nothing ticks nothing.
    ticking = free if NONE in given else min(free, total)
    none = 1 - skipped - ticking
    fits = ticking - _ROUNDING <= total <= domain.at_most * ticking + _ROUNDING
    if none < -_ROUNDING or not fits or shares.max() > ticking + _ROUNDING:
        raise ValueError(
            f"{place}: shares must be those of 1 to {domain.at_most} ticks of the rest but none "
            f"and no-answer, {ticking:g}, got {total:g} ticks together, {shares.max():g} of one"
        )
    nothing = (0,) * len(shares) + (1,)
    parts: list[tuple[Any, float]] = [(nothing, none), (None, skipped)]
    if ticking > _ROUNDING:
        ends = np.concatenate([[0.0], np.cumsum(shares / ticking)])
        starts = np.unique(np.concatenate([[0.0, 1.0], np.round(ends % 1, 12)]))
        for low, high in pairwise(starts.tolist()):
            hits = np.floor(ends - (low + high) / 2)
            flags = (*(int(hit) for hit in np.diff(hits) > 0), 0)
            parts.append((flags, ticking * float(high - low)))
    return Truth.of(parts)


def strangers(domain: Texts) -> tuple[str, ...]:
    """Different texts that stand for all that are no candidates."""
    known = set(domain.candidates or ())
    return tuple(
        text for one in range(_STRANGERS + len(known)) if (text := f"~{one}") not in known
    )[:_STRANGERS]


def shares_of_answers(survey: Survey, rows: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """The truth of a table of answers, as `plan` and others take it.

    Parameters
    ----------
    survey : Survey
        Whose `shows_if` decides which answers count.
    rows : iterable of mappings
        Of each respondent, by question, the cells that `analysis.simulate.read_answers` reads.

    Returns
    -------
    dict
        For each question's id the share of each answer.

    Raises
    ------
    ValueError
        If there are no rows, or a cell is no answer.
    """
    found: dict[str, Counter[str]] = {question.id: Counter() for question in survey.questions}
    people = 0
    for row in rows:
        people += 1
        for name, answer in survey.shown(dict(row)).items():
            found[name][answer] += 1
    if not people:
        raise ValueError("answers: expected a row for each respondent, got none")
    truth: dict[str, dict[str, float]] = {}
    for question in survey.questions:
        counts: Counter[str] = Counter()
        for answer, times in found[question.id].items():
            _value(question, answer)
            for term in _terms(question, answer):
                counts[term] += times
        truth[question.id] = {term: times / people for term, times in counts.items()}
    check_truth(survey, truth)
    return truth


def _terms(question: Question, answer: str) -> list[str]:
    """The answers that are counted where a respondent gave this one."""
    if answer == "":
        return [NO_ANSWER]
    if isinstance(question.domain, Sets):
        return answer.split("|")
    return [answer]


def width_of(domain: Domain) -> float:
    """What half-widths are parts of: the range of numbers; of shares 1."""
    return domain.width if isinstance(domain, Numbers) else 1.0


def values_of(domain: Domain) -> list[Any]:
    """All values of categories, or of the orders of few items."""
    if isinstance(domain, Categories):
        return list(range(len(domain.ids)))
    return [*usual_values(domain), *[None] * domain.no_answer]


def has(domain: Domain, value: Any, term: str) -> bool:
    """Whether a value counts for the share of a term."""
    if isinstance(domain, Categories):
        return bool(domain.ids[value] == term)
    if value is None or term == NO_ANSWER:
        return value is None and term == NO_ANSWER
    if isinstance(domain, Texts):
        return bool(value == term or (term == OTHER and value not in (domain.candidates or ())))
    if isinstance(domain, Numbers):
        return False
    terms = domain.flags if isinstance(domain, Sets) else domain.pair_terms
    return bool(value[terms.index(term)])


def share_of(domain: Domain, truth: Truth, term: str) -> float:
    """What a share is at a truth: of a value, an option, a pair's order, a text, or no answer."""
    return sum(
        share
        for value, share in zip(truth.values, truth.shares, strict=True)
        if has(domain, value, term)
    )
