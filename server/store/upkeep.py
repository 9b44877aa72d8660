"""Keeping a database: copies of it, what is deleted when, and whether all of it is sound."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import msgspec
import numpy as np

from analysis.ledger import Account, charged_right
from analysis.survey import Survey
from server.store.copies import copy_to
from server.store.reports import Reports

#: What reading raises of reports that somebody changed in the file.
_UNREADABLE = (ValueError, TypeError, LookupError, RecursionError, msgspec.MsgspecError)


class Upkeep(Reports):
    """What operators do."""

    #: The last day for which `is_overdue` found nothing: it may have to read all reports.
    _nothing_due: date | None = None

    def copy_to(self, target: Path) -> None:
        """Copy the database to a new file; as `copies.copy_to`, with its errors."""
        copy_to(self._connection, target)

    def forget(self, today: date) -> int:
        """Delete the reports of versions that promised it for an earlier day; how many.

        Their tallies, sizes and ledger stay. The invitations to a survey go with the reports of the
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

    def is_overdue(self, day: date) -> bool:
        """Whether reports or invitations are there that were to be deleted before a day."""
        if self._nothing_due == day:
            return False  # and nothing came since: versions that are over take no reports
        for survey_id in self.survey_ids():
            for place, version in enumerate(self.versions(survey_id)):
                last = self._version(survey_id, version).delete_reports_after
                if last is None or day <= last:
                    continue
                (found,) = self._connection.execute(
                    "SELECT EXISTS (SELECT 1 FROM report WHERE survey = ?1 AND version = ?2) "
                    "OR (?3 = 0 AND EXISTS (SELECT 1 FROM invitation WHERE survey = ?1))",
                    (survey_id, version, place),
                ).fetchone()
                if found:
                    return True
        self._nothing_due = day
        return False

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
        # Imported here: it imports pandas where that is installed, which takes half a second.
        from sqlite_utils import Database

        tables = Database(self._connection).tables
        return {table.name: (table.schema, table.count) for table in tables}

    def discrepancies(self, today: date) -> Iterator[str]:
        """Where tallies, reports and charges do not tell the same story: a sentence for each."""
        for survey_id in self.survey_ids():
            surveys = self.of_terms(survey_id)
            charged, tallied = Counter[str](), Counter[str]()
            groups = Counter((one.times, one.charged) for one in self.accounts(survey_id))
            own = [Account("", *account, n) for account, n in groups.items()]
            for one in own:
                for terms, times in one.times:
                    charged[terms] += times * one.respondents
            if not charged.keys() <= surveys.keys():
                yield f"{survey_id}: somebody was charged under terms that no version has"
            elif not charged_right(own, surveys):
                yield f"{survey_id}: somebody was charged another sum"
            if {*own} != {*self.grouped_accounts(survey_id)}:
                yield f"{survey_id}: the totals are not a recount of the ledger"
            cells = self.cells(survey_id)
            for version in self.versions(survey_id):
                survey = self._version(survey_id, version)
                for wave in self.waves(survey_id):
                    n = cells.get((version, wave), 0)
                    tallied[survey.terms] += n
                    for what in self._differences(survey, wave, n, today):
                        yield f"{survey_id} {version[:12]}, wave {wave}: {what}"
            # The ledger knows neither versions nor waves, so both are added up.
            for terms in charged.keys() | tallied.keys():
                if charged[terms] != tallied[terms]:
                    what = f"{charged[terms]} reports were charged, but {tallied[terms]} tallied"
                    yield f"{survey_id}, terms {terms[:12]}: {what}"

    def _differences(self, survey: Survey, wave: int, n: int, today: date) -> Iterator[str]:
        """What is wrong with a wave of a version, whose first question has `n` reports tallied."""
        tallies = self.tallies(survey, wave)
        for question in survey.questions:
            tallied = question.randomizer.reports_in(tallies[question.id])
            if tallied != n:
                yield f"{n} reports are tallied of one question, but {tallied} of {question.id}"
        sizes = self.sizes(survey, wave)
        recount = {name: np.zeros_like(counts) for name, counts in tallies.items()}
        resized = {name: np.zeros_like(counts) for name, counts in sizes.items()}
        reports = 0
        try:
            for payloads in self.payloads(survey, wave):
                reports += len(payloads)
                for question in survey.questions:
                    name, randomizer = question.id, question.randomizer
                    sent = [payload[name] for payload in payloads]
                    for report in sent:
                        randomizer.check_report(report, name)
                    read = randomizer.read_many(sent)
                    recount[name] += randomizer.tally_many(read)
                    if (found := randomizer.sizes_many(read)) is not None:
                        resized[name] += found
        except _UNREADABLE:
            yield "a report is stored that no device can have sent"
            return
        last = survey.delete_reports_after
        if last is not None and today > last:
            if reports:
                yield f"{reports} reports that were to be deleted after {last}"
            return
        if reports != n:
            yield f"{n} reports are tallied, but {reports} are stored"
        for name, counts in recount.items():
            if not np.array_equal(counts, tallies[name]):
                yield f"the tally of {name} is not a recount of the reports"
        for name, counts in resized.items():
            if not np.array_equal(counts, sizes[name]):
                yield f"the sizes of {name} are not a recount of the reports"
