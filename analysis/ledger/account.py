"""What a respondent was charged, one wave at a time, and in all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import groupby

from analysis.epsilon import MICRO
from analysis.survey import Survey, spent_on

#: How often each version was answered, in the order of the versions' hashes.
Times = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Spend:
    """What one respondent was charged in one wave of one version, in millionths of ε."""

    respondent: str
    version: str
    wave: int
    submissions: int
    charged: int


@dataclass(frozen=True)
class Account:
    """What one respondent was charged in all, in millionths of ε, and for what.

    `waves` counts the waves answered, of whichever version.
    """

    respondent: str
    waves: int
    times: Times
    charged: int


def accounts(spends: Iterable[Spend]) -> Iterator[Account]:
    """The account of each respondent, in the order of their pseudonyms."""
    ordered = sorted(spends, key=lambda spend: spend.respondent)
    for respondent, group in groupby(ordered, lambda spend: spend.respondent):
        own = list(group)
        times = Counter[str]()
        for spend in own:
            times[spend.version] += spend.submissions
        waves = len({spend.wave for spend in own})
        charged = sum(spend.charged for spend in own)
        yield Account(respondent, waves, tuple(sorted(times.items())), charged)


def charged_right(spends: Iterable[Spend], versions: Mapping[str, Survey]) -> bool:
    """Whether every respondent was charged what the reports cost, to the millionth.

    Parameters
    ----------
    spends, versions
        As of `ledger`.
    """

    @cache
    def cost(times: Times) -> int:
        return spent_on((versions[version], n) for version, n in times)

    return all(one.charged == cost(one.times) for one in accounts(spends))


def in_epsilon(millionths: int) -> Decimal:
    """Millionths of ε as ε, exact."""
    return Decimal(millionths) / MICRO
