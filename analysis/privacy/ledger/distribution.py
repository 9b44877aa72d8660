"""The ledger as a distribution: how many respondents have spent how much."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from analysis.privacy.ledger.totals import Account, Times, Totals, in_epsilon


@dataclass(frozen=True)
class TotalRow:
    """The number of `respondents` with one total, and what they were promised.

    The totals, `cap` and `remaining` are those of a `LedgerRow`. `share` of all respondents have
    just these; `cumulative_share` have these or ones listed before, with a smaller `epsilon`.
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


def by_total(accounts: Iterable[Account], totals: Totals) -> Iterator[TotalRow]:
    """Yield a row for each distinct total, the smallest `epsilon` first."""
    alike = Counter[tuple[Times, int]]()
    for account in accounts:
        alike[account.times, account.charged] += account.respondents
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


@dataclass(frozen=True)
class Spent:
    """The spending of `respondents`; each ε is one respondent's total, the mean rounded up.

    `most_charged` is the most that charges add up to, `most_if_constant` the most if no answer ever
    changed. `delta` is the largest of a total. `convolved` totals are smaller than what was
    charged, by convolution. `remembers` says whether any counts a memory.
    """

    respondents: int
    least: Decimal
    mean: Decimal
    most: Decimal
    most_charged: Decimal
    most_if_constant: Decimal
    delta: float
    convolved: int
    remembers: bool


def spent(totals: Sequence[TotalRow]) -> Spent | None:
    """Return a ledger's distribution (`by_total`) in a few numbers; None if nobody has answered."""
    if not totals:
        return None
    respondents = sum(row.respondents for row in totals)
    whole = sum((row.epsilon * row.respondents for row in totals), Decimal(0))
    mean = (whole / respondents).quantize(Decimal("0.0001"), ROUND_CEILING).normalize()
    most = max(row.epsilon for row in totals)
    return Spent(
        respondents=respondents,
        least=min(row.epsilon for row in totals),
        mean=min(mean, most),
        most=most,
        most_charged=max(row.cap - row.remaining for row in totals),
        most_if_constant=max(row.epsilon_if_constant for row in totals),
        delta=max(row.delta for row in totals),
        convolved=sum(row.respondents for row in totals if "convolution" in row.method),
        remembers=any("memory" in row.method for row in totals),
    )
