"""Run the collector: find free ports, start granian's workers, and say when they are ready."""

import contextlib
import http.client
import multiprocessing
import os
import resource
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from flask import Flask
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from server import access, failures
from server.app import PLANES, create_app
from server.intake.gateway import Gateway
from server.store import StoreBusy
from server.supervision import guard, notify, watch

#: The most connections of a worker, if the system lets it open so many files, and the files that it
#: opens for other purposes. More connections wait in the system's queue.
CONNECTIONS, OTHER_FILES = 4096, 512
#: Seconds that a worker gets to finish its requests when the server stops.
PATIENCE = 10
#: Seconds between two tries of a worker to open the database.
_PAUSE = 1.0


class PortError(Exception):
    """The server cannot listen on the address; the message says why."""


@dataclass(frozen=True)
class Address:
    """Where to listen: a port, or a Unix socket. The kernel picks a free port for port 0."""

    host: str = ""
    port: int = 0
    socket: Path | None = None


@contextlib.contextmanager
def held(wanted: Address) -> Iterator[Address]:
    """Hold an address, with a real port, so that nobody else takes it before the workers listen.

    A first try without SO_REUSEPORT shows whether another server listens on it.

    Raises
    ------
    PortError
        If the port is taken, or the address is not one of this machine.
    """
    if wanted.socket is not None:
        _free(wanted.socket)
        yield Address(socket=wanted.socket.absolute())
        return
    try:
        infos = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)
        family, *_, address = infos[0]
        host = str(address[0])
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, wanted.port))
        holder = socket.socket(family)
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((host, wanted.port))
    except OSError as error:
        raise PortError(
            f"{wanted.host}:{wanted.port}: cannot listen there: {error.strerror}"
        ) from None
    with holder:
        yield Address(host, holder.getsockname()[1])


def _free(path: Path) -> None:
    """Remove the socket of a server that was killed; raise PortError if another one listens."""
    try:
        if not path.is_socket():
            if path.exists() or not path.absolute().parent.is_dir():
                raise PortError(f"{path}: expected a new socket in a folder that exists")
            return
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
    except ConnectionRefusedError:
        path.unlink()
    except OSError as error:
        raise PortError(f"{path}: cannot listen there: {error.strerror}") from None
    else:
        raise PortError(f"{path}: another server listens on it")


def run(
    database: str,
    public: Address,
    research: Address | None,
    workers: int,
    ready: Callable[[str, str], None],
    named: tuple[str | None, str | None] = (None, None),
) -> None:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    database : str
        The text by which `server.store.places.place_of` finds the database.
    public : Address
        Where respondents are served, and researchers unless `research` is given. `held` yields it.
    research : Address, optional
        Where researchers are served.
    workers : int
        How many processes serve the public address; one serves the other.
    ready : function
        Called with both addresses once they answer.
    named : tuple of str, optional
        The addresses by which respondents and researchers open pages, if a proxy has others.
    """
    # Nothing is forked: a child would inherit open database connections, and locks of other threads
    # (of one that imports a module, say), which nothing in the child would ever release.
    multiprocessing.set_start_method("spawn", force=True)
    os.environ["DENIABLE_DB"] = database
    os.environ["DENIABLE_KEY"] = secrets.token_hex(32)
    urls = [_url(public), _url(research or public)]
    if research is not None and public.socket is None:
        # Researchers' pages show respondents' address, which differs from their own.
        os.environ["DENIABLE_URL"] = urls[0]
    for name, url in zip(("DENIABLE_URL", "DENIABLE_RESEARCH_URL"), named, strict=True):
        if url is not None:
            os.environ[name] = url
    with contextlib.ExitStack() as stack:
        os.environ["DENIABLE_PLANES"] = ",".join(PLANES)
        if research is not None:
            stack.enter_context(_kept_beside(research))
            os.environ["DENIABLE_PLANES"] = "public"
        threading.Thread(target=_announce, args=(urls, ready), daemon=True).start()
        threading.Thread(target=_give_signs, args=(urls[0],), daemon=True).start()
        _serve(public, workers)


def worker() -> Gateway:
    """Return the application of one of granian's workers.

    The worker gets a process group of its own: Ctrl-C on a terminal goes to a whole group, and the
    server, while it should be stopping, would start a worker again that ended by itself.
    """
    os.setpgrp()
    threading.Thread(target=_follow, daemon=True).start()
    return Gateway(_application(), access.shown_account)


def _application() -> Flask:
    """Return the application once its database can be used.

    A database that several collectors share may be away when a worker starts again. If the worker
    ended because of that, and soon a second time, granian would end the server.
    """
    is_told = False
    while True:
        try:
            return create_app()
        except StoreBusy as error:
            if not is_told:
                failures.log(error, " while starting")
            is_told = True
            time.sleep(_PAUSE)


def _serve(where: Address, workers: int) -> None:
    """Serve an address by workers, which start again if the address does not answer for long.

    Each address has its own processes. So neither respondents nor researchers wait for the others.
    """
    url = _url(where)
    threading.Thread(
        target=guard, args=(lambda: _answers(url), lambda: _end_workers(url)), daemon=True
    ).start()
    Granian(
        "server.serving:worker",
        factory=True,
        address=where.host or "127.0.0.1",
        port=where.port or 8000,  # not used where there is a socket
        uds=where.socket,
        uds_permissions=0o660 if where.socket else None,
        interface=Interfaces.RSGI,
        workers=workers,
        backpressure=_connections(),
        websockets=False,
        log_access=False,
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=PATIENCE,
    ).serve(target_loader=_load)


def _load(target: str) -> Any:
    """Return what a worker serves; granian's own loader would import from the current folder."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)()


