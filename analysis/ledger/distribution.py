"""The ledger as a distribution: how many respondents have spent how much."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from analysis.ledger.account import Account, Times, in_epsilon
from analysis.ledger.totals import Totals


@dataclass(frozen=True)
class TotalRow:
    """How many `respondents` have one total, and what they were promised.

    The totals, `cap` and `remaining` are those of a `LedgerRow`; `share` of all respondents have
    just these, `cumulative_share` these or ones that are listed before, with a smaller `epsilon`.
    """

    epsilon_sum: Decimal
    epsilon: Decimal
    epsilon_if_constant: Decimal
    delta: float
    method: str
    cap: Decimal
    remaining: Decimal
    respondents: int
    share: float
    cumulative_share: float


def by_total(own: Iterable[Account], totals: Totals) -> Iterator[TotalRow]:
    """One row for each distinct total, the smallest `epsilon` first."""
    alike = Counter[tuple[Times, int]]()
    for one in own:
        alike[one.times, one.charged] += one.respondents
    respondents = Counter[tuple[int, int, int, float, str, int, int]]()
    for (times, charged), n in alike.items():
        bill = totals.of(times)
        left = bill.cap - max(charged, bill.charged)
        key = bill.epsilon, bill.plain, bill.constant, bill.delta, bill.method, bill.cap, left
        respondents[key] += n
    whole, before = respondents.total(), 0
    for (epsilon, plain, constant, delta, method, cap, left), n in sorted(respondents.items()):
        before += n
        yield TotalRow(
            epsilon_sum=in_epsilon(plain),
            epsilon=in_epsilon(epsilon),
            epsilon_if_constant=in_epsilon(constant),
            delta=delta,
            method=method,
            cap=in_epsilon(cap),
            remaining=in_epsilon(left),
            respondents=n,
            share=n / whole,
            cumulative_share=before / whole,
        )
