"""Copy a PostgreSQL database into SQLite's format, and back: row by row, in the order of keys."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from server.store import database
from server.store.database import Database
from server.store.errors import StoreError
from server.store.places import Address
from server.store.postgres import tables
from server.store.postgres.session import Session, told
from server.store.schema import APPLICATION_ID, SCHEMA_VERSION, statements

#: Tables whose rows are void once the server stops, and so are not copied.
OF_A_SERVER = ("session", "research_token")


def write_copy(session: Session, place: str) -> None:
    """Write all rows, as they are at one moment, into an empty SQLite database.

    `place` is its path or URI. The session is closed.
    """
    with (
        closing(session.raw),
        closing(sqlite3.connect(place, uri=place.startswith("file:"), isolation_level=None)) as to,
    ):
        _make(to)
        # Reading takes a lock, too: nobody may write a table anew once the moment has come.
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        names = ", ".join(tables.columns())
        session.execute(f"LOCK TABLE {names} IN ACCESS SHARE MODE")
        to.execute("BEGIN")
        for table, (key, parts) in tables.columns().items():
            if table in OF_A_SERVER:
                continue
            places = ", ".join("?" * len(parts))
            sql = f"SELECT {_named(parts)} FROM {table} ORDER BY {', '.join(key)}"
            for rows in session.stream(sql, (), database.AT_ONCE):
                to.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
            count = f"SELECT count(*) FROM {table}"
            (there,), (copied,) = session.execute(count).fetchone(), to.execute(count).fetchone()
            if there != copied:
                raise StoreError(f"{place}: expected {there} rows of {table}, got {copied}")
        to.execute("COMMIT")
        session.execute("COMMIT")


def _named(parts: list[tuple[str, str, bool]]) -> str:
    return ", ".join(name for name, *_ in parts)


def _make(to: sqlite3.Connection) -> None:
    # Imported here: it needs numpy and all of analysis.
    from server.store.upgrade import prepare

    prepare(to)
    to.execute("PRAGMA synchronous = OFF")  # the caller flushes the whole file, once
    for statement in statements(0):
        to.execute(statement)
    to.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    to.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def copy_into(address: Address, source: Database) -> None:
    """Copy a database of either kind into a new one of PostgreSQL, completely or not at all.

    Raises
    ------
    StoreError
        If there are tables already, or other rows arrived than were sent.
    """
    with tempfile.TemporaryDirectory(prefix=".deniable-", dir=source.place.parent) as folder:
        plain = Path(folder) / "copy.db"
        source.write_copy(str(plain))
        session = Session(address)
        with closing(session.raw), closing(sqlite3.connect(plain)) as copy:
            session.execute("BEGIN")
            _fill(session, copy)
            session.commit()


def _fill(session: Session, source: sqlite3.Connection) -> None:
    """Make the tables, and fill them with all rows of an SQLite database, within a transaction."""
    tables.make(session)
    for table, (key, parts) in tables.columns().items():
        if table in OF_A_SERVER:
            continue
        names, sent = _named(parts), 0
        rows = source.execute(f"SELECT {names} FROM {table} ORDER BY {', '.join(key)}")
        into = f"COPY {table} ({names}) FROM STDIN".encode()
        with told(session.name), session.raw.cursor().copy(into) as copy:
            for row in rows:
                copy.write_row(row)
                sent += 1
        (stored,) = session.execute(f"SELECT count(*) FROM {table}").fetchone()
        if stored != sent:
            raise StoreError(f"{session.name}: expected {sent} rows of {table}, got {stored}")
