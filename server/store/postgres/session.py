"""Connections to PostgreSQL: our SQL in its dialect, and its errors as ours."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from server.store.database import Rows
from server.store.errors import Again, StoreBusy, StoreError
from server.store.places import Address

#: The classes of errors after which another try may succeed: the connection, resources (disk,
#: connections, memory), an operator (a restart), the system; and single errors: a lock that could
#: not be taken, a server that only reads since another has taken over, a reader that stood still.
_PASSING = ("08", "53", "57", "58")
_PASSING_TOO = ("55P03", "25006", "25P03")

#: A server that is gone without a word is noticed within half a minute.
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

#: What a session must have whatever the server's configuration says. The second line never makes
#: commits less durable than they were configured.
_SETTINGS = b"""
SET client_min_messages = warning;
SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
SET default_transaction_isolation = 'read committed';
SET idle_in_transaction_session_timeout = 0
"""


#: It logs errors that follow another one; what PostgreSQL says can repeat a pseudonym.
logging.getLogger("psycopg").disabled = True


class Session:
    """A connection that takes SQL as the store writes it; errors are those of `told`."""

    def __init__(self, address: Address) -> None:
        self.name, self._streams = str(address), 0
        with told(self.name, connecting=True):
            self.raw: psycopg.Connection[Any] = psycopg.connect(
                address.text,
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                client_encoding="UTF8",
                application_name="deniable",
                **_PATIENCE,  # type: ignore[arg-type]
            )
            self.raw.execute(_SETTINGS)

    def __del__(self) -> None:
        if hasattr(self, "raw"):
            self.raw.close()  # that of a thread which has ended

    @property
    def is_lost(self) -> bool:
        """Return whether the connection has ended."""
        return self.raw.closed

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is under way, or was when the connection was lost."""
        return self.raw.info.transaction_status != TransactionStatus.IDLE

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a statement with these values in its places."""
        with told(self.name):
            return self.raw.execute(in_dialect(sql), values or None)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a statement for each of these rows of values, without waiting for each."""
        if values := list(rows):  # without rows, too, it would wait for the server
            with told(self.name), self.raw.cursor() as cursor:
                cursor.executemany(in_dialect(sql), values)

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Send the statements that follow; wait for their results, and their errors, at the end."""
        with told(self.name), self.raw.pipeline():
            yield

    def stream(self, sql: str, values: Sequence[Any], at_once: int) -> Iterator[list[Any]]:
        """Yield the rows of a query, `at_once` at a time; the server keeps those that wait."""
        # WITH HOLD: no transaction stays open, which would keep others from writing tables anew.
        with told(self.name):
            self._streams += 1
            cursor = psycopg.RawServerCursor(
                self.raw,
                f"stream_{self._streams}",
                withhold=not self.in_transaction,
                scrollable=False,
            )
        try:
            with told(self.name):
                cursor.execute(in_dialect(sql), values or None)
                batch = cursor.fetchmany(at_once)
            while batch:
                yield batch
                with told(self.name):
                    batch = cursor.fetchmany(at_once)
        finally:
            with told(self.name):
                cursor.close()

    def commit(self) -> None:
        """End the transaction; StoreBusy if it was not stored, or nobody knows."""
        with told(self.name):
            ended = self.raw.execute(b"COMMIT").statusmessage
        if ended != "COMMIT":  # but ROLLBACK, after an error
            raise StoreBusy(f"{self.name}: a transaction could not be completed")

    def rollback(self) -> None:
        """Undo the transaction that is under way, unless its connection is lost."""
        if not self.is_lost and self.in_transaction:
            try:
                self.raw.execute(b"ROLLBACK")
            except psycopg.Error:
                self.raw.close()


@contextmanager
def told(name: str, connecting: bool = False) -> Iterator[None]:
    """Turn errors of PostgreSQL into ours.

    Raises
    ------
    Again
        If the transaction has to be run again.
    StoreBusy
        If another try may succeed later.
    StoreError
        If the database cannot be connected to, or refuses a statement.
    """
    try:
        yield
    except (errors.SerializationFailure, errors.DeadlockDetected) as error:
        raise Again(f"{name}: a transaction conflicted with another one") from error
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        if connecting:
            # The message would repeat parts of an address that cannot be parsed.
            is_ours = isinstance(error, psycopg.OperationalError)
            said = said if is_ours else "the address or its options are not understood"
        if _passes(error):
            raise StoreBusy(f"{name}: cannot be used now: {said}") from error
        if connecting:
            raise StoreError(f"{name}: cannot be used as a database: {said}") from None
        # The server's own message can repeat a pseudonym.
        raise StoreError(f"{name}: refused a statement: {type(error).__name__}") from error


def _passes(error: psycopg.Error) -> bool:
    state = error.sqlstate
    if state is None:  # the connection was lost, or refused
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state[:2] in _PASSING or state in _PASSING_TOO


@lru_cache(maxsize=1024)
def in_dialect(sql: str) -> bytes:
    """Return a statement with PostgreSQL's places, `$1`, for `?` and `?1`."""
    last = 0

    def place(found: re.Match[str]) -> str:
        nonlocal last
        number = int(found[1]) if found[1] else last + 1
        last = max(last, number)
        return f"${number}"

    return re.sub(r"\?(\d*)", place, sql).encode()
