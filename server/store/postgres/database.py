"""A PostgreSQL database: its transactions, and who may write, serve and work."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from server.store import database
from server.store.database import Database, Setting
from server.store.errors import Again, StoreBusy, StoreError
from server.store.places import Address
from server.store.postgres import copying, locks, settling, tables
from server.store.postgres.server import settings
from server.store.postgres.session import Session
from server.store.schema import SCHEMA_VERSION, added_counts

#: An intake's locks are those of its surveys, and this one, which all intakes share.
_WHOLE = "all surveys"


def is_ours(address: Address) -> bool:
    """Return whether there is a database of ours; StoreError if it cannot be reached."""
    return tables.version(Session(address)) is not None


class Postgres(Database):
    """The tables of one PostgreSQL database.

    Parameters
    ----------
    address : Address
        Where it is.
    create : bool
        Whether to make the tables if there are none. The database itself must exist.

    Raises
    ------
    StoreError
        If it cannot be reached, has tables of another program, or is of another release.
    """

    #: Seconds after which a reader that stands still is cut off: tables wait for it to be written
    #: anew.
    STANDSTILL: ClassVar[float] = 60

    place: Address

    def __init__(self, address: Address, create: bool = False) -> None:
        self.place = address
        self.name, self.address = str(address), address.text
        self.stem = unquote(urlsplit(address.text).path[1:])
        self._local = threading.local()
        session = self.connection
        self._schema = session.execute("SELECT current_schema()").fetchone()[0]
        version = tables.version(session)
        if version is None and create:
            with self.writing():
                if tables.version(session) is None:  # another process may have been faster
                    tables.make(session)
            version = tables.version(session)
        if version is None:
            raise StoreError(
                f"{self.name}: has no tables of deniable; publish a survey first, or "
                "`deniable serve --new`"
            )
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.name}: expected schema {SCHEMA_VERSION}, got {version}: it was written by "
                "another release of deniable"
            )

    @property
    def connection(self) -> Session:
        """This thread's connection; a new one if the last was lost outside of a transaction."""
        session: Session | None = getattr(self._local, "session", None)
        # Within a transaction, a new connection would store a part of it without the rest.
        if session is None or (session.is_lost and not self._local.busy):
            session = self._local.session = Session(self.place)
            self._local.busy = False
        return session

    def query(self, sql: str, *values: object) -> "database.Rows":
        """Return the rows of a query; a connection that was lost meanwhile is made anew once."""
        session = self.connection
        try:
            return session.execute(sql, values)
        except StoreBusy:
            if self._local.busy or not session.is_lost:
                raise
        return self.connection.execute(sql, values)

    def among(self, sql: str, where: tuple[str | int, ...], keys: Sequence[bytes]) -> Any:
        """Return the rows of a query that ends in IN, for these keys.

        Each key is looked up by itself. Without statistics (see `tables.make`), PostgreSQL expects
        few rows of a survey, so that it would read all of them to find some keys. OFFSET keeps it
        from planning both parts as one join, which would read all of them, too.
        """
        each = f"{sql.removesuffix(' IN')} = one.key OFFSET 0"
        return self.connection.execute(
            f"SELECT there.* FROM unnest(?::bytea[]) AS one(key) CROSS JOIN LATERAL ({each}) there",
            (sorted(set(keys)), *where),
        )

    def stream(self, sql: str, *values: object) -> Iterator[list[Any]]:
        """Yield the rows of a query, a few thousand at a time."""
        return self.connection.stream(sql, values, database.AT_ONCE)

    def _begin(self, begin: str) -> None:
        """Begin a transaction, even if the connection was lost while it was idle."""
        session = self.connection
        try:
            session.execute(begin)
        except StoreBusy:
            if not session.is_lost:
                session.rollback()
                raise
            self.connection.execute(begin)
        self._local.busy = True

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Commit the transaction that begins within, or undo it after an error."""
        try:
            yield
            if self._local.busy:
                self._local.session.commit()
        except BaseException:
            self._local.session.rollback()
            raise
        finally:
            self._local.busy = False

    @contextmanager
    def reading(self, tables: Sequence[str]) -> Iterator[None]:
        """Let this thread's queries see rows as they are at one moment, and write nothing."""
        # The locks come before the moment: a table that was written anew after it would look empty,
        # since `TRUNCATE` does not wait for its readers.
        with self._ending():
            self._begin(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                f"SET LOCAL lock_timeout = {int(self.LOCK_PATIENCE * 1000)}; "
                f"SET LOCAL idle_in_transaction_session_timeout = {int(self.STANDSTILL * 1000)}; "
                f"LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE"
            )
            yield

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Run a transaction, which is stored completely or not at all, and alone."""
        self._begin("BEGIN")
        with self._ending():
            self.exclude(self.connection, self.LOCK_PATIENCE)
            yield self.connection

    def exclude(self, session: Session, patience: float) -> None:
        """Wait within a transaction until no other one writes; StoreBusy if that takes long."""
        session.execute(
            f"SET LOCAL lock_timeout = {int(patience * 1000)}; "
            f"SELECT pg_advisory_xact_lock({self._key(_WHOLE)})"
        )

    @contextmanager
    def taking_in(self) -> Iterator[Session]:
        """Run a transaction that adds reports, which begins with `take_turns`."""
        session = self.connection
        with self._ending():
            yield session

    def take_turns(self, surveys: Iterable[str]) -> None:
        """Wait until no other transaction writes to these surveys.

        READ COMMITTED is enough from then on: each statement sees all that was committed before it
        began, and nobody else commits anything of these surveys.
        """
        keys = [self._key(f"survey {survey}") for survey in sorted(surveys)]
        if not keys:  # nothing is read or written then
            return
        if self._local.busy:
            # A transaction that holds a lock and waits for another could end in a deadlock.
            turns = " AND ".join(f"pg_try_advisory_xact_lock({key})" for key in keys)
            if not self.connection.execute(f"SELECT {turns}").fetchone()[0]:
                raise Again(f"{self.name}: another transaction writes to a survey")
            return
        turns = ", ".join(f"pg_advisory_xact_lock({key})" for key in keys)
        # A connection keeps its plans. A plan that was made while a table was small reads the
        # whole table, and would still do so once the table has grown.
        self._begin(
            "BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL enable_seqscan = off; "
            f"SELECT pg_advisory_xact_lock_shared({self._key(_WHOLE)}), {turns}"
        )

    def sending(self) -> Any:
        """Send the statements that follow at once; an error of any can come at the end."""
        return self.connection.sending()

    def _key(self, what: str) -> int:
        return locks.number(self._schema, what)

    def insert(self, table: str, rows: Sequence[Sequence[Any]], conflict: str = "") -> None:
        """Insert rows into a table, in this order, by one statement."""
        if rows:
            places = ", ".join(f"?::{kind}[]" for kind in tables.types(table))
            self.connection.execute(
                f"INSERT INTO {table} SELECT * FROM unnest({places}) {conflict}",
                [list(column) for column in zip(*rows, strict=True)],
            )

    def add_counts(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add blocks of counts to those of a table; nobody else writes to them meanwhile."""
        if not rows:
            return
        key, types = tables.columns()[table][0], tables.types(table)
        names, size = ", ".join(key), len(key)
        places = ", ".join(f"?::{kind}[]" for kind in types[:size])
        same = " AND ".join(f"{table}.{name} = one.{name}" for name in key)
        known = {
            tuple(place): counts
            for *place, counts in self.connection.execute(
                f"SELECT there.* FROM unnest({places}) AS one({names}) CROSS JOIN LATERAL "
                f"(SELECT {names}, counts FROM {table} WHERE {same} OFFSET 0) there",
                [list(column) for column in zip(*(row[:size] for row in rows), strict=True)],
            )
        }
        self.insert(
            table,
            [(*row[:size], added_counts(known.get(row[:size], b""), row[size])) for row in rows],
            f"ON CONFLICT ({names}) DO UPDATE SET counts = excluded.counts",
        )

    def accounts(self, survey_id: str) -> Iterator[tuple[str, str, int]]:
        """Yield each pseudonym, its terms with how often, and what it was charged in all."""
        sql = (
            "SELECT encode(respondent, 'hex'), "
            "json_agg(json_build_array(encode(terms, 'hex'), submissions))::text, "
            "sum(charged)::bigint FROM ledger WHERE survey = ? "
            "GROUP BY respondent ORDER BY respondent"
        )
        for rows in self.stream(sql, survey_id):
            yield from rows

    # Session-level locks, which end with their connections, show who serves and who works.

    @contextmanager
    def served(self) -> Iterator[bool]:
        """Serve it, beside others; StoreError if it keeps what it must not, or is being changed."""
        wrong = [setting for setting in self.settings() if setting.stops]
        if wrong:
            raise StoreError(
                "; ".join(f"{self.name}: {one.name}: {one.found}: {one.advice}" for one in wrong)
            )
        settling.forget_others(self)
        key = self._key("served")
        with locks.shared(self.place, key):
            yield locks.holders(self.query, key) == 1

    @contextmanager
    def unserved(self) -> Iterator[None]:
        """Keep servers away; StoreError if one runs on it."""
        with locks.alone(self.place, self._key("served")) as session:
            if session is None:
                raise StoreError(
                    f"{self.name}: expected a database that no server runs on, got one that is "
                    "served"
                )
            yield
            session.execute("SELECT 1")  # if it and its lock were lost, others may have served

    def is_served(self) -> bool:
        """Return whether a server runs on it."""
        return locks.holders(self.query, self._key("served")) > 0

    @contextmanager
    def doing_work(self) -> Iterator[bool]:
        """Become the one process that does long work; yield whether it is this one."""
        with locks.alone(self.place, self._key("working")) as session:
            yield session is not None

    def is_working(self) -> bool:
        """Return whether a process does the long work."""
        return locks.holders(self.query, self._key("working")) > 0

    def beat(self) -> None:
        """Record that a server has just deleted all that was due."""
        self.write("UPDATE deniable SET kept = extract(epoch FROM clock_timestamp())")

    def silence(self) -> float:
        """Return the seconds since the last `beat` of any server."""
        sql = "SELECT greatest(0, extract(epoch FROM clock_timestamp()) - kept) FROM deniable"
        return float(self.query(sql).fetchone()[0])

    def is_small(self) -> bool:
        """Return whether all that respondents sent can be written anew in a moment."""
        return settling.is_small(self.connection)

    def settle(self) -> bool:
        """Write rows anew that still show the order of arrival, in groups of whole batches."""
        return settling.settle(self)

    def rewrite(self) -> bool:
        """Write all that respondents sent anew, in the order of keys."""
        return settling.rewrite(self)

    def reorder(self) -> bool:
        """Write all anew, unless another server has done it since the last report."""
        return self.is_settled() or self.rewrite()

    def tidy(self) -> None:
        """Write small tables anew, however few reports came; write batches of large ones anew."""
        if self.is_small():
            self.rewrite()
        else:
            self.settle()

    def is_settled(self) -> bool:
        """Return whether no row shows in which transaction it came."""
        return not settling.unsettled(self.connection)

    def trace(self) -> tuple[str, str]:
        """Return what shows the order of the latest writes: rows that bear their transaction."""
        n = sum(settling.unsettled(self.connection).values())
        return "order of arrival", f"{n} reports still show in which transaction they came"

    def free(self) -> None:
        """Return None: the disk is on another machine."""

    def settings(self) -> list[Setting]:
        """Return the settings of the server that could keep what must not be kept, or lose it."""
        return settings(self.connection)

    def tables(self) -> dict[str, tuple[str, int]]:
        """Return for each table its columns and keys, and how many rows it has."""
        return tables.found(self.connection)

    def other_objects(self) -> dict[str, str]:
        """Return what makes triggers, functions, views, indexes and so on, by name."""
        return tables.other_objects(self.connection)

    def expected(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what tables and other objects of this release are made of."""
        return tables.expected(), dict(tables.OTHERS)

    def integrity(self) -> str:
        """Return "ok" once every row could be read, or what the server says."""
        return tables.integrity(self.connection)

    def write_copy(self, place: str) -> None:
        """Write all rows, as they are at one moment, into an empty SQLite database."""
        copying.write_copy(Session(self.place), place)

    def leave(self) -> None:
        """Close this thread's connection, in whatever state it is."""
        session: Session | None = getattr(self._local, "session", None)
        if session is not None:
            session.raw.close()
            del self._local.session

    def close(self) -> None:
        """Close this thread's connection."""
        self.leave()
