"""What several waves of a survey will tell together, by every way to add up ε."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_count
from analysis.privacy.accounting import Composition, Total, composed, shuffled
from analysis.privacy.ledger import Totals
from analysis.privacy.ledger.totals import losses
from analysis.survey.survey import Survey, spent_on

#: The most waves whose totals are printed or drawn.
MOST_SHOWN = 24
#: Respondents whose mixed reports are summed over.
_MIXED = 10**6


@dataclass(frozen=True)
class WaveTotal(Composition):
    """So many waves of all questions, each ε rounded up to whole millionths.

    `charged` is what the cap is compared with, `sum` the same: reports of a memory count together.
    The other totals hold at the δ that was asked for, or at what the questions spend, if that is
    more. `epsilon` is the smallest of all, with its `delta` and `method`, as the ledger will print
    it: what adds up, where both agree to four digits.
    """

    charged: float
    epsilon: float
    delta: float
    method: str


def totals_of_waves(survey: Survey, waves: Sequence[int], delta: float) -> list[WaveTotal]:
    """A row for each number of waves.

    Parameters
    ----------
    survey : Survey
        As it will be published. What reports of a memory tell together stands as one report.
    waves : sequence
        Numbers of at least 1.
    delta : float
        Of totals that need one, in (0, 1).

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    bills = Totals({survey.version: survey}, survey.cap, delta)
    found = []
    for n in waves:
        answered = [(survey, check_count(n, "waves"))]
        bill = bills.of(((survey.version, n),))
        # A little more than the questions' own, whose sum may be rounded another way.
        row = composed(losses(answered), n, max(delta, bill.delta * (1 + 1e-9)))
        charged = spent_on(answered)
        found.append(
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
    return found


def _up(epsilon: float | None, charged: int) -> float | None:
    """In whole millionths, and not above what is charged, which is proved as well."""
    return None if epsilon is None else min(charged, ceil(epsilon * MICRO)) / MICRO


def public_view(survey: Survey, respondents: int, delta: float) -> Total:
    """What the mixed reports of one wave tell of a respondent, to those who see nothing else.

    Never what the operator learns, who receives reports one by one and keeps a ledger. All others
    must have drawn their reports as they should (`analysis.privacy.accounting.shuffled`).

    Parameters
    ----------
    survey : Survey
        Of which all reports of a respondent are mixed as one.
    respondents : int
        At least 1. Of more than a million a million is taken, which tells no less.
    delta : float
        Of the total, in (0, 1).
    """
    charge = survey.charge / MICRO
    own = sum(float(question.randomizer.delta) for question in survey.questions)
    if own:
        # What is proved of mixing is for reports whose ε holds outright.
        return Total(charge, own, "sum")
    return shuffled(charge, min(respondents, _MIXED), delta)


def waves_to_show(survey: Survey, planned: int) -> tuple[int, ...]:
    """1, 2, ...: as many as the cap allows, up to `MOST_SHOWN`, and those planned."""
    last = min(planned, MOST_SHOWN)
    while last < MOST_SHOWN and spent_on([(survey, last + 1)]) <= survey.cap:
        last += 1
    return (*range(1, last + 1), *([planned] if planned > last else []))
