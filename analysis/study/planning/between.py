"""The respondents needed for a difference between groups of a randomized question."""

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.core.domain import NO_ANSWER
from analysis.core.options import MOST_RESPONDENTS
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import columns_of
from analysis.estimate.intervals import check_level
from analysis.study.planning.check import OutOfReach
from analysis.study.planning.power import check_power
from analysis.survey.question import Question

_Floats = NDArray[np.float64]


def respondents_between(
    outcome: Question,
    term: str,
    groups: Question,
    pair: tuple[str, str],
    shares: tuple[float, float],
    sizes: Mapping[str, float] | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
) -> int:
    """Return the respondents needed to distinguish the shares of an answer in two groups.

    Both questions are randomized independently. The number follows from the normal law of the
    difference of two ratios of debiased averages, whose variance is exact to first order (Fox and
    Tracy 1986, chapter 4, for one question; here the moments of both channels are multiplied).

    Parameters
    ----------
    outcome, groups : Question
        Questions of kind yes-no, choice or scale that are not drawn together with each other.
    term : str
        The answer whose share differs.
    pair : tuple of str
        The two answers of `groups` that are compared.
    shares : tuple of float
        The true shares of `term` in both groups, which must differ, in [0, 1]. The other answers
        share the rest evenly.
    sizes : mapping, optional
        The true shares of the answers of `groups`, which sum to 1. By default, all answers except
        no answer are equally frequent.
    power : float
        The wanted probability that the interval excludes 0, above 1 - `confidence_level`.
    confidence_level : float
        The level of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If a value is out of range, if the questions are drawn together, if a question has no such
        answers, or if more than `MOST_RESPONDENTS` are needed.
    """
    check_level(confidence_level)
    check_power(power, confidence_level)
    if shares[0] == shares[1] or not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"shares: expected two that differ, in 0..1, got {shares}")
    if outcome.table is not None and outcome.table == groups.table:
        raise ValueError(
            f"{outcome.id} and {groups.id} come from one draw; simulate a survey to see their power"
        )
    told, group = _column(outcome), _column(groups)
    for column, values in ((told, (term,)), (group, pair)):
        for value in values:
            if value not in column.values:
                raise ValueError(
                    f"{column.name}: expected one of {', '.join(column.values)}, got {value}"
                )
    variance = _variance(told, term, group, pair, shares, sizes)
    reach = float(ndtri((1 + confidence_level) / 2) + ndtri(power))
    n = math.ceil(variance * (reach / (shares[1] - shares[0])) ** 2)
    if n > MOST_RESPONDENTS:
        raise OutOfReach(f"it takes more than {MOST_RESPONDENTS} respondents")
    return n


def _column(question: Question) -> Column:
    columns = columns_of(question, [])
    if len(columns) != 1 or not columns[0].whole:
        raise ValueError(
            f"{question.id}: expected a yes-no, choice or scale question, got kind "
            f"{question.spec['kind']}"
        )
    return columns[0]


def _variance(
    told: Column,
    term: str,
    group: Column,
    pair: tuple[str, str],
    shares: tuple[float, float],
    sizes: Mapping[str, float] | None,
) -> float:
    """Return the variance of one respondent's contribution to the difference of both shares."""
    answers = [value for value in group.values if value != NO_ANSWER]
    sizes = sizes or {value: 1 / len(answers) for value in answers}
    first, second = (group.values.index(value) for value in pair)
    score = told.scores[:, told.values.index(term)]
    moved = [score - share for share in shares]
    scores = [group.scores[:, place] / sizes[value] for place, value in
              ((first, pair[0]), (second, pair[1]))]  # fmt: skip
    # These are the expected products of scores of one report, for each true value.
    of_outcome = {ij: told.chances.T @ (moved[ij[0]] * moved[ij[1]]) for ij in _PAIRS}
    of_group = {ij: group.chances.T @ (scores[ij[0]] * scores[ij[1]]) for ij in _PAIRS}
    total = 0.0
    for place, value in enumerate(group.values):
        law = _answers(
            told, term, dict(zip(pair, shares, strict=True)).get(value, float(np.mean(shares)))
        )
        for ij in _PAIRS:
            sign = 1 if ij[0] == ij[1] else -1
            total += (
                sign * sizes.get(value, 0.0) * float(law @ of_outcome[ij]) * of_group[ij][place]
            )
    # The mean contribution is 0, since each share is subtracted from its own score. So the mean
    # square is the variance.
    return float(total)


_PAIRS = tuple(product((0, 1), repeat=2))


def _answers(told: Column, term: str, share: float) -> _Floats:
    """Return the law of true answers in a group. The others share the rest evenly."""
    others = [value for value in told.values if value not in (term, NO_ANSWER)]
    return np.array(
        [
            share if value == term else 0.0 if value == NO_ANSWER else (1 - share) / len(others)
            for value in told.values
        ]
    )
