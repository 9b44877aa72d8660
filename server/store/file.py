"""The database file: its connections, its lock, its transactions, and what they leave behind."""

import fcntl
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from server.store import database, locks
from server.store.database import Database, Setting
from server.store.disk import touch_private
from server.store.errors import StoreBusy, StoreError, passes
from server.store.locks import private, server_lock, serving, take
from server.store.schema import APPLICATION_ID, SCHEMA_VERSION, added_counts, statements

#: A row for each respondent, since SQLite adds up faster than Python.
ACCOUNTS = (
    "SELECT lower(hex(respondent)), json_group_array(json_array(lower(hex(terms)), submissions)), "
    "sum(charged) FROM ledger WHERE survey = ? GROUP BY respondent ORDER BY respondent"
)

#: The most bytes of a file that is written anew whenever reports pause: some 5,000 reports to ten
#: questions. That takes less than 0.1 s, while 37 MiB take 1.2 s, and reports wait meanwhile.
SMALL = 2 * 1024 * 1024


#: The files that this process has had a connection to, by device and inode. Nothing but SQLite may
#: open these: POSIX drops all locks that a process has on a file as soon as it closes any
#: descriptor of it. Without its locks this process seems gone: the next process that closes its
#: last connection deletes the write-ahead log, to which this one would go on writing.
_CONNECTED: set[tuple[int, int]] = set()
#: Held while that set changes, and while a file that is not in it is open.
_CONNECTING = threading.Lock()


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


