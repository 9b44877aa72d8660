"""A difference that is to be found: how likely each question shows it, and how many it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.study.planning.check import or_none
from analysis.study.planning.power import (
    check_power,
    power_of_change,
    power_of_share,
    respondents_for_change,
    respondents_for_share,
)
from analysis.study.planning.truth import Stated, check_truth, share_of, truth_of
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Power:
    """One comparison of one quantity; the columns of the table of power.

    `comparison` is ``one``: its interval leaves out `null`, while `true` is so; ``groups``: two
    groups that are known apart, half of all respondents each, of which one has `null` and one
    `true`, differ; ``waves``: so do two waves. `power` is the chance that it shows, with
    `respondents` in all, or in each wave; `respondents_needed` are those with which it is `wanted`
    or more; None beyond 10^9. Of a number both are means, in its unit.
    """

    question: str
    term: str
    comparison: str
    null: float
    true: float
    respondents: int
    power: float
    wanted: float
    respondents_needed: int | None


def powers(
    survey: Survey,
    respondents: int,
    difference: float,
    wanted: float = 0.8,
    confidence_level: float = 0.95,
    *,
    truth: Stated | None = None,
    rng: Generator,
) -> list[Power]:
    """Three rows for each question but texts: of its first term, of a number of its mean.

    Parameters
    ----------
    survey : Survey
        As it will be published.
    respondents : int
        In all, or in each wave, at least 2.
    difference : float
        Of the shares, in (0, 1); of a number, as a part of its range.
    wanted : float
        Power, above 1 - `confidence_level` and below 1.
    confidence_level : float
        Of the intervals, in (0, 1).
    truth : mapping, optional
        As of `truth_of`: it gives the first share of the two. Of questions that are not stated it
        is one half less half of the difference. What is true is above it, or where there is no
        room, below. Numbers are taken to lie at the ends of their range, the least favorable.
    rng : Generator
        As of `power_of_share`.

    Raises
    ------
    ValueError
        If one of these is out of range.
    """
    if not (isfinite(difference) and 0 < difference < 1):
        raise ValueError(f"difference must be above 0 and below 1, got {difference:g}")
    if respondents < 2:
        raise ValueError(f"respondents must be at least 2 for two groups, got {respondents}")
    check_power(wanted, confidence_level)
    check_truth(survey, truth or {})
    return [
        row
        for question in survey.questions
        if question.domain.estimand is not Estimand.TEXTS
        for row in _rows(
            question, respondents, difference, wanted, confidence_level, truth or {}, rng
        )
    ]


def _rows(
    question: Question,
    n: int,
    difference: float,
    wanted: float,
    level: float,
    truth: Stated,
    rng: Generator,
) -> list[Power]:
    domain = question.domain
    term = (*domain.terms, *domain.mean_terms)[0]
    null = (1 - difference) / 2
    if question.id in truth and domain.estimand is Estimand.SHARES:
        null = share_of(domain, truth_of(question, truth[question.id]), term)
    true = null + difference if null + difference <= 1 else null - difference
    if true < 0:
        raise ValueError(
            f"difference must have room above or below the share of {term} of question "
            f'"{question.id}", {null:g}, got {difference:g}'
        )
    sides = {one: _side(question, one) for one in (null, true)}
    pair = sides[null], sides[true]
    low, width = domain.start, domain.span
    value = low + width * null
    half = n // 2, n - n // 2
    found: list[tuple[str, float, Callable[[], int]]] = [
        (
            "one",
            power_of_share(question, term, sides[true], value, n, level, rng=rng),
            lambda: respondents_for_share(
                question, term, sides[true], value, wanted, level, rng=rng
            ),
        ),
        (
            "groups",
            power_of_change(question, term, pair, half, level, rng=rng),
            lambda: sum(respondents_for_change(question, term, pair, wanted, level, rng=rng)),
        ),
        (
            "waves",
            power_of_change(question, term, pair, (n, n), level, rng=rng),
            lambda: respondents_for_change(question, term, pair, wanted, level, rng=rng)[0],
        ),
    ]
    return [
        Power(
            question=question.id,
            term=term,
            comparison=comparison,
            null=value,
            true=low + width * true,
            respondents=n,
            power=power,
            wanted=wanted,
            respondents_needed=or_none(needed),
        )
        for comparison, power, needed in found
    ]


def _side(question: Question, share: float) -> float | dict[str, float]:
    """A share; of a number, of those at the upper end of its range, the rest at the lower."""
    if question.domain.estimand is Estimand.SHARES:
        return share
    ends = question.spec["min"], question.spec["max"]
    return {str(ends[0]): 1 - share, str(ends[1]): share}
