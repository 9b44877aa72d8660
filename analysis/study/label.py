"""The privacy label of a study: a short table of what a referee or an ethics board asks first.

According to experts whom Dibia et al. 2025 asked, such a label must say: ε, the unit that it
protects, the model, and how spending adds up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from analysis.core.epsilon import MICRO
from analysis.core.table import PromiseOrValue
from analysis.privacy.ledger import in_epsilon
from analysis.privacy.meaning import rounded_up
from analysis.study.methods import Fieldwork
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Fact:
    """A line of the label: a fact, and its value."""

    fact: Annotated[str, "What is promised."]
    value: PromiseOrValue


def label(survey: Survey, fieldwork: Fieldwork | None = None) -> list[Fact]:
    """Return the lines of the label of a frozen survey, the most important first.

    With the `fieldwork` of a wave, it states the number of simulated reports, if there are any.
    """
    return [Fact(*line) for line in _lines(survey, fieldwork)]


def _lines(survey: Survey, fieldwork: Fieldwork | None) -> Iterator[tuple[str, str]]:
    if fieldwork is not None and fieldwork.simulated:
        yield "Simulated reports", f"{fieldwork.simulated:,} of {fieldwork.reports:,}"
    yield "Model", "local differential privacy: answers are randomized on the respondent's device"
    yield "What is protected", "all answers of one respondent to this survey, against everybody"
    yield "ε of one wave", f"{in_epsilon(survey.charge):f}"
    yield "ε over all waves", f"at most {in_epsilon(survey.cap):f}; a device that reaches it stops"
    yield "δ", "0 (pure)"
    yield "How ε adds up", "the sum over questions, and over waves the exact cost of the reports"
    for draw in survey.draws:
        names = ", ".join(question.id for question in draw.questions)
        mechanisms = ", ".join(dict.fromkeys(one.mechanism.name for one in draw.questions))
        yield f"ε of {names}", f"{rounded_up(draw.randomizer.charge / MICRO, 4)}, by {mechanisms}"
    yield "Results", survey.steps.told
    if survey.public:
        yield "Public results", f"after closing, of {', '.join(survey.public)}"
    else:
        yield "Public results", "none"
    last = survey.delete_reports_after
    yield "Reports are deleted", f"after {last}" if last else "no day was promised"
    yield (
        "Who may answer",
        {"open": "everybody", "invited": "invited people, once a wave"}.get(
            survey.access, "the same invited people in each wave"
        ),
    )
    yield "Version", survey.version
