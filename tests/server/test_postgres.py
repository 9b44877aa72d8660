"""Addresses of PostgreSQL databases, and what commands do with such a database."""

import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import astuple
from functools import partial
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from command_line import run

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from server.clock import today
from server.deliver import to_store
from server.intake.invitations import ISSUER
from server.intake.requests import check
from server.store import Place, Store, StoreBusy, StoreError
from server.store.locks import serving
from server.store.places import Address, place_of
from server.store.postgres.database import Postgres
from server.store.postgres.session import Session, in_dialect, told
from server.stored_tally import collector_of

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from limits import LONG, MOMENT, wait_until
from load import invited, submissions

ANSWERS = [{"meat": "yes" if row % 3 else "no", "dish": "stew", "price": "3"} for row in range(130)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("postgresql://ada:pa%40ss@db.example.org:5433/study", "ada@db.example.org:5433/study"),
        ("postgres://db.example.org/study", "db.example.org/study"),
        ("postgresql://ada@/study?host=/run/x&password=secret", "ada@/study?host=/run/x"),
        ("postgresql://ada@/study?host=/run/x&PASSWORD=secret", "ada@/study?host=/run/x"),
    ],
)
def test_no_message_names_a_password(text: str, name: str) -> None:
    place = place_of(text)
    assert str(place) == f"postgresql://{name}"
    assert "secret" not in repr(place)
    assert "pa%40ss" not in repr(place)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql:/db/secret",
        "postgresql://ada:se/cret@db/study",
        "postgresql://ada:secret@db",
        "postgresql://ada:se#cret@db/study",
        "postgresql://ada:secret@db/study/more",
        "postgresql://ada:se?cret@db/study",
        "postgresql://ada:se@cret@db/study",
        "postgresql://ada:se[x]cret@db/study",
        "postgresql://ada:se\u2100cret@db/study",
        "postgresql+psycopg://ada:secret@db/study",
        "POSTGRESQL://ada:secret@db/study",
        "host=db password=secret",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(text: str) -> None:
    told = run("log", "--db", text)
    assert told.exit_code == 2
    assert told.stderr.startswith("Error: the address of the database: expected postgresql://USER@")
    assert "cret" not in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_missing_package_is_named_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.places.find_spec", lambda _: None)
    told = run("log", "--db", "postgresql://ada:secret@localhost/study")
    assert (told.exit_code, told.stderr) == (
        2,
        "Error: a PostgreSQL database needs psycopg: pip install 'deniable[postgres]'\n",
    )


def test_a_database_that_cannot_be_reached_is_named_in_a_line() -> None:
    told = run("log", "--db", "postgresql://ada:secret@127.0.0.1:1/study")
    assert told.exit_code == 1
    assert told.stderr.startswith("Error: postgresql://ada@127.0.0.1:1/study: cannot be used now: ")
    assert told.stderr.count("\n") == 1
    assert "secret" not in told.stderr


def test_places_of_sqlite_become_those_of_postgresql() -> None:
    assert in_dialect("a = ? AND b = ?1 AND c = ?3 AND d = ?") == (
        b"a = $1 AND b = $1 AND c = $3 AND d = $4"
    )


@pytest.mark.parametrize("state", ["53100", "53300", "57P01", "57P03", "08006", "55P03"])
def test_temporary_errors_ask_to_try_again(state: str) -> None:
    with pytest.raises(StoreBusy, match="cannot be used now"), told("here"):
        raise psycopg.errors.lookup(state)("no room")


@pytest.fixture
def other(request: pytest.FixtureRequest) -> Address:
    """Return another new database."""
    address: Address = request.getfixturevalue("cluster").new()
    return address


over_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@pytest.fixture
def filled(store: Store, survey: Survey) -> Iterator[Store]:
    """Return a store with reports, a researcher's session, invitations, and a log."""
    to_store(store, survey.id, payloads(survey, ANSWERS, 1, 5), lambda _: None)
    store.access.add_token("let me in")
    store.log.add("2026-01-01T00:00:00Z", "ada", "view", "canteen")
    store.invitations.add(survey.id, 1, [ISSUER.key(ISSUER.issue()) for _ in range(3)])
    yield store
    store.close()


def _held(place: Place, survey: Survey) -> dict[str, object]:
    """Return everything that must be equal in copies."""
    store = Store(place)
    assert list(store.upkeep.discrepancies(today())) == []
    assert store.log.is_whole()
    tallies = store.reports.tallies(survey, 1)
    rows = {name: n for name, (_, n) in store.database.tables().items()}
    for own in ("deniable", "settled", "session", "research_token", "log"):
        rows.pop(own, None)
    held: dict[str, object] = {
        "tallies": {name: counts.tolist() for name, counts in tallies.items()},
        "spends": sorted(map(astuple, store.ledger.spends(survey.id))),
        "cells": store.surveys.cells(survey.id),
        "reports": [one for some in store.reports.payloads(survey, 1, True) for one in some],
        "rows": rows,
    }
    store.close()
    return held


