"""What a respondent was charged, for each kind of terms, and in all."""

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
    """What one respondent was charged under the same terms, in millionths of ε."""

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
    """The account of each respondent, in the order of their pseudonyms."""
    ordered = sorted(spends, key=lambda spend: spend.respondent)
    for respondent, group in groupby(ordered, lambda spend: spend.respondent):
        own = list(group)
        times = Counter[str]()
        for spend in own:
            times[spend.terms] += spend.submissions
        charged = sum(spend.charged for spend in own)
        yield Account(respondent, tuple(sorted(times.items())), charged)


def charged_right(own: Iterable[Account], surveys: Mapping[str, Survey]) -> bool:
    """Whether every respondent was charged what the reports cost, to the millionth.

    Or what earlier releases charged, which took versions with one memory to mean the same: the next
    wave makes up for it (`Survey.charge_after`).

    Parameters
    ----------
    own : iterable of Account
        Of one survey.
    surveys : mapping
        As of `Totals`.
    """

    @cache
    def costs(times: Times) -> tuple[int, int]:
        answered = [(surveys[terms], n) for terms, n in times]
        return spent_on(answered), spent_on(answered, trusting=True)

    return all(one.charged in costs(one.times) for one in own)


def in_epsilon(millionths: int) -> Decimal:
    """Millionths of ε as ε, exact."""
    return Decimal(millionths) / MICRO
