"""What each respondent has spent: the sum of ε over all reports that the server stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from analysis.epsilon import MICRO
from analysis.survey import Survey


@dataclass(frozen=True)
class Spend:
    """What one respondent was charged in one wave of one version, in millionths of ε."""

    respondent: str
    version: str
    wave: int
    submissions: int
    charged: int


@dataclass(frozen=True)
class LedgerRow:
    """One respondent's total, in ε; the columns of the ledger.

    `waves` counts the waves answered, `reports` the randomized answers stored, one a question.
    `epsilon_sum` is the plain sum over reports, `epsilon` the smallest total that is proved
    whatever was answered, `epsilon_if_constant` what it is if no answer ever changed; `delta` is
    the probability that goes with them, `method` how they were proved. Each draw is fresh so far,
    for which the sum is the proof and all three are equal (sequential composition: Dwork and Roth,
    "The algorithmic foundations of differential privacy", 2014, theorem 3.16).
    `cap` is the least that was promised, by the version last published or one that was answered;
    `remaining` is negative if more was spent before it was lowered.
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


def ledger(spends: Iterable[Spend], versions: Mapping[str, Survey], cap: int) -> list[LedgerRow]:
    """One row for each respondent, in the order of their pseudonyms.

    Parameters
    ----------
    spends : iterable of Spend
        Of one survey, over all its versions and waves.
    versions : mapping
        The survey's versions, by hash.
    cap : int
        What the version last published allows a respondent to spend, in millionths of ε.
    """
    # δ adds up as ε does: basic composition.
    deltas = {
        version: float(sum(question.randomizer.delta for question in survey.questions))
        for version, survey in versions.items()
    }
    by_respondent: dict[str, list[Spend]] = {}
    for spend in spends:
        by_respondent.setdefault(spend.respondent, []).append(spend)
    rows = []
    for respondent, own in sorted(by_respondent.items()):
        charged = sum(spend.charged for spend in own)
        total = in_epsilon(charged)
        promised = min(cap, *(versions[spend.version].cap for spend in own))
        rows.append(
            LedgerRow(
                respondent=respondent,
                waves=len({spend.wave for spend in own}),
                reports=sum(one.submissions * len(versions[one.version].questions) for one in own),
                epsilon_sum=total,
                epsilon=total,
                epsilon_if_constant=total,
                delta=sum(one.submissions * deltas[one.version] for one in own),
                method="sum",
                cap=in_epsilon(promised),
                remaining=in_epsilon(promised - charged),
            )
        )
    return rows


def in_epsilon(millionths: int) -> Decimal:
    """Millionths of ε as ε, exact."""
    return Decimal(millionths) / MICRO
