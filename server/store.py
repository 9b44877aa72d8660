"""The store: the only file with SQL. What it has no column for cannot be kept.

There is no time, address, user agent, referrer or language anywhere, and no order of arrival:
tables that respondents write to are WITHOUT ROWID, with random keys first in their order.
`ledger` and `report` share no key; one transaction writes both, and no more is said of either.
"""

import fcntl
import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from analysis.ledger import Spend, in_epsilon
from analysis.survey import Survey, thaw
from server.wire import Refusal, Submission

#: `PRAGMA user_version` of the schema below, and the mark of a file that is ours ("deni").
SCHEMA_VERSION, APPLICATION_ID = 1, 0x64656E69

_SCHEMA = """
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
CREATE TABLE ledger (survey TEXT, respondent BLOB, version TEXT, wave INTEGER,
    submissions INTEGER NOT NULL, charged INTEGER NOT NULL,
    PRIMARY KEY (survey, respondent, version, wave)) WITHOUT ROWID;
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    symbol INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, symbol)) WITHOUT ROWID;
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID;
"""


class StoreError(Exception):
    """The database cannot be used as asked; the message says why."""


@dataclass(frozen=True)
class Open:
    """A survey as respondents meet it now."""

    survey: Survey
    wave: int
    state: str


class Store:
    """One SQLite file. Safe to share between threads and processes.

    Parameters
    ----------
    path : Path
        The database file.
    create : bool
        Whether to make it if it is missing.

    Raises
    ------
    StoreError
        If the file is missing, is no database of ours, or is of a newer release.
    """

    def __init__(self, path: Path, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise StoreError(f"{path}: no such database; publish or serve a survey first")
        self._local = threading.local()
        try:
            if not Database(self._connection).table_names():
                self._create()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (kind,) = self._connection.execute("PRAGMA application_id").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path}: cannot be used as a database: {error}") from None
        if kind != APPLICATION_ID:
            raise StoreError(f"{path}: is a database of another program")
        if version != SCHEMA_VERSION:
            raise StoreError(f"{path}: expected schema {SCHEMA_VERSION}, got {version}")

    def _create(self) -> None:
        with self._writing() as connection:
            if Database(connection).table_names():
                return  # another process was faster
            for statement in _SCHEMA.strip().removesuffix(";").split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @property
    def _connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            self._local.connection = connection
        own: sqlite3.Connection = self._local.connection
        return own

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is stored, or nothing.

        The file lock makes writers queue. SQLite's own waiting sleeps and retries, which starves
        some of them for a second under load.
        """
        connection = self._connection
        with open(f"{self.path}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of this thread's connection, and leave no history of writes beside the file."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        del self._local.connection

    # Surveys and waves

    def publish(self, survey: Survey) -> bool:
        """Store a frozen survey as the last published of its id; whether it was new."""
        with self._writing() as connection:
            known = connection.execute(
                "SELECT place FROM survey WHERE id = ? AND version = ?", (survey.id, survey.version)
            ).fetchone()
            (last,) = connection.execute(
                "SELECT coalesce(max(place), 0) FROM survey WHERE id = ?", (survey.id,)
            ).fetchone()
            if known is None or known[0] != last:
                connection.execute(
                    "INSERT INTO survey VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET place = ?3",
                    (survey.id, survey.version, last + 1, json.dumps(survey.to_json())),
                )
        return known is None

    def open_wave(self, survey_id: str, wave: int | None = None, alone: bool = False) -> int:
        """Open a wave, by default the highest or else 1; if `alone`, close the others.

        Returns
        -------
        int
            The wave that is open now.
        """
        with self._writing() as connection:
            if wave is None:
                (wave,) = connection.execute(
                    "SELECT coalesce(max(wave), 1) FROM wave WHERE survey = ?", (survey_id,)
                ).fetchone()
            if alone:
                connection.execute(
                    "UPDATE wave SET state = 'closed' WHERE survey = ?", (survey_id,)
                )
            connection.execute(
                "INSERT INTO wave VALUES (?, ?, 'open') ON CONFLICT DO UPDATE SET state = 'open'",
                (survey_id, wave),
            )
        assert wave is not None
        return wave

    def survey_ids(self) -> list[str]:
        """The ids of all surveys."""
        rows = self._connection.execute("SELECT DISTINCT id FROM survey ORDER BY id")
        return [row[0] for row in rows]

    def versions(self, survey_id: str) -> list[str]:
        """The versions of a survey, the last published first."""
        rows = self._connection.execute(
            "SELECT version FROM survey WHERE id = ? ORDER BY place DESC", (survey_id,)
        )
        return [row[0] for row in rows]

    def survey(self, survey_id: str, version: str) -> Survey | None:
        """One version of a survey, its randomizers checked again; None if there is none."""
        row = self._connection.execute(
            "SELECT spec FROM survey WHERE id = ? AND version = ?", (survey_id, version)
        ).fetchone()
        return None if row is None else _thawed(row[0], version)

    def current(self, survey_id: str) -> Open | None:
        """What respondents are asked now: last published version, highest open wave, state."""
        versions = self.versions(survey_id)
        survey = self.survey(survey_id, versions[0]) if versions else None
        if survey is None:
            return None
        waves = self.waves(survey_id)
        opened = [wave for wave, state in waves.items() if state == "open"]
        state = "open" if opened else "closed"
        return Open(survey, max(opened or waves or [1]), state)

    def waves(self, survey_id: str) -> dict[int, str]:
        """The state of each wave, in their order."""
        rows = self._connection.execute(
            "SELECT wave, state FROM wave WHERE survey = ? ORDER BY wave", (survey_id,)
        )
        return dict(rows.fetchall())

    # Reports

    def add(self, survey_id: str, batch: Sequence[Submission], closed: bool) -> list[Refusal | int]:
        """Store submissions in one transaction: reports, ledger and tallies.

        Parameters
        ----------
        survey_id : str
            The survey they were sent to.
        batch : sequence of Submission
            Checked against their versions.
        closed : bool
            Whether the survey's last day is over.

        Returns
        -------
        list
            For each, 201 if stored, 200 if it was stored before, or why it is refused.
        """
        with self._writing() as connection:
            tally: Counter[tuple[Any, ...]] = Counter()
            results = [self._add(connection, survey_id, one, closed, tally) for one in batch]
            connection.executemany(
                "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET n = n + ?7",
                [(*key, n) for key, n in tally.items()],
            )
        return results

    def _add(
        self,
        connection: sqlite3.Connection,
        survey_id: str,
        one: Submission,
        closed: bool,
        tally: Counter[tuple[Any, ...]],
    ) -> Refusal | int:
        payload = json.dumps(one.reports, separators=(",", ":"), sort_keys=True)
        stored = connection.execute(
            "SELECT version, wave, payload FROM report WHERE survey = ? AND rid = ?",
            (survey_id, one.rid),
        ).fetchone()
        if stored is not None:
            same = stored == (one.survey.version, one.wave, payload)
            return 200 if same else Refusal("rid-reused", "rid", "one that is new", "one in use")
        if one.token is not None:
            return Refusal("invitation", "token", "none: the survey is open to all", "a token")
        opened = [wave for wave, state in self.waves(survey_id).items() if state == "open"]
        if closed or one.wave not in opened:
            now = "none" if closed or not opened else " or ".join(map(str, opened))
            return Refusal("closed", "wave", f"an open wave: {now}", str(one.wave))
        before = connection.execute(
            "SELECT version, charged FROM ledger WHERE survey = ? AND respondent = ?",
            (survey_id, one.respondent),
        ).fetchall()
        spent, charge = sum(charged for _, charged in before), one.survey.charge
        # Every cap that was promised holds: of the versions answered, this one and the current.
        promised = {version for version, _ in before} | {self.versions(survey_id)[0]}
        known = [self.survey(survey_id, version) for version in promised]
        cap = min(one.survey.cap, *(survey.cap for survey in known if survey is not None))
        if spent + charge > cap:
            return Refusal(
                "cap-exceeded",
                "respondent",
                f"at most ε = {in_epsilon(cap):g} in total",
                f"{in_epsilon(spent):g} spent and {in_epsilon(charge):g} more",
            )
        where = (survey_id, one.survey.version, one.wave)
        connection.execute(
            "INSERT INTO report VALUES (?, ?, ?, ?, ?)",
            (survey_id, one.rid, one.survey.version, one.wave, payload),
        )
        connection.execute(
            "INSERT INTO ledger VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET "
            "submissions = submissions + 1, charged = charged + ?5",
            (survey_id, one.respondent, one.survey.version, one.wave, charge),
        )
        for question in one.survey.questions:
            for cell in question.randomizer.tallied(one.reports[question.id]):
                tally[(*where, question.id, *cell)] += 1
        return 201

    def tallies(self, survey: Survey, wave: int) -> dict[str, NDArray[np.int64]]:
        """For each question, how many of a wave's reports count for each symbol."""
        counts = {
            question.id: np.zeros(question.randomizer.shape, dtype=np.int64)
            for question in survey.questions
        }
        rows = self._connection.execute(
            "SELECT question, cohort, symbol, n FROM tally "
            "WHERE survey = ? AND version = ? AND wave = ?",
            (survey.id, survey.version, wave),
        )
        for question, cohort, symbol, n in rows:
            counts[question][cohort, symbol] = n
        return counts

    def report_counts(self, survey_id: str) -> dict[str, int]:
        """How many reports each version of a survey has, over all waves."""
        rows = self._connection.execute(
            "SELECT version, count(*) FROM report WHERE survey = ? GROUP BY version", (survey_id,)
        )
        return dict(rows.fetchall())

    def payloads(self, survey: Survey, wave: int) -> Iterator[dict[str, Any]]:
        """The reports of a wave, in the order of their random ids."""
        rows = self._connection.execute(
            "SELECT payload FROM report WHERE survey = ? AND version = ? AND wave = ?",
            (survey.id, survey.version, wave),
        )
        return (json.loads(payload) for (payload,) in rows)

    def spends(self, survey_id: str) -> list[Spend]:
        """What each respondent was charged, by version and wave."""
        rows = self._connection.execute(
            "SELECT lower(hex(respondent)), version, wave, submissions, charged FROM ledger "
            "WHERE survey = ?",
            (survey_id,),
        )
        return [Spend(*row) for row in rows]

    # Researchers

    def add_token(self, token: str) -> None:
        """Let a research token in. Only its hash is stored; it is random, so SHA-256 will do."""
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO research_token VALUES (?)", (_hash(token),))

    def remove_token(self, token: str) -> None:
        """Let a research token in no more."""
        with self._writing() as connection:
            connection.execute("DELETE FROM research_token WHERE hash = ?", (_hash(token),))

    def knows_token(self, token: str) -> bool:
        """Whether a research token is let in. The look-up is by hash, so timing tells nothing."""
        row = self._connection.execute(
            "SELECT 1 FROM research_token WHERE hash = ?", (_hash(token),)
        ).fetchone()
        return row is not None


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


@lru_cache(maxsize=64)
def _thawed(spec: str, version: str) -> Survey:
    return thaw(json.loads(spec), version)
