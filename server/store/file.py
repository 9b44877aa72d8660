"""The database file: its connections, its lock, its transactions, and what they leave behind."""

import errno
import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from sqlite_utils import Database

from server.store.schema import APPLICATION_ID, SCHEMA_VERSION, statements


class StoreError(Exception):
    """The database cannot be used as asked; the message says why."""


class StoreBusy(StoreError):
    """It cannot be written now, and nothing was: the disk is full, or others hold it."""


#: Errors after which another time may be better; SQLite's by the lowest byte of their codes.
_PASSING_SQL = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
_PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE}


def _passes(error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in _PASSING
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING_SQL


class File:
    """One SQLite file. Safe to share between threads and processes.

    Parameters
    ----------
    path : Path
        The database file. One of an earlier release is brought to this one's schema.
    create : bool
        Whether to make it if it is missing.

    Raises
    ------
    StoreError
        If the file is missing, is no database of ours, or is of a newer release.
    """

    #: Seconds that SQLite waits for a lock that is not the file lock's: a checkpoint's, say; and
    #: those that all but the writer of reports wait for the file lock.
    PATIENCE: ClassVar[float] = 30
    LOCK_PATIENCE: ClassVar[float] = 10

    def __init__(self, path: Path, create: bool = False) -> None:
        # One name for the file and its lock, and never one that means something else to SQLite.
        self.path = path.resolve()
        if not create and not path.is_file():
            raise StoreError(f"{path}: no such database; publish or serve a survey first")
        self._local = threading.local()
        try:
            if create:
                touch_private(path)
            empty = not Database(self._connection).table_names()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (kind,) = self._connection.execute("PRAGMA application_id").fetchone()
            if empty and not create:
                raise StoreError(f"{path}: has nothing in it")
            if not empty and kind != APPLICATION_ID:
                raise StoreError(f"{path}: is a database of another program")
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{path}: expected a schema up to {SCHEMA_VERSION}, got {version}: "
                    "it was written by a later release of deniable"
                )
            if version < SCHEMA_VERSION:
                self._migrate()
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path}: cannot be used as a database: {error}") from None

    def _migrate(self) -> None:
        """All steps in one transaction: whoever pulls the plug has the old schema or the new."""
        with self._writing() as connection:
            # Read again: another process may have been faster.
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            for statement in statements(version):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @property
    def _connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=self.PATIENCE)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            self._local.connection = connection
        own: sqlite3.Connection = self._local.connection
        return own

    @contextmanager
    def _locked(self, endless: bool = False) -> Iterator[sqlite3.Connection]:
        """The file lock makes writers queue, across threads and processes.

        SQLite's own waiting sleeps and retries, which starves some of them for a second under load.

        Raises
        ------
        StoreBusy
            If the disk is full, or others have the lock for long, unless the wait is `endless`.
        """
        try:
            with open(f"{self.path}.lock", "w") as lock:
                if endless:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                elif not _lock(lock.fileno(), self.LOCK_PATIENCE):
                    raise StoreBusy(f"{self.path}: is being written by another process for long")
                yield self._connection
        except (sqlite3.Error, OSError) as error:
            if _passes(error):
                raise StoreBusy(f"{self.path}: cannot be written now: {error}") from error
            raise

    @contextmanager
    def _writing(self, endless: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is stored, or nothing; errors as of `_locked`."""
        with self._locked(endless) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")  # which fails if the disk is full
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def served(self, first: Callable[[], None]) -> Iterator[None]:
        """While this runs, a server does; `first` is called if no other one does on this file."""
        with open(f"{self.path}.served", "w") as lock:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                first()
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    def is_served(self) -> bool:
        """Whether a server runs on this database."""
        with open(f"{self.path}.served", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def settle(self) -> bool:
        """Leave no history of writes beside the file: the write-ahead log has their order.

        Returns
        -------
        bool
            Whether it is empty now; not if somebody reads what only it has.
        """
        with self._locked() as connection:
            # Whoever waits for a reader here, with the lock, keeps all writers waiting.
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy:
                    # SQLite's index of that log still lists which pages were written in which
                    # order, until the next write begins it anew: this one, which says nothing.
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(self.PATIENCE * 1000)}")
        return not busy

    def rewrite(self) -> bool:
        """Write the whole file anew, rows in the order of their keys.

        Within a page of the file SQLite keeps rows where there was room when they came, so that
        their places tell something of their order.

        Returns
        -------
        bool
            As of `settle`.
        """
        with self._locked() as connection:
            connection.execute("VACUUM")
        return self.settle()

    def close(self) -> None:
        """Let go of this thread's connection, and leave no history of writes beside the file."""
        self.settle()
        self._connection.close()
        del self._local.connection


def beside(path: Path) -> list[Path]:
    """The files in which SQLite keeps what it has not yet written into a database."""
    return [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal")]


def touch_private(path: Path) -> None:
    """Make a file for its owner alone, if there is none; SQLite's own beside it follow suit."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _lock(descriptor: int, patience: float) -> bool:
    """Take a file lock, whose own waiting knows no end; False if it took too long.

    Trying now and then would never succeed under load: whoever waits gets it first. So a thread
    waits, of a copy of the descriptor, which it closes if nobody wants it any more.
    """
    own, given_up, deciding = os.dup(descriptor), threading.Event(), threading.Lock()
    taken = threading.Event()

    def wait() -> None:
        fcntl.flock(own, fcntl.LOCK_EX)
        with deciding:
            if given_up.is_set():
                fcntl.flock(own, fcntl.LOCK_UN)
            else:
                taken.set()
        os.close(own)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(own)
        return True
    except BlockingIOError:
        threading.Thread(target=wait, daemon=True).start()
    if taken.wait(patience):
        return True
    with deciding:
        given_up.set()
        return taken.is_set()
