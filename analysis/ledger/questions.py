"""The ledger by question: what each one's reports cost those who sent them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from analysis.ledger.account import Account, Times, in_epsilon
from analysis.ledger.totals import Totals, float_above, uses
from analysis.survey import Question


@dataclass(frozen=True)
class QuestionRow:
    """One question of one version, and what the `respondents` who answered it have spent on it.

    `epsilon_promised` is what the survey file allows one report, `epsilon` what one proves, rounded
    up to whole millionths, with its `delta`; `epsilon_forever` what the file allows all waves
    together if no answer changes, of a question that the device remembers. `reports` are those of
    this version.

    ``spent_...`` is what a respondent spent on it in all waves: the sum over this version's
    reports; of a memory what its reports cost together, in all versions that share it
    (`Randomizer.spent`), however answers changed, and if none ever did. The mean is rounded up.
    `cap` is what this version promised of all questions together.
    """

    version: str
    question: str
    mechanism: str
    epsilon_promised: Decimal
    epsilon: Decimal
    delta: float
    epsilon_forever: Decimal | None
    respondents: int
    reports: int
    spent_least: Decimal
    spent_mean: Decimal
    spent_most: Decimal
    spent_least_if_constant: Decimal
    spent_mean_if_constant: Decimal
    spent_most_if_constant: Decimal
    cap: Decimal


def by_question(own: Iterable[Account], totals: Totals) -> Iterator[QuestionRow]:
    """One row for each question of each version that was answered, in their orders."""
    alike = Counter[Times](one.times for one in own)
    for version, survey in totals.versions.items():
        answered = {times: dict(times)[version] for times in alike if version in dict(times)}
        if not answered:
            continue
        # How many respondents have used each memory how often, or sent so many fresh reports.
        used = {times: uses(totals.answered(times)) for times in answered}
        for question in survey.questions:
            often: dict[int, int] = defaultdict(int)
            for times, n in answered.items():
                often[n if question.memo is None else used[times][question.memo]] += alike[times]
            yield QuestionRow(
                version=version,
                question=question.id,
                mechanism=question.mechanism.name,
                epsilon_promised=promised(question, "epsilon"),
                epsilon=in_epsilon(question.randomizer.charge),
                delta=float_above(question.randomizer.delta),
                epsilon_forever=promised(question, "epsilon_forever")
                if question.memo is not None
                else None,
                respondents=sum(often.values()),
                reports=sum(n * alike[times] for times, n in answered.items()),
                **_spent("", question, often, question.stable),
                **_spent("_if_constant", question, often, True),
                cap=in_epsilon(survey.cap),
            )


def promised(question: Question, key: str) -> Decimal:
    """An ε of the survey file, as it is written there."""
    return Decimal(repr(question.spec[key]))


def _spent(end: str, question: Question, often: dict[int, int], stable: bool) -> dict[str, Decimal]:
    """The least, the mean and the most that respondents spent, by how many sent so many reports."""
    spent = {n: question.randomizer.spent(n, stable) for n in often}
    whole = sum(spent[n] * respondents for n, respondents in often.items())
    mean = -(-whole // sum(often.values()))
    found = {"least": min(spent.values()), "mean": mean, "most": max(spent.values())}
    return {f"spent_{name}{end}": in_epsilon(value) for name, value in found.items()}
