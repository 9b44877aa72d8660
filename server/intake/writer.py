"""One thread stores what its process takes in, with many submissions in one transaction.

A transaction waits equally long for the disk whether it holds one submission or hundreds, and
meanwhile the next ones gather. It never waits for more submissions to come.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from queue import Empty, SimpleQueue

from server import failures
from server.intake.wire import Refusal, Submission
from server.store import Store, StoreBusy

#: The most submissions in one transaction, and the most that wait for one. Others must try again.
BATCH, QUEUE = 256, 512
#: Seconds that a submission waits for a transaction before its device has to try again; and
#: seconds that a transaction may take before new submissions are refused at once.
PATIENCE, STUCK = 5.0, 2.0
#: Seconds without work after which the write-ahead log is truncated and a small file written anew.
#: Under load, seconds between two truncations, and between two rewrites: so rare that 99 % of
#: reports do not wait for one.
IDLE, SETTLE, REWRITE = 1.0, 30.0, 120.0
#: To remove the order of arrival from a large PostgreSQL database takes seconds, for which all
#: collectors wait. The pause after it lasts at least this many times as long.
REST = 20
#: Seconds for which `/healthz` reports a failure.
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
    """Store the submissions of many threads; the writing thread starts with the first one."""

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
        #: When a large database may be settled again.
        self._rested = 0.0

    def put(self, submission: Submission) -> Refusal | int:
        """Wait until a submission is on the disk or refused, and return which.

        Returns
        -------
        Refusal or int
            201 if it was stored now, 200 if before, or why it is refused: "try-again" if too many
            wait, the disk is full, or it took too long. It may then still be stored, which the next
            try will learn.
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
        """Return whether a transaction takes too long, since the disk or another writer hangs."""
        began = self._began
        return began is not None and time.monotonic() > began + STUCK

    def has_failed(self) -> bool:
        """Return whether a submission could recently not be stored, through no fault of its own.

        The failure is forgotten after a while: a proxy that sends no reports to an unhealthy server
        would never learn that the server has recovered.
        """
        failed = self._failed
        return failed is not None and time.monotonic() < failed + UNWELL

    def is_untidy(self) -> bool:
        """Return whether the last attempt to remove the order of arrival from the file failed."""
        return self._untidy

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        due, dirty = time.monotonic() + SETTLE, False
        while True:
            try:
                job = self._queue.get(timeout=IDLE if dirty else None)
            except Empty:
                job = None
            if job is not None:
                self._began = time.monotonic()
                self._store_batch(job)
                self._began, dirty, self._unordered = None, True, True
            now = time.monotonic()
            if now > self._rested and (job is None or now > due):
                dirty = not self._settle(paused=job is None)
                due = time.monotonic() + SETTLE

    def _store_batch(self, first: _Job) -> None:
        """Store all that wait; one by one if that fails, so that a faulty one fails alone."""
        jobs = [first]
        try:
            self._add(jobs, BATCH)
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
            self._add([job], 1)
            self._failed = None
        except Exception as error:
            job.result = BUSY if isinstance(error, StoreBusy) else error
            self._failed = time.monotonic()

    def _add(self, jobs: list[_Job], most: int) -> None:
        """Store jobs in one transaction, and those that wait by then, which are added to `jobs`."""
        seen = 0

        def waiting() -> Iterator[Submission]:
            nonlocal seen
            with suppress(Empty):
                while len(jobs) < most:
                    jobs.append(self._queue.get_nowait())
            new, seen = jobs[seen:], len(jobs)
            return (job.submission for job in new)

        results = self._store.add_waiting(waiting, self._today())
        for job, result in zip(jobs, results, strict=True):
            job.result = result

    def _settle(self, paused: bool) -> bool:
        """Remove the order of arrival from the log and a small file; return whether that worked.

        A large file is written anew when its waves close: see `server.retention`.
        """
        begin = time.monotonic()
        due = paused or begin > self._rewritten + REWRITE
        try:
            is_small = self._store.database.is_small()
            if self._unordered and due and is_small:
                self._unordered = False  # once is enough, even if somebody reads meanwhile
                settled = self._store.database.reorder()
                self._rewritten = time.monotonic()
            else:
                settled = self._store.database.settle()
            if not is_small:
                end = time.monotonic()
                self._rested = end + REST * (end - begin)
            self._untidy = False
            return settled
        except Exception as error:  # whatever it is, the thread must go on
            if not self._untidy:
                failures.log(error, " while settling")
            self._untidy = self._unordered = True
            return False
