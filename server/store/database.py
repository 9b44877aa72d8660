"""What a database does for the store: all that differs between SQLite and PostgreSQL.

The parts of the store are written once, in SQL that both know: places are `?` or `?1`, conflicts
name their columns, and sums are cast to whole numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple, Protocol

from server.store.places import Place

#: The tables that have something of respondents, in the order in which they are written; all have a
#: column `survey`.
OF_RESPONDENTS = (
    "report",
    "tally",
    "report_size",
    "snapshot",
    "simulated",
    "cell",
    "ledger",
    "respondent_total",
    "total_snapshot",
    "invitation",
)


#: How many rows of a long answer are read at once: numpy is fast with them, and they take a few
#: megabytes.
AT_ONCE = 4096


class Rows(Protocol):
    """The result of a statement; `rowcount` says how many rows it changed."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows that are left."""


class Connection(Protocol):
    """A connection to a database of either kind."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a statement with these values in its places."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement for each of these rows of values."""


class Setting(NamedTuple):
    """A setting of a database's server: how it is, whether it is as it must be, and what to do.

    `stops` says that nothing is served before it is mended. Another one is named at each start.
    """

    name: str
    found: str
    ok: bool
    advice: str
    stops: bool = False


class Database(ABC):
    """A database that holds the tables of `server.store.schema`.

    Safe to share between threads, which have a connection each, and between processes.
    """

    #: Seconds that everybody except the writer of reports waits for other writers.
    LOCK_PATIENCE: ClassVar[float] = 10

    #: How messages name it; never with a password.
    name: str
    #: The beginning of the names of its backups.
    stem: str
    #: Where it is, and the text by which another process of this program finds it. The text may
    #: hold a password.
    place: Place
    address: str

    @property
    @abstractmethod
    def connection(self) -> Connection:
        """This thread's connection."""

    def query(self, sql: str, *values: object) -> Rows:
        """Return the rows of a query with these values in its places."""
        return self.connection.execute(sql, values)

    @abstractmethod
    def among(self, sql: str, where: tuple[str | int, ...], keys: Sequence[bytes]) -> Rows:
        """Return the rows of a query that ends in IN, for these keys."""

    @abstractmethod
    def stream(self, sql: str, *values: object) -> Iterator[list[Any]]:
        """Yield the rows of a query, a few thousand at a time: they may not fit into memory."""

    def write(self, sql: str, *values: object) -> None:
        """Run one statement, in a transaction of its own; errors: see `writing`."""
        with self.writing() as connection:
            connection.execute(sql, values)

    @abstractmethod
    def reading(self, tables: Sequence[str]) -> AbstractContextManager[None]:
        """Let this thread's queries see the rows of these tables as they are at one moment.

        Nothing can be written within.

        Raises
        ------
        StoreBusy
            If others keep a table to themselves for long.
        """

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Run a transaction, which is stored completely or not at all, and alone.

        Raises
        ------
        StoreBusy
            If the disk is full, or others write for long.
        """

    @abstractmethod
    def taking_in(self) -> AbstractContextManager[Connection]:
        """Run a transaction that adds reports, which waits for other writers without end."""

    @abstractmethod
    def take_turns(self, surveys: Iterable[str]) -> None:
        """Wait within `taking_in` until no other transaction writes to these surveys.

        Raises
        ------
        Again
            If this is called a second time, and another transaction writes to an added survey.
        """

    def sending(self) -> AbstractContextManager[object]:
        """Send the statements that follow at once; an error of any can come at the end."""
        return nullcontext()

    def insert(self, table: str, rows: Sequence[Sequence[Any]], conflict: str = "") -> None:
        """Insert rows into a table, in this order, within a transaction.

        `conflict` says what becomes of rows whose keys exist; no two of `rows` have the same key.
        """
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self.connection.executemany(f"INSERT INTO {table} VALUES ({places}) {conflict}", rows)

    @abstractmethod
    def add_counts(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add blocks of counts to those of `tally` or `report_size`, within a transaction."""

    @abstractmethod
    def accounts(self, survey_id: str) -> Iterator[tuple[str, str, int]]:
        """Yield each pseudonym, its terms with how often as JSON, and what it was charged in all.

        In the order of pseudonyms. The database groups the rows, which is faster than Python.
        """

    @abstractmethod
    def served(self) -> AbstractContextManager[bool]:
        """Serve it, and yield whether no other server does.

        Raises
        ------
        StoreError
            If it can have only one server, and has one, or its schema is being changed.
        """

    @abstractmethod
    def unserved(self) -> AbstractContextManager[None]:
        """Keep servers away; StoreError if one runs on it."""

    @abstractmethod
    def is_served(self) -> bool:
        """Return whether a server runs on it."""

    @abstractmethod
    def doing_work(self) -> AbstractContextManager[bool]:
        """Become the one process that does long work; yield whether it is this one."""

    @abstractmethod
    def is_working(self) -> bool:
        """Return whether a process does the long work."""

    @abstractmethod
    def beat(self) -> None:
        """Record that a server has just deleted all that was due; no respondent changes this."""

    @abstractmethod
    def silence(self) -> float:
        """Return the seconds since the last `beat`."""

    @abstractmethod
    def is_small(self) -> bool:
        """Return whether it can be written anew while reports come, without delaying them."""

    @abstractmethod
    def settle(self) -> bool:
        """Remove the order of the latest writes, as far as that needs little time.

        Return whether nothing is left to do now.
        """

    @abstractmethod
    def rewrite(self) -> bool:
        """Write all that respondents sent anew, in the order of keys; return what `settle` does."""

    def reorder(self) -> bool:
        """Do what `rewrite` does, unless another server has done it since the last report."""
        return self.rewrite()

    @abstractmethod
    def tidy(self) -> None:
        """Do now and then what `settle` and `rewrite` could not do because somebody was reading."""

    @abstractmethod
    def is_settled(self) -> bool:
        """Return whether `settle` has nothing to do."""

    @abstractmethod
    def trace(self) -> tuple[str, str]:
        """Return what shows the order of the latest writes: where it is, and how much there is."""

    @abstractmethod
    def free(self) -> int | None:
        """Return the free bytes of its disk; None if this machine does not know."""

    @abstractmethod
    def settings(self) -> list[Setting]:
        """Return the settings of its server that could keep what must not be kept, or lose it."""

    @abstractmethod
    def tables(self) -> dict[str, tuple[str, int]]:
        """Return for each table what it is made of, and how many rows it has."""

    @abstractmethod
    def other_objects(self) -> dict[str, str]:
        """Return each object that is no table, such as a trigger, by name, with what makes it."""

    @abstractmethod
    def expected(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what tables and other objects of this release are made of."""

    @abstractmethod
    def integrity(self) -> str:
        """Return "ok", or the first thing that is wrong with how it is stored."""

    @abstractmethod
    def write_copy(self, place: str) -> None:
        """Write all rows, in the order of keys, into an empty SQLite database: its path or URI."""

    @abstractmethod
    def leave(self) -> None:
        """Close this thread's connection, in whatever state it is."""

    @abstractmethod
    def close(self) -> None:
        """Close this thread's connection, and leave no history of writes if that is quick."""
