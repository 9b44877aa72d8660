"""The errors of the store, and after which errors another try may succeed."""

import errno
import sqlite3

#: Errors after which another try may succeed; SQLite's by the lowest byte of their codes.
_PASSING_SQL = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
_PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE}


class StoreError(Exception):
    """The database cannot be used as asked; the message says why."""


class StoreBusy(StoreError):
    """The database cannot be written now: the disk is full, others write, or a connection was lost.

    Nothing was stored, unless the connection was lost while a transaction ended: then the next try
    learns whether it was.
    """


class Again(StoreBusy):
    """A transaction conflicted with another one, and must be run again from its beginning."""


def passes(error: sqlite3.Error | OSError) -> bool:
    """Return whether another try may succeed after this error."""
    if isinstance(error, OSError):
        return error.errno in _PASSING
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING_SQL
