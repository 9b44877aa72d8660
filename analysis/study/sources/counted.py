"""Waves of surveys: from all reports, from the counts of every question, or from counted rows."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from analysis.core.domain import Estimand
from analysis.core.randomizer import AnyRandomizer
from analysis.core.reports import Reports
from analysis.estimate import Ints
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_reports import chosen_columns, columns_of_reports
from analysis.estimate.columns.of_survey import column_names, rounding, variable
from analysis.estimate.constrained import constrained_shares
from analysis.estimate.estimates import Estimate, estimates, range_estimates, without_ranges
from analysis.estimate.plausibility import UNLIKE, Plausibility, plausibility
from analysis.estimate.poisoning import shifts
from analysis.estimate.totals import totals
from analysis.study.methods import Fieldwork, simulated_of
from analysis.study.ranking import Rank, ranks
from analysis.study.sources import (
    COUNTS,
    ESTIMATES,
    REPORTS,
    WAVE,
    Estimated,
    Modelled,
    Source,
    Together,
)
from analysis.study.sources.names import names_in, quoted, spelled
from analysis.study.tally import Tally
from analysis.study.tally.pairs import MOST, CountedRows
from analysis.study.verbs.estimate import Estimates
from analysis.survey.question import Question
from analysis.survey.survey import Survey


class Wave(Source):
    """A wave of a survey that was collected here.

    `survey` is the frozen version, or the last published of several. `number` is that of the wave.
    """

    survey: Survey
    number: int

    @property
    @abstractmethod
    def version(self) -> str:
        """The version, or the beginnings of several versions, the last published first."""

    @property
    @abstractmethod
    def simulated(self) -> int:
        """The number of simulated reports among those shown."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of reports, whatever their respondents were asked."""

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
    def _read(self, questions: Iterable[Question]) -> Mapping[str, Reports]:
        """Return all reports on some questions; raise ValueError if they are not known."""

    @property
    def simulated_sentence(self) -> str:
        """A sentence on the number of simulated reports; empty if there are none."""
        return simulated_of(Fieldwork(self.n, simulated=self.simulated))

    @property
    def simulated_notes(self) -> list[str]:
        return [f"{self.prefix}{note}" for note in [self.simulated_sentence] if note]

    @property
    def origin(self) -> dict[str, Any]:
        return {"survey": self.survey.id, "version": self.version, "wave": self.number}

    @property
    def simulated_cells(self) -> dict[str, int]:
        return {"simulated": self.simulated}

    @property
    def prefix(self) -> str:
        return f"wave {self.number}: "

    def _together(self, names: Sequence[str]) -> Together:
        columns, notes = self.columns(names)
        numbers = frozenset(filter(self.is_number, [column.name for column in columns]))
        return Together(columns, numbers=numbers, notes=notes)

    def is_number(self, name: str) -> bool:
        return any(
            question.domain.estimand is Estimand.MEAN
            for question in self.survey.questions
            if question.id == name
        )

    def columns_of_means(self, names: Sequence[str]) -> tuple[Sequence[Column], list[str]]:
        together = self.together(names)
        # That numbers were rounded at random does not bias means.
        rounded = set(map(rounding, self.survey.questions))
        notes = [f"{self.prefix}{note}" for note in together.notes if note not in rounded]
        return together.columns, notes

    def can_repeat(self, name: str) -> bool:
        asked = next(each for each in self.survey.questions if name in column_names(each))
        return self.survey.access == "panel" or asked.memo is not None

    def modelled(self, formula: str, more: Iterable[str], robust: bool) -> Modelled:
        own = [name for question in self.survey.questions for name in column_names(question)]
        formula = quoted(formula, [*own, *map(variable, own)])
        names = names_in(formula)
        columns, notes = self.columns(names)
        return Modelled(
            spelled(formula, names),
            {variable(column.name): column for column in columns},
            notes=notes,
        )


class PairedWave(Wave):
    """A wave of which the rows of reports on one or two questions were counted."""

    what, has = "counts of rows of reports", frozenset({WAVE, REPORTS})

    def __init__(self, counted: CountedRows) -> None:
        self._counted = counted
        self.survey, self.number = counted.survey, counted.number

    @property
    def version(self) -> str:
        return self.survey.version

    @property
    def simulated(self) -> int:
        return self._counted.simulated

    @property
    def n(self) -> int:
        return self._counted.n

    def _chosen(self, wanted: Sequence[str]) -> tuple[list[str], dict[str, Question]]:
        names, questions = super()._chosen(wanted)
        there = [question.id for question in self._counted.questions]
        for name in questions:
            if name not in there:
                raise ValueError(
                    f"{name}: expected a question whose reports were counted, {' and '.join(there)}"
                )
        return names, questions

    def _read(self, questions: Iterable[Question]) -> Mapping[str, Reports]:
        return self._counted.reports


