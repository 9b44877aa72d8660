"""The wave that a bundle holds."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from analysis.core.errors import DataError
from analysis.core.reports import Reports
from analysis.estimate import Ints
from analysis.estimate.plausibility import sizes_of
from analysis.study.bundle import BundledStudy
from analysis.study.sources import COUNTS, ESTIMATES, REPORTS, WAVE
from analysis.study.sources.counted import CountedWave, TalliedWave
from analysis.study.tally import Tally
from analysis.survey.question import Question


class BundledWave(CountedWave):
    """A wave whose counts and reports are in a bundle."""

    what, has = "a bundle", frozenset({WAVE, ESTIMATES, COUNTS, REPORTS})

    def __init__(self, content: BundledStudy) -> None:
        self._content = content
        self.survey, self.number = content.survey, content.wave
        self.is_open = content.fieldwork.is_open

    @property
    def version(self) -> str:
        return self.survey.version

    @property
    def tallies(self) -> Mapping[str, Ints]:
        return self._content.tallies

    @cached_property
    def sizes(self) -> Mapping[str, Ints]:
        return sizes_of(self.survey, self._content.reports or ())

    @property
    def simulated(self) -> int:
        return self._content.fieldwork.simulated

    @cached_property
    def _reports(self) -> dict[str, Reports]:
        if self._content.reports is None:
            raise DataError(
                f"{self.survey.id}: expected a study with its reports, got one without them: "
                "shares and means can be estimated, tables of two questions and models cannot"
            )
        return {
            question.id: question.randomizer.read_many(
                [sent[question.id] for sent in self._content.reports]
            )
            for question in self.survey.questions
        }

    def _read(self, questions: Iterable[Question]) -> dict[str, Reports]:
        return self._reports


def wave_of_bundle(content: BundledStudy) -> CountedWave:
    """Return the wave of a bundle; without reports it has its tally alone."""
    if content.reports is not None:
        return BundledWave(content)
    fieldwork = content.fieldwork
    counts = Tally(
        survey=content.survey,
        number=content.wave,
        is_open=fieldwork.is_open,
        simulated=fieldwork.simulated,
        sources=(),
        reports=fieldwork.reports,
        tallies=content.tallies,
        sizes=None,
    )
    return TalliedWave(counts, "a bundle without reports")
