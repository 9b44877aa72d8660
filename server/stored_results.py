"""Looking results up: from a store to the estimates and the ledger of one survey."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.core.randomizer import Reports
from analysis.core.table import REPORT
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
from analysis.survey.survey import Survey
from server.clock import today
from server.store import Store
from server.store.surveys import Open


class Missing(ValueError):
    """A survey, version or wave that is not there; the message says what there is."""


@dataclass(frozen=True)
class WaveEstimates:
    """Estimates of one wave of one version, and the tallies that they are made from."""

    survey: Survey
    wave: int
    rows: list[Estimate]
    tallies: dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class WaveReports:
    """The reports of one wave of one version: a few thousand rows at once, column by column."""

    survey: Survey
    wave: int
    columns: tuple[str, ...]
    parts: Iterator[list[Sequence[Any] | NDArray[Any]]]


@dataclass(frozen=True)
class WaveColumns:
    """Columns of one wave's reports of one version, of the same respondents."""

    survey: Survey
    wave: int
    columns: list[Column]
    #: What must be known to read what they tell together.
    notes: tuple[str, ...]


def asked_now(store: Store, survey_id: str) -> Open:
    """A survey as respondents meet it now; Missing if there is none, with those that there are."""
    current = store.surveys.current(survey_id) if ID.fullmatch(survey_id) else None
    if current is None:
        known = ", ".join(store.surveys.ids()) or "none"
        raise Missing(f"survey: expected one of {known}, got {survey_id[:64]!a}")
    return current


def find(
    store: Store,
    survey_id: str,
    wave: int | None,
    version: str | None,
    level: float,
    *,
    method: str = "clopper-pearson",
    simultaneous: bool = False,
) -> WaveEstimates:
    """Estimates of a survey, by default of its highest wave and last published version.

    Parameters
    ----------
    store : Store
        Where from.
    survey_id : str
        Of which survey.
    wave : int, optional
        Of which wave.
    version : str, optional
        The first digits of which version's hash.
    level : float
        Confidence level of every interval.
    method, simultaneous
        As of `estimates`.

    Raises
    ------
    Missing
        If there is no such survey, version or wave.
    """
    survey, wave = version_and_wave(store, survey_id, wave, version)
    tallies = store.reports.tallies(survey, wave)
    rows = estimates(survey, tallies, level, method=method, simultaneous=simultaneous)
    return WaveEstimates(survey, wave, rows, tallies)


