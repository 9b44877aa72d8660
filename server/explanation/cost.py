"""What a survey costs in ε, in sentences."""

from collections.abc import Iterator

from analysis.core.epsilon import MICRO
from analysis.survey.survey import Survey, spent_on
from server.explanation.figure import bound, one_in
from server.words import Phrase


def costs(survey: Survey) -> Iterator[Phrase]:
    """One wave, what a few waves cost together where the device remembers, and what δ adds."""
    yield Phrase.of(
        "cost.wave",
        total=round(survey.charge / MICRO, 4),
        parts=tuple(round(float(one.spec["epsilon"]), 4) for one in survey.questions),
        cap=round(survey.cap / MICRO, 4),
    )
    for waves in (2, 3, 4) if survey.memos else ():
        if spent_on([(survey, waves)]) <= survey.cap:
            worst, constant = (
                bound(spent_on([(survey, waves)], stable=stable) / MICRO)
                for stable in (False, True)
            )
            yield Phrase.of("cost.waves", n=waves, worst=worst, constant=constant)
    delta = sum(question.randomizer.delta for question in survey.questions)
    if delta:
        yield Phrase.of("cost.more", n=one_in(delta))
