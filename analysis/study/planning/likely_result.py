"""What so many people's reports would most likely show of one answer, in whole people."""

import math
from dataclasses import dataclass

from analysis.core.domain import Estimand
from analysis.estimate.intervals import share_interval
from analysis.study.planning.check import check_respondents
from analysis.survey.question import Question


@dataclass(frozen=True)
class LikelyResult:
    """An example: `truly` of so many respondents would give an answer.

    Then about `sent` reports speak for it; they are what is expected, rounded. From this number
    alone, the 95 % interval goes from `low` to `high` people, rounded outwards.
    """

    term: str
    truly: int
    sent: int
    low: int
    high: int


def likely_result(question: Question, truly: int, respondents: int) -> LikelyResult | None:
    """Return what reports would most likely show about the first answer with a share.

    Parameters
    ----------
    question : Question
        Of a frozen survey.
    truly : int
        How many respondents would give that answer, from 0 to `respondents`.
    respondents : int
        At least 1.

    Returns
    -------
    LikelyResult or None
        None if reports do not simply count for answers, as of numbers, texts, and scales that are
        designed for their mean.

    By hand: of 1,000 people with a yes-no question at ε = ln 3, 300 are truly "yes". Then
    300 × 3/4 + 700 × 1/4 = 400 send it, and the interval is 238 to 363.
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
