"""Running the collector: a free port, granian's workers, and the word when they are ready."""

import contextlib
import http.client
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

from flask import Flask
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from server import create_app

#: Threads of one worker; they wait for the disk most of the time.
THREADS = 4
#: Seconds that a worker gets to finish its requests when the server stops.
PATIENCE = 10


class PortError(Exception):
    """The address cannot be listened on; the message says why."""


def run(database: Path, host: str, port: int, workers: int, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    database : Path
        The store.
    host : str
        The address to listen on.
    port : int
        The port; 0 for one that the kernel picks.
    workers : int
        Processes.
    ready : function
        Called with the server's address once it answers.

    Raises
    ------
    PortError
        If the port is taken, or the address is not one of this machine.
    """
    # Held open, so that nobody else gets the number before the workers listen on it. A first try
    # without SO_REUSEPORT tells whether another server has it.
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        host = str(address[0])
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
        held = socket.socket(family)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((host, port))
    except OSError as error:
        raise PortError(f"{host}:{port}: cannot be listened on: {error.strerror}") from None
    port = held.getsockname()[1]
    # Not forked: a child would inherit open database connections, and locks that other threads hold
    # (one that imports a module, say) and that nobody there will ever release.
    multiprocessing.set_start_method("spawn", force=True)
    os.environ["DENIABLE_DB"] = str(database.absolute())
    server = Granian(
        "server.serving:worker",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=THREADS,
        websockets=False,
        log_access=False,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=PATIENCE,
    )
    shown = f"http://[{host}]:{port}" if family == socket.AF_INET6 else f"http://{host}:{port}"
    threading.Thread(target=_announce, args=(host, port, shown, ready), daemon=True).start()
    with held:
        server.serve()


def worker() -> Flask:
    """The application, as one of granian's workers makes it.

    In a process group of its own: Ctrl-C on a terminal goes to a whole group, and a worker that
    ends by itself is one that the server starts again, while it should be stopping.
    """
    os.setpgrp()
    return create_app()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address, so that browsers trust it without https."""
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _announce(host: str, port: int, shown: str, ready: Callable[[str], None]) -> None:
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    for _ in range(300):
        connection = http.client.HTTPConnection(target, port, timeout=5)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                ready(shown)
                return
        time.sleep(0.1)
