"""Databases of every released schema are upgraded to the newest, and keep their content.

`schemas/N.sql` is a database as the release with schema N left it: 25 reports of one survey.
"""

import multiprocessing
import os
import signal
import sqlite3
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from limits import LONG

from analysis.estimate.plausibility import sizes_of
from server.store import Store, StoreError
from server.store.blocks import BLOCK
from server.store.file import File
from server.store.schema import MIGRATIONS, SCHEMA_VERSION, statements

FOLDER = Path(__file__).parent / "schemas"
SCHEMAS = sorted(FOLDER.glob("[0-9].sql"))


def _restored(dump: Path, database: Path) -> Path:
    connection = sqlite3.connect(database)
    connection.executescript(dump.read_text())
    connection.close()
    return database


def _rows(database: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(database)
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def _version(database: Path) -> int:
    connection = sqlite3.connect(database)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(version)


def test_every_released_schema_has_a_dump() -> None:
    assert [int(path.stem) for path in SCHEMAS] == list(range(1, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("dump", SCHEMAS, ids=lambda path: path.stem)
def test_a_database_of_a_released_schema_is_brought_up_and_keeps_what_it_has(
    dump: Path, tmp_path: Path
) -> None:
    store = Store(_restored(dump, tmp_path / "old.db"), upgrade=True)
    survey = store.surveys.current("canteen")
    assert survey is not None
    assert len(list(chain(*store.reports.payloads(survey.survey, 1)))) == 25
    assert sum(spend.submissions for spend in store.ledger.spends("canteen")) == 25
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
    assert store.database.integrity() == "ok"
    fresh = Store(tmp_path / "new.db", create=True)
    assert {name: sql for name, (sql, _) in store.database.tables().items()} == {
        name: sql for name, (sql, _) in fresh.database.tables().items()
    }
    for sql, _ in store.database.tables().values():
        assert sql.endswith("WITHOUT ROWID")
    store.close()
    assert _version(tmp_path / "old.db") == SCHEMA_VERSION


def test_charges_of_versions_and_waves_are_added_up_by_terms(tmp_path: Path) -> None:
    # Six respondents answered in each of two waves, with a corrected typo between them, and four of
    # them in a third one, under a lower cap. Two of three questions have a memory.
    database = _restored(FOLDER / "2-panel.sql", tmp_path / "panel.db")
    before = {
        who: (times, charged)
        for who, times, charged in _rows(
            database,
            "SELECT lower(hex(respondent)), sum(submissions), sum(charged) FROM ledger GROUP BY 1",
        )
    }
    assert sorted(times for times, _ in before.values()) == [2, 2, 3, 3, 3, 3]
    versions = {version.encode() for (version,) in _rows(database, "SELECT version FROM survey")}
    store = Store(database, upgrade=True)
    after: dict[str, tuple[int, int]] = {}
    for spend in store.ledger.spends("panel"):
        times, charged = after.get(spend.respondent, (0, 0))
        after[spend.respondent] = times + spend.submissions, charged + spend.charged
    assert after == before
    assert sorted(store.ledger.respondents("panel").values()) == [4, 6]
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
    store.database.rewrite()
    store.close()
    # The versions are only in reports, tallies and surveys: once in each of their rows.
    content = database.read_bytes()
    for version in versions:
        rows = sum(
            n for table in ("report", "tally", "report_size", "cell", "snapshot") for (n,) in _rows(
                database, f"SELECT count(*) FROM {table} WHERE version = '{version.decode()}'"
            )
        )  # fmt: skip
        assert content.count(version) == rows + 1


def test_counts_are_migrated_into_the_blocks_that_are_read() -> None:
    # A released migration is never changed, so its number is written out.
    assert f"symbol / {BLOCK}" in MIGRATIONS[3]
    assert f"symbol % {BLOCK}" in MIGRATIONS[3]
    assert f"value / {BLOCK}" in MIGRATIONS[3]


def test_running_totals_are_counted_from_what_is_stored(tmp_path: Path) -> None:
    # Nine respondents answered the first wave and five of them a second; both questions are bits.
    database = _restored(FOLDER / "3-bits.sql", tmp_path / "bits.db")
    store = Store(database, upgrade=True)
    current = store.surveys.current("panel")
    assert current is not None
    terms = current.survey.terms
    alike = {one.times: one.respondents for one in store.ledger.grouped_accounts("panel")}
    assert alike == {((terms, 1),): 4, ((terms, 2),): 5}
    for wave, n in ((1, 9), (2, 5)):
        sent = chain(*store.reports.payloads(current.survey, wave))
        counted = sizes_of(current.survey, sent)
        kept = store.reports.sizes(current.survey, wave)
        assert {name: one.tolist() for name, one in kept.items()} == {
            name: one.tolist() for name, one in counted.items()
        }
        assert {int(one.sum()) for one in kept.values()} == {n}
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE respondent_total SET respondents = respondents + 1", "totals are not a recount"),
        ("DELETE FROM respondent_total WHERE respondents = 4", "totals are not a recount"),
        (
            "UPDATE report_size SET counts = zeroblob(8) WHERE question = 'team'",
            "the sizes of team",
        ),
        ("UPDATE tally SET counts = zeroblob(8) WHERE question = 'team'", "the tally of team"),
        ("DELETE FROM report_size WHERE wave = 2", "the sizes of seen"),
    ],
)
def test_running_totals_that_were_changed_are_found(damage: str, told: str, tmp_path: Path) -> None:
    database = _restored(FOLDER / "3-bits.sql", tmp_path / "bits.db")
    Store(database, upgrade=True).close()
    with sqlite3.connect(database) as connection:
        connection.execute(damage)
    connection.close()
    assert told in " ".join(Store(database).upkeep.discrepancies(date(2026, 1, 1)))


def test_a_survey_that_was_tampered_with_is_not_migrated(tmp_path: Path) -> None:
    database = _restored(SCHEMAS[1], tmp_path / "old.db")
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE survey SET spec = replace(spec, 'Roast', 'Toast')")
    connection.close()
    before = _rows(database, "SELECT * FROM ledger")
    with pytest.raises(StoreError, match="a survey that differs from its version"):
        Store(database, upgrade=True)
    assert _version(database) == 2
    assert _rows(database, "SELECT * FROM ledger") == before


def test_a_new_database_has_the_newest_schema(tmp_path: Path) -> None:
    kept = Store(_restored(SCHEMAS[-1], tmp_path / "kept.db")).database.tables()
    new = Store(tmp_path / "new.db", create=True).database.tables()
    assert {name: sql for name, (sql, _) in kept.items()} == {
        name: sql for name, (sql, _) in new.items()
    }


def test_a_database_of_a_later_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    database = _restored(SCHEMAS[-1], tmp_path / "later.db")
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="written by a later release"):
        Store(database)
    assert _version(database) == SCHEMA_VERSION + 1


def _killed_after(database: Path, steps: int) -> None:
    """Migrate as the store does, but lose the connection after some statements."""

    class Killed(File):
        def _migrate(self) -> None:
            with self.writing() as connection:
                for statement in statements(1, 2)[:steps]:
                    connection.execute(statement)
                os.kill(os.getpid(), signal.SIGKILL)

    Killed(database, upgrade=True)


@pytest.mark.more
@pytest.mark.parametrize("steps", [1, 3, len(statements(1, 2))])
def test_a_failure_while_migrating_leaves_the_old_schema(steps: int, tmp_path: Path) -> None:
    database = _restored(SCHEMAS[0], tmp_path / "old.db")
    process = multiprocessing.get_context("spawn").Process(
        target=_killed_after, args=(database, steps)
    )
    process.start()
    process.join(LONG)
    assert process.exitcode == -signal.SIGKILL
    assert _version(database) == 1
    store = Store(database, upgrade=True)
    assert store.database.integrity() == "ok"
    assert list(store.upkeep.discrepancies(date(2026, 1, 1))) == []
