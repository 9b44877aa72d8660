"""What several waves of a survey will tell together, by every way to add up ε."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.accounting import Composition, composed
from analysis.accounting.check import check_count
from analysis.epsilon import MICRO
from analysis.ledger import Totals
from analysis.ledger.totals import losses
from analysis.survey import Survey, spent_on

#: The most waves whose totals are printed or drawn.
MOST_WAVES = 24


@dataclass(frozen=True)
class WaveTotal(Composition):
    """So many waves of all questions; `charged` is what the cap is compared with.

    `epsilon` is the smallest of all, with its `delta` and `method`, as the ledger will print it.
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
        found.append(
            WaveTotal(
                **vars(composed(losses(answered), n, delta)),
                charged=spent_on(answered) / MICRO,
                epsilon=bill.epsilon / MICRO,
                delta=bill.delta,
                method=bill.method,
            )
        )
    return found


def waves_to_show(survey: Survey, planned: int) -> tuple[int, ...]:
    """1, 2, ...: as many as the cap allows, up to `MOST_WAVES`, and those planned."""
    last = min(planned, MOST_WAVES)
    while last < MOST_WAVES and spent_on([(survey, last + 1)]) <= survey.cap:
        last += 1
    return (*range(1, last + 1), *([planned] if planned > last else []))
