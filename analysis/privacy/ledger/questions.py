"""The ledger by question or ``[[together]]`` table, and by respondent and question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from analysis.privacy.ledger.totals import Account, Times, Totals, in_epsilon
from analysis.survey.joint_draw import JointDraw
from analysis.survey.question import Question
from analysis.survey.survey import Use, uses


@dataclass(frozen=True)
class QuestionRow:
    """One draw under one set of terms, and the ε that its `respondents` have spent on it.

    The draw is that of a question, or of a ``[[together]]`` table of questions, by the table's id.

    The survey file allows `epsilon_promised` to one report. One report is proved to cost `epsilon`,
    rounded up to whole millionths. If the device has a memory, the file allows
    `epsilon_forever` to all waves together if no answer changes. `reports` is the number of reports
    under these terms. `version` is the last published version with these terms, since the ledger
    does not know which of its versions was answered.

    ``spent_...`` is the ε that a respondent spent on the draw in all waves. It is the sum over
    these reports. For a memory, it is the cost of its reports together, in all versions that share
    it (`Randomizer.spent`), however answers changed; ``..._if_constant`` is the cost if none
    changed. The mean is rounded up. `cap` is the promise of these versions for all questions
    together.
    """

    version: str
    question: str
    mechanism: str
    epsilon_promised: Decimal
    epsilon: Decimal
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


def by_question(accounts: Iterable[Account], totals: Totals) -> Iterator[QuestionRow]:
    """Yield a row for each question under each answered set of terms, in their orders."""
    alike = Counter[Times]()
    for account in accounts:
        alike[account.times] += account.respondents
    for terms, survey in totals.surveys.items():
        answered = {times: dict(times)[terms] for times in alike if terms in dict(times)}
        if not answered:
            continue
        # The number of respondents for each number of uses of a memory, or of fresh reports.
        used = {times: uses(totals.answered(times)) for times in answered}
        for draw in survey.draws:
            often: dict[tuple[int, bool], int] = defaultdict(int)
            for times in answered:
                use = used[times][survey.use_key(draw)]
                often[use.reports, use.agrees] += alike[times]
            yield QuestionRow(
                version=survey.version,
                question=draw.id,
                mechanism=draw.mechanism_name,
                epsilon_promised=_promised(draw, "epsilon"),
                epsilon=in_epsilon(draw.randomizer.charge),
                epsilon_forever=_forever([draw]),
                respondents=sum(often.values()),
                reports=sum(n * alike[times] for times, n in answered.items()),
                **_spent("", draw, often, False),
                **_spent("_if_constant", draw, often, True),
                cap=in_epsilon(survey.cap),
            )


def _spent(
    end: str, draw: Question | JointDraw, often: dict[tuple[int, bool], int], stable: bool
) -> dict[str, Decimal]:
    """Return the least, mean and most that respondents spent; `often` counts them by their use."""
    spent = {use: draw.spent(use[0], stable, use[1]) for use in often}
    whole = sum(spent[use] * respondents for use, respondents in often.items())
    mean = -(-whole // sum(often.values()))
    summary = {"least": min(spent.values()), "mean": mean, "most": max(spent.values())}
    return {f"spent_{name}{end}": in_epsilon(value) for name, value in summary.items()}


@dataclass(frozen=True)
class AnswerRow:
    """The cost of one respondent's reports on one question, over all waves and versions.

    `epsilon_promised` is the most that a version's file allows to one report. With a memory, the
    file allows `epsilon_forever` to all of them if no answer changes. `epsilon` is the charge. Over
    a respondent's questions it adds up to the whole charge. `epsilon_if_constant` is what it would
    be if no answer ever changed. Fresh reports add up. The reports of a memory have one cost
    together.
    """

    respondent: str
    question: str
    reports: int
    epsilon_promised: Decimal
    epsilon_forever: Decimal | None
    epsilon: Decimal
    epsilon_if_constant: Decimal


def by_both(accounts: Iterable[Account], totals: Totals) -> Iterator[AnswerRow]:
    """Yield a row for each account and question, in the orders of accounts and of questions."""
    columns = cache(lambda times: list(_columns(times, totals)))
    for account in accounts:
        for cells in columns(account.times):
            yield AnswerRow(account.respondent, *cells)


def _columns(times: Times, totals: Totals) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of one respondent's rows, without the pseudonym."""
    # A question can have different forms in several versions. Those that share a memory count
    # as one.
    forms: dict[str, list[Use]] = defaultdict(list)
    for use in uses(totals.answered(times)).values():
        forms[use.draw.id].append(use)
    for name, used in forms.items():
        draws = [use.draw for use in used]
        yield (
            name,
            sum(use.reports for use in used),
            max(_promised(draw, "epsilon") for draw in draws),
            _forever(draws),
            in_epsilon(sum(use.spent() for use in used)),
            in_epsilon(sum(use.spent(stable=True) for use in used)),
        )


def _promised(draw: Question | JointDraw, key: str) -> Decimal:
    """Return an ε of the survey file as it is written there."""
    return Decimal(repr(draw.spec[key]))


def _forever(draws: Iterable[Question | JointDraw]) -> Decimal | None:
    """Return the largest ``epsilon_forever`` of questions with a memory; None without a memory."""
    remembered = (draw for draw in draws if draw.memo is not None)
    return max((_promised(draw, "epsilon_forever") for draw in remembered), default=None)
