"""Looking results up: from a store to the estimates and the ledger of one survey."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from analysis.document import ID
from analysis.estimate import Estimate, estimates
from analysis.ledger import LedgerRow, ledger
from analysis.plausibility import Plausibility, plausibility
from analysis.poisoning import shifts
from analysis.survey import Survey
from server.clock import today
from server.store import Store


class Missing(ValueError):
    """A survey, version or wave that is not there; the message says what there is."""


@dataclass(frozen=True)
class WaveEstimates:
    """Estimates of one wave of one version."""

    survey: Survey
    wave: int
    rows: list[Estimate]


@dataclass(frozen=True)
class WaveReports:
    """The reports of one wave of one version: a row for each respondent."""

    survey: Survey
    wave: int
    columns: tuple[str, ...]
    rows: Iterator[dict[str, Any]]


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
    return WaveEstimates(survey, wave, estimates(survey, store.tallies(survey, wave), level))


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
    versions = _versions(store, survey_id)
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
    store: Store, survey_id: str, wave: int | None, version: str | None, whole: bool = True
) -> list[Plausibility]:
    """Whether a wave's reports look as their channels draw them; parameters as of `find`.

    Each report is looked at if `whole`, which takes some seconds for a million; else their tallies.
    """
    survey, wave = _version_and_wave(store, survey_id, wave, version)
    reports = store.payloads(survey, wave) if whole else None
    return plausibility(survey, store.tallies(survey, wave), reports)


def find_shifts(
    store: Store, found: WaveEstimates, fakes: int | None = None
) -> tuple[int, dict[tuple[str, str], float]]:
    """How far fake reports could have moved each estimate, by question and term.

    Parameters
    ----------
    store : Store
        Where the estimates are from.
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
    moved = shifts(found.survey, store.tallies(found.survey, found.wave), fakes)
    return fakes, {key: shift for key, shift in moved.items() if isfinite(shift)}


def find_ledger(store: Store, survey_id: str) -> list[LedgerRow]:
    """What each respondent has spent on a survey; Missing if there is no such survey."""
    versions = {one: store.survey(survey_id, one) for one in _versions(store, survey_id)}
    found = {one: survey for one, survey in versions.items() if survey is not None}
    return ledger(store.spends(survey_id), found, next(iter(found.values())).cap)


def _versions(store: Store, survey_id: str) -> list[str]:
    versions = store.versions(survey_id) if ID.fullmatch(survey_id) else []
    if not versions:
        known = ", ".join(store.survey_ids()) or "none"
        raise Missing(f"survey: expected one of {known}, got {survey_id[:64]!a}")
    return versions
