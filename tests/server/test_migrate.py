"""Only `deniable migrate` changes a database of an earlier release, never under a server."""

import fcntl
import hashlib
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import run

from server.store import Store, StoreBusy, StoreError
from server.store.file import File
from server.store.schema import SCHEMA_VERSION

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from load import Server

DUMP = Path(__file__).parent / "schemas/2.sql"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a database of schema 2, with what a killed server left in its write-ahead log."""
    database = tmp_path / "old.db"
    connection = sqlite3.connect(database)
    connection.executescript(DUMP.read_text())
    connection.close()
    return database


@contextmanager
def _running(database: Path) -> Iterator[sqlite3.Connection]:
    """Act like a server of the release with schema 2: hold a shared lock, and write."""
    with open(f"{database}.served", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        connection = sqlite3.connect(database, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE tally SET cohort = cohort")
        yield connection
        connection.execute(
            "INSERT INTO ledger SELECT survey, zeroblob(16), version, 2, 1, 4000000 FROM ledger "
            "LIMIT 1"
        )
        connection.close()


def _hashes(database: Path) -> dict[str, str]:
    files = [database, *(Path(f"{database}{end}") for end in ("-wal",))]
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


COMMANDS = [
    ("estimate", "canteen"),
    ("ledger", "canteen"),
    ("export", "canteen"),
    ("audit",),
    ("close", "canteen"),
    ("open", "canteen"),
    ("log",),
    ("backup", "copy.db"),
    ("serve", "--port", "0"),
    ("researcher", "list"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_command_of_this_release_leaves_an_old_server_its_database(
    old: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with _running(old):
        before = _hashes(old)
        told = run(*command, "--db", old)
        assert (told.exit_code, told.stdout) == (1, "")
        assert told.stderr.count("\n") == 1
        assert f"got one of schema 2, of an earlier release: stop the server, then run deniable " \
            f"migrate --db {old}" in told.stderr  # fmt: skip
        assert _hashes(old) == before
        # The old server goes on writing when this ends.
    connection = sqlite3.connect(old)
    assert connection.execute("SELECT count(*) FROM ledger WHERE wave = 2").fetchone() == (1,)
    connection.close()


def test_the_log_of_a_killed_server_is_not_touched_either(old: Path, tmp_path: Path) -> None:
    with _running(old) as connection:
        connection.execute("INSERT INTO wave VALUES ('canteen', 7, 'closed')")
        files = {one: one.read_bytes() for one in tmp_path.iterdir()}
    for one, content in files.items():
        one.write_bytes(content)  # as if it had been killed
    before = _hashes(old)
    assert run("estimate", "canteen", "--db", old).exit_code == 1
    assert _hashes(old) == before
    assert run("migrate", "--db", old).exit_code == 0
    assert Store(old).surveys.waves("canteen") == {1: "open", 7: "closed"}


def test_a_database_that_is_served_is_not_migrated(old: Path) -> None:
    with _running(old):
        before = _hashes(old)
        told = run("migrate", "--db", old)
        assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
        assert "expected a database that no server runs on, got one that is served" in told.stderr
        assert _hashes(old) == before


def test_migrating_backs_up_first_and_says_what_it_did(old: Path, tmp_path: Path) -> None:
    told = run("migrate", "--db", old)
    assert told.exit_code == 0, told.stderr
    backup = tmp_path / "old.db.schema-2.backup"
    assert f"brought from schema 2 to {SCHEMA_VERSION}, and written anew" in told.stderr
    assert str(backup) in told.stderr
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    kept = sqlite3.connect(backup)
    assert kept.execute("PRAGMA user_version").fetchone() == (2,)
    assert kept.execute("SELECT count(*) FROM ledger").fetchone() == (25,)
    kept.close()
    # The database goes back to the old schema, and is migrated again.
    assert run("restore", backup, "--db", tmp_path / "again.db").exit_code == 0
    assert run("audit", "--db", old, "--backup", backup).exit_code == 0
    assert run("estimate", "canteen", "--db", old).exit_code == 0
    assert [entry.what for entry in Store(old).log.entries()][-1] == "migrate"
    again = run("migrate", "--db", old)
    assert (again.exit_code, "nothing to do" in again.stderr) == (0, True)


def test_the_backup_stays_if_the_migrated_file_cannot_be_written_anew(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: File) -> bool:
        raise StoreBusy("old.db: cannot be written now: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(File, "rewrite", full)
        told = run("migrate", "--db", old)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert f"is of schema {SCHEMA_VERSION} now, but was not written anew" in told.stderr
    kept = sqlite3.connect(tmp_path / "old.db.schema-2.backup")
    assert kept.execute("PRAGMA user_version").fetchone() == (2,)
    kept.close()
    assert run("migrate", "--db", old).exit_code == 0
    assert run("audit", "--db", old).exit_code == 0


def test_an_existing_backup_is_not_overwritten(old: Path, tmp_path: Path) -> None:
    backup = tmp_path / "old.db.schema-2.backup"
    backup.write_text("precious")
    before = old.read_bytes()
    told = run("migrate", "--db", old)
    assert told.exit_code == 1
    assert "move it away, then run deniable migrate again" in told.stderr
    assert (backup.read_text(), old.read_bytes()) == ("precious", before)


@pytest.mark.parametrize("content", [b"", b"text" * 100], ids=["empty", "text"])
def test_other_databases_are_not_migrated(content: bytes, tmp_path: Path) -> None:
    database = tmp_path / "other.db"
    database.write_bytes(content)
    told = run("migrate", "--db", database)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert database.read_bytes() == content
    assert run("migrate", "--db", tmp_path / "none.db").exit_code == 1


def test_a_second_server_on_the_same_file_is_refused_in_one_line(
    survey_file: Path, tmp_path: Path
) -> None:
    database = tmp_path / "x.db"
    with Server(database, survey_file, "--workers", 1) as server:
        told = run("serve", survey_file, "--wave", 7, "--port", 0, "--db", database)
        assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (1, "", 1)
        assert "expected a database that no server runs on, got one that is served" in told.stderr
        assert Store(database).surveys.waves("canteen") == {1: "open"}
        # Other commands still work.
        assert run("open", "canteen", "--wave", 2, "--db", database).exit_code == 0
        assert server.process.poll() is None


def test_lock_files_are_for_their_owner_alone(survey_file: Path, tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    left = tmp_path / "x.db.lock"
    left.write_text("")
    left.chmod(0o644)  # of an earlier release
    assert run("publish", survey_file, "--db", database).exit_code == 0
    store = Store(database)
    assert not store.database.is_served()
    with store.database.served():
        assert store.database.is_served()
        with (
            pytest.raises(StoreError, match="that no server runs on"),
            Store(database).database.served(),
        ):
            pass
    for name in ("x.db", "x.db.lock", "x.db.served"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name
