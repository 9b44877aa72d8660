"""Looking results up: from a store to the estimates and the ledger of one survey."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.document import ID
from analysis.estimate import Estimate, estimates
from analysis.ledger import LedgerRow, ledger
from analysis.plausibility import Plausibility, plausibility
from analysis.poisoning import shifts
from analysis.survey import Survey
from server.clock import today
from server.store import Open, Store


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
    """The reports of one wave of one version: a row for each respondent."""

    survey: Survey
    wave: int
    columns: tuple[str, ...]
    rows: Iterator[dict[str, Any]]


def asked_now(store: Store, survey_id: str) -> Open:
    """A survey as respondents meet it now; Missing if there is none, with those that there are."""
    current = store.current(survey_id) if ID.fullmatch(survey_id) else None
    if current is None:
        known = ", ".join(store.survey_ids()) or "none"
        raise Missing(f"survey: expected one of {known}, got {survey_id[:64]!a}")
    return current


def find(
    store: Store, survey_id: str, wave: int | None, version: str | None, level: float
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

    Raises
    ------
    Missing
        If there is no such survey, version or wave.
    """
    survey, wave = _version_and_wave(store, survey_id, wave, version)
    tallies = store.tallies(survey, wave)
    return WaveEstimates(survey, wave, estimates(survey, tallies, level), tallies)


def find_reports(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> WaveReports:
    """The randomized reports of a wave, each question's in a column; parameters as of `find`.

    Raises
    ------
    Missing
        If there is no such survey, version or wave, or its reports were deleted.
    """
    survey, wave = _version_and_wave(store, survey_id, wave, version)
    last = survey.delete_reports_after
    if last is not None and today() > last:
        raise Missing(f"reports: were kept until {last}, and deleted then; estimates stay")
    columns = tuple(question.id for question in survey.questions)
    return WaveReports(survey, wave, columns, store.payloads(survey, wave, in_order=True))


def _version_and_wave(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> tuple[Survey, int]:
    asked_now(store, survey_id)
    versions = store.versions(survey_id)
    matching = [one for one in versions if one.startswith(version or versions[0])]
    if len(matching) != 1:
        raise Missing(
            f"version: expected the beginning of one of {', '.join(one[:12] for one in versions)}, "
            f'got "{version}"'
        )
    waves = list(store.waves(survey_id)) or [1]
    wave = max(waves) if wave is None else wave
    if wave not in waves:
        raise Missing(f"wave: expected one of {', '.join(map(str, waves))}, got {wave}")
    survey = store.survey(survey_id, matching[0])
    assert survey is not None
    return survey, wave


def find_plausibility(
    store: Store, survey_id: str, wave: int | None, version: str | None
) -> list[Plausibility]:
    """Whether a wave's reports look as their channels draw them; parameters as of `find`.

    Each report is looked at, which takes some seconds for a million.
    """
    survey, wave = _version_and_wave(store, survey_id, wave, version)
    return plausibility(survey, store.tallies(survey, wave), store.payloads(survey, wave))


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


def find_ledger(store: Store, survey_id: str) -> list[LedgerRow]:
    """What each respondent has spent on a survey; Missing if there is no such survey."""
    current = asked_now(store, survey_id)
    versions = {one: store.survey(survey_id, one) for one in store.versions(survey_id)}
    found = {one: survey for one, survey in versions.items() if survey is not None}
    return ledger(store.spends(survey_id), found, current.survey.cap)
