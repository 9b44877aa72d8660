"""Results of stored surveys: the estimates and reports that researchers ask for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.reports import Reports
from analysis.study.methods import Fieldwork
from analysis.study.report_columns import report_cells, report_columns
from analysis.study.sources import COUNTS, ESTIMATES, REPORTS, WAVE
from analysis.study.sources.counted import CountedWave
from analysis.survey.batches import Cell
from analysis.survey.document import ID
from analysis.survey.pooling import poolable, relabelled
from analysis.survey.question import Question
from analysis.survey.survey import Survey
from server.clock import today
from server.store import Store, StoreBusy
from server.store.surveys import Open

#: Stands for a version, and asks for all versions that can be pooled with the last.
POOLED = "pooled"


class Missing(ValueError):
    """A survey, version or wave that is not there; the message says what there is."""


class Withheld(ValueError):
    """Results that are not shown yet, or not at all; the message says when they will be."""


def asked_now(store: Store, survey_id: str) -> Open:
    """Return a survey as respondents meet it now; raise Missing if there is none."""
    current = store.surveys.current(survey_id) if ID.fullmatch(survey_id) else None
    if current is None:
        ids = store.surveys.ids()
        known = f"one of {', '.join(ids)}" if ids else "a published survey, and there is none"
        raise Missing(f"survey: expected {known}, got {survey_id[:64]!a}")
    return current


class StoredWave(CountedWave):
    """One wave of one version of a stored survey, and the results of its reports.

    Parameters
    ----------
    number : int, optional
        The wave; by default the highest.
    version : str, optional
        The first digits of the version's hash; by default of the last published. `POOLED` is the
        last published together with all others that differ from it in words alone.
    batch : bool
        Whether to return only what pages show: whole batches, from a minimum of reports on.

    Raises
    ------
    Missing
        If there is no such survey, version or wave.
    """

    what, has = "a stored wave", frozenset({WAVE, ESTIMATES, COUNTS, REPORTS})

    def __init__(
        self,
        store: Store,
        survey_id: str,
        number: int | None = None,
        version: str | None = None,
        batch: bool = False,
    ) -> None:
        current = asked_now(store, survey_id)
        waves = list(store.surveys.waves(survey_id)) or [1]
        self.number = max(waves) if number is None else number
        if self.number not in waves:
            raise Missing(f"wave: expected one of {', '.join(map(str, waves))}, got {number}")
        surveys = _versions(store, survey_id, version)
        #: What to ask for to get the same version, or versions.
        self.asked_version = POOLED if version == POOLED else surveys[0].version[:12]
        self.survey = surveys[0]
        self._store, self._reports, self._surveys = store, store.reports, store.surveys
        self._in_batches = batch
        # The answers of a pilot are made up, so no batch has to hide who answered.
        self._batch = batch = batch and not self.survey.is_pilot
        cells = store.surveys.cells(survey_id)
        parts = [
            _Part(one, cells.get((survey_id, one.version, self.number), Cell())) for one in surveys
        ]
        shown = [part for part in parts if part.is_shown or not batch]
        #: The versions whose reports are shown, or the one that was asked for if none is.
        self.parts = shown or parts[:1]
        #: Versions that belong to them, but have too few reports to be shown.
        left_out = [part for part in parts if part not in self.parts]
        # A version that is not shown must not even reveal whether anybody answered it.
        self.left_out = [part.survey.version for part in left_out if batch or part.cell.n]
        #: Whether reports still come to one of these versions in this wave.
        self.is_open = (
            current.state_on(today()) == "open"
            and self.number in store.surveys.open_waves(survey_id)
            and not all(part.survey.is_over(today()) for part in parts)
        )

    @property
    def version(self) -> str:
        """The version; for several, the beginnings of their hashes, the last published first."""
        if len(self.parts) == 1:
            return self.survey.version
        return "+".join(part.survey.version[:12] for part in self.parts)

    @property
    def not_among(self) -> Sequence[str]:
        among = {part.survey.version for part in self.parts}
        return [
            f"{n} reports under --version {other[:12]} are not among these"
            for other, n in self._reports.per_version(self.survey.id).items()
            if other not in among
        ]

    @property
    def shown(self) -> int:
        """The number of reports shown: 0 below the survey's minimum."""
        return sum(
            part.cell.shown if self._batch else part.cell.n
            for part in self.parts
            if part.is_shown or not self._batch
        )

    def _taken(self, part: "_Part") -> int | None:
        """Return how many reports the shown snapshot of a part has; None if all are shown."""
        if not self._batch:
            return None
        if not part.is_shown:
            raise Withheld(self.waits_for)
        return part.cell.shown

    def _summed(
        self, read: Callable[[Survey, int, int | None], dict[str, NDArray[np.int64]]]
    ) -> dict[str, NDArray[np.int64]]:
        """Return the counts of all parts together."""
        counts = [read(part.survey, self.number, self._taken(part)) for part in self.parts]
        self._check_unchanged()
        return {name: np.sum([one[name] for one in counts], axis=0) for name in counts[0]}

    @property
    def waits_for(self) -> str:
        """A sentence on what must happen before results are shown."""
        steps = self.survey.steps
        if self.is_open:
            told = f"As the survey promised, results of this wave are shown {steps.told}"
            behind = ". The results shown are always a batch behind." if steps.open else "."
            return f"{told}, so that nobody can see what one report changes{behind}"
        return (
            f"Results of this wave stay withheld: fewer than {steps.minimum:,} reports came, which "
            "the survey promised not to show."
        )

    @cached_property
    def tallies(self) -> dict[str, NDArray[np.int64]]:
        """For each question, the number of reports that count for each symbol."""
        return self._summed(self._reports.tallies)

    @cached_property
    def sizes(self) -> dict[str, NDArray[np.int64]]:
        """The number of reports that count for 0, 1, ... symbols, if that differs."""
        return self._summed(self._reports.sizes)

    @property
    def fieldwork(self) -> Fieldwork:
        """How the reports came; raise Withheld if none is shown yet."""
        invited, _ = self._store.invitations.counts(self.survey.id).get(self.number, (0, 0))
        return Fieldwork(
            self.n,
            invited if self.survey.access != "open" else None,
            self.simulated,
            is_open=self.is_open,
            in_batches=self._in_batches,
            left_out=len(self.left_out) if self._in_batches else 0,
        )

    @property
    def pooled(self) -> list[Survey]:
        return pooled(self._store, self.survey.id)

    @property
    def simulated(self) -> int:
        """The number of reports shown that were simulated."""
        read = self._reports.simulated
        counts = [read(part.survey, self.number, self._taken(part)) for part in self.parts]
        self._check_unchanged()
        return sum(counts)

    def reports(
        self,
    ) -> tuple[tuple[str, ...], Iterator[list[Sequence[Any] | NDArray[Any]]]]:
        """Return the names of columns, and the columns of a few thousand reports at a time.

        The columns are the randomized reports, and the debiased weights of each.

        Raises
        ------
        Missing
            If the reports were deleted.
        """
        columns = report_columns(self.survey)
        parts = (report_cells(columns, payloads) for payloads in self.payloads())
        return tuple(column.name for column in columns), parts

    def payloads(self) -> Iterator[list[dict[str, Any]]]:
        """Return the randomized reports, a few thousand at a time, sorted by what they say.

        Raises
        ------
        Missing
            If the reports were deleted.
        """
        self._check_kept()
        return self._payloads(in_order=True)

    def _chosen(self, wanted: Sequence[str]) -> tuple[list[str], dict[str, Question]]:
        self._check_kept()
        try:
            return super()._chosen(wanted)
        except ValueError as error:
            raise Missing(str(error)) from None

    def _read(self, questions: Iterable[Question]) -> dict[str, Reports]:
        """Return all reports on some questions, packed."""
        asked = {question.id: question.randomizer for question in questions}
        read: dict[str, list[Reports]] = {name: [] for name in asked}
        for payloads in self._payloads():
            for name, randomizer in asked.items():
                read[name].append(randomizer.read_many([payload[name] for payload in payloads]))
        return {name: randomizer.joined(read[name]) for name, randomizer in asked.items()}

    def _payloads(self, in_order: bool = False) -> Iterator[list[dict[str, Any]]]:
        for part in self.parts:
            yield from self._reports.payloads(part.survey, self.number, in_order)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Raise StoreBusy if what is shown has changed since this object began to read it."""
        cells = self._surveys.cells(self.survey.id) if self._batch else {}
        for part in self.parts:
            now = cells.get((self.survey.id, part.survey.version, self.number), part.cell)
            if now[1:] != part.cell[1:]:
                raise StoreBusy("what is shown has just changed")

    def check_settled(self) -> None:
        """Raise Withheld if reports, and tables and models of several questions, must wait."""
        if not self._batch:
            return
        if not all(part.is_shown for part in self.parts) or self.is_open:
            raise Withheld(
                "Reports, and tables and models of several questions, wait for the wave to be "
                "closed: a report carries no number of a batch."
                if self.shown
                else self.waits_for
            )
        if not all(part.cell.settled for part in self.parts):
            raise Withheld(
                "Reports, and tables and models of several questions, stay withheld: the wave was "
                f"opened again, and fewer than {self.survey.steps.batch:,} reports came since, or "
                "none, so the new ones could be distinguished. Commands on the server show them."
            )

    def _check_kept(self) -> None:
        """Raise an error if the reports are not shown, or were deleted except for their tallies."""
        if self.kept_until is not None:
            told = f"they were kept until {self.kept_until}, and deleted then; estimates stay"
            raise Missing(f"reports: {told}")
        self.check_settled()

    @property
    def kept_until(self) -> date | None:
        """The day after which reports were deleted; None if they are still there."""
        days = [part.survey.delete_reports_after for part in self.parts]
        return next((day for day in days if day is not None and today() > day), None)


@dataclass(frozen=True)
class _Part:
    """The reports of one version in a wave."""

    survey: Survey
    cell: Cell

    @property
    def is_shown(self) -> bool:
        """Return whether there are enough reports to be shown."""
        return self.cell.shown >= self.survey.steps.minimum


def _versions(store: Store, survey_id: str, version: str | None) -> list[Survey]:
    """Return the version that was asked for, and those that are pooled with it."""
    every = store.surveys.every(survey_id)
    if version == POOLED:
        return pooled(store, survey_id)
    matching = [one for one in every if one.version.startswith(version or every[0].version)]
    if len(matching) != 1:
        known = ", ".join(one.version[:12] for one in every)
        raise Missing(
            f'version: expected {POOLED}, or the beginning of one of {known}, got "{version}"'
        )
    return matching


def pooled(store: Store, survey_id: str) -> list[Survey]:
    """Return the last version of a survey, and all that differ from it in words alone.

    Those whose labels of answers differ are not among them, unless these were declared to mean the
    same.
    """
    last, *others = store.surveys.every(survey_id)
    declared = store.studies.declared_same(survey_id)
    return [last] + [
        other for other in others if poolable(last, other) and not relabelled(last, other, declared)
    ]
