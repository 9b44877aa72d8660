"""What a respondent was charged: under each set of terms, and in all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import groupby

from analysis.core.epsilon import MICRO
from analysis.survey.survey import Survey, spent_on

#: How often a survey was answered under each of its sets of terms (`Survey.terms`), in their order.
Times = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Spend:
    """What one respondent was charged under one set of terms, in millionths of ε."""

    respondent: str
    terms: str
    submissions: int
    charged: int


@dataclass(frozen=True)
class Account:
    """What one respondent was charged in all, in millionths of ε, and for what.

    It can stand for several `respondents` who were charged the same; then `respondent` is empty.
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
    """Return whether every respondent was charged what the reports cost, to the millionth.

    What earlier releases charged is right, too. They took versions with one memory to mean the
    same, and the next wave makes up for it (`Survey.charge_after`).

    Parameters
    ----------
    accounts : iterable of Account
        Those of one survey.
    surveys : mapping
        As of `Totals`.
    """

    @cache
    def costs(times: Times) -> tuple[int, int]:
        answered = [(surveys[terms], n) for terms, n in times]
        return spent_on(answered), spent_on(answered, trusting=True)

    return all(account.charged in costs(account.times) for account in accounts)


def in_epsilon(millionths: int) -> Decimal:
    """Return millionths of ε as ε, exactly."""
    return Decimal(millionths) / MICRO
