"""The ledger: one row for each respondent."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from analysis.privacy.ledger.totals import (
    DELTA,
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
    """One respondent's total, in ε; the columns of the ledger.

    `waves` counts how often the survey was answered, which is once a wave by a device that is not
    tampered with; `reports` the randomized answers stored, one a question.
    `epsilon_sum` is the plain sum over reports, `epsilon` the smallest total that is proved
    whatever was answered and however answers changed, `epsilon_if_constant` what it is if no answer
    ever changed; `delta` is the probability that goes with both, `method` how they were proved.
    Each ε is rounded up to whole millionths.

    ``sum``: fresh draws add up, ε and δ (sequential composition: Dwork and Roth, "The algorithmic
    foundations of differential privacy", 2014, theorem 3.16). ``memory``: draws that the device
    remembers cost together what `waves.worst_ratio` proves, and those of a question with
    ``stable = true``, taken at its word, what `waves.constant_ratio` does; the rest adds up. That
    can be more than the sum of all: a memory shows that an answer changed, which fresh draws do
    not. ``convolution``: the law of all losses together, at `delta` (Kairouz, Oh and Viswanath,
    ICML 2015; Sommer, Meiser and Mohammadi, PoPETs 2019), each memory as one report of what it
    costs: ``memory;convolution``. It is smaller than the sum, and holds if which questions were
    asked, and in how many waves, was chosen without regard to this respondent's reports.
    By hand: of 100 reports of ε = 0.1 on yes or no the sum is 10, and 4.7746 at δ = 10^-6.

    `cap` is the least that was promised, by the version last published or one that was answered.
    `remaining` is what is left of it after the charges, which always add up: a cap holds even if
    what is asked next depends on reports. It is negative if more was spent before it was lowered.
    Earlier releases charged too little where labels of a stable question had changed. What the next
    wave makes up for (`Survey.charge_after`) is already subtracted.
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


def ledger(
    spends: Iterable[Spend], surveys: Mapping[str, Survey], cap: int, delta: float = DELTA
) -> list[LedgerRow]:
    """Return a row for each respondent, in the order of their pseudonyms.

    Parameters
    ----------
    spends : iterable of Spend
        Of one survey, over all its terms.
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
        promised = map(in_epsilon, (bill.cap, bill.cap - max(charged, bill.charged)))
        waves = sum(n for _, n in times)
        return waves, bill.reports, *spent, bill.delta, bill.method, *promised

    for account in accounts:
        yield LedgerRow(account.respondent, *columns(account.times, account.charged))
