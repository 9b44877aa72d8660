"""The ledger as a distribution: the number of respondents for each amount spent."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from analysis.privacy.ledger.totals import Account, Times, Totals, in_epsilon


@dataclass(frozen=True)
class TotalRow:
    """The number of `respondents` with one total, and the cap that they were promised.

    The totals, `cap`, `remaining` and `above_cap` are those of a `LedgerRow`. `share` is the share
    of all respondents with exactly these. `cumulative_share` is the share with these or an earlier
    row's, which has a smaller `epsilon`.
    """

    epsilon_sum: Decimal
    epsilon: Decimal
    epsilon_if_constant: Decimal
    delta: float
    method: str
    cap: Decimal
    remaining: Decimal
    above_cap: str
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
            above_cap="yes" if left < 0 else "no",
            respondents=n,
            share=n / whole,
            cumulative_share=before / whole,
        )


@dataclass(frozen=True)
class Spent:
    """The spending of `respondents`. Each ε is one respondent's total. The mean is rounded up.

    `most_charged` is the largest sum of charges, and `most_if_constant` is the largest total if no
    answer ever changed. `delta` is the largest δ of a total. `convolved` is the number of totals
    that are smaller than the charges, by convolution. `remembers` says whether any total counts a
    memory. `above_cap` is the number of respondents who spent more than their cap.
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
    above_cap: int


def spent(totals: Sequence[TotalRow]) -> Spent | None:
    """Return a summary of a ledger's distribution (`by_total`); None if nobody has answered."""
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
        above_cap=sum(row.respondents for row in totals if row.above_cap == "yes"),
    )
