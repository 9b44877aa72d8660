"""One thread that stores what its process takes in: many submissions in one transaction.

A transaction costs the same wait for the disk whether it holds one submission or hundreds, and
while it waits, the next ones gather. Nobody lingers for more to come.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from queue import Empty, SimpleQueue

from server import failures
from server.store import Store, StoreBusy, StoreError
from server.wire import Refusal, Submission

#: Submissions in one transaction, and those that may wait for one; more are told to come again.
BATCH, QUEUE = 256, 512
#: Seconds that a submission waits for a transaction, before its device is told to come again; and
#: those that a transaction may take before new submissions are told so at once.
PATIENCE, STUCK = 5.0, 2.0
#: Seconds without work after which the write-ahead log is truncated and a small file written anew;
#: and under load, seconds between two truncations, and between two rewrites of the file. These are
#: so rare that 99 % of reports do not wait for one.
IDLE, SETTLE, REWRITE = 1.0, 30.0, 120.0
#: Seconds for which a failure is told to who asks how the collector is.
UNWELL = 60.0

BUSY = Refusal("try-again", "server", "a free moment", "a busy store")


class _Job:
    """A submission, and what became of it once `done` can be acquired."""

    __slots__ = ("done", "result", "submission")

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.result: Refusal | int | BaseException = BUSY
        self.done = threading.Lock()
        self.done.acquire()


class Writer:
    """Takes submissions from many threads; started with the first.

    Parameters
    ----------
    store : Store
        Where to.
    today : function
        Tells which day it is.
    """

    def __init__(self, store: Store, today: Callable[[], date]) -> None:
        self._store, self._today = store, today
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._began: float | None = None
        self._failed: float | None = None
        #: Whether reports came since the file was last written anew; and whether that failed.
        self._unordered = self._untidy = False
        self._rewritten = time.monotonic()

    def put(self, submission: Submission) -> Refusal | int:
        """Have a submission stored; back when it is on the disk, or will not be.

        Returns
        -------
        Refusal or int
            201 if stored, 200 if it was stored before, or why it is refused: "try-again" if too
            many wait, the disk is full, or it took too long. It may then still be stored, and the
            next try be told so.
        """
        if self._thread is None:
            self._start()
        if self._queue.qsize() >= QUEUE or self.is_stuck():
            return BUSY
        job = _Job(submission)
        self._queue.put(job)
        if not job.done.acquire(timeout=PATIENCE):
            return BUSY
        if isinstance(job.result, BaseException):
            raise job.result
        return job.result

    def is_stuck(self) -> bool:
        """Whether the transaction under way takes too long: its disk or another writer hangs."""
        began = self._began
        return began is not None and time.monotonic() > began + STUCK

    def has_failed(self) -> bool:
        """Whether the last submission could not be stored, for a fault not its own, just now.

        Not for ever: a proxy that sends no reports to who is not well would never hear otherwise.
        """
        failed = self._failed
        return failed is not None and time.monotonic() < failed + UNWELL

    def is_untidy(self) -> bool:
        """Whether the last attempt to remove the order of arrival from the file failed."""
        return self._untidy

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        settled, dirty = time.monotonic(), False
        while True:
            try:
                job = self._queue.get(timeout=IDLE if dirty else None)
            except Empty:
                job = None
            if job is not None:
                self._began = time.monotonic()
                self._store_batch(job)
                self._began, dirty, self._unordered = None, True, True
            if job is None or time.monotonic() > settled + SETTLE:
                settled, dirty = time.monotonic(), not self._settle(paused=job is None)

    def _store_batch(self, first: _Job) -> None:
        """Store what waits. If one cannot be for a fault of its own, the others are without it."""
        jobs = [first]
        try:
            self._add(self._waiting(jobs))
            self._failed = None
        except StoreBusy:
            self._failed = time.monotonic()  # and nothing of the batch was stored
        except Exception:
            for job in jobs:
                self._add_alone(job)
        finally:
            for job in jobs:
                job.done.release()

    def _add_alone(self, job: _Job) -> None:
        try:
            self._add([job])
            self._failed = None
        except Exception as error:
            job.result = BUSY if isinstance(error, StoreBusy) else error
            self._failed = time.monotonic()

    def _add(self, jobs: Iterable[_Job]) -> None:
        taken: list[_Job] = []

        def submissions() -> Iterator[Submission]:
            for job in jobs:
                taken.append(job)
                yield job.submission

        results = self._store.add(submissions(), self._today())
        for job, result in zip(taken, results, strict=True):
            job.result = result

    def _waiting(self, jobs: list[_Job]) -> Iterator[_Job]:
        """The first job and all that wait once they are asked for, which are added to `jobs`."""
        yield jobs[0]
        while len(jobs) < BATCH:
            try:
                jobs.append(self._queue.get_nowait())
            except Empty:
                return
            yield jobs[-1]

    def _settle(self, paused: bool) -> bool:
        """Remove the order of arrival from a small file and the write-ahead log; say if it worked.

        A large file is written anew when its waves close: see `server.retention`.
        """
        due = paused or time.monotonic() > self._rewritten + REWRITE
        try:
            if self._unordered and due and self._store.file.is_small():
                self._unordered = False  # once is enough, even if somebody reads meanwhile
                settled = self._store.file.rewrite()
                self._rewritten = time.monotonic()
            else:
                settled = self._store.file.settle()
            self._untidy = False
            return settled
        except (StoreError, sqlite3.Error, OSError) as error:
            if not self._untidy:
                failures.log(error, " while settling")
            self._untidy = self._unordered = True
            return False
