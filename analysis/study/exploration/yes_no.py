"""The survey that is explored: required yes-no questions."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from analysis.survey.survey import Survey
from analysis.survey.survey_file import survey_of


def yes_no(*epsilons: Decimal) -> Survey:
    """Return a frozen survey with a required yes-no question for each ε.

    It is made like the survey of a file with these questions. So its randomizers and costs are
    those of real surveys.

    Parameters
    ----------
    epsilons : Decimal
        The ε of one report of each question, from 0.001 to 20; at least one.

    Raises
    ------
    SurveyError
        If an ε is out of range.
    """
    return _frozen(epsilons)


@lru_cache(maxsize=256)
def _frozen(epsilons: Sequence[Decimal]) -> Survey:
    questions = [
        {
            "id": f"question-{place}",
            "kind": "yes-no",
            "text": "Is it so?",
            "required": True,
            "epsilon": epsilon,
        }
        for place, epsilon in enumerate(epsilons, 1)
    ]
    document = {"id": "explored", "title": "Explored", "questions": questions}
    return survey_of(document, "explored", Path())
