"""How much the reports of a wave reveal together about one answer, and about a person."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.core.epsilon import MICRO, is_telling
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The smallest odds that are written as powers of ten.
_LARGE = 100_000


@dataclass(frozen=True)
class Group:
    """Questions whose reports reveal something about the first one's answer, and their total ε."""

    questions: tuple[Question, ...]
    charge: int

    @classmethod
    def of(cls, survey: Survey, question: Question) -> "Group":
        """Return the questions whose reports reveal something about a question's answer.

        Questions of one draw count with the ε of their draw for these questions together.
        """
        told = survey.telling(question)
        ids = {other.id for other in told}
        charge = sum(
            draw.charge_of([other for other in draw.questions if other.id in ids])
            for draw in survey.draws
            if any(other.id in ids for other in draw.questions)
        )
        return cls(told, charge)


def groups(survey: Survey) -> list[Group]:
    """Return the largest groups of two or more questions that reveal one answer together."""
    every = [Group.of(survey, question) for question in survey.questions]
    ids = [{question.id for question in group.questions} for group in every]
    return [
        group
        for group, names in zip(every, ids, strict=True)
        if len(names) > 1 and not any(names < others for others in ids)
    ]


def power_of_ten(charge: int) -> int | None:
    """Return the smallest k with e^ε <= 10^k; None if the odds can be written out."""
    epsilon = charge / MICRO
    return None if epsilon < math.log(_LARGE) else math.ceil(epsilon / math.log(10))


def readable_odds(charge: int) -> str:
    """Return the odds e^ε, rounded up: "55 to 1", a power of ten, or "more than a billion to 1"."""
    power = power_of_ten(charge)
    if power is None:
        # ε is rounded to four digits, as it is shown, since an ε of 4 is charged up to 4.000001.
        return f"{math.ceil(math.exp(round(charge / MICRO, 4))):,} to 1"
    return f"{10**power:,} to 1" if power <= 9 else "more than a billion to 1"


def warnings_of_totals(survey: Survey) -> Iterator[str]:
    """Yield a warning for each group, and for the survey, whose reports reveal too much."""
    for group in groups(survey):
        if is_telling(group.charge):
            first, *others = group.questions
            names = ", ".join(f'"{question.id}"' for question in others)
            yield (
                f'question "{first.id}": questions that depend on it ({names}) also reveal '
                f"something about its answer: at ε = {_shown(group.charge)} together the odds are "
                f"up to {readable_odds(group.charge)}, and the page will say so to respondents"
            )
    if is_telling(survey.charge) and len(survey.questions) > 1:
        yield (
            f"all {len(survey.questions)} questions of one wave spend ε = "
            f"{_shown(survey.charge)} together: if a person's answers are correlated, the odds are "
            f"up to {readable_odds(survey.charge)}, and the page will say so to respondents"
        )
    if is_telling(survey.cap) and survey.cap > survey.charge:
        yield (
            f"over all waves the cap allows ε = {_shown(survey.cap)}, which means odds of up to "
            f"{readable_odds(survey.cap)}"
        )


def _shown(charge: int) -> str:
    return f"{round(charge / MICRO, 4):g}"
