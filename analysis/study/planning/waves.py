"""The cost of several waves of a survey together, and warnings to authors about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_count
from analysis.mechanisms.hashed_krr import LONGEST_FOUND
from analysis.privacy.accounting import Composition, Total, composed, shuffled
from analysis.privacy.ledger import Totals
from analysis.privacy.ledger.totals import losses
from analysis.privacy.meaning import Grade, grade_of, rounded_up
from analysis.survey.question import Question
from analysis.survey.survey import Survey, spent_on

#: The most waves whose totals are printed or drawn.
MOST_SHOWN = 24
#: The most respondents in the sum for shuffled reports.
_MIXED = 10**6


@dataclass(frozen=True)
class WaveTotal(Composition):
    """The total ε of `waves` waves of all questions, rounded up to whole millionths.

    `charged` is compared with the cap. `sum` is the same, and reports of a memory count together.
    The other totals hold at the δ that was asked for.
    `epsilon` is the smallest of all, with its `delta` and `method`, as the ledger will print it. It
    is the sum if that agrees with the smallest to four digits.
    """

    charged: float
    epsilon: float
    delta: float
    method: str


def totals_of_waves(survey: Survey, waves: Sequence[int], delta: float) -> list[WaveTotal]:
    """Return a row for each number of waves.

    Parameters
    ----------
    survey : Survey
        The survey as it will be published. The reports of a memory count as one report.
    waves : sequence
        Numbers of waves, each at least 1.
    delta : float
        The δ of totals that need one, in (0, 1).

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    bills = Totals({survey.version: survey}, survey.cap, delta)
    rows = []
    for n in waves:
        answered = [(survey, check_count(n, "waves"))]
        bill = bills.of(((survey.version, n),))
        row = composed(losses(answered), n, delta)
        charged = spent_on(answered)
        rows.append(
            WaveTotal(
                waves=n,
                sum=charged / MICRO,
                advanced=_up(row.advanced, charged),
                convolution=_up(row.convolution, charged) or 0.0,
                renyi=_up(row.renyi, charged),
                zcdp=_up(row.zcdp, charged),
                charged=charged / MICRO,
                epsilon=bill.epsilon / MICRO,
                delta=bill.delta,
                method=bill.method,
            )
        )
    return rows


def _up(epsilon: float | None, charged: int) -> float | None:
    """Return ε in whole millionths, at most the charge, which is proved as well."""
    return None if epsilon is None else min(charged, ceil(epsilon * MICRO)) / MICRO


def public_view(survey: Survey, respondents: int, delta: float) -> Total:
    """Return the ε against somebody who sees only the shuffled reports of one wave.

    The operator learns more, since the operator receives reports one by one and keeps a ledger. All
    other respondents must have drawn their reports correctly
    (`analysis.privacy.accounting.shuffled`).

    Parameters
    ----------
    survey : Survey
        The survey. All reports of a respondent are shuffled as one.
    respondents : int
        The number of respondents, at least 1. More than a million count as a million, which is an
        upper bound.
    delta : float
        The δ of the total, in (0, 1).
    """
    return shuffled(survey.charge / MICRO, min(respondents, _MIXED), delta)


def waves_to_show(survey: Survey, planned: int) -> tuple[int, ...]:
    """Return 1, 2, ... waves that the cap allows, up to `MOST_SHOWN`, and the number planned."""
    last = min(planned, MOST_SHOWN)
    while last < MOST_SHOWN and spent_on([(survey, last + 1)]) <= survey.cap:
        last += 1
    return (*range(1, last + 1), *([planned] if planned > last else []))


def costs_of_waves(question: Question, most: int = 6) -> str:
    """Return a sentence on the cost of 1, 2, ... waves with the memory and with fresh draws."""
    waves = range(1, most + 1)
    worst = [question.spent(n) / MICRO for n in waves]
    constant = [question.spent(n, stable=True) / MICRO for n in waves]
    fresh = [n * question.randomizer.charge / MICRO for n in waves]
    changing, same = (", ".join(rounded_up(cost) for cost in costs) for costs in (worst, constant))
    text = f"1 to {most} waves cost ε = {changing} together"
    if question.stable:
        text += ", as its answer cannot change"
    else:
        text += f", {same} if the answer never changes"
    dear = [n for n, kept, drawn in zip(waves, worst, fresh, strict=True) if kept > drawn]
    if dear:
        text += f"; fresh draws would cost less for {', '.join(map(str, dear))} waves"
    return text


def warnings(question: Question) -> list[str]:
    """Return warnings to the author of a question with a memory, or with open texts."""
    warned, domain = [], question.domain
    grade = grade_of(question.lasting_ratio)
    if question.memo and grade > Grade.HINT:
        warned.append(
            f"over many waves reports {'nearly reveal' if grade is Grade.NEARLY else 'point to'} "
            f"an answer at epsilon_forever = {question.spec['epsilon_forever']:g}; the page will "
            "say so to respondents"
        )
    if domain.is_open:
        long = question.spec["longest"] > LONGEST_FOUND
        none_long = f", and none of more than {LONGEST_FOUND} letters" if long else ""
        warned.append(
            f"only texts that many people write are found{none_long}; all others count as other. "
            "The plan says from which share on"
        )
    return warned