def find_reports(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> WaveReports:
    """The randomized reports of a wave, and what each is worth debiased; parameters as of `find`.

    Raises
    ------
    Missing
        If there is no such survey, version or wave, or its reports were deleted.
    """
    survey, wave = version_and_wave(store, survey_id, wave, version)
    _check_kept(survey)
    worth = {question.id: debiasing(question) for question in survey.questions}
    columns = [f"{REPORT}{variable(one)}" for one in worth]
    columns += [f"debiased_{name}" for names, _ in worth.values() for name in names]

    def parts() -> Iterator[list[Sequence[Any] | NDArray[Any]]]:
        for payloads in store.reports.payloads(survey, wave, in_order=True):
            noisy: list[Sequence[Any] | NDArray[Any]] = []
            debiased: list[NDArray[np.float64]] = []
            for question in survey.questions:
                sent = [payload[question.id] for payload in payloads]
                noisy.append(sent)
                _, weigh = worth[question.id]
                debiased += list(weigh(question.randomizer.read_many(sent)).T)
            yield [*noisy, *debiased]

    return WaveReports(survey, wave, tuple(columns), parts())


def find_columns(
    store: Store,
    survey_id: str,
    wanted: Sequence[str],
    wave: int | None,
    version: str | None,
) -> WaveColumns:
    """Columns of a wave's reports by their names; parameters as of `find`.

    Parameters
    ----------
    wanted : sequence of str
        Names of columns, a question's id or ``question.option``, also as `variable` writes them.

    Raises
    ------
    Missing
        If there is no such survey, version, wave or column, or its reports were deleted.
    ValueError
        If a question's answers are no columns.
    """
    survey, wave = version_and_wave(store, survey_id, wave, version)
    _check_kept(survey)
    known = {name: question for question in survey.questions for name in column_names(question)}
    spelled = {variable(name): name for name in known} | {name: name for name in known}
    for one in wanted:
        if one not in spelled:
            options = any(name.startswith(f"{one}.") for name in known)
            more = " (of several options name one)" * options
            raise Missing(f"question: expected one of {', '.join(known)}, got {one[:64]!a}{more}")
    names = list(dict.fromkeys(spelled[one] for one in wanted))
    questions = {known[name].id: known[name] for name in names}
    for question in questions.values():
        own = [name for name in names if known[name] is question]
        if len(own) > 1 and one_draw(question):
            raise ValueError(
                f"{' and '.join(own)}: expected columns that were randomized apart, but of several "
                "options a report tells one, or all together; take one of them"
            )
    read: dict[str, list[Reports]] = {name: [] for name in questions}
    for payloads in store.reports.payloads(survey, wave):
        for name, question in questions.items():
            sent = [payload[name] for payload in payloads]
            read[name].append(question.randomizer.read_many(sent))
    found = {
        column.name: column
        for name, question in questions.items()
        for column in read_columns(question, question.randomizer.joined(read[name]))
    }
    notes = filter(None, map(rounding, questions.values()))
    return WaveColumns(survey, wave, [found[name] for name in names], tuple(notes))


def _check_kept(survey: Survey) -> None:
    """Missing if the reports of a survey, all but their tallies, were to be deleted by now."""
    last = survey.delete_reports_after
    if last is not None and today() > last:
        raise Missing(f"reports: were kept until {last}, and deleted then; estimates stay")


def version_and_wave(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> tuple[Survey, int]:
    """Which survey and wave is meant; parameters and errors as of `find`."""
    asked_now(store, survey_id)
    versions = store.surveys.versions(survey_id)
    matching = [one for one in versions if one.startswith(version or versions[0])]
    if len(matching) != 1:
        raise Missing(
            f"version: expected the beginning of one of {', '.join(one[:12] for one in versions)}, "
            f'got "{version}"'
        )
    waves = list(store.surveys.waves(survey_id)) or [1]
    wave = max(waves) if wave is None else wave
    if wave not in waves:
        raise Missing(f"wave: expected one of {', '.join(map(str, waves))}, got {wave}")
    survey = store.surveys.get(survey_id, matching[0])
    assert survey is not None
    return survey, wave


def find_plausibility(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> list[Plausibility]:
    """Whether a wave's reports look as their channels draw them; parameters as of `find`."""
    survey, wave = version_and_wave(store, survey_id, wave, version)
    return plausibility(
        survey, store.reports.tallies(survey, wave), store.reports.sizes(survey, wave)
    )


def find_shifts(
    found: WaveEstimates, fakes: int | None = None
) -> tuple[int, dict[tuple[str, str], float]]:
    """How far fake reports could have moved each estimate, by question and term.

    Parameters
    ----------
    found : WaveEstimates
        What `find` gave.
    fakes : int, optional
        How many; 1 % of the reports, at least one, if left out.

    Returns
    -------
    tuple
        The number of fakes, and the shifts; none where the honest reports could tell nothing.
    """
    n = found.rows[0].n
    fakes = max(1, n // 100) if fakes is None else fakes
    if fakes >= n:
        return fakes, {}
    moved = shifts(found.survey, found.tallies, fakes)
    return fakes, {key: shift for key, shift in moved.items() if isfinite(shift)}


def find_ledger(
    store: Store, survey_id: str, by: str = "respondent", delta: float = DELTA
) -> Iterator[Any]:
    """What respondents have spent on a survey: the rows of one of `LEDGERS`, at `delta`.

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
    own = (
        store.ledger.accounts(survey_id)
        if by in PERSONAL
        else store.ledger.grouped_accounts(survey_id)
    )
    return rows(own, totals)
