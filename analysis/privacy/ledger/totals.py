"""The charges of each respondent, and the total cost of all their reports."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import groupby
from math import ceil
from typing import Any

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_delta
from analysis.core.joint_randomizer import AnyDraw
from analysis.core.options import DELTA
from analysis.privacy.accounting import PrivacyLoss, Total, smallest
from analysis.survey.survey import Survey, spent_on, uses

#: Each set of terms (`Survey.terms`), and how often a survey was answered under it, in their order.
Times = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Spend:
    """One respondent's charges under one set of terms, in millionths of ε."""

    respondent: str
    terms: str
    submissions: int
    charged: int


@dataclass(frozen=True)
class Account:
    """All charges of one respondent, in millionths of ε, and the waves that they were for.

    It can stand for several `respondents` with equal charges. Then `respondent` is empty.
    """

    respondent: str
    times: Times
    charged: int
    respondents: int = 1


def accounts(spends: Iterable[Spend]) -> Iterator[Account]:
    """Yield the account of each respondent, in the order of their pseudonyms."""
    ordered = sorted(spends, key=lambda spend: spend.respondent)
    for respondent, group in groupby(ordered, lambda spend: spend.respondent):
        times, charged = Counter[str](), 0
        for spend in group:
            times[spend.terms] += spend.submissions
            charged += spend.charged
        yield Account(respondent, tuple(sorted(times.items())), charged)


def charged_right(accounts: Iterable[Account], surveys: Mapping[str, Survey]) -> bool:
    """Return whether every respondent was charged exactly the cost of the reports.

    The charges of earlier releases are accepted, too. These treated all versions that share a
    memory as the same question. The next wave charges the difference (`Survey.charge_after`). If a
    version is `charged_as_stated`, all charges between the stated and the true cost are right.

    Parameters
    ----------
    accounts : iterable of Account
        The accounts of one survey.
    surveys : mapping
        See `Totals`.
    """

    @cache
    def costs(times: Times) -> tuple[int, int, int]:
        answered = [(surveys[terms], n) for terms, n in times]
        true, trusting = spent_on(answered), spent_on(answered, trusting=True)
        stated = spent_on(answered, stated=True)
        return min(true, stated), max(true, stated), trusting

    def is_right(account: Account) -> bool:
        least, most, trusting = costs(account.times)
        return account.charged == trusting or least <= account.charged <= most

    return all(map(is_right, accounts))


#: The number of fresh reports of each randomizer, and of memories of each cost, in millionths of ε.
_Sent = tuple[tuple[tuple[AnyDraw, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Bill:
    """Totals of one respondent, in millionths of ε, each rounded up; see `LedgerRow`.

    `charged` is the sum that is compared with the cap.
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
    """The smallest proved totals. Each is computed once, since most respondents have the same.

    Parameters
    ----------
    surveys : mapping
        For each set of terms (`Survey.terms`), a version of the survey that has these terms.
    cap : int
        The most that the version last published allows a respondent to spend, in millionths of ε.
    delta : float
        The δ of totals that need one, ``0 < delta < 1``.

    Raises
    ------
    ValueError
        If `delta` is not between 0 and 1.
    """

    def __init__(self, surveys: Mapping[str, Survey], cap: int, delta: float = DELTA) -> None:
        self.surveys = surveys
        self._cap = cap
        self._delta = check_delta(delta)
        self._bills: dict[Times, Bill] = {}
        # Versions that ask the same questions have the same reports.
        self._smallest: dict[Any, Total] = {}

    def of(self, times: Times) -> Bill:
        """Return the cost of answering this often under each set of terms, in any order."""
        if times not in self._bills:
            self._bills[times] = self._bill(self.answered(times))
        return self._bills[times]

    def answered(self, times: Times) -> list[tuple[Survey, int]]:
        """Return a version of each set of terms, and how often it was answered."""
        return [(self.surveys[terms], n) for terms, n in times]

    def _bill(self, answered: list[tuple[Survey, int]]) -> Bill:
        remembers = any(survey.memos for survey, _ in answered)
        method = "memory" if remembers else "sum"

        def proved(stable: bool, allowed: float) -> tuple[int, Total]:
            charged = spent_on(answered, stable)
            plain = Total(charged / MICRO, method=method)
            sent = _sent(answered, stable)
            if (sent, plain, allowed) not in self._smallest:
                self._smallest[sent, plain, allowed] = smallest(_losses(sent), plain, allowed)
            total = self._smallest[sent, plain, allowed]
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


def in_epsilon(millionths: int) -> Decimal:
    """Return millionths of ε as ε, exactly."""
    return Decimal(millionths) / MICRO


def _sent(answered: list[tuple[Survey, int]], stable: bool) -> _Sent:
    """Return the number of fresh reports of each randomizer, and the cost of each memory."""
    fresh, together = Counter[AnyDraw](), Counter[int]()
    for use in uses(answered).values():
        if use.draw.memo is None:
            fresh[use.draw.randomizer] += use.reports
        else:
            together[use.spent(stable)] += 1
    return tuple(fresh.items()), tuple(together.items())


def losses(
    answered: list[tuple[Survey, int]], stable: bool = False
) -> list[tuple[PrivacyLoss, int]]:
    """Return each loss of fresh reports with the number of reports, and a loss for each memory.

    The reports of a memory depend on each other, and only a bound of their ratio is known. So they
    count as one report of that ε.
    """
    return _losses(_sent(answered, stable))


def _losses(sent: _Sent) -> list[tuple[PrivacyLoss, int]]:
    fresh, together = sent
    return [(PrivacyLoss.of(randomizer), n) for randomizer, n in fresh] + [
        (PrivacyLoss.pure(spent / MICRO), n) for spent, n in together
    ]
