"""Keeping a database: copies of it, what is deleted when, and whether all of it is sound."""

import os
import sqlite3
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

from analysis.ledger import charged_right
from analysis.survey import Survey
from server.store.file import StoreError, touch_private
from server.store.reports import Reports


class Upkeep(Reports):
    """What operators do."""

    def copy_to(self, target: Path) -> None:
        """Copy the database as it is now, while it is written to: whole, or not at all.

        The copy is written row by row, so that no history of writes is in it. Sessions and printed
        tokens stay behind, and so do free pages.

        Raises
        ------
        StoreError
            If there is a file already, or the copy cannot be written.
        """
        if target.exists():
            raise StoreError(f"{target}: expected a new file, got one that exists")
        part = target.with_name(f".{target.name}.part")
        try:
            part.unlink(missing_ok=True)
            touch_private(part)
            self._connection.execute("VACUUM INTO ?", (str(part),))
            copy = sqlite3.connect(part, isolation_level=None)
            copy.execute("PRAGMA secure_delete = ON")
            copy.execute("DELETE FROM session")
            copy.execute("DELETE FROM research_token")
            (sound,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
            copy.close()
            if sound != "ok":
                raise StoreError(f"{target}: the copy is damaged: {sound}")
            _sync(part)
            # Fails if the file has come to exist in the meantime, where a rename would replace it.
            os.link(part, target)
            _sync(target.absolute().parent)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{target}: cannot be written: {error}") from None
        finally:
            part.unlink(missing_ok=True)

    def forget(self, today: date) -> int:
        """Delete the reports of versions that promised it for an earlier day; how many.

        Their tallies and ledger stay. The invitations to a survey go with the reports of the
        version published last.
        """
        deleted, changed, before = 0, False, self._connection.total_changes
        for survey_id in self.survey_ids():
            for place, version in enumerate(self.versions(survey_id)):
                survey = self.survey(survey_id, version)
                assert survey is not None
                last = survey.delete_reports_after
                if last is None or today <= last:
                    continue
                with self._writing() as connection:
                    deleted += connection.execute(
                        "DELETE FROM report WHERE survey = ? AND version = ?", (survey_id, version)
                    ).rowcount
                    if not place:
                        connection.execute("DELETE FROM invitation WHERE survey = ?", (survey_id,))
                    changed = changed or connection.total_changes > before
        if changed:
            self.rewrite()
        return deleted

    def wal_size(self) -> int:
        """Bytes of the write-ahead log, which has the order of the latest writes."""
        wal = Path(f"{self.path}-wal")
        return wal.stat().st_size if wal.exists() else 0

    def integrity(self) -> str:
        """What SQLite says of the file: "ok", or the first thing wrong."""
        return str(self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0])

    def other_objects(self) -> dict[str, str]:
        """The statements that made what is no table: triggers, views and indexes, by name."""
        rows = self._connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type != 'table' AND sql IS NOT NULL"
        )
        return dict(rows.fetchall())

    def tables(self) -> dict[str, tuple[str, int]]:
        """For each table the statement that made it, and how many rows it has."""
        made = self._connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
        return {name: (sql, self._count(name)) for name, sql in made.fetchall()}

    def _count(self, table: str) -> int:
        return int(self._connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])

    def discrepancies(self, today: date) -> Iterator[str]:
        """Where tallies, reports and charges do not tell the same story: a sentence for each."""
        for survey_id in self.survey_ids():
            spends = self.spends(survey_id)
            versions = {one: self._version(survey_id, one) for one in self.versions(survey_id)}
            if not charged_right(spends, versions):
                yield f"{survey_id}: somebody was charged another sum"
            for version, survey in versions.items():
                own = [spend for spend in spends if spend.version == version]
                for wave in self.waves(survey_id):
                    charged = sum(one.submissions for one in own if one.wave == wave)
                    for what in self._differences(survey, wave, charged, today):
                        yield f"{survey_id} {version[:12]}, wave {wave}: {what}"

    def _differences(self, survey: Survey, wave: int, charged: int, today: date) -> Iterator[str]:
        tallies = self.tallies(survey, wave)
        for question in survey.questions:
            tallied = question.randomizer.reports_in(tallies[question.id])
            if tallied != charged:
                yield f"{charged} reports were charged, but {tallied} tallied of {question.id}"
        recount = {name: np.zeros_like(counts) for name, counts in tallies.items()}
        reports = 0
        for payload in self.payloads(survey, wave):
            reports += 1
            for question in survey.questions:
                for cell in question.randomizer.tallied(payload[question.id]):
                    recount[question.id][cell] += 1
        last = survey.delete_reports_after
        if last is not None and today > last:
            if reports:
                yield f"{reports} reports that were to be deleted after {last}"
            return
        if reports != charged:
            yield f"{charged} reports were charged, but {reports} are stored"
        for name, counts in recount.items():
            if not np.array_equal(counts, tallies[name]):
                yield f"the tally of {name} is not a recount of the reports"


def _sync(path: Path) -> None:
    """Have a file's or a folder's content on the disk, not on its way there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
