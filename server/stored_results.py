"""Results of stored surveys: the estimates, reports and ledgers that researchers ask for."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.csv_json import REPORT
from analysis.core.randomizer import Reports
from analysis.estimate.columns import Column
from analysis.estimate.columns.of_survey import (
    column_names,
    debiasing,
    one_draw,
    read_columns,
    rounding,
    variable,
)
from analysis.estimate.estimates import Estimate, estimates
from analysis.estimate.plausibility import Plausibility, plausibility
from analysis.estimate.poisoning import shifts
from analysis.privacy.ledger import DELTA, LEDGERS, PERSONAL, Totals
from analysis.survey.document import ID
from server.clock import today
from server.store import Store
from server.store.surveys import Open


class Missing(ValueError):
    """A survey, version or wave that is not there; the message says what there is."""


def asked_now(store: Store, survey_id: str) -> Open:
    """Return a survey as respondents meet it now; raise Missing if there is none."""
    current = store.surveys.current(survey_id) if ID.fullmatch(survey_id) else None
    if current is None:
        known = ", ".join(store.surveys.ids()) or "none"
        raise Missing(f"survey: expected one of {known}, got {survey_id[:64]!a}")
    return current


class StoredWave:
    """One wave of one version of a stored survey, and what its reports tell.

    Parameters
    ----------
    number : int, optional
        The wave; by default the highest.
    version : str, optional
        The first digits of the version's hash; by default of the last published.

    Raises
    ------
    Missing
        If there is no such survey, version or wave.
    """

    def __init__(
        self, store: Store, survey_id: str, number: int | None = None, version: str | None = None
    ) -> None:
        asked_now(store, survey_id)
        versions = store.surveys.versions(survey_id)
        matching = [known for known in versions if known.startswith(version or versions[0])]
        if len(matching) != 1:
            known = ", ".join(known[:12] for known in versions)
            raise Missing(f'version: expected the beginning of one of {known}, got "{version}"')
        waves = list(store.surveys.waves(survey_id)) or [1]
        self.number = max(waves) if number is None else number
        if self.number not in waves:
            raise Missing(f"wave: expected one of {', '.join(map(str, waves))}, got {number}")
        self.survey = store.surveys.stored(survey_id, matching[0])
        self._reports = store.reports

    @cached_property
    def tallies(self) -> dict[str, NDArray[np.int64]]:
        """For each question, how many reports count for each symbol."""
        return self._reports.tallies(self.survey, self.number)

    def estimates(
        self, level: float, method: str = "clopper-pearson", simultaneous: bool = False
    ) -> list[Estimate]:
        """Return the estimates with intervals of this confidence level; as `estimates` does."""
        return estimates(self.survey, self.tallies, level, method=method, simultaneous=simultaneous)

    def plausibility(self) -> list[Plausibility]:
        """Return whether the reports look as their channels draw them."""
        return plausibility(
            self.survey, self.tallies, self._reports.sizes(self.survey, self.number)
        )

    def shifts(self, n: int, fakes: int | None = None) -> tuple[int, dict[tuple[str, str], float]]:
        """Return how far fakes among `n` reports could have moved each estimate.

        Returns
        -------
        tuple
            The number of fakes, by default 1 % of the reports but at least one. Then the shifts, by
            question and term; none where the honest reports could tell nothing.
        """
        fakes = max(1, n // 100) if fakes is None else fakes
        if fakes >= n:
            return fakes, {}
        moved = shifts(self.survey, self.tallies, fakes)
        return fakes, {key: shift for key, shift in moved.items() if isfinite(shift)}

    def reports(
        self,
    ) -> tuple[tuple[str, ...], Iterator[list[Sequence[Any] | NDArray[Any]]]]:
        """Return the names of columns, and the columns of a few thousand reports at a time.

        The columns are the randomized reports, and what each is worth debiased.

        Raises
        ------
        Missing
            If the reports were deleted.
        """
        self._check_kept()
        worth = {question.id: debiasing(question) for question in self.survey.questions}
        names = [f"{REPORT}{variable(question)}" for question in worth]
        names += [f"debiased_{name}" for debiased, _ in worth.values() for name in debiased]

        def parts() -> Iterator[list[Sequence[Any] | NDArray[Any]]]:
            for payloads in self._reports.payloads(self.survey, self.number, in_order=True):
                noisy: list[Sequence[Any] | NDArray[Any]] = []
                debiased: list[NDArray[np.float64]] = []
                for question in self.survey.questions:
                    sent = [payload[question.id] for payload in payloads]
                    noisy.append(sent)
                    _, weigh = worth[question.id]
                    debiased += list(weigh(question.randomizer.read_many(sent)).T)
                yield [*noisy, *debiased]

        return tuple(names), parts()

    def columns(self, wanted: Sequence[str]) -> tuple[list[Column], list[str]]:
        """Return columns of the same respondents, and notes that whoever reads them must know.

        Parameters
        ----------
        wanted : sequence of str
            Names of columns, a question's id or ``question.option``, also as `variable` writes it.

        Raises
        ------
        Missing
            If there is no such column, or the reports were deleted.
        ValueError
            If a question's answers are no columns.
        """
        self._check_kept()
        known = {name: each for each in self.survey.questions for name in column_names(each)}
        spelled = {variable(name): name for name in known} | {name: name for name in known}
        for name in wanted:
            if name not in spelled:
                options = any(column.startswith(f"{name}.") for column in known)
                more = " (of several options name one)" * options
                raise Missing(
                    f"question: expected one of {', '.join(known)}, got {name[:64]!a}{more}"
                )
        names = list(dict.fromkeys(spelled[name] for name in wanted))
        questions = {known[name].id: known[name] for name in names}
        for question in questions.values():
            together = [name for name in names if known[name] is question]
            if len(together) > 1 and one_draw(question):
                raise ValueError(
                    f"{' and '.join(together)}: expected columns that were randomized apart, but "
                    "one draw told of these options; options can be crossed if their question is "
                    'required and has mechanism = "multihot", which takes more respondents'
                )
        read: dict[str, list[Reports]] = {question_id: [] for question_id in questions}
        for payloads in self._reports.payloads(self.survey, self.number):
            for question_id, question in questions.items():
                sent = [payload[question_id] for payload in payloads]
                read[question_id].append(question.randomizer.read_many(sent))
        columns = {
            column.name: column
            for question_id, question in questions.items()
            for column in read_columns(question, question.randomizer.joined(read[question_id]))
        }
        notes = filter(None, map(rounding, questions.values()))
        return [columns[name] for name in names], list(notes)

    def _check_kept(self) -> None:
        """Raise Missing if the reports, all but their tallies, were to be deleted by now."""
        last = self.survey.delete_reports_after
        if last is not None and today() > last:
            raise Missing(f"reports: were kept until {last}, and deleted then; estimates stay")


def ledger_of_survey(
    store: Store, survey_id: str, by: str = "respondent", delta: float = DELTA
) -> Iterator[Any]:
    """Return what respondents have spent on a survey: the rows of one of `LEDGERS`, at `delta`.

    Raises
    ------
    Missing
        If there is no such survey.
    ValueError
        If `delta` is not between 0 and 1.
    """
    current = asked_now(store, survey_id)
    totals = Totals(store.surveys.by_terms(survey_id), current.survey.cap, delta)
    _, rows = LEDGERS[by]
    accounts = store.ledger.accounts if by in PERSONAL else store.ledger.grouped_accounts
    return rows(accounts(survey_id), totals)
