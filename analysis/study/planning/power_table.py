"""A table of power: each question's power to show a difference, and the respondents needed."""

from dataclasses import dataclass
from functools import partial
from math import isfinite

from numpy.random import Generator

from analysis.core.domain import Estimand
from analysis.estimate.precision.truth import Stated, check_truth, share_of, truth_of
from analysis.study.planning.check import or_none
from analysis.study.planning.power import (
    check_power,
    power_of_change,
    power_of_share,
    respondents_for_change,
    respondents_for_share,
)
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Power:
    """One comparison of one quantity. Its fields are the columns of the table of power.

    `comparison` is ``one`` (the interval excludes `null` if `true` is true), ``groups`` (the
    interval shows that two known groups differ, of which one has `null` and the other `true`, each
    with half of all respondents) or ``waves`` (the same for two waves). `power` is the probability
    of that with `respondents` in all, or in each wave. With `respondents_needed` it is at least
    `wanted`; None beyond 10^9. For a number, `null` and `true` are means, in its unit.
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
    """Return three rows for each question except texts, of its first term or of a number's mean.

    Parameters
    ----------
    survey : Survey
        The survey as it will be published.
    respondents : int
        The number of respondents in all, or in each wave, at least 2.
    difference : float
        The difference of shares, in (0, 1). For a number it is a fraction of the range.
    wanted : float
        The wanted power, above 1 - `confidence_level` and below 1.
    confidence_level : float
        The level of the intervals, in (0, 1).
    truth : mapping, optional
        See `truth_of`. It gives `null`. For questions that are not stated, `null` is one half less
        half of the difference. `true` lies above it or, if there is no room, below. Numbers are
        assumed to lie at the ends of their range, the least favorable truth.
    rng : Generator
        See `power_of_share`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    if not (isfinite(difference) and 0 < difference < 1):
        raise ValueError(f"difference must be above 0 and below 1, got {difference:g}")
    if respondents < 2:
        raise ValueError(f"respondents must be at least 2 for two groups, got {respondents}")
    check_power(wanted, confidence_level)
    stated = truth or {}
    check_truth(survey, stated)
    n, level, rows = respondents, confidence_level, []
    for question in survey.questions:
        domain = question.domain
        if domain.estimand is Estimand.TEXTS:
            continue
        term = (*domain.terms, *domain.mean_terms)[0]
        null = (1 - difference) / 2
        if question.id in stated and domain.estimand is Estimand.SHARES:
            null = share_of(domain, truth_of(question, stated[question.id]), term)
        true = null + difference if null + difference <= 1 else null - difference
        if true < 0:
            raise ValueError(
                f"difference must have room above or below the share of {term} of question "
                f'"{question.id}", {null:g}, got {difference:g}'
            )
        pair = _truth(question, null), _truth(question, true)
        null, true = (domain.start + domain.span * share for share in (null, true))
        alone, both = (question, term, pair[1], null), (question, term, pair)
        needed = or_none(partial(respondents_for_share, *alone, wanted, level, rng=rng))
        each = or_none(partial(respondents_for_change, *both, wanted, level, rng=rng))
        groups = power_of_change(*both, (n // 2, n - n // 2), level, rng=rng)
        waves = power_of_change(*both, (n, n), level, rng=rng)
        rows += [
            Power(question.id, term, comparison, null, true, n, power, wanted, people)
            for comparison, power, people in (
                ("one", power_of_share(*alone, n, level, rng=rng), needed),
                ("groups", groups, each and sum(each)),
                ("waves", waves, each and each[0]),
            )
        ]
    return rows


def _truth(question: Question, share: float) -> float | dict[str, float]:
    """Return a share, or for a number the truth with this share at the upper end of its range."""
    if question.domain.estimand is Estimand.SHARES:
        return share
    ends = question.spec["min"], question.spec["max"]
    return {str(ends[0]): 1 - share, str(ends[1]): share}
