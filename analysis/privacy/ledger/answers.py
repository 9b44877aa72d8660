"""The ledger by respondent and question."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from analysis.privacy.ledger.account import Account, Times, in_epsilon
from analysis.privacy.ledger.questions import promised
from analysis.privacy.ledger.totals import Totals, float_above
from analysis.survey.survey import Use, uses


@dataclass(frozen=True)
class AnswerRow:
    """What one respondent's reports on one question cost, over all waves and versions.

    `epsilon_promised` and `epsilon_forever` are the largest that a version's file allows of one
    report, and of all if no answer changes, with a memory. `epsilon` is what was charged, and
    adds up over a respondent's questions to all that was; `epsilon_if_constant` what it would be
    if no answer ever changed. Fresh reports add up, and so does `delta`; those of a memory cost
    what they do together.
    """

    respondent: str
    question: str
    reports: int
    epsilon_promised: Decimal
    epsilon_forever: Decimal | None
    epsilon: Decimal
    epsilon_if_constant: Decimal
    delta: float


def by_both(own: Iterable[Account], totals: Totals) -> Iterator[AnswerRow]:
    """One row for each account and question, in the orders of accounts and of questions."""
    known: dict[Times, list[tuple[Any, ...]]] = {}
    for one in own:
        if one.times not in known:
            known[one.times] = list(_columns(one.times, totals))
        for columns in known[one.times]:
            yield AnswerRow(one.respondent, *columns)


def _columns(times: Times, totals: Totals) -> Iterator[tuple[Any, ...]]:
    """All of the rows of one respondent but the pseudonym."""
    # Its forms in several versions; of one memory all together.
    asked: dict[str, list[Use]] = defaultdict(list)
    for use in uses(totals.answered(times)).values():
        asked[use.question.id].append(use)
    for name, forms in asked.items():
        questions = [use.question for use in forms]
        forever = [promised(one, "epsilon_forever") for one in questions if one.memo is not None]
        spent = sum(use.spent() for use in forms)
        constant = sum(use.spent(stable=True) for use in forms)
        deltas = (use.reports * use.question.randomizer.delta for use in forms)
        delta = sum(deltas, Fraction(0))
        yield (
            name,
            sum(use.reports for use in forms),
            max(promised(one, "epsilon") for one in questions),
            max(forever, default=None),
            in_epsilon(spent),
            in_epsilon(constant),
            float_above(delta),
        )
