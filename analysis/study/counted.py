"""One wave of a survey whose reports were counted, and the results of the counts alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from analysis.core.randomizer import AnyRandomizer
from analysis.core.reports import Reports
from analysis.estimate import Ints
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_reports import chosen_columns, columns_of_reports
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.plausibility import Plausibility, plausibility
from analysis.estimate.poisoning import shifts
from analysis.study.methods import Fieldwork, simulated_of
from analysis.study.tally import Tally
from analysis.study.tally.pairs import MOST
from analysis.survey.question import Question
from analysis.survey.survey import Survey


class CountedWave(ABC):
    """Estimates of a wave from its counts, independent of where the counts are kept.

    `survey` is the frozen version, or the last published of several. `number` is that of the wave.
    `is_open` says whether the wave was still open when the reports were counted.
    """

    survey: Survey
    number: int
    is_open: bool

    @property
    @abstractmethod
    def version(self) -> str:
        """The version, or the beginnings of several versions, the last published first."""

    @property
    @abstractmethod
    def tallies(self) -> Mapping[str, Ints]:
        """For each question, the number of reports that count for each symbol."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, Ints]:
        """How many reports count for 0, 1, ... symbols, for questions where this differs."""

    @property
    @abstractmethod
    def simulated(self) -> int:
        """The number of simulated reports among those shown."""

    def columns(self, wanted: Sequence[str]) -> tuple[list[Column], list[str]]:
        """Return columns of the same respondents, and notes that their reader must know.

        Parameters
        ----------
        wanted : sequence of str
            Names of columns: a question's id or ``question.option``, or either as `variable` writes
            it.

        Raises
        ------
        ValueError
            If there is no such column, if a question's answers make no columns, or if the counts do
            not say which reports came. A database raises `Missing` if there is no such column, or
            if the reports were deleted.
        """
        names, questions = self._chosen(wanted)
        columns, notes = columns_of_reports(names, questions, self._read(questions.values()))
        return columns, [*notes, *filter(None, [self.simulated_sentence])]

    def _chosen(self, wanted: Sequence[str]) -> tuple[list[str], dict[str, Question]]:
        """Return the names of columns, and their questions; raise ValueError if unreadable."""
        return chosen_columns(self.survey.questions, wanted)

    @abstractmethod
    def _read(self, questions: Iterable[Question]) -> dict[str, Reports]:
        """Return all reports on some questions; raise ValueError if they are not known."""

    def estimates(
        self, level: float, method: str = "clopper-pearson", simultaneous: bool = False
    ) -> list[Estimate]:
        """Return the estimates, with intervals of this confidence level; see `estimates`."""
        return estimates(self.survey, self.tallies, level, method=method, simultaneous=simultaneous)

    def plausibility(self) -> list[Plausibility]:
        """Return checks of whether the reports look like the output of their channels."""
        return plausibility(self.survey, self.tallies, self.sizes)

    @property
    def n(self) -> int:
        """The number of reports, whatever their respondents were asked."""
        first = self.survey.questions[0]
        return first.randomizer.reports_in(self.tallies[first.id])

    @property
    def simulated_sentence(self) -> str:
        """A sentence on the number of simulated reports; empty if there are none."""
        return simulated_of(Fieldwork(self.n, simulated=self.simulated))

    def shifts(self, fakes: int | None = None) -> tuple[int, dict[tuple[str, str], float]]:
        """Return the most by which fakes among the reports could have moved each estimate.

        Returns
        -------
        tuple
            The number of fakes, which by default is 1 % of the reports, but at least one. Then the
            shifts by question and term, without those for which no honest report may be left.
        """
        fakes = max(1, self.n // 100) if fakes is None else fakes
        if fakes >= self.n:
            return fakes, {}
        moved = shifts(self.survey, self.tallies, fakes)
        return fakes, {key: shift for key, shift in moved.items() if isfinite(shift)}


class TalliedWave(CountedWave):
    """A wave of which only a tally is kept."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.survey, self.number, self.is_open = tally.survey, tally.number, tally.is_open

    @property
    def version(self) -> str:
        return self.survey.version

    @property
    def tallies(self) -> Mapping[str, Ints]:
        return self._tally.tallies

    @property
    def sizes(self) -> Mapping[str, Ints]:
        return self._tally.sizes or {}

    @property
    def simulated(self) -> int:
        return self._tally.simulated

    def _chosen(self, wanted: Sequence[str]) -> tuple[list[str], dict[str, Question]]:
        names, questions = super()._chosen(wanted)
        if len(questions) > 1:
            raise ValueError(
                f"{' and '.join(questions)}: expected one question, since counts of each do not "
                "say how answers go together"
            )
        if self.n > MOST:
            raise ValueError(f"expected at most {MOST:,} reports to lay out, got {self.n:,}")
        return names, questions

    def _read(self, questions: Iterable[Question]) -> dict[str, Reports]:
        read = {}
        for question in questions:
            reports = _reports_of(question.randomizer, self.tallies[question.id])
            if reports is None:
                raise ValueError(
                    f"{question.id}: expected a question whose reports count for one symbol each, "
                    "since a tally does not say which bits, or members of sets, came together; "
                    "use --db"
                )
            read[question.id] = reports
        return read


def _reports_of(randomizer: AnyRandomizer, counts: Ints) -> Reports | None:
    """Return the reports behind a tally, in its order; None if they do not follow from it."""
    cells = np.argwhere(counts)
    sent = [randomizer.channel.report_of(symbol) for symbol in cells[:, 1].tolist()]
    if any(report is None for report in sent):
        return None
    if randomizer.encoder.cohorts is not None:
        sent = [
            {"cohort": cohort, "report": report}
            for cohort, report in zip(cells[:, 0].tolist(), sent, strict=True)
        ]
    return randomizer.read_many(sent).of(np.repeat(np.arange(len(cells)), counts[tuple(cells.T)]))
