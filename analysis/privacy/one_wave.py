"""How much reports reveal together about one answer, and about a person."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from analysis.core.epsilon import MICRO, log_ratio, micro
from analysis.privacy.meaning import Grade, grade_of, rounded_up
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: The smallest odds that are written as powers of ten.
_LARGE = 10**9


@dataclass(frozen=True)
class Group:
    """Questions whose reports reveal something about the first one's answer.

    Their total ε is `charge`, in millionths; `ratio` is the largest ratio of the probabilities of
    their reports of one wave under two rows of answers. `lasting` is the same with all waves of the
    questions that the device remembers, if their answers never change.
    """

    questions: tuple[Question, ...]
    charge: int
    ratio: Fraction
    lasting: Fraction

    @classmethod
    def of(cls, survey: Survey, question: Question) -> "Group":
        """Return the questions whose reports reveal something about a question's answer.

        Questions of one draw count with the ε of their draw for these questions together.
        """
        told = survey.telling(question)
        ids = {other.id for other in told}
        ratios = [
            draw.ratio_of([other for other in draw.questions if other.id in ids])
            for draw in survey.draws
            if any(other.id in ids for other in draw.questions)
        ]
        ratio = math.prod(ratios, start=Fraction(1))
        over_waves = [other.lasting_ratio / other.randomizer.ratio for other in told]
        return cls(told, sum(map(micro, ratios)), ratio, math.prod(over_waves, start=ratio))


def groups(survey: Survey) -> list[Group]:
    """Return the largest groups of two or more questions that reveal one answer together."""
    every = [Group.of(survey, question) for question in survey.questions]
    ids = [{question.id for question in group.questions} for group in every]
    return [
        group
        for group, names in zip(every, ids, strict=True)
        if len(names) > 1 and not any(names < others for others in ids)
    ]


def largest_single(survey: Survey) -> Fraction:
    """Return the largest odds of all that is sent about a single answer, over all questions."""
    return max(Group.of(survey, question).lasting for question in survey.questions)


def reassures(survey: Survey) -> bool:
    """Return whether what is sent about each single answer is a hint at most, and no proof.

    Only then does the page reassure respondents, and ask whether its promise was understood.
    """
    return grade_of(largest_single(survey)) <= Grade.HINT


def power_of_ten(ratio: Fraction) -> int | None:
    """Return the smallest k with ratio <= 10^k; None if the odds can be written out."""
    return None if ratio < _LARGE else math.ceil(log_ratio(ratio) / math.log(10))


def readable_odds(ratio: Fraction) -> str:
    """Return odds, rounded up: "54.6 to 1", or "more than a billion to 1"."""
    return "more than a billion to 1" if ratio >= _LARGE else f"{rounded_up(ratio)} to 1"


def warnings_of_totals(survey: Survey) -> Iterator[str]:
    """Yield a warning for each group, and for the survey, whose reports reveal too much."""
    for group in groups(survey):
        if grade_of(group.ratio) > Grade.HINT:
            first, *others = group.questions
            names = ", ".join(f'"{question.id}"' for question in others)
            yield (
                f'question "{first.id}": questions that depend on it ({names}) also reveal '
                f"something about its answer: at ε = {_shown(group.charge)} together the odds are "
                f"up to {readable_odds(group.ratio)}, and the page will say so to respondents"
            )
    if grade_of(survey.ratio) > Grade.STRONG and len(survey.questions) > 1:
        yield (
            f"all {len(survey.questions)} questions of one wave spend ε = "
            f"{_shown(survey.charge)} together: if a person's answers are correlated, the odds are "
            f"up to {readable_odds(survey.ratio)}, and the page will say so to respondents"
        )
    most = _odds_of(survey.cap)
    if grade_of(most) > Grade.STRONG and survey.cap > survey.charge:
        yield (
            f"over all waves the cap allows ε = {_shown(survey.cap)}, which means odds of up to "
            f"{readable_odds(most)}"
        )


def _shown(charge: int) -> str:
    return rounded_up(charge / MICRO, 4)


def _odds_of(charge: int) -> Fraction:
    """Return e^ε, but at most some odds that are not written out."""
    return Fraction(math.exp(min(charge / MICRO, math.log(_LARGE) + 1)))
