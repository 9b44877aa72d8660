"""Tell systemd that the server is ready, and that it still answers (sd_notify(3))."""

import contextlib
import os
import socket
import time
from collections.abc import Callable


def notify(state: str) -> None:
    """Send a state to the service manager that started this process, if one did."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]  # Linux's abstract sockets
    # A manager that is gone is no reason to stop serving.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(state.encode(), address)


#: Seconds for which an address may be silent, if no service manager says how long.
PATIENCE = 60.0


def guard(answers: Callable[[], bool], start_again: Callable[[], None]) -> None:
    """Start a server again if it answered and is then silent for two thirds of the period.

    After that it may take as long as it needs until it answers for the first time.
    """
    period = os.environ.get("WATCHDOG_USEC", "")
    patience = int(period) / 1_500_000 if period.isdecimal() and int(period) else PATIENCE
    last = None
    while True:
        if answers():
            last = time.monotonic()
        elif last is not None and time.monotonic() - last > patience:
            start_again()
            last = None
        time.sleep(patience / 10)


def watch(answers: Callable[[], bool]) -> None:
    """Send a sign of life twice in each period that the manager set, while the server answers.

    It returns at once if no manager waits for signs. A manager that misses them starts the server
    again. That would not help against a full disk or a database that cannot be read.
    """
    period = os.environ.get("WATCHDOG_USEC", "")
    meant = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    if not (period.isdecimal() and int(period) and meant):
        return
    while True:
        if answers():
            notify("WATCHDOG=1")
        time.sleep(int(period) / 2_000_000)
