"""The tables, and how a database of an earlier release becomes one of this one.

What a table has no column for cannot be kept. Tables that respondents write to have no time,
address, user agent, referrer or language, and no order of arrival: they are WITHOUT ROWID, with
random keys. The only column that `ledger` or `invitation` have in common with `report` is the
survey's id, and an invitation's wave, so that no JOIN finds a smaller group than all of a survey.
Only `log` and `throttle` know time: they tell what researchers did.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.plausibility import sizes_of
from analysis.survey import Survey, thaw

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
    # Running totals of respondents, and of what reports count for; many counts in a row, since a
    # report of 256 bits adds to half of them.
    """
ALTER TABLE tally RENAME TO tally_of_symbols;
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
INSERT INTO tally SELECT survey, version, wave, question, cohort, symbol / 512,
    counts_of(symbol % 512, n) FROM tally_of_symbols GROUP BY 1, 2, 3, 4, 5, 6;
DROP TABLE tally_of_symbols;
CREATE TABLE report_size (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
INSERT INTO report_size SELECT report.survey, report.version, wave, key, 0, value / 512,
    counts_of(value % 512, 1) FROM report
    JOIN survey ON survey.id = report.survey AND survey.version = report.version,
    json_each(sizes_of(spec, survey.version, payload)) GROUP BY 1, 2, 3, 4, 6;
CREATE TABLE respondent_total (survey TEXT, answered TEXT, charged INTEGER,
    respondents INTEGER NOT NULL, PRIMARY KEY (survey, answered, charged)) WITHOUT ROWID;
INSERT INTO respondent_total SELECT survey, answered, charged, count(*) FROM (
    SELECT survey, answered_as(lower(hex(terms)), submissions) AS answered, sum(charged) AS charged
    FROM ledger GROUP BY survey, respondent) GROUP BY survey, answered, charged
""",
)

SCHEMA_VERSION = len(MIGRATIONS)

#: How many counts make a block: a report of 256 bits adds to one row, and a number of thousands of
#: symbols does not have all of them written at each report.
BLOCK = 512


def statements(version: int, target: int = SCHEMA_VERSION) -> list[str]:
    """What makes a database of schema `version` one of `target`; none if it is one.

    They need what `prepare` gives a connection.
    """
    scripts = MIGRATIONS[version:target]
    return [statement for script in scripts for statement in script.strip().split(";\n")]


def prepare(connection: sqlite3.Connection) -> None:
    """Give a connection the functions of Python that `statements` call."""
    connection.create_function("terms_of", 2, _terms_of, deterministic=True)
    connection.create_function("sizes_of", 3, _sizes_of, deterministic=True)
    # The typed interface knows only aggregates of one column, which give a whole number.
    connection.create_aggregate("answered_as", 2, _Answered)  # type: ignore[arg-type]
    connection.create_aggregate("counts_of", 2, _Counts)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _thawed(spec: str, version: str) -> Survey:
    return thaw(json.loads(spec), version)


def _terms_of(spec: str, version: str) -> bytes:
    """`Survey.terms` of a stored version, as the ledger has them."""
    return bytes.fromhex(_thawed(spec, version).terms)


def _sizes_of(spec: str, version: str, payload: str) -> str:
    """For how many symbols each report of a payload counts, of those that differ in it."""
    sizes = sizes_of(_thawed(spec, version), [json.loads(payload)])
    return json.dumps({name: int(found.argmax()) for name, found in sizes.items()})


def answered_as(times: Mapping[str, int]) -> str:
    """Return how often somebody answered under each set of terms, as `respondent_total` has it."""
    return msgspec.json.encode(sorted(times.items())).decode()


def written_counts(places: Sequence[int] | NDArray[Any], counts: Any) -> bytes:
    """Counts at places of a block, as `tally` and `report_size` have them.

    Each has 64 bits, the lowest byte first. Places that are not given have 0, and those after the
    largest are left out.
    """
    found = np.zeros(int(max(places)) + 1, dtype="<i8")
    found[places] = counts
    return found.tobytes()


def read_counts(written: bytes) -> NDArray[np.int64]:
    """Return the counts that `written_counts` wrote."""
    return np.frombuffer(written, dtype="<i8")


def added_counts(one: bytes, other: bytes) -> bytes:
    """Return the sum of two blocks of counts, as `written_counts` would write it."""
    fewer, more = sorted((read_counts(one), read_counts(other)), key=len)
    more = more.copy()
    more[: len(fewer)] += fewer
    return more.tobytes()


class _Counts:
    """`written_counts` of the rows of a block."""

    def __init__(self) -> None:
        self._counts = Counter[int]()

    def step(self, place: int, n: int) -> None:
        self._counts[place] += n

    def finalize(self) -> bytes:
        return written_counts(list(self._counts), list(self._counts.values()))


class _Answered:
    """`answered_as` of the rows of one respondent."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def step(self, terms: str, submissions: int) -> None:
        self._times[terms] = submissions

    def finalize(self) -> str:
        return answered_as(self._times)


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
