"""What all reports of a respondent cost, by how often they answered under each set of terms."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Any

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_delta
from analysis.core.randomizer import Randomizer
from analysis.privacy.accounting import PrivacyLoss, Total, smallest
from analysis.privacy.ledger.account import Times
from analysis.survey.survey import Survey, spent_on, uses

#: Fresh reports by randomizer, and memories by what each cost in all, in millionths of ε.
_Sent = tuple[tuple[tuple[Randomizer[Any, Any], int], ...], tuple[tuple[int, int], ...]]

#: Allowed to totals that need a δ, if nothing else is said.
DELTA = 1e-6


@dataclass(frozen=True)
class Bill:
    """Totals of one respondent, in millionths of ε, each rounded up; the rest as of `LedgerRow`.

    `charged` is what adds up, which the cap is compared with.
    """

    reports: int
    charged: int
    plain: int
    epsilon: int
    constant: int
    delta: float
    method: str
    cap: int


class Totals:
    """The smallest proved totals, each looked up once: most have answered equally often.

    Parameters
    ----------
    surveys : mapping
        By each of its sets of terms (`Survey.terms`), a version of the survey that has them.
    cap : int
        What the version last published allows a respondent to spend, in millionths of ε.
    delta : float
        The probability allowed to totals that need one, ``0 < delta < 1``.

    Raises
    ------
    ValueError
        If `delta` is not between 0 and 1.
    """

    def __init__(self, surveys: Mapping[str, Survey], cap: int, delta: float = DELTA) -> None:
        self.surveys = surveys
        self._cap = cap
        self._delta = check_delta(delta)
        self._known: dict[Times, Bill] = {}
        # Versions that ask the same have the same reports.
        self._smallest: dict[Any, Total] = {}

    def of(self, times: Times) -> Bill:
        """What it costs to answer under each set of terms so often, in whichever order."""
        if times not in self._known:
            self._known[times] = self._bill(self.answered(times))
        return self._known[times]

    def answered(self, times: Times) -> list[tuple[Survey, int]]:
        """A version of each set of terms, and how often these were answered."""
        return [(self.surveys[terms], n) for terms, n in times]

    def _bill(self, answered: list[tuple[Survey, int]]) -> Bill:
        remembers = any(survey.memos for survey, _ in answered)
        deltas = (n * one.randomizer.delta for survey, n in answered for one in survey.questions)
        delta, method = float_above(sum(deltas, Fraction(0))), "memory" if remembers else "sum"

        def proved(stable: bool, allowed: float) -> tuple[int, Total]:
            charged = spent_on(answered, stable)
            plain = Total(charged / MICRO, delta, method)
            if delta >= 1:
                return charged, plain  # which promises nothing, nor does anything else
            total = self._least(_sent(answered, stable), plain, allowed)
            if total != plain:
                charged = min(charged, ceil(Fraction(total.epsilon) * MICRO))
            return charged, total

        epsilon, total = proved(False, self._delta)
        constant = epsilon
        if remembers and total.method == method:
            constant = spent_on(answered, stable=True)
        elif remembers:
            constant = min(epsilon, proved(True, total.delta)[0])
        return Bill(
            reports=sum(n * len(survey.questions) for survey, n in answered),
            charged=spent_on(answered),
            plain=sum(n * survey.charge for survey, n in answered),
            epsilon=epsilon,
            constant=constant,
            delta=total.delta,
            method=total.method,
            cap=min(self._cap, *(survey.cap for survey, _ in answered)),
        )

    def _least(self, sent: _Sent, plain: Total, delta: float) -> Total:
        """The smallest total of these reports."""
        if (sent, plain, delta) not in self._smallest:
            self._smallest[sent, plain, delta] = smallest(_losses(sent), plain, delta)
        return self._smallest[sent, plain, delta]


def float_above(exact: Fraction) -> float:
    """The least float that is not below."""
    nearest = float(exact)
    return nearest if nearest >= exact else nextafter(nearest, inf)


def _sent(answered: list[tuple[Survey, int]], stable: bool) -> _Sent:
    """How many fresh reports each randomizer made; and what all of each memory cost together."""
    fresh, together = Counter[Randomizer[Any, Any]](), Counter[int]()
    for use in uses(answered).values():
        if use.question.memo is None:
            fresh[use.question.randomizer] += use.reports
        else:
            together[use.spent(stable)] += 1
    return tuple(fresh.items()), tuple(together.items())


def losses(
    answered: list[tuple[Survey, int]], stable: bool = False
) -> list[tuple[PrivacyLoss, int]]:
    """The loss of each fresh report, and how many have it; of each memory that of all its reports.

    What reports of one memory tell depends on each other, and only a bound of their ratio is
    known: they are taken for one report of that ε.
    """
    return _losses(_sent(answered, stable))


def _losses(sent: _Sent) -> list[tuple[PrivacyLoss, int]]:
    fresh, together = sent
    return [
        *((PrivacyLoss.of(randomizer), n) for randomizer, n in fresh),
        *((PrivacyLoss.pure(spent / MICRO), n) for spent, n in together),
    ]
