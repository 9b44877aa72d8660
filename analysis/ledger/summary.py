"""The ledger in a few numbers, as the page of results shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from analysis.ledger.distribution import TotalRow


@dataclass(frozen=True)
class Spent:
    """What `respondents` have spent; each ε is one respondent's total, the mean rounded up.

    `most_charged` is the most if nothing but charges is added up, `most_if_constant` if no answer
    ever changed. `delta` is the largest of a total; `convolved` totals are smaller than what was
    charged, by convolution; `remembers` says whether any counts a memory.
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
    """A ledger's distribution, of `by_total`, in a few numbers; None if nobody has answered."""
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
