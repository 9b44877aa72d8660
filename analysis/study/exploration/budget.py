"""Spending a cap, query after query, until one is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_positive
from analysis.privacy.accounting import PrivacyLoss, Total, smallest
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import strongest_posterior
from analysis.study.exploration.yes_no import yes_no

#: What somebody believes of an answer before any query.
_EVEN = 0.5


@dataclass(frozen=True)
class Query:
    """One yes-no question put to a respondent, and what is spent and left after it.

    `charge`, `spent` and `left` are ε, exact to a millionth; a refused query costs nothing. `told`
    is the smallest total that is proved of all accepted ones, and `belief` what they can make of a
    belief of one half at most, by the sum of their ε.
    """

    epsilon: Decimal
    charge: Decimal
    is_accepted: bool
    spent: Decimal
    left: Decimal
    told: Total
    belief: float


def spend_cap(cap: Decimal, epsilons: Sequence[Decimal], delta: float) -> list[Query]:
    """Return a row for each query, in order.

    The rule is that of devices and servers: a query whose charge does not fit below the cap is
    refused, whatever was answered, and later ones that fit are accepted.

    Parameters
    ----------
    cap : Decimal
        Of all queries together, above 0, in whole millionths.
    epsilons : sequence of Decimal
        Of each query, from 0.001 to 20.
    delta : float
        Of `told`, in (0, 1); it is spent only where it shows.

    Raises
    ------
    ValueError
        If a number is out of its range.

    By hand: a cap of 1 accepts 0.5 and then 0.25, refuses 0.5, and accepts 0.25: nothing is left.
    """
    check_positive(float(cap), "cap")
    limit, spent, accepted, rows = int(cap * MICRO), 0, list[Decimal](), list[Query]()
    for epsilon in epsilons:
        charge = yes_no(epsilon).charge
        is_accepted = spent + charge <= limit
        if is_accepted:
            spent += charge
            accepted.append(epsilon)
        rows.append(
            Query(
                epsilon,
                in_epsilon(charge),
                is_accepted,
                in_epsilon(spent),
                in_epsilon(limit - spent),
                _told(accepted, spent, delta),
                strongest_posterior(_EVEN, spent / MICRO) if spent else _EVEN,
            )
        )
    return rows


def _told(epsilons: Sequence[Decimal], spent: int, delta: float) -> Total:
    plain = Total(spent / MICRO)
    if not epsilons:
        return plain
    return smallest([(PrivacyLoss.pure(float(one)), 1) for one in epsilons], plain, delta)