def _connections() -> int:
    """Return how many connections a worker can keep within its limit of open files."""
    wanted = CONNECTIONS + OTHER_FILES
    soft, hard = (
        wanted if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(CONNECTIONS, max(soft - OTHER_FILES, 128))


def _end_workers(url: str) -> None:
    """Kill the workers of this process: one that is frozen heeds no other signal.

    Granian starts them again.
    """
    with contextlib.suppress(OSError):  # raised if the log is on a full disk
        print(f"deniable: {url} does not answer; starting it again", file=sys.stderr, flush=True)
    for process in multiprocessing.active_children():
        if process.name != _BESIDE:
            process.kill()


#: The name of the process that serves researchers.
_BESIDE = "beside"


@contextlib.contextmanager
def _kept_beside(where: Address) -> Iterator[None]:
    """Serve researchers in a process of its own, which starts again if it ends by itself."""
    is_over = threading.Event()

    def keep() -> None:
        while not is_over.is_set():
            process = multiprocessing.Process(target=_serve_beside, args=(where,), name=_BESIDE)
            process.start()
            while process.is_alive() and not is_over.wait(_PAUSE):
                pass
            process.terminate()
            process.join(2 * PATIENCE)
            process.kill()

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield
    finally:
        is_over.set()
        keeper.join()


def _serve_beside(where: Address) -> None:
    os.setpgrp()  # Ctrl-C ends the server, which ends this process
    os.environ["DENIABLE_PLANES"] = "research"
    threading.Thread(target=_follow, daemon=True).start()
    _serve(where, 1)


def _follow() -> None:
    """End this process with the server: workers of a killed server would hold its port."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # returns at once if it has ended before
    os.kill(os.getpid(), signal.SIGTERM)


def _url(where: Address) -> str:
    if where.socket is not None:
        return f"unix:{where.socket}"
    host = f"[{where.host}]" if ":" in where.host else where.host
    return f"http://{host}:{where.port}"


def _announce(urls: list[str], ready: Callable[[str, str], None]) -> None:
    """Wait until all addresses answer, however slow the machine is, and say so."""
    for url in urls:
        _wait_for(url)
    ready(*urls)


def _give_signs(url: str) -> None:
    """Tell the service manager that respondents' address answers, once and again and again.

    A manager that misses the signs starts everything again. So researchers' address gives none.
    """
    _wait_for(url)
    notify("READY=1")
    watch(lambda: _answers(url))


def _wait_for(url: str) -> None:
    while not _answers(url):
        time.sleep(0.1)


def _answers(url: str) -> bool:
    host = url.removeprefix("http://").replace("0.0.0.0:", "127.0.0.1:").replace("[::]", "[::1]")
    path = url.removeprefix("unix:") if url.startswith("unix:") else None
    connection = http.client.HTTPConnection("localhost" if path else host, timeout=5)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        if path is not None:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(5)
            connection.sock.connect(path)
        connection.request("GET", "/healthz")
        connection.getresponse()
        return True
    return False
