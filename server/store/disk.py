"""Files of databases: those beside one, their modes, flushing, and which errors may pass."""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

#: Errors after which another try may succeed; SQLite's by the lowest byte of their codes.
_PASSING_SQL = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
_PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE}


def passes(error: sqlite3.Error | OSError) -> bool:
    """Return whether another try may succeed after this error."""
    if isinstance(error, OSError):
        return error.errno in _PASSING
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING_SQL


def beside(path: Path) -> list[Path]:
    """Return the files in which SQLite keeps what it has not yet written into a database."""
    return [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal")]


def touch_private(path: Path) -> None:
    """Make a file for its owner alone, if there is none; SQLite's files beside it get its mode."""
    with suppress(FileExistsError):  # one that exists is not opened: see `server.store.file`
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def flush_to_disk(path: Path) -> None:
    """Wait until the disk has the content of a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