def _no_new_id(what: str, subject: str) -> None:
    raise AssertionError("the database has no id yet")


@pytest.mark.more
def test_a_copy_goes_to_postgresql_and_back_with_equal_tallies(
    filled: Store, database: Path, survey: Survey, other: Address, tmp_path: Path
) -> None:
    before = _held(database, survey)
    told = run("copy", database, other.text)
    assert told.exit_code == 0, told.stderr
    assert "copied, with 130 reports" in told.stderr
    assert _held(other, survey) == before
    assert not Store(other).access.knows_token("let me in")
    assert run("copy", other.text, tmp_path / "back.db").exit_code == 0
    ids = {collector_of(Store(place), _no_new_id) for place in (database, other)}
    assert len(ids) == 1  # so that their tallies are never merged
    assert _held(tmp_path / "back.db", survey) == before
    for source, target in ((database, other.text), (other.text, database)):
        again = run("copy", source, target)
        assert (again.exit_code, again.stderr.count("\n")) == (1, 1)
        assert "expected a new database" in again.stderr
    # Both are sound, and a collector can go on in either.
    for place in (other, tmp_path / "back.db"):
        assert run("audit", "--quiet", "--db", str(place)).exit_code == 0


@pytest.mark.more
def test_a_database_that_is_served_is_not_copied(
    filled: Store, database: Path, other: Address, tmp_path: Path
) -> None:
    with serving(database):
        told = run("copy", database, other.text)
    assert (told.exit_code, "no server runs on" in told.stderr) == (1, True)
    assert not other.exists()
    assert run("copy", database, other.text).exit_code == 0
    with Store(other).database.served() as alone:
        assert alone
        with Store(other).database.served() as alone:
            assert not alone
        for words in (("copy", other.text, tmp_path / "x.db"), ("migrate", "--db", other.text)):
            told = run(*words)
            assert (told.exit_code, "no server runs on" in told.stderr) == (1, True)
    assert run("migrate", "--db", other.text).exit_code == 0


@pytest.mark.more
def test_a_copy_that_fails_midway_leaves_nothing(
    filled: Store, database: Path, other: Address
) -> None:
    filled.close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE study SET state = 'a' || char(0)")
        connection.execute("INSERT INTO study VALUES ('x', NULL, 'a' || char(0), NULL, NULL, 0)")
        connection.commit()
    told = run("copy", database, other.text)
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    assert not other.exists()


@pytest.mark.more
@over_postgresql
def test_backup_and_restore_take_either_kind(
    filled: Store, database: Address, survey: Survey, other: Address, tmp_path: Path
) -> None:
    before = _held(database, survey)
    made = run("backup", tmp_path / "copy.db", "--db", database.text)
    assert made.exit_code == 0, made.stderr
    assert run("audit", "--quiet", "--db", tmp_path / "copy.db").exit_code == 0
    for target in (tmp_path / "new.db", other):
        text = target.text if isinstance(target, Address) else str(target)
        restored = run("restore", tmp_path / "copy.db", "--keep-open", "--db", text)
        assert restored.exit_code == 0, restored.stderr
        assert _held(target, survey) == before
        assert run("restore", tmp_path / "copy.db", "--db", text).exit_code == 1


@pytest.mark.more
@over_postgresql
@pytest.mark.parametrize(
    "planted",
    [
        "ALTER TABLE report ADD COLUMN at timestamptz DEFAULT now()",
        "CREATE TABLE seen (rid bytea)",
        "CREATE INDEX by_payload ON report (payload)",
        "CREATE VIEW pairs AS SELECT rid, respondent FROM report, ledger",
        "DROP TRIGGER log_is_not_changed ON log",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "UPDATE ledger SET charged = charged + 1",
        "ALTER TABLE report SET UNLOGGED",
    ],
)
def test_an_audit_finds_planted_changes(filled: Store, database: Address, planted: str) -> None:
    assert run("audit", "--quiet", "--db", database.text).exit_code == 0
    filled.database.connection.execute(planted)
    told = run("audit", "--quiet", "--db", database.text)
    assert told.exit_code == 1
    assert told.stderr.startswith("not as it should be: ")


