"""The content of a bundle."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from analysis.estimate import Ints
from analysis.study.methods import Fieldwork
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class BundledStudy:
    """One wave of one version of a survey, as a bundle holds it.

    Attributes
    ----------
    survey : Survey
        The frozen version that was asked.
    wave : int
    conf_level : float
        The level of all intervals, in (0, 1).
    fieldwork : Fieldwork
        The numbers of reports and of invited people, and how the reports came.
    tallies : mapping
        For each question's id, a (cohorts, symbols) array.
    reports : sequence of mapping, optional
        Each respondent's report on each question, as it was sent; None if reports are left out.
        Bundles have them sorted by content.
    license : str
        The name of the license; empty if none is stated.
    authors : tuple of str
        The authors of the study, as it should be cited.
    """

    survey: Survey
    wave: int
    conf_level: float
    fieldwork: Fieldwork
    tallies: Mapping[str, Ints]
    reports: Sequence[Mapping[str, Any]] | None = None
    license: str = ""
    authors: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return the facts that only the description states, in its form."""
        return {
            "release": version("deniable"),
            "survey": self.survey.id,
            "version": self.survey.version,
            "wave": self.wave,
            "conf_level": self.conf_level,
            "fieldwork": asdict(self.fieldwork),
        }


def recounted(survey: Survey, reports: Sequence[Mapping[str, Any]]) -> dict[str, Ints]:
    """Return the tallies of reports as they were sent."""
    return {
        question.id: question.randomizer.tally_many(
            question.randomizer.read_many([report[question.id] for report in reports])
        )
        for question in survey.questions
    }