class CountedWave(Wave):
    """Estimates of a wave from its counts, independent of where the counts are kept.

    `is_open` says whether the wave was still open when the reports were counted.
    """

    is_open: bool

    @property
    @abstractmethod
    def tallies(self) -> Mapping[str, Ints]:
        """For each question, the number of reports that count for each symbol."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, Ints]:
        """How many reports count for 0, 1, ... symbols, for questions where this differs."""

    def estimates(
        self,
        level: float,
        method: str = "clopper-pearson",
        simultaneous: bool = False,
        spread: bool = True,
    ) -> list[Estimate]:
        """Return the estimates, with intervals of this confidence level; see `estimates`."""
        return estimates(
            self.survey,
            self.tallies,
            level,
            method=method,
            simultaneous=simultaneous,
            spread=spread,
        )

    @property
    def fieldwork(self) -> Fieldwork:
        """How the reports came, as far as that is known."""
        return Fieldwork(self.n, simulated=self.simulated, is_open=self.is_open)

    @property
    def pooled(self) -> Sequence[Survey]:
        """The last version, and earlier ones that differ from it in words alone, if known."""
        return ()

    def calibrated(
        self, shares: Mapping[str, Mapping[str, float]], level: float
    ) -> tuple[list[dict[str, Any]], list[str]]:
        from analysis.study.calibrated import calibrated_rows  # which few need, and reads waves

        return calibrated_rows(self, shares, level)

    def plausibility(self) -> list[Plausibility]:
        return plausibility(self.survey, self.tallies, self.sizes)

    @property
    def n(self) -> int:
        first = self.survey.questions[0]
        return first.randomizer.reports_in(self.tallies[first.id])

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

    def estimated(self, wanted: Estimates, level: float) -> Iterator[Estimated]:
        rows = self.estimates(level, wanted.interval or "clopper-pearson", wanted.simultaneous)
        questions, ranges, no_ranges = self.survey.questions, list[Estimate](), list[str]()
        if wanted.bins is not None:
            rng = Generator(PCG64(0))  # a fixed seed: each run prints the same
            for question in questions:
                tally = self.tallies[question.id]
                ranges += range_estimates(question, tally, wanted.bins, rng, level)
            no_ranges = without_ranges(questions)
        fakes, moved = self.shifts(wanted.fakes)
        yield Estimated(
            rows,
            ranges,
            no_ranges,
            constrained_shares(self.survey, self.tallies, rows, wanted.constrained)
            if wanted.constrained is not None
            else (),
            totals(self.survey, self.tallies, rows, wanted.population)
            if wanted.wants_totals
            else {},
            moved,
            [*self.simulated_notes, *self._doubts(rows, fakes, moved)],
        )

    def _doubts(
        self, rows: Sequence[Estimate], fakes: int, moved: Mapping[tuple[str, str], float]
    ) -> Iterator[str]:
        """Yield how far fakes could have moved estimates, and whether reports look like fakes."""
        if moved:
            worst: dict[str, float] = {}
            for row in rows:
                shift = moved.get((row.question, row.term), 0.0)
                if row.std_error and shift / row.std_error > worst.get(row.question, 0.0):
                    worst[row.question] = shift / row.std_error
            most = ", ".join(f"{name} {errors:.2g}" for name, errors in worst.items())
            yield (
                f"{self.prefix}if {fakes} of the {self.n} reports were fakes, estimates could be "
                f"off by this many standard errors: {most}"
            )
        for check in self.plausibility():
            if check.looks == UNLIKE:
                yield (
                    f"{self.prefix}reports of {check.question} do not look as its channel draws "
                    f"them ({check.check}, p = {check.p_value:.1g}): some are fakes, or come from "
                    "another program"
                )

    def ranks(self, names: Sequence[str], level: float) -> tuple[list[Rank], list[str]]:
        known = [question.id for question in self.survey.questions]
        for name in names:
            if name not in known:
                raise ValueError(f"question: expected one of {', '.join(known)}, got {name[:64]!a}")
        every = ranks(self.survey, self.tallies, level)
        return [row for row in every if not names or row.question in names], self.simulated_notes


class TalliedWave(CountedWave):
    """A wave of which only a tally is kept."""

    has = frozenset({WAVE, ESTIMATES, COUNTS})

    def __init__(self, tally: Tally, what: str = "a tally") -> None:
        self._tally, self.what = tally, what
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
