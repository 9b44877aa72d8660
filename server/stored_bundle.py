"""The bundle of a stored wave: what `deniable bundle` and the page of downloads give away."""

from itertools import chain

from analysis.study.bundle import BundledStudy, members, pack
from server.store import Store
from server.stored_fieldwork import fieldwork_of
from server.stored_results import POOLED, Missing, StoredWave


def bundle_of(
    store: Store,
    stored: StoredWave,
    level: float,
    *,
    batch: bool,
    with_reports: bool = True,
    license: str = "",
    authors: tuple[str, ...] = (),
) -> bytes:
    """Return the zip of a wave: with its reports only where these may be exported.

    `batch` is what the wave was asked with.

    Raises
    ------
    Missing
        If several versions were asked for together, or the reports were deleted.
    Withheld
        If nothing, or no report, is shown yet.
    """
    if stored.asked_version == POOLED:
        raise Missing("version: expected one, since a bundle is of one frozen survey, got pooled")
    reports = list(chain.from_iterable(stored.payloads())) if with_reports else None
    fieldwork, tallies = fieldwork_of(store, stored, batch), stored.tallies
    study = BundledStudy(
        *(stored.survey, stored.number, level, fieldwork, tallies, reports, license, authors)
    )
    return pack(members(study))
