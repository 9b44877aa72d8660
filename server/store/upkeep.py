"""Delete reports that are due, and check that reports, tallies and charges agree."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

import msgspec
import numpy as np

from analysis.privacy.ledger import Account, charged_right
from analysis.survey.survey import Survey
from server.intake.decision import WHOLE
from server.store.database import Connection, Database
from server.store.ledger import Ledger
from server.store.reports import Reports
from server.store.surveys import Surveys

#: The errors of reading reports that somebody changed in the file.
_UNREADABLE = (ValueError, TypeError, LookupError, RecursionError, msgspec.MsgspecError)


def _has_some(connection: Connection, survey_id: str, version: str, is_last: bool) -> bool:
    """Return whether there are reports of a version or, if it is the last one, invitations."""
    rows = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM report WHERE survey = ?1 AND version = ?2) "
        "OR (?3 AND EXISTS (SELECT 1 FROM invitation WHERE survey = ?1))",
        (survey_id, version, is_last),
    )
    return bool(rows.fetchone()[0])


class Upkeep:
    """Deleting and checking, over all surveys and tables of a database."""

    #: The last day for which `is_overdue` found nothing: it may have to read all reports.
    _nothing_due: date | None = None

    def __init__(
        self, database: Database, surveys: Surveys, reports: Reports, ledger: Ledger
    ) -> None:
        self._database, self._surveys = database, surveys
        self._reports, self._ledger = reports, ledger

    def forget(self, today: date) -> int:
        """Delete the reports of versions that promised it for an earlier day; return how many.

        Their tallies, sizes and ledger stay. The invitations to a survey go with the reports of the
        version published last.
        """
        deleted, changed = 0, False
        for survey_id, version, is_last in self._due(today):
            with self._database.writing() as connection:
                sql = "DELETE FROM report WHERE survey = ? AND version = ?"
                reports = connection.execute(sql, (survey_id, version)).rowcount
                deleted, changed = deleted + reports, changed or reports > 0
                if is_last:
                    sql = "DELETE FROM invitation WHERE survey = ?"
                    changed = connection.execute(sql, (survey_id,)).rowcount > 0 or changed
        if changed:
            self._database.rewrite()
        return deleted

    def is_overdue(self, day: date) -> bool:
        """Return whether reports or invitations exist that were to be deleted before a day."""
        if self._nothing_due == day:
            return False  # and nothing came since: versions that are over take no reports
        for due in self._due(day):
            if _has_some(self._database.connection, *due):
                return True
        self._nothing_due = day
        return False

    def last_day(self, connection: Connection) -> date | None:
        """Return the first of the days after which something in a database must be deleted.

        The connection can be to a copy of this one; None if nothing in it has such a day.
        """
        days = [
            day
            for survey_id in self._surveys.ids()
            for number, version in enumerate(self._surveys.versions(survey_id))
            if (day := self._surveys.stored(survey_id, version).delete_reports_after) is not None
            and _has_some(connection, survey_id, version, number == 0)
        ]
        return min(days, default=None)

    def _due(self, day: date) -> Iterator[tuple[str, str, bool]]:
        """Yield the survey's id, the version, and whether it is the last, where reports are due."""
        for survey_id in self._surveys.ids():
            for number, version in enumerate(self._surveys.versions(survey_id)):
                last_day = self._surveys.stored(survey_id, version).delete_reports_after
                if last_day is not None and day > last_day:
                    yield survey_id, version, number == 0

    def discrepancies(self, today: date) -> Iterator[str]:
        """Yield a sentence wherever tallies, reports and charges do not agree."""
        for survey_id in self._surveys.ids():
            surveys = self._surveys.by_terms(survey_id)
            charged, tallied = Counter[str](), Counter[str]()
            groups = Counter((row.times, row.charged) for row in self._ledger.accounts(survey_id))
            accounts = [Account("", *group, n) for group, n in groups.items()]
            for account in accounts:
                for terms, times in account.times:
                    charged[terms] += times * account.respondents
            if not charged.keys() <= surveys.keys():
                yield f"{survey_id}: a respondent was charged under terms that no version has"
            elif not charged_right(accounts, surveys):
                yield f"{survey_id}: a respondent was charged another sum than reports cost"
            if {*accounts} != {*self._ledger.grouped_accounts(survey_id)}:
                yield f"{survey_id}: the totals are not a recount of the ledger"
            cells = self._reports.cells(survey_id)
            shown = self._surveys.cells(survey_id)
            counted = {key[1:]: cell.n for key, cell in shown.items()}
            if counted != ({**cells, WHOLE: sum(cells.values())} if cells else {}):
                yield f"{survey_id}: the reports that pages show are not a recount of the tallies"
            for version in self._surveys.versions(survey_id):
                survey = self._surveys.stored(survey_id, version)
                for wave in self._surveys.waves(survey_id):
                    n = cells.get((version, wave), 0)
                    tallied[survey.terms] += n
                    for fault in self._differences(survey, wave, n, today):
                        yield f"{survey_id} {version[:12]}, wave {wave}: {fault}"
            # The ledger knows neither versions nor waves, so both are added up.
            for terms in charged.keys() | tallied.keys():
                if charged[terms] != tallied[terms]:
                    fault = f"{charged[terms]} reports were charged, but {tallied[terms]} tallied"
                    yield f"{survey_id}, terms {terms[:12]}: {fault}"

    def _differences(self, survey: Survey, wave: int, n: int, today: date) -> Iterator[str]:
        """Yield what is wrong with a wave whose first question has `n` reports tallied."""
        tallies = self._reports.tallies(survey, wave)
        for question in survey.questions:
            tallied = question.randomizer.reports_in(tallies[question.id])
            if tallied != n:
                yield f"{n} reports are tallied of one question, but {tallied} of {question.id}"
        if (simulated := self._reports.simulated(survey, wave)) > n:
            yield f"{simulated} reports count as simulated, but only {n} are tallied"
        sizes = self._reports.sizes(survey, wave)
        recount = {name: np.zeros_like(counts) for name, counts in tallies.items()}
        resized = {name: np.zeros_like(counts) for name, counts in sizes.items()}
        reports = 0
        try:
            for payloads in self._reports.payloads(survey, wave):
                reports += len(payloads)
                for question in survey.questions:
                    name, randomizer = question.id, question.randomizer
                    sent = [payload[name] for payload in payloads]
                    for report in sent:
                        randomizer.check_report(report, name)
                    read = randomizer.read_many(sent)
                    recount[name] += randomizer.tally_many(read)
                    if (counts := randomizer.sizes_many(read)) is not None:
                        resized[name] += counts
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
