"""The tables in PostgreSQL, made from the tables of SQLite, so that there is one list."""

from contextlib import closing
from functools import lru_cache

from server.store.database import OF_RESPONDENTS, Connection
from server.store.errors import StoreBusy, StoreError
from server.store.schema import SCHEMA_VERSION

#: The types of columns. Text is compared byte by byte, as SQLite does.
_TYPES = {
    "TEXT": 'text COLLATE "C"',
    "INTEGER": "bigint",
    "BLOB": "bytea",
    "REAL": "double precision",
}

#: The table that marks a database as ours: its schema, and when a server last deleted what was due,
#: in seconds since 1970.
_MARK = "deniable"
_MARKED = "schema bigint NOT NULL, kept double precision NOT NULL"

#: The table that says up to which transaction rows were written anew, and how many reports there
#: were then: see `settling`.
SETTLED = "settled"
_SETTLED = (
    'name text COLLATE "C" NOT NULL, survey text COLLATE "C" NOT NULL, '
    "transaction bigint NOT NULL, reports bigint NOT NULL, PRIMARY KEY (name, survey)"
)

_APPEND_ONLY = "BEGIN RAISE EXCEPTION 'the log is append-only'; END"

#: What keeps lines of the log from being changed, and how `other_objects` describes it.
_TRIGGERS = f"""
CREATE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS '{
    _APPEND_ONLY.replace("'", "''")
}';
CREATE TRIGGER log_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON log
    FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only()
"""
OTHERS = {
    "function log_is_append_only": f"plpgsql {_APPEND_ONLY}",
    "trigger log_is_not_changed": "log calls log_is_append_only, 58, O",
}


@lru_cache(maxsize=1)
def columns() -> dict[str, tuple[list[str], list[tuple[str, str, bool]]]]:
    """Return for each table its key, and the name and type of each column, and if it can be null.

    They are read from an empty database of SQLite, which the list of migrations makes.
    """
    # Imported here: it needs numpy and all of analysis.
    from server.store import inspection

    found = {}
    with closing(inspection.empty_database()) as empty:
        for table in inspection.tables(empty):
            rows = empty.execute(f"PRAGMA table_info({table})").fetchall()
            key = [name for _, name in sorted((row[5], row[1]) for row in rows if row[5])]
            found[table] = key, [(row[1], row[2], not row[3] and not row[5]) for row in rows]
    return found


def types(table: str) -> list[str]:
    """Return the types of a table's columns, in their order."""
    return [_TYPES[kind].split(" COLLATE")[0] for _, kind, _ in columns()[table][1]]


def expected() -> dict[str, str]:
    """Return the columns and keys of each table of this release, as they are declared."""
    declared = {_MARK: _MARKED, SETTLED: _SETTLED}
    for table, (key, parts) in columns().items():
        texts = [
            f"{name} {_TYPES[kind]}{'' if nullable else ' NOT NULL'}"
            for name, kind, nullable in parts
        ]
        declared[table] = ", ".join([*texts, f"PRIMARY KEY ({', '.join(key)})"])
    return declared


def make(connection: Connection) -> None:
    """Make all tables, within a transaction.

    Raises
    ------
    StoreError
        If there are tables of another program.
    """
    others = found(connection)
    if others:
        raise StoreError(
            f"expected a database or schema without tables, got one with {', '.join(others)}"
        )
    (encoding,) = connection.execute("SHOW server_encoding").fetchone()
    if encoding != "UTF8":
        raise StoreError(f"expected a database whose encoding is UTF8, got {encoding}")
    for table, declared in expected().items():
        connection.execute(f"CREATE TABLE {table} ({declared})")
    # Otherwise samples of pseudonyms and ids stay in `pg_statistic`, even those of deleted rows.
    for table in OF_RESPONDENTS:
        for name, *_ in columns()[table][1]:
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {name} SET STATISTICS 0")
    for statement in _TRIGGERS.strip().split(";\n"):
        connection.execute(statement)
    connection.execute(f"INSERT INTO {_MARK} VALUES (?, 0)", (SCHEMA_VERSION,))


def version(connection: Connection) -> int | None:
    """Return the schema of a database of ours; None for any other database.

    Raises
    ------
    StoreError
        If the tables are not in the first schema of `search_path`: that schema is part of the
        names of locks, so that collectors with other paths would not wait for each other.
    """
    places = connection.execute(
        "SELECT relnamespace::regnamespace::text, current_schema() FROM pg_class "
        "WHERE oid = to_regclass(?)",
        (_MARK,),
    ).fetchone()
    if places is None:
        return None
    there, first = places
    if there != first:
        raise StoreError(
            f"expected tables in the first schema of search_path, {first}, got them in {there}: "
            f"ALTER ROLE ... SET search_path = {there}"
        )
    row = connection.execute(f"SELECT schema FROM {_MARK}").fetchone()
    return None if row is None else int(row[0])


def found(connection: Connection) -> dict[str, tuple[str, int]]:
    """Return for each table of the schema its columns and keys, and how many rows it has."""
    rows = connection.execute(
        "SELECT relname, string_agg(attname || ' ' || format_type(atttypid, atttypmod)"
        " || CASE WHEN collname = 'default' THEN '' ELSE"
        " coalesce(' COLLATE \"' || collname || '\"', '') END"
        " || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY attnum)"
        " || coalesce((SELECT ', ' || pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = pg_class.oid AND contype = 'p'), '')"
        " || CASE WHEN relpersistence = 'p' THEN '' ELSE ', not logged' END "
        "FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0"
        " AND NOT attisdropped LEFT JOIN pg_collation ON pg_collation.oid = attcollation "
        "WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'f') "
        "GROUP BY pg_class.oid, relname, relpersistence ORDER BY relname"
    ).fetchall()
    return {
        name: (declared, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])
        for name, declared in rows
    }


def other_objects(connection: Connection) -> dict[str, str]:
    """Return what each function, trigger, view, sequence and index is, except those of keys."""
    rows = connection.execute(
        "SELECT 'function ' || proname, lanname || ' ' || prosrc FROM pg_proc"
        " JOIN pg_language ON pg_language.oid = prolang"
        " WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS"
        " (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') "
        "UNION ALL SELECT 'trigger ' || tgname, relname || ' calls ' || proname || ', ' || tgtype"
        " || ', ' || tgenabled::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " JOIN pg_proc ON pg_proc.oid = tgfoid"
        " WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace "
        "UNION ALL SELECT 'relation ' || relname, relkind::text FROM pg_class"
        " LEFT JOIN pg_index ON indexrelid = pg_class.oid"
        " WHERE relnamespace = current_schema()::regnamespace"
        " AND relkind NOT IN ('r', 'p', 'f') AND indisprimary IS NOT TRUE AND NOT EXISTS"
        " (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e') "
        "UNION ALL SELECT 'publication ' || pubname, '' FROM pg_publication "
        "ORDER BY 1"
    )
    return dict(rows.fetchall())


def integrity(connection: Connection) -> str:
    """Return "ok" once every row of every table was read, or what the server says of one."""
    for table in expected():
        try:
            connection.execute(f"SELECT sum(hashtext({table}::text)) FROM {table}").fetchone()
        except StoreBusy:
            raise
        except Exception as error:  # a damaged page may raise anything
            return f"{table}: {' '.join(str(error).split())}"
    return "ok"
