"""Read and write what the intake needs, in one transaction: see `server.intake.decision`.

Each table is written in the order of its own keys: neither the write-ahead log nor the places
within a file reveal which report came with which pseudonym, unless it came alone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from analysis.survey.batches import Cell
from analysis.survey.survey import Survey
from server.intake.decision import Asked, Decision, Key, Known, Move, Spent, Waiting
from server.intake.wire import Submission
from server.store.blocks import answered_as, blocks
from server.store.database import Database
from server.store.snapshots import SO_FAR, read_cells, write_cells
from server.store.surveys import Surveys, largest


class Batches:
    """The `server.intake.decision.Intake` of a database: the only way to add reports to it."""

    def __init__(self, database: Database, surveys: Surveys) -> None:
        self._database, self._surveys = database, surveys

    @contextmanager
    def transaction(self, waiting: Waiting) -> Iterator[list[Submission]]:
        """Run a batch's transaction, which waits for other writers without end; yield the batch."""
        with self._database.taking_in():
            batch = list(waiting())
            surveys = {submission.survey.id for submission in batch}
            self._database.take_turns(surveys)
            batch += waiting()  # those that came while others wrote
            if others := {submission.survey.id for submission in batch} - surveys:
                self._database.take_turns(others)
            yield batch

    def read(self, submissions: Sequence[Submission]) -> Known:
        """Return what is known of a batch.

        It takes few statements, since each lets the other threads of this process run first.
        """
        surveys: dict[str, Asked] = {}
        reports: dict[tuple[str, bytes], tuple[str, int, str]] = {}
        times: dict[tuple[str, bytes], dict[str, int]] = {}
        charged = Counter[tuple[str, bytes]]()
        unused: set[tuple[str, int, bytes]] = set()
        cells: dict[Key, Cell] = {}
        of_survey: dict[str, list[Submission]] = {}
        for submission in submissions:
            of_survey.setdefault(submission.survey.id, []).append(submission)
        for survey_id, batch in of_survey.items():
            surveys[survey_id] = self._asked(survey_id)
            cells |= read_cells(self._database.connection, survey_id)
            for rid, version, wave, payload in self._database.among(
                "SELECT rid, version, wave, payload FROM report WHERE survey = ? AND rid IN",
                (survey_id,),
                [submission.rid for submission in batch],
            ):
                reports[survey_id, rid] = version, wave, payload
            for respondent, terms, n, charge in self._database.among(
                "SELECT respondent, terms, submissions, charged FROM ledger "
                "WHERE survey = ? AND respondent IN",
                (survey_id,),
                [submission.respondent for submission in batch],
            ):
                times.setdefault((survey_id, respondent), {})[terms.hex()] = n
                charged[survey_id, respondent] += charge
            # Each wave has its query: for keys of any wave, SQLite would read all of the survey.
            for wave in surveys[survey_id].open_waves:
                keys = [sent.invitation for sent in batch if sent.wave == wave and sent.invitation]
                if keys:
                    rows = self._database.among(
                        "SELECT token_hash FROM invitation "
                        "WHERE survey = ? AND wave = ? AND used = 0 AND token_hash IN",
                        (survey_id, wave),
                        keys,
                    )
                    unused |= {(survey_id, wave, key) for (key,) in rows}
        spent = {who: Spent(tuple(sorted(n.items())), charged[who]) for who, n in times.items()}
        answered = {(survey_id, terms) for (survey_id, _), n in times.items() for terms in n}
        priced: dict[tuple[str, str], Survey] = {}
        for key in answered:
            # In a damaged ledger, terms can lack a version. Then nothing can be charged to
            # respondents with these terms. But a replay, and a refusal, need no price.
            with suppress(KeyError):
                priced[key] = self._surveys.with_terms(*key)
        return Known(surveys, reports, spent, priced, unused, cells)

    def _asked(self, survey_id: str) -> Asked:
        # There is a version, since none is ever deleted.
        current, *_ = versions = self._surveys.every(survey_id)
        return Asked(current, self._surveys.open_waves(survey_id), largest(versions))

    def write(self, decision: Decision) -> None:
        """Write what was decided."""
        with self._database.sending():
            self._write(decision)

    def _write(self, decision: Decision) -> None:
        insert, connection = self._database.insert, self._database.connection
        insert("report", decision.reports)
        connection.executemany(
            "UPDATE invitation SET used = 1 WHERE survey = ? AND wave = ? AND token_hash = ?",
            decision.used,
        )
        insert(
            "ledger",
            [(*row[:2], bytes.fromhex(row.terms), *row[3:]) for row in decision.charges],
            "ON CONFLICT (survey, respondent, terms) DO UPDATE SET "
            "submissions = ledger.submissions + excluded.submissions, "
            "charged = ledger.charged + excluded.charged",
        )
        self._move(decision.moves)
        for table, rows in (("tally", decision.tallies), ("report_size", decision.sizes)):
            self._database.add_counts(
                table, [(*row[:4], *block) for row in rows for block in blocks(*row[4:])]
            )
        insert(
            "simulated",
            [(*key, SO_FAR, n) for key, n in decision.simulated],
            "ON CONFLICT (survey, version, wave, taken) DO UPDATE SET "
            "reports = simulated.reports + excluded.reports",
        )
        write_cells(connection, decision.cells)

    def _move(self, moves: Sequence[Move]) -> None:
        """Count respondents in the rows of their new totals, and no longer in those of the old."""
        groups = sorted(
            (move.survey, answered_as(move.spent.times), move.spent.charged, move.respondents)
            for move in moves
        )
        self._database.insert(
            "respondent_total",
            groups,
            "ON CONFLICT (survey, answered, charged) DO UPDATE SET "
            "respondents = respondent_total.respondents + excluded.respondents",
        )
        self._database.connection.executemany(
            "DELETE FROM respondent_total "
            "WHERE survey = ? AND answered = ? AND charged = ? AND respondents = 0",
            [group[:3] for group in groups],
        )
