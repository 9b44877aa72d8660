"""Running the collector: free ports, granian's workers, and the word when they are ready."""

import contextlib
import http.client
import multiprocessing
import os
import resource
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from server.app import PLANES, create_app
from server.gateway import Gateway

#: Connections that one worker keeps, where the system lets it open so many files; and files that it
#: opens for other purposes. More connections wait in the system's queue.
CONNECTIONS, OTHER_FILES = 4096, 512
#: Seconds that a worker gets to finish its requests when the server stops.
PATIENCE = 10


class PortError(Exception):
    """The address cannot be listened on; the message says why."""


@dataclass(frozen=True)
class Address:
    """Where to listen; port 0 is one that the kernel picks."""

    host: str
    port: int


@contextlib.contextmanager
def held(wanted: Address) -> Iterator[Address]:
    """The address with a real port, held open, so that nobody else gets the number before the
    workers listen on it. A first try without SO_REUSEPORT tells whether another server has it.

    Raises
    ------
    PortError
        If the port is taken, or the address is not one of this machine.
    """
    try:
        family, *_, address = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)[
            0
        ]
        host = str(address[0])
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, wanted.port))
        own = socket.socket(family)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        own.bind((host, wanted.port))
    except OSError as error:
        raise PortError(
            f"{wanted.host}:{wanted.port}: cannot be listened on: {error.strerror}"
        ) from None
    with own:
        yield Address(host, own.getsockname()[1])


def run(
    database: Path,
    public: Address,
    research: Address | None,
    workers: int,
    ready: Callable[[str, str], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    database : Path
        The store.
    public : Address
        For respondents; for researchers too, unless they have an address of their own. As `held`
        gives it.
    research : Address, optional
        For researchers.
    workers : int
        Processes, of the public address; the other has one.
    ready : function
        Called with both addresses once they answer.
    """
    # Not forked: a child would inherit open database connections, and locks that other threads hold
    # (one that imports a module, say) and that nobody there will ever release.
    multiprocessing.set_start_method("spawn", force=True)
    os.environ["DENIABLE_DB"] = str(database.absolute())
    os.environ["DENIABLE_KEY"] = secrets.token_hex(32)
    urls = [_url(public), _url(research or public)]
    with contextlib.ExitStack() as stack:
        os.environ["DENIABLE_PLANES"] = ",".join(PLANES)
        if research is not None:
            os.environ["DENIABLE_PLANES"] = "research"
            beside = multiprocessing.Process(target=_serve_beside, args=(research,))
            beside.start()
            stack.callback(_stop, beside)
            os.environ["DENIABLE_PLANES"] = "public"
        threading.Thread(target=_announce, args=(urls, ready), daemon=True).start()
        _serve(public, workers)


def worker() -> Gateway:
    """The application, as one of granian's workers makes it.

    In a process group of its own: Ctrl-C on a terminal goes to a whole group, and a worker that
    ends by itself is one that the server starts again, while it should be stopping.
    """
    os.setpgrp()
    threading.Thread(target=_follow, daemon=True).start()
    return Gateway(create_app())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address, so that browsers trust it without https."""
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _serve(where: Address, workers: int) -> None:
    Granian(
        "server.serving:worker",
        factory=True,
        address=where.host,
        port=where.port,
        interface=Interfaces.RSGI,
        workers=workers,
        backpressure=_connections(),
        websockets=False,
        log_access=False,
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=PATIENCE,
    ).serve()


def _connections() -> int:
    """How many connections a worker can keep; past its limit of files it would accept none."""
    wanted = CONNECTIONS + OTHER_FILES
    soft, hard = (
        wanted if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(CONNECTIONS, max(soft - OTHER_FILES, 128))


def _serve_beside(where: Address) -> None:
    threading.Thread(target=_follow, daemon=True).start()
    _serve(where, 1)


def _stop(process: multiprocessing.Process) -> None:
    process.terminate()
    process.join(2 * PATIENCE)
    process.kill()


def _follow() -> None:
    """End with the server: if it was killed, its workers would go on holding the port."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # returns at once if it has ended before
    os.kill(os.getpid(), signal.SIGTERM)


def _url(where: Address) -> str:
    return (
        f"http://[{where.host}]:{where.port}"
        if ":" in where.host
        else f"http://{where.host}:{where.port}"
    )


def _announce(urls: list[str], ready: Callable[[str, str], None]) -> None:
    """Wait until all addresses answer, as long as the server runs: machines can be slow."""
    for url in urls:
        while not _answers(url):
            time.sleep(0.1)
    ready(*urls)


def _answers(url: str) -> bool:
    reachable = (
        url.removeprefix("http://").replace("0.0.0.0:", "127.0.0.1:").replace("[::]", "[::1]")
    )
    connection = http.client.HTTPConnection(reachable, timeout=5)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", "/healthz")
        connection.getresponse()
        return True
    return False
