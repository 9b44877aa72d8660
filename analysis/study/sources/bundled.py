"""The wave that a bundle holds."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

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

    def __init__(self, content: BundledStudy, sent: Sequence[Mapping[str, Any]]) -> None:
        self._content, self._sent = content, sent
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
        return sizes_of(self.survey, self._sent)

    @property
    def simulated(self) -> int:
        return self._content.fieldwork.simulated

    @cached_property
    def _reports(self) -> dict[str, Reports]:
        return {
            question.id: question.randomizer.read_many([sent[question.id] for sent in self._sent])
            for question in self.survey.questions
        }

    def _read(self, questions: Iterable[Question]) -> Mapping[str, Reports]:
        return self._reports


def wave_of_bundle(content: BundledStudy) -> CountedWave:
    """Return the wave of a bundle; without reports it has its tally alone."""
    if content.reports is not None:
        return BundledWave(content, content.reports)
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
    return TalliedWave(counts, "a study without its reports")
