"""The lock files beside a database: who may write now, and which server serves it.

Only their owner can open them: whoever may open a file may lock it, and so stop the collector.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.store.errors import StoreError

#: Seconds that a process waits for its lock: a process that checks a lock holds it for a moment.
_MOMENT = 1.0


@contextmanager
def private(path: Path) -> Iterator[int]:
    """Open a file for its owner alone (mode 0600); create it, or tighten its mode, if needed.

    Raises
    ------
    StoreError
        If another user owns it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise StoreError(
            f"{path}: cannot be opened: {error.strerror}; is it another user's?"
        ) from None
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            try:
                os.fchmod(descriptor, 0o600)
            except PermissionError as error:
                raise StoreError(
                    f"{path}: expected a file that only this user can lock, "
                    f"got another user's: {error.strerror}"
                ) from None
        yield descriptor
    finally:
        os.close(descriptor)


def server_lock(database: Path) -> Path:
    """Return the file that a server locks while it serves a database."""
    return database.with_name(f"{database.name}.served")


@contextmanager
def serving(database: Path) -> Iterator[None]:
    """Hold the lock of the one process that serves a database, or changes its schema.

    Raises
    ------
    StoreError
        If a server runs on it, of whichever release.
    """
    with private(server_lock(database)) as lock:
        if not take(lock, _MOMENT):
            raise StoreError(
                f"{database}: expected a database that no server runs on, got one that is served"
            )
        yield


@contextmanager
def doing_work(database: Path) -> Iterator[bool]:
    """Hold the lock of the one process that does long work, if no other has it.

    Yields
    ------
    bool
        Whether this process has the lock.
    """
    with private(_work_lock(database)) as lock:
        yield take(lock, _MOMENT)


def is_served(database: Path) -> bool:
    """Return whether a server runs on a database."""
    return _is_held(server_lock(database))


def is_working(database: Path) -> bool:
    """Return whether a process does the long work of a database."""
    return _is_held(_work_lock(database))


def _is_held(path: Path) -> bool:
    with private(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _work_lock(database: Path) -> Path:
    return database.with_name(f"{database.name}.working")


def take(descriptor: int, patience: float) -> bool:
    """Take a file lock within `patience` seconds; return whether it was taken.

    `flock` itself waits without end, and trying now and then would never succeed under load, since
    those who wait get the lock first. So a thread waits with a copy of the descriptor, and gives
    the lock back if the caller has given up.
    """
    copy, deciding = os.dup(descriptor), threading.Lock()
    taken, given_up = threading.Event(), threading.Event()

    def wait() -> None:
        fcntl.flock(copy, fcntl.LOCK_EX)
        with deciding:
            if given_up.is_set():
                fcntl.flock(copy, fcntl.LOCK_UN)
            else:
                taken.set()
        os.close(copy)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(copy)
        return True
    except BlockingIOError:
        threading.Thread(target=wait, daemon=True).start()
    if taken.wait(patience):
        return True
    with deciding:
        given_up.set()
        return taken.is_set()
