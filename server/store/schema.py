"""The tables, and how a database of an earlier release becomes one of this one.

What a table has no column for cannot be kept. Tables that respondents write to have no time,
address, user agent, referrer or language, and no order of arrival: they are WITHOUT ROWID, with
random keys. The only column that `ledger` or `invitation` have in common with `report` is the
survey's id, and an invitation's wave, so that no JOIN finds a smaller group than all of a survey.
Only `log` and `throttle` know time: they tell what researchers did.
"""

import json
import sqlite3
from contextlib import closing

from analysis.survey import thaw

#: The mark of a file that is ours ("deni"), as `PRAGMA application_id`.
APPLICATION_ID = 0x64656E69

#: What brought in each schema version, the first one first; `PRAGMA user_version` counts them.
#: A released entry is never changed: databases have been made by it.
MIGRATIONS = (
    """
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
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID
""",
    """
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END
""",
    # The ledger had the version and the wave, as `report` has: a group of one linked the two.
    """
ALTER TABLE ledger RENAME TO ledger_of_versions;
CREATE TABLE ledger (survey TEXT, respondent BLOB, terms BLOB, submissions INTEGER NOT NULL,
    charged INTEGER NOT NULL, PRIMARY KEY (survey, respondent, terms)) WITHOUT ROWID;
WITH priced AS MATERIALIZED (SELECT id, version, terms_of(spec, version) AS terms FROM survey)
    INSERT INTO ledger SELECT survey, respondent, terms, sum(submissions), sum(charged)
    FROM ledger_of_versions AS old LEFT JOIN priced
    ON priced.id = old.survey AND priced.version = old.version GROUP BY survey, respondent, terms;
DROP TABLE ledger_of_versions
""",
)

SCHEMA_VERSION = len(MIGRATIONS)


def statements(version: int, target: int = SCHEMA_VERSION) -> list[str]:
    """What makes a database of schema `version` one of `target`; none if it is one.

    They need what `prepare` gives a connection.
    """
    scripts = MIGRATIONS[version:target]
    return [statement for script in scripts for statement in script.strip().split(";\n")]


def prepare(connection: sqlite3.Connection) -> None:
    """Give a connection the functions of Python that `statements` call."""
    connection.create_function("terms_of", 2, _terms_of, deterministic=True)


def _terms_of(spec: str, version: str) -> bytes:
    """`Survey.terms` of a stored version, as the ledger has them."""
    return bytes.fromhex(thaw(json.loads(spec), version).terms)


def created(tables: bool = True) -> dict[str, str]:
    """The statement that makes each table in this release, or each trigger, as SQLite keeps it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        prepare(connection)
        for statement in statements(0):
            connection.execute(statement)
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE (type = 'table') = ? AND sql IS NOT NULL",
            (tables,),
        )
        return dict(rows.fetchall())
