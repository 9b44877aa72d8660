"""Copy a database, and bring one of an earlier release to this one's schema."""

import os
import secrets
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from server.store.database import Database
from server.store.disk import flush_to_disk
from server.store.errors import StoreBusy, StoreError
from server.store.file import File
from server.store.locks import serving
from server.store.schema import APPLICATION_ID, SCHEMA_VERSION

#: Tables whose rows are void once the server stops, and so are not copied.
_OF_A_SERVER = ("session", "research_token")


def copy_to(write_copy: Callable[[str], None], target: Path) -> None:
    """Copy a database to a new file, completely or not at all; others may write meanwhile.

    The copy is written row by row, so that it holds no history of writes. It has no free pages, no
    sessions and no research tokens.

    Parameters
    ----------
    write_copy : function
        Writes all rows into an empty SQLite database, as `Database.write_copy` does.
    target : Path
        The new file.

    Raises
    ------
    StoreError
        If there is a file already, or the copy cannot be written.
    """
    if target.exists():
        raise StoreError(f"{target}: expected a new file, got one that exists")
    try:
        # A name that nobody can guess, and so nobody can make first and keep open.
        descriptor, name = tempfile.mkstemp(".part", f".{target.name}.", target.absolute().parent)
        os.close(descriptor)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error}") from None
    part = Path(name)
    try:
        write_copy(str(part))
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            sound = _clean(copy)
        if sound != "ok":
            raise StoreError(f"{target}: the copy is damaged: {sound}")
        flush_to_disk(part)
        # A link fails if the file has come to exist in the meantime; a rename would replace it.
        os.link(part, target)
        flush_to_disk(target.absolute().parent)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{target}: cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)


def _clean(copy: sqlite3.Connection) -> str:
    """Delete what a copy must not have; return what SQLite says of it: "ok", or what is wrong."""
    copy.execute("PRAGMA secure_delete = ON")
    for (table,) in copy.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        if table in _OF_A_SERVER:
            copy.execute(f"DELETE FROM {table}")
    return str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])


@contextmanager
def copied_in_memory(database: Database) -> Iterator[sqlite3.Connection]:
    """Copy a database into memory, as `copy_to` does to a file; yield a connection to the copy.

    `serialize` of the connection gives its bytes. SQLite keeps at most 1 GiB of a file in memory.

    Raises
    ------
    StoreError
        If the copy is damaged or too large.
    """
    # SQLite shares a file in memory among the connections of a process by its name, and forgets it
    # with the last of them.
    place = f"file:/{secrets.token_hex(16)}?vfs=memdb"
    try:
        with closing(sqlite3.connect(place, uri=True, isolation_level=None)) as copy:
            copy.execute("PRAGMA schema_version").fetchone()
            database.write_copy(place)
            sound = _clean(copy)
            if sound != "ok":
                raise StoreError(f"{database.name}: the copy is damaged: {sound}")
            yield copy
    except (sqlite3.Error, MemoryError) as error:
        file = database.place
        got = f", got {file.stat().st_size:,} bytes" if isinstance(file, Path) else ""
        raise StoreError(
            f"{database.name}: cannot be copied into memory: {error}; expected at most 1 GiB{got}"
        ) from None


def migrate(path: Path) -> tuple[int, Path] | None:
    """Bring a database to this release's schema, after a backup beside it.

    Returns
    -------
    tuple, optional
        The schema that it had, and the path of the backup; None if it had this release's schema.

    Raises
    ------
    StoreError
        If a server of any release runs on it, it cannot be backed up, or it is no database of ours.
        Then the schema is unchanged and no backup is left.
    StoreBusy
        If the schema was upgraded but the file could not be written anew. The backup stays.
    """
    if not path.is_file():
        raise StoreError(f"{path}: no such database")
    with serving(path.resolve()):
        try:
            with closing(sqlite3.connect(path.resolve(), isolation_level=None)) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                (kind,) = connection.execute("PRAGMA application_id").fetchone()
                if kind != APPLICATION_ID:
                    raise StoreError(f"{path}: expected a database of deniable, got another file")
                is_old = 0 < version < SCHEMA_VERSION
                backup = path.with_name(f"{path.name}.schema-{version}.backup")
                if is_old and backup.exists():
                    raise StoreError(
                        f"{backup}: expected no such file, got one, perhaps of a migration that "
                        "was interrupted: move it away, then run deniable migrate again"
                    )
                if is_old:

                    def write_copy(place: str) -> None:
                        connection.execute("VACUUM INTO ?", (place,))

                    copy_to(write_copy, backup)
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be used as a database: {error}") from None
        try:
            file = File(path, upgrade=True)
        except BaseException:
            if is_old:
                backup.unlink(missing_ok=True)  # the database is as it was
            raise
        # From here on the schema is this release's, and the backup is the only way back.
        try:
            file.rewrite()  # so that no row of the old tables is left in a free page
            file.close()
        except StoreBusy as error:
            raise StoreBusy(
                f"{path}: is of schema {SCHEMA_VERSION} now, but was not written anew: {error}; "
                "run deniable migrate again"
            ) from None
        finally:
            file.leave()
    return (version, backup) if is_old else None