class File(Database):
    """One SQLite file.

    Parameters
    ----------
    path : Path
        The database file.
    create : bool
        Whether to make it if it is missing.
    upgrade : bool
        Whether to bring the database of an earlier release to this one's schema. Only `migrate`
        does this, and readers of copies: a server of that release may be running on the file.

    Raises
    ------
    StoreError
        If the file is missing, is no database of ours, or is of another release. Then nothing was
        written.
    """

    #: Seconds that SQLite waits for a lock other than the file lock, such as that of a checkpoint.
    PATIENCE: ClassVar[float] = 30

    path: Path

    def __init__(self, path: Path, create: bool = False, upgrade: bool = False) -> None:
        # One name for the file and its lock, and never one that means something else to SQLite.
        self.path = self.place = path.resolve()
        self.name, self.stem = str(self.path), self.path.stem
        self.address = str(path.absolute())
        if not create and not path.is_file():
            raise StoreError(
                f"{path}: no such database; publish a survey first, or `deniable serve --new`"
            )
        self._local = threading.local()
        try:
            if create:
                touch_private(path)
            version = SCHEMA_VERSION if upgrade else _schema_in_header(self.path)
            if 0 < version < SCHEMA_VERSION:
                raise _earlier(path, version)
            (tables,) = self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            empty = not tables
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
            (kind,) = self.connection.execute("PRAGMA application_id").fetchone()
            if empty and not create:
                raise StoreError(f"{path}: has nothing in it")
            if not empty and kind != APPLICATION_ID:
                raise StoreError(f"{path}: is a database of another program")
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{path}: expected a schema up to {SCHEMA_VERSION}, got {version}: "
                    "it was written by a later release of deniable"
                )
            if not empty and not upgrade and version < SCHEMA_VERSION:
                raise _earlier(path, version)
            if version < SCHEMA_VERSION:
                self._migrate()
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path}: cannot be used as a database: {error}") from None

    def _migrate(self) -> None:
        """Upgrade the schema in one transaction: a power failure leaves the old one or the new."""
        # Imported here: it computes prices and sizes, for which it needs numpy and all of analysis.
        from server.store.upgrade import prepare

        with self.writing() as connection:
            prepare(connection)
            # Read again: another process may have been faster.
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            for statement in statements(version):
                try:
                    connection.execute(statement)
                except sqlite3.OperationalError as error:
                    if "user-defined function" not in str(error):
                        raise
                    raise StoreError(
                        f"{self.path}: expected surveys and reports as they were stored, got a "
                        "survey that differs from its version, or a damaged report"
                    ) from None
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with _CONNECTING:
                _CONNECTED.add(_inode(self.path))
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=self.PATIENCE)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.create_function("added_counts", 2, added_counts, deterministic=True)
            self._local.connection = connection
        return connection

    def among(
        self, sql: str, where: tuple[str | int, ...], keys: Sequence[bytes]
    ) -> sqlite3.Cursor:
        """Return the rows of a query that ends in IN, for these keys."""
        places = ",".join("?" * len(keys))
        return self.connection.execute(f"{sql} ({places})", (*where, *keys))

    def stream(self, sql: str, *values: object) -> Iterator[list[Any]]:
        """Yield the rows of a query, a few thousand at a time."""
        rows = self.connection.execute(sql, values)
        while batch := rows.fetchmany(database.AT_ONCE):
            yield batch

    @contextmanager
    def locked(self, endless: bool = False) -> Iterator[sqlite3.Connection]:
        """Hold the file lock, for which writers queue across threads and processes.

        SQLite's own waiting sleeps and retries, which starves some of them for a second under load.

        Raises
        ------
        StoreBusy
            If the disk is full, or others have the lock for long, unless the wait is `endless`.
        """
        try:
            with private(self.path.with_name(f"{self.path.name}.lock")) as lock:
                if endless:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                elif not take(lock, self.LOCK_PATIENCE):
                    raise StoreBusy(f"{self.path}: another process has been writing for too long")
                yield self.connection
        except (sqlite3.Error, OSError) as error:
            if passes(error):
                raise StoreBusy(f"{self.path}: cannot be written now: {error}") from error
            raise

    @contextmanager
    def reading(self, tables: Sequence[str]) -> Iterator[None]:
        """Let this thread's queries see all rows as they are at one moment, and write nothing."""
        connection = self.connection
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")  # whose moment is that of the first query
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("PRAGMA query_only = OFF")

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run a transaction, which is stored completely or not at all, and alone."""
        return self._transaction()

    def taking_in(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run a transaction that adds reports, which waits for other writers without end."""
        return self._transaction(endless=True)

    @contextmanager
    def _transaction(self, endless: bool = False) -> Iterator[sqlite3.Connection]:
        with self.locked(endless) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")  # which fails if the disk is full
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def take_turns(self, surveys: Iterable[str]) -> None:
        """Do nothing: one transaction runs at a time."""

    def add_counts(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add blocks of counts to those of a table, by a function that SQLite calls."""
        self.connection.executemany(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET counts = added_counts(counts, excluded.counts)",
            rows,
        )

    def accounts(self, survey_id: str) -> Iterator[tuple[str, str, int]]:
        """Yield each pseudonym, its terms with how often, and what it was charged in all."""
        return iter(self.connection.execute(ACCOUNTS, (survey_id,)))

    @contextmanager
    def served(self) -> Iterator[bool]:
        """Hold the lock of this file's server; raise StoreError if another server has it."""
        with serving(self.path):
            yield True

    def unserved(self) -> AbstractContextManager[None]:
        """Keep servers away; StoreError if one runs on it."""
        return serving(self.path)

    def is_served(self) -> bool:
        """Return whether a server runs on this database."""
        return locks.is_served(self.path)

    def doing_work(self) -> AbstractContextManager[bool]:
        """Hold the lock of the one process that does the long work; yield whether it is held."""
        return locks.doing_work(self.path)

    def is_working(self) -> bool:
        """Return whether a process does the long work."""
        return locks.is_working(self.path)

    def beat(self) -> None:
        """Record as the lock file's time that the server has just deleted all that was due.

        No respondent changes that time.
        """
        os.utime(server_lock(self.path))

    def silence(self) -> float:
        """Return the seconds since the last `beat`."""
        return max(0.0, time.time() - server_lock(self.path).stat().st_mtime)

    def is_small(self) -> bool:
        """Return whether the file can be written anew while reports come, without delaying them."""
        return self.path.stat().st_size <= SMALL

    def is_settled(self) -> bool:
        """Return whether the write-ahead log is empty."""
        return not self.wal_size()

    def trace(self) -> tuple[str, str]:
        """Return what shows the order of the latest writes: the write-ahead log."""
        order = "which show the order of the latest writes; the log is emptied a second later"
        return "write-ahead log", f"{self.wal_size()} bytes, {order}"

    def free(self) -> int:
        """Return the free bytes of the file's disk."""
        return shutil.disk_usage(self.path.parent).free

    def settings(self) -> list[Setting]:
        """Return nothing: SQLite is part of this program."""
        return []

    def wal_size(self) -> int:
        """Return the bytes of the write-ahead log, which has the order of the latest writes."""
        wal = Path(f"{self.path}-wal")
        return wal.stat().st_size if wal.exists() else 0

    # The next methods import `inspection` late: it needs sqlite_utils, which imports pandas.

    def tables(self) -> dict[str, tuple[str, int]]:
        """Return for each table the statement that made it, and how many rows it has."""
        from server.store import inspection

        return inspection.tables(self.connection)

    def other_objects(self) -> dict[str, str]:
        """Return the statements that made triggers, views and indexes, by name."""
        from server.store import inspection

        return inspection.other_objects(self.connection)

    def expected(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the statements of this release's tables, and of its other objects."""
        from server.store import inspection

        with closing(inspection.empty_database()) as empty:
            tables = {name: sql for name, (sql, _) in inspection.tables(empty).items()}
            return tables, inspection.other_objects(empty)

    def integrity(self) -> str:
        """Return what SQLite says of the file: "ok", or the first thing wrong."""
        from server.store import inspection

        return inspection.integrity(self.connection)

    def write_copy(self, place: str) -> None:
        """Write all rows into an empty database; the copy has no free pages."""
        source = f"{self.path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(source, uri=True, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (place,))

    def tidy(self) -> None:
        """Truncate the write-ahead log, if nobody reads from it any more."""
        self.settle()

    def settle(self) -> bool:
        """Truncate the write-ahead log, which has the order of the latest writes.

        Return whether it is empty now; it is not while another connection reads from it.
        """
        with self.locked() as connection:
            # Waiting for a reader here, with the lock, would keep all writers waiting.
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy:
                    # SQLite's index of that log still lists the order in which pages were written,
                    # until the next write begins it anew. This write does so, and says nothing.
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(self.PATIENCE * 1000)}")
        return not busy

    def rewrite(self) -> bool:
        """Write the whole file anew, rows in the order of their keys; return what `settle` does.

        Within a page of the file SQLite keeps rows where there was room when they came, so that
        their places reveal something of their order.
        """
        with self.locked() as connection:
            # The second copy of a small file stays in memory, instead of in the system's /tmp.
            storage = "MEMORY" if self.is_small() else "DEFAULT"
            connection.execute(f"PRAGMA temp_store = {storage}")
            connection.execute("VACUUM")
        return self.settle()

    def leave(self) -> None:
        """Close this thread's connection, in whatever state it is."""
        if hasattr(self._local, "connection"):
            self.connection.close()
            del self._local.connection

    def close(self) -> None:
        """Close this thread's connection, and leave no history of writes beside the file."""
        self.settle()
        self.leave()


def _schema_in_header(path: Path) -> int:
    """Return the schema version in the first bytes of a database of ours; 0 if it is unknown.

    A connection would already write: when the last reader closes, SQLite puts the write-ahead log
    of a killed server into the file. The schema of a file that this process has had a connection to
    is not read: it was read before, and the file must not be opened here.
    """
    with _CONNECTING:
        if _inode(path) in _CONNECTED:
            return 0
        with path.open("rb") as file:
            header = file.read(100)
    ours = header[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return int.from_bytes(header[60:64], "big") if ours else 0


def _earlier(path: Path, version: int) -> StoreError:
    return StoreError(
        f"{path}: expected a database of schema {SCHEMA_VERSION}, got one of schema {version}, "
        f"of an earlier release: stop the server, then run deniable migrate --db {path}"
    )
