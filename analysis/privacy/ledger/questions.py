"""The ledger by question: what each one's reports cost those who sent them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from analysis.privacy.ledger.account import Account, Times, in_epsilon
from analysis.privacy.ledger.totals import Totals, float_above
from analysis.survey.question import Question
from analysis.survey.survey import uses


@dataclass(frozen=True)
class QuestionRow:
    """One question under one terms, and what the `respondents` who answered it have spent on it.

    `epsilon_promised` is what the survey file allows one report, `epsilon` what one proves, rounded
    up to whole millionths, with its `delta`; `epsilon_forever` what the file allows all waves
    together if no answer changes, of a question that the device remembers. `reports` are those
    under these terms. `version` is the last published one that has them: the ledger does not know
    which of them was answered.

    ``spent_...`` is what a respondent spent on it in all waves: the sum over these
    reports; of a memory what its reports cost together, in all versions that share it
    (`Randomizer.spent`), however answers changed, and if none ever did. The mean is rounded up.
    `cap` is what these versions promised of all questions together.
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
    """One row for each question under each set of terms that were answered, in their orders."""
    alike = Counter[Times]()
    for one in own:
        alike[one.times] += one.respondents
    for terms, survey in totals.surveys.items():
        answered = {times: dict(times)[terms] for times in alike if terms in dict(times)}
        if not answered:
            continue
        # How many respondents have used each memory how often, or sent so many fresh reports.
        used = {times: uses(totals.answered(times)) for times in answered}
        for question in survey.questions:
            often: dict[tuple[int, bool], int] = defaultdict(int)
            for times in answered:
                use = used[times][survey.use_key(question)]
                often[use.reports, use.agrees] += alike[times]
            yield QuestionRow(
                version=survey.version,
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
                **_spent("", question, often, False),
                **_spent("_if_constant", question, often, True),
                cap=in_epsilon(survey.cap),
            )


def promised(question: Question, key: str) -> Decimal:
    """An ε of the survey file, as it is written there."""
    return Decimal(repr(question.spec[key]))


def _spent(
    end: str, question: Question, often: dict[tuple[int, bool], int], stable: bool
) -> dict[str, Decimal]:
    """The least, the mean and the most that respondents spent, by how many used it how."""
    spent = {use: question.spent(use[0], stable, use[1]) for use in often}
    whole = sum(spent[use] * respondents for use, respondents in often.items())
    mean = -(-whole // sum(often.values()))
    found = {"least": min(spent.values()), "mean": mean, "most": max(spent.values())}
    return {f"spent_{name}{end}": in_epsilon(value) for name, value in found.items()}
