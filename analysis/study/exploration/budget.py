"""The spending of a cap, query after query, until a query is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from analysis.core.epsilon import MICRO
from analysis.core.errors import check_positive
from analysis.privacy.accounting import PrivacyLoss, Total, smallest
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import strongest_posterior
from analysis.study.exploration.yes_no import yes_no

#: The belief about an answer before any query.
_EVEN = 0.5


@dataclass(frozen=True)
class Query:
    """A yes-no question to a respondent, and the ε that is spent and left after it.

    `charge`, `spent` and `left` are ε, exact to a millionth. A refused query costs nothing. `told`
    is the smallest proved total of all accepted queries. `belief` is the strongest belief that they
    can lead to from one half, by the sum of their ε.
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

    The rule is that of devices and servers. A query is refused if its charge does not fit below the
    cap, whatever the answers were. Later queries that fit are accepted.

    Parameters
    ----------
    cap : Decimal
        The cap of all queries together, above 0, in whole millionths.
    epsilons : sequence of Decimal
        The ε of each query, from 0.001 to 20.
    delta : float
        The δ of `told`, in (0, 1). It is spent only if it helps.

    Raises
    ------
    ValueError
        If a number is out of its range.

    By hand: a cap of 1 accepts 0.5 and then 0.25, refuses 0.5, and accepts 0.25. Then nothing is
    left.
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
