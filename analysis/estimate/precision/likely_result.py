"""The likely result of a number of people's reports about one answer, in whole people."""

import math
from dataclasses import dataclass

from analysis.core.domain import Estimand
from analysis.estimate.intervals import share_interval
from analysis.estimate.precision.check import check_respondents
from analysis.survey.question import Question


@dataclass(frozen=True)
class LikelyResult:
    """An example in which `truly` respondents would give an answer.

    Then `sent` reports speak for it, which is the rounded expectation. The 95 % interval from this
    number goes from `low` to `high` people, rounded outwards.
    """

    term: str
    truly: int
    sent: int
    low: int
    high: int


def likely_result(question: Question, truly: int, respondents: int) -> LikelyResult | None:
    """Return the likely result about the first answer with a share.

    Parameters
    ----------
    question : Question
        A question of a frozen survey.
    truly : int
        The number of respondents who would give that answer, from 0 to `respondents`.
    respondents : int
        The number of respondents, at least 1.

    Returns
    -------
    LikelyResult or None
        None if reports do not count for answers or not, as for numbers, texts, and scales that are
        designed for their mean.

    By hand: let the true answer of 300 of 1,000 people to a yes-no question at ε = ln 3 be "yes".
    Then 300 × 3/4 + 700 × 1/4 = 400 send "yes", and the interval is 238 to 363.
    """
    check_respondents(respondents)
    if not 0 <= truly <= respondents:
        raise ValueError(f"truly must be from 0 to {respondents}, got {truly}")
    shares = question.mechanism.shares(question.randomizer, question.domain).values
    if question.domain.estimand is not Estimand.SHARES or not shares:
        return None
    share = shares[0]
    trials = max(1, round(respondents * share.portion))
    sent = round(trials * share.support(truly / respondents))
    p, q = share.chances
    ends = share_interval(sent, trials, p, q)
    return LikelyResult(
        share.term,
        truly,
        sent if p > q else trials - sent,
        math.floor(ends.low * respondents),
        math.ceil(ends.high * respondents),
    )
