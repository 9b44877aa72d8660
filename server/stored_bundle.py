"""The study of a stored wave: for `deniable bundle`, the page of downloads, and `Study.open`."""

from dataclasses import replace
from itertools import chain

from analysis.core.errors import DataError
from analysis.study.bundle import BundledStudy, members, pack
from server.store import Store, StoreError
from server.store.places import place_of
from server.stored_results import POOLED, Missing, StoredWave


def bundle_of(
    stored: StoredWave,
    level: float,
    *,
    with_reports: bool = True,
    license: str = "",
    authors: tuple[str, ...] = (),
) -> bytes:
    """Return the zip of a wave, with its reports only if these may be exported.

    Raises
    ------
    Missing
        If several versions were asked for together, or the reports were deleted.
    Withheld
        If nothing, or no report, is shown yet.
    """
    study = _study(stored, level, with_reports)
    return pack(members(replace(study, license=license, authors=authors)))


#: The tables whose rows make a study. A role that may read these, and the table `deniable` of
#: PostgreSQL, can open it; it need not see charges, researchers or the log.
_READ = (
    "survey",
    "study",
    "wave",
    "correction",
    "cell",
    "tally",
    "report_size",
    "simulated",
    "invitation",
    "report",
)


def study_in(
    text: str, survey_id: str | None, wave: int | None, version: str | None, level: float
) -> BundledStudy:
    """Return a wave of a survey in a database, with all that is stored of it at one moment.

    `text` is the path of a file, or the address of a PostgreSQL database. Without `survey_id` it
    is the only survey there, without `wave` the highest, and without `version` the last that was
    published. Deleted reports are left out. No row is changed.

    Raises
    ------
    DataError
        If the database cannot be read, or there is no such survey, wave or version.
    """
    try:
        place = place_of(text)
        store = Store(place)
        try:
            with store.database.reading(_READ):
                ids = list(store.surveys.ids())
                if survey_id is None and len(ids) != 1:
                    known = f"one of {', '.join(ids)}" if ids else "a published survey"
                    raise Missing(f"survey: expected {known}, got none")
                chosen = ids[0] if survey_id is None else survey_id
                stored = StoredWave(store, chosen, wave, version)
                return _study(stored, level, stored.kept_until is None)
        finally:
            store.database.leave()
    except Missing as error:
        raise DataError(f"{place}: {error}") from None
    except StoreError as error:  # whose message names the place
        raise DataError(str(error)) from None


def _study(stored: StoredWave, level: float, with_reports: bool) -> BundledStudy:
    if stored.asked_version == POOLED:
        raise Missing("version: expected one, since a bundle is of one frozen survey, got pooled")
    reports = list(chain.from_iterable(stored.payloads())) if with_reports else None
    fieldwork, tallies = stored.fieldwork, stored.tallies
    return BundledStudy(stored.survey, stored.number, level, fieldwork, tallies, reports)
