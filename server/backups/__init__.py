"""A series of backups in a folder: when one may be made, what they are called, which are kept."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from server.store.backups import Held

if TYPE_CHECKING:
    from server.intake.decision import Key
    from server.store import Store


class Count(NamedTuple):
    """The reports of a version and wave, whether a backup waits for more, and how many a batch has.

    Reports to closed waves, and to versions that were replaced, may never become a batch.
    """

    reports: int
    fills: bool
    batch: int


@dataclass(frozen=True)
class Plan:
    """The decision whether a backup may be made now.

    Attributes
    ----------
    waiting : list of str
        The surveys that have new reports, but fewer than a batch; if any has, no backup is made.
    held : dict
        What the backup has of each version and wave.
    replaces : str, optional
        The backups from this one on must be deleted once there is a new one.
    """

    waiting: list[str]
    held: dict["Key", Held]
    replaces: str | None


def plan(before: Mapping["Key", Held], now: Mapping["Key", Count], at: str) -> Plan:
    """Decide whether a backup may be made that differs from those before by whole batches.

    Whoever has two backups sees which reports, and which pseudonyms, only the second one has. So in
    each version and wave, and in each survey, it must have as many reports as the one before, or a
    batch more. If no batch will come any more, the new backup replaces all backups from which it
    would differ too little. These are the backups since the last change, since each change before
    was of a batch, too. Two backups reveal nothing about the first reports that one alone does not.

    Parameters
    ----------
    before : mapping
        What the last backup had.
    now : mapping
        What there is now, without surveys whose answers are made up.
    at : str
        When the new backup is made.
    """
    waiting, replaced, held = set(), [], dict["Key", Held]()
    for key, count in now.items():
        last = before.get(key, Held(0, at))
        more = count.reports - last.reports
        held[key] = Held(count.reports, at) if more else last
        if 0 < more < count.batch and count.fills:
            waiting.add(key[0])
        elif more and more < count.batch and last.reports:
            replaced.append(last.since)
    return Plan(sorted(waiting), held, min(replaced, default=None))


def counted(store: "Store", genuine: Mapping["Key", int], today: date) -> dict["Key", Count]:
    """Return the counts that `plan` takes, of the surveys that real respondents answer.

    They are those of each version and wave, and of each survey, since its ledger knows neither.

    `genuine` is what `server.store.backups.genuine` returns for the database, or for a copy of it.
    """
    from server.intake.decision import WHOLE  # which imports numpy: see server.store.Store

    counts = dict["Key", Count]()
    for survey_id in store.surveys.ids():
        current, *_ = store.surveys.every(survey_id)
        if current.is_pilot or store.studies.get(survey_id).is_trial:
            continue  # the answers are made up
        # Counts over all versions move by the largest batch.
        batch = store.surveys.steps(survey_id).batch
        opened = () if current.is_over(today) else store.surveys.open_waves(survey_id)
        total = 0
        for key, reports in genuine.items():
            if key[0] == survey_id:
                total += reports
                fills = key[1] == current.version and key[2] in opened
                counts[key] = Count(reports, fills, batch)
        counts[survey_id, *WHOLE] = Count(total, False, batch)
    return counts


class Backup(NamedTuple):
    """A file of a series: of which database, when it was made, the last day on which to keep it."""

    path: Path
    stem: str
    at: str
    last_day: date | None


_NAME = re.compile(
    r"(?P<stem>.+)_(?P<at>\d{4}-\d\d-\d\dT\d{6}Z)(_delete-after-(?P<day>\d{4}-\d\d-\d\d))?\.db\.age"
)


def name_of(stem: str, at: str, last_day: date | None) -> str:
    """Return the name of a backup that was made `at`, such as ``2026-11-25T023000Z``."""
    return f"{stem}_{at}{f'_delete-after-{last_day}' if last_day else ''}.db.age"


def series(folder: Path, stem: str | None = None) -> list[Backup]:
    """Return the backups in a folder, by their names: of one database, or of all.

    Files with other names are not of a series.
    """
    found = []
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match is None or (stem is not None and match["stem"] != stem):
            continue
        try:
            day = date.fromisoformat(match["day"]) if match["day"] else None
            datetime.strptime(match["at"], "%Y-%m-%dT%H%M%SZ")
        except ValueError:
            continue
        found.append(Backup(path, match["stem"], match["at"], day))
    return found


def abandoned(folder: Path, stem: str, now: float) -> list[Path]:
    """Return files of unfinished backups of one database that were left more than a day ago."""
    return [
        path
        for path in folder.glob(f".{stem}_*.part")
        if now - path.stat().st_mtime > 24 * 3600 and _NAME.match(path.name[1:])
    ]


#: The key that the backups of a day, a week or a month share.
_PERIODS: Mapping[str, Callable[[date], object]] = {
    "daily": lambda day: day,
    "weekly": lambda day: day.isocalendar()[:2],
    "monthly": lambda day: (day.year, day.month),
}


def superfluous(
    backups: Iterable[Backup], today: date, counts: Mapping[str, int]
) -> dict[Path, str]:
    """Return which backups are to be deleted, and why.

    Each series keeps the last backup of a day, week or month, for as many days, weeks and months
    with a backup as `counts` says, and always its last backup. None is kept beyond its last day.
    """
    deleted: dict[Path, str] = {}
    kept: dict[str, list[Backup]] = {}
    for backup in sorted(backups, key=lambda one: one.at, reverse=True):
        if backup.last_day is not None and today > backup.last_day:
            deleted[backup.path] = f"it has reports that had to be deleted after {backup.last_day}"
        else:
            kept.setdefault(backup.stem, []).append(backup)
    for of_stem in kept.values():
        wanted = {of_stem[0].path}
        for name, period in _PERIODS.items():
            last_of: dict[object, Path] = {}
            for backup in of_stem:
                last_of.setdefault(period(date.fromisoformat(backup.at[:10])), backup.path)
            wanted |= {*list(last_of.values())[: counts[name]]}
        reason = "it is not one of the daily, weekly and monthly backups that are kept"
        deleted |= {one.path: reason for one in of_stem if one.path not in wanted}
    return deleted
