"""Look into a database: its tables, its other objects, and whether its file is sound."""

import sqlite3

from sqlite_utils import Database

from server.store.schema import statements
from server.store.upgrade import prepare


def tables(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Return for each table the statement that made it, and how many rows it has."""
    # Looking must change nothing of a connection: no setting is changed, and no plugin is run.
    database = Database(connection, recursive_triggers=False, execute_plugins=False)
    return {table.name: (table.schema, table.count) for table in database.tables}


def other_objects(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the statements that made triggers, views, indexes and the like, by name."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type != 'table' AND sql IS NOT NULL"
    )
    return dict(rows.fetchall())


def integrity(connection: sqlite3.Connection) -> str:
    """Return what SQLite says of the file: "ok", or the first thing wrong."""
    return str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])


def empty_database() -> sqlite3.Connection:
    """Return a database of this release without any rows, in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    prepare(connection)
    for statement in statements(0):
        connection.execute(statement)
    return connection
