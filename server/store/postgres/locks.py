"""Locks of sessions, which end with their connections: they show who serves and who works."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from server.store.database import Rows
from server.store.errors import StoreBusy, StoreError
from server.store.places import Address
from server.store.postgres.session import Session

#: Seconds between two checks that a connection which holds a lock is still there.
_LOOK = 2.0

_HOLDERS = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND classid::bigint = ? AND objid::bigint = ? AND objsubid = 1"
)


def number(schema: str, what: str) -> int:
    """Return the number of an advisory lock, of which a database of PostgreSQL has 2^64."""
    digest = hashlib.sha256(f"deniable {schema} {what}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def holders(query: Callable[..., Rows], lock: int) -> int:
    """Return how many connections hold a lock, as a query of a database says."""
    high, low = divmod(lock % 2**64, 2**32)
    return int(query(_HOLDERS, high, low).fetchone()[0])


@contextmanager
def shared(place: Address, lock: int) -> Iterator[None]:
    """Hold a lock beside others, by a connection that is made anew whenever it is lost.

    Raises
    ------
    StoreError
        If another connection holds it alone.
    """
    session, stopping = _shared(place, lock), threading.Event()

    def keep() -> None:
        nonlocal session
        while not stopping.wait(_LOOK):
            with suppress(StoreError):
                if session.is_lost:
                    session = _shared(place, lock)
                session.execute("SELECT 1")

    keeper = threading.Thread(target=keep, name="served", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stopping.set()
        keeper.join()
        session.raw.close()


def _shared(place: Address, lock: int) -> Session:
    session = Session(place)
    try:
        session.execute(f"SET lock_timeout = 1000; SELECT pg_advisory_lock_shared({lock})")
    except StoreBusy:
        raise StoreError(
            f"{place}: expected a database that can be served, got one that is being "
            "migrated, restored or copied"
        ) from None
    return session


@contextmanager
def alone(place: Address, lock: int) -> Iterator[Session | None]:
    """Yield a connection that alone holds a lock; None if another one does."""
    session = Session(place)
    try:
        sql = f"SELECT pg_try_advisory_lock({lock})"
        yield session if session.execute(sql).fetchone()[0] else None
    finally:
        session.raw.close()