@pytest.mark.more
@over_postgresql
def test_a_reader_that_stands_still_keeps_no_table_from_being_written_anew(
    filled: Store, database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(filled.database, Postgres)
    monkeypatch.setattr(Postgres, "STANDSTILL", 0.5)
    reader = Store(database).database

    def read() -> None:
        with reader.reading(["report"]):
            wait_until(filled.database.rewrite, MOMENT)
            reader.query("SELECT count(*) FROM report")

    with pytest.raises(StoreBusy):
        read()
    assert filled.database.is_settled()


@pytest.mark.more
@over_postgresql
def test_a_lost_connection_is_made_anew(filled: Store, survey: Survey, database: Address) -> None:
    end = "SELECT pg_terminate_backend(?)"
    session = filled.database.connection
    assert isinstance(session, Session)
    Session(database).execute(end, (session.raw.info.backend_pid,))
    assert filled.reports.kept(survey.id, 1) == len(ANSWERS)  # read again
    session = filled.database.connection
    assert isinstance(session, Session)
    Session(database).execute(end, (session.raw.info.backend_pid,))
    filled.log.add("2026-01-02T00:00:00Z", "ada", "view", "canteen")  # nothing was asked meanwhile

    # Within a transaction nothing may be stored then.
    def interrupted() -> None:
        with filled.database.writing() as connection:
            connection.execute("DELETE FROM report")
            assert isinstance(connection, Session)
            Session(database).execute(end, (connection.raw.info.backend_pid,))
            with suppress(StoreBusy):
                connection.execute("SELECT 1")
            filled.log.entries()  # as if nobody had noticed

    with pytest.raises(StoreBusy):
        interrupted()
    assert filled.reports.kept(survey.id, 1) == len(ANSWERS)
    assert len(list(filled.log.entries())) == 2


@pytest.mark.more
@over_postgresql
def test_tables_of_others_and_later_releases_are_refused(
    database: Address, other: Address, survey: Survey
) -> None:
    with pytest.raises(StoreError, match="has no tables of deniable"):
        Store(database)
    Session(other).execute("CREATE TABLE things (id int)")
    with pytest.raises(StoreError, match="expected a database or schema without tables"):
        Store(other, create=True)
    Store(database, create=True)
    assert isinstance(Store(database).database, Postgres)
    Session(database).execute("UPDATE deniable SET schema = schema + 1")
    with pytest.raises(StoreError, match="it was written by another release"):
        Store(database)


@pytest.mark.more
@over_postgresql
def test_a_batch_reads_few_rows_however_many_are_stored(
    database: Address, read: Callable[[str], Survey], survey_text: str
) -> None:
    survey = read(survey_text.replace('id = "canteen"', 'id = "canteen"\naccess = "invited"', 1))
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    tokens = [ISSUER.issue() for _ in range(520)]
    store.invitations.add(survey.id, 1, map(ISSUER.key, tokens))
    sent = [check(store, survey.id, body) for body in invited(survey, tokens)]
    # The first batches find small tables, for which the server makes the plans that it keeps.
    for batch in [sent[number : number + 10] for number in range(0, 500, 10)]:
        assert store.add(batch, today()) == [201] * len(batch)

    def fetched() -> Counter[str]:
        rows = store.database.query(
            "SELECT relname, seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables "
            "WHERE relname = ANY(?)",
            ["report", "ledger", "invitation"],
        )
        return Counter(dict(rows))

    waiting = [sent[490:500], sent[500:510]]
    with store.batches.transaction(waiting.pop) as batch:
        before = fetched()
        known = store.batches.read(batch)
        seen = fetched() - before
    assert (len(known.reports), len(known.spent), len(known.unused)) == (10, 10, 10)
    # Used invitations are read, too.
    assert seen == {"report": 10, "ledger": 10, "invitation": 20}
    store.close()


@pytest.mark.more
@over_postgresql
def test_reports_that_come_while_others_write_join_the_batch(
    store: Store, database: Address, read: Callable[[str], Survey], survey_text: str, survey: Survey
) -> None:
    second = read(survey_text.replace('"canteen"', '"second"', 1))
    store.surveys.publish(second)
    store.surveys.open_wave(second.id)
    first, later = ([body for _, body in islice(submissions(one), 3)] for one in (survey, second))
    came = [[check(store, survey.id, first[0])], [check(store, survey.id, first[1])]]
    asked = partial(next, iter(came), ())
    other = Store(database).database
    with ThreadPoolExecutor(1) as pool:
        # While another transaction writes to the same survey, the batch waits, and grows.
        with other.taking_in():
            other.take_turns({survey.id})
            stored = pool.submit(store.add_waiting, asked, today())
            assert not wait([stored], 0.3).done
        assert stored.result(LONG) == [201, 201]
        # Nobody waits for a second survey while holding the turn of the first: the transaction
        # restarts.
        more = iter([[check(store, survey.id, first[2])], [check(store, second.id, later[0])]])
        with other.taking_in():
            other.take_turns({second.id})
            stored = pool.submit(store.add_waiting, partial(next, more, ()), today())
            assert not wait([stored], 0.3).done
        assert stored.result(LONG) == [201, 201]
    assert (store.reports.kept(survey.id, 1), store.reports.kept(second.id, 1)) == (3, 1)
    assert list(store.upkeep.discrepancies(today())) == []


@pytest.mark.more
@over_postgresql
def test_values_in_the_words_of_postgresql_are_not_logged(
    database: Address, caplog: pytest.LogCaptureFixture
) -> None:
    session = Session(database)
    session.execute("CREATE TABLE one (name text PRIMARY KEY)")

    def interrupted() -> None:
        with session.sending():
            for _ in range(2):
                session.execute("INSERT INTO one VALUES (?)", ("pseudonym",))
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert caplog.text == ""
