"""Time limits of all tests, in one place. They end tests that hang; no verdict measures speed.

A busy or slow machine may need a hundred times as long as an idle one, so the limits are a
hundred times what a step takes there. A test that is about time compares two durations of the
same run, by `timed` or `stopwatch`, or counts what was done.
"""

import asyncio
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds after which a short step hangs: a click, a request, the start or end of a process.
MOMENT = 180.0
#: Seconds after which a program hangs that does all of its work in this time.
LONG = 900.0
#: Seconds of CPU for a program that needs one or two, most of them to import what it uses.
CPU = 25
#: CPU seconds after which a computation of a second has no end.
ENDLESS = 120.0


def wait_until(holds: Callable[[], object], seconds: float = LONG) -> float:
    """Wait until something holds, and return the seconds; AssertionError if it never does."""
    passed = stopwatch()
    while not holds():
        assert passed() < seconds, f"not within {seconds:g} seconds"
        time.sleep(0.02)
    return passed()


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the seconds since now; compare them with others of the run."""
    begin = time.monotonic()
    return lambda: time.monotonic() - begin


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call, and its seconds; compare these with others of the same run."""
    passed = stopwatch()
    return call(), passed()


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in another thread, since this one may have a loop of a browser's driver."""
    with ThreadPoolExecutor(1) as another:
        return another.submit(asyncio.run, work).result()


def run_within_cpu(code: str, *arguments: str, stdin: bytes = b"") -> str:
    """Return what a program in Python prints; AssertionError if it fails, or needs `CPU` seconds.

    The limit is no stopwatch: it does not count while other programs run.
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=stdin,
        capture_output=True,
        timeout=LONG,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU)),
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:].decode()}"
    return done.stdout.decode()


@contextmanager
def computed(within: float = ENDLESS) -> Iterator[None]:
    """End a block with AssertionError once this process has computed for so many CPU seconds."""

    def end(*_: object) -> None:
        raise AssertionError(f"not computed within {within:g} CPU seconds")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, within)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
