"""The ledger with one row for each respondent."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from analysis.core.options import DELTA
from analysis.privacy.ledger.totals import (
    Account,
    Spend,
    Times,
    Totals,
    accounts,
    in_epsilon,
)
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class LedgerRow:
    """One respondent's totals in ε. Its fields are the columns of the ledger.

    `waves` counts how often the survey was answered. A device that is not tampered with answers
    once in a wave. `reports` counts the stored reports, one for each question. `epsilon_sum` is the
    plain sum over reports. `epsilon` is the smallest proved total for all answers, however they
    changed. `epsilon_if_constant` is that total if no answer ever changed. `delta` is the δ of both
    totals, and `method` says how they were proved. Each ε is rounded up to whole millionths.

    ``sum``: the ε and δ of fresh draws add up (sequential composition: Dwork and Roth, "The
    algorithmic foundations of differential privacy", 2014, theorem 3.16). ``memory``: the reports
    of a memory cost together what `waves.worst_ratio` proves. If the question has ``stable =
    true``, which is taken at its word, they cost what `waves.constant_ratio` proves. The rest adds
    up. This can be more than the sum of all: a memory shows that an answer changed, which fresh
    draws do not. ``convolution``: the law of all losses together, at `delta` (Kairouz, Oh and
    Viswanath, ICML 2015; Sommer, Meiser and Mohammadi, PoPETs 2019). A memory counts as one report
    of what it costs, which gives ``memory;convolution``. The convolution is smaller than the sum.
    It holds if the questions and the number of waves were chosen without regard to this
    respondent's reports.
    By hand: 100 reports of ε = 0.1 on yes or no have the sum 10, and 4.7746 at δ = 10^-6.

    `cap` is the smallest promise, by the version last published or by one that was answered.
    `remaining` is the rest of it after the charges, which always add up. So a cap holds even if the
    next questions depend on reports. It is negative, and `above_cap` is ``yes``, if more was spent
    before the cap was lowered, or under a version that is `Survey.charged_as_stated`. Earlier
    releases charged too little if labels of a stable question had changed. The next wave charges
    the difference (`Survey.charge_after`), which is already subtracted.
    """

    respondent: str
    waves: int
    reports: int
    epsilon_sum: Decimal
    epsilon: Decimal
    epsilon_if_constant: Decimal
    delta: float
    method: str
    cap: Decimal
    remaining: Decimal
    above_cap: str


def ledger(
    spends: Iterable[Spend], surveys: Mapping[str, Survey], cap: int, delta: float = DELTA
) -> list[LedgerRow]:
    """Return a row for each respondent, in the order of their pseudonyms.

    Parameters
    ----------
    spends : iterable of Spend
        The spends of one survey, over all its terms.
    surveys, cap, delta
        See `Totals`.
    """
    return list(by_respondent(accounts(spends), Totals(surveys, cap, delta)))


def by_respondent(accounts: Iterable[Account], totals: Totals) -> Iterator[LedgerRow]:
    """Yield a row for each account, in their order."""

    @cache
    def columns(times: Times, charged: int) -> tuple[Any, ...]:
        bill = totals.of(times)
        spent = map(in_epsilon, (bill.plain, bill.epsilon, bill.constant))
        left = bill.cap - max(charged, bill.charged)
        waves = sum(n for _, n in times)
        promised = in_epsilon(bill.cap), in_epsilon(left), "yes" if left < 0 else "no"
        return waves, bill.reports, *spent, bill.delta, bill.method, *promised

    for account in accounts:
        yield LedgerRow(account.respondent, *columns(account.times, account.charged))
