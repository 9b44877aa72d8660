"""What each respondent has spent: ε over all reports that the server stored."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from analysis.epsilon import MICRO
from analysis.survey import Survey, spent_on


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
    whatever was answered and however answers changed, `epsilon_if_constant` what it is if no answer
    ever changed; `delta` is the probability that goes with them, `method` how they were proved.

    Fresh draws add up, and all three are equal: ``sum`` (sequential composition: Dwork and Roth,
    "The algorithmic foundations of differential privacy", 2014, theorem 3.16). Draws that the
    device remembers cost together what `waves.worst_ratio` proves, and those of a question with
    ``stable = true``, taken at its word, what `waves.constant_ratio` does: ``memory``. That can be
    more than the sum: a memory shows that an answer changed, which fresh draws do not.
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
    reports = {version: len(survey.questions) for version, survey in versions.items()}
    totals = _Totals(versions)
    rows = []
    for respondent, own in sorted(_by_respondent(spends).items()):
        charged = sum(spend.charged for spend in own)
        plain, constant, method = totals.of(own)
        promised = min(cap, *(versions[spend.version].cap for spend in own))
        rows.append(
            LedgerRow(
                respondent=respondent,
                waves=len({spend.wave for spend in own}),
                reports=sum(one.submissions * reports[one.version] for one in own),
                epsilon_sum=in_epsilon(plain),
                epsilon=in_epsilon(charged),
                epsilon_if_constant=in_epsilon(constant),
                delta=sum(one.submissions * deltas[one.version] for one in own),
                method=method,
                cap=in_epsilon(promised),
                remaining=in_epsilon(promised - charged),
            )
        )
    return rows


def charged_right(spends: Iterable[Spend], versions: Mapping[str, Survey]) -> bool:
    """Whether every respondent was charged what the reports cost; parameters as of `ledger`."""
    totals = _Totals(versions)
    return all(
        sum(spend.charged for spend in own) == totals.proved(own)
        for own in _by_respondent(spends).values()
    )


def _by_respondent(spends: Iterable[Spend]) -> dict[str, list[Spend]]:
    found: dict[str, list[Spend]] = {}
    for spend in spends:
        found.setdefault(spend.respondent, []).append(spend)
    return found


class _Totals:
    """Totals in millionths of ε, looked up: most respondents have answered equally often."""

    def __init__(self, versions: Mapping[str, Survey]) -> None:
        self._versions = versions
        self._constant: dict[frozenset[tuple[str, int]], int] = {}
        self._proved: dict[frozenset[tuple[str, int]], int] = {}

    def of(self, own: list[Spend]) -> tuple[int, int, str]:
        """The plain sum, the total if no answer ever changed, and how totals are proved."""
        times = self._times(own)
        answered = [(self._versions[version], n) for version, n in times]
        plain = sum(n * survey.charge for survey, n in answered)
        if times not in self._constant:
            self._constant[times] = spent_on(answered, stable=True)
        method = "memory" if any(survey.memos for survey, _ in answered) else "sum"
        return plain, self._constant[times], method

    def proved(self, own: list[Spend]) -> int:
        """The total that is proved whatever was answered."""
        times = self._times(own)
        if times not in self._proved:
            self._proved[times] = spent_on((self._versions[one], n) for one, n in times)
        return self._proved[times]

    @staticmethod
    def _times(own: list[Spend]) -> frozenset[tuple[str, int]]:
        """How often a respondent answered each version."""
        times = Counter[str]()
        for spend in own:
            times[spend.version] += spend.submissions
        return frozenset(times.items())


def in_epsilon(millionths: int) -> Decimal:
    """Millionths of ε as ε, exact."""
    return Decimal(millionths) / MICRO
