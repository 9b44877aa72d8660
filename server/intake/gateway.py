"""The gateway between granian and Flask reads requests, and refuses them under too much load.

granian hands over a request once its head has arrived. While a body arrives slowly, it costs a few
kilobytes and no thread. A complete request gets a thread, or is refused if so many others wait for
one that its turn would not come soon.
"""

import asyncio
import io
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from flask import Flask

from analysis.survey.survey import LONGEST_REQUEST
from server.headers import added
from server.intake.requests import AGAIN, problem
from server.intake.wire import Refusal
from server.intake.writer import BUSY

#: Threads of one worker for POST requests. They mostly wait for the disk, and their submissions
#: share a transaction.
WRITERS = 48
#: Threads for all other requests, so that pages are served however many reports come.
READERS = 16
#: New requests are refused once others waited this many seconds for a thread. Reading gets more
#: time: a page does not work if one of its twenty-odd files is missing.
WRITES_WAIT, READS_WAIT = 1.0, 5.0
#: The most requests of each kind at the same time. How long they wait is known only later.
MOST_WRITES, MOST_READS = 512, 4096
#: The most bodies that are read at the same time, of at most 64 KiB each.
MOST_BODIES = 1024
#: The paths to which researchers send survey files, the files that these name, or parts of them.
#: A body there may be longer if its head shows an account. Few may come at the same time from each
#: account, and none from anybody else, who could keep all others from sending any.
UPLOADS = r"/surveys/(new|[a-z0-9-]{1,64}/(edit|translations))"
LONGEST_UPLOAD, MOST_UPLOADS = 8 * 1024 * 1024, 4
#: Seconds that a body may take; a device gives up after as many.
DEADLINE = 30.0
#: A refusal is held back for a random number of seconds between these. Otherwise programs that
#: retry at once, whatever they are told, would keep the worker busy with refusing.
HELD = (2.0, 6.0)

SLOW = Refusal("too-slow", "body", f"all of it within {DEADLINE:.0f} seconds", "less")

_Result = TypeVar("_Result")
_Answer = tuple[int, list[tuple[str, str]], bytes]
_Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


class _Head(Protocol):
    """The head of a request, as RSGI has it."""

    method: str
    path: str
    query_string: str
    scheme: str
    server: str
    authority: str | None
    http_version: str
    headers: Any


class Lane:
    """Threads for one kind of request, and how long requests wait for them.

    At most `most` requests may be in a thread or wait for one, and new ones are refused once others
    have waited for `longest` seconds.
    """

    def __init__(self, threads: int, most: int, longest: float) -> None:
        self._pool = ThreadPoolExecutor(threads)
        self._threads, self._most, self._longest = threads, most, longest
        self._under_way = 0
        #: Seconds for which the last request that got a thread had waited.
        self._waited = 0.0

    def is_full(self) -> bool:
        """Return whether another request would have to wait too long."""
        has_to_wait = self._under_way >= self._threads
        return self._under_way >= self._most or (has_to_wait and self._waited > self._longest)

    async def run(self, action: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run an action in one of the threads, and return its result."""
        came = time.monotonic()

        def begin() -> _Result:
            self._waited = time.monotonic() - came
            return action(*arguments)

        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, begin)
        finally:
            self._under_way -= 1


class Gateway:
    """A Flask application behind granian's RSGI interface; it never learns a client's address.

    `account` returns the name of the account that the head of the request at hand shows, and None
    if it shows none.
    """

    def __init__(self, app: Flask, account: Callable[[], str | None]) -> None:
        self._app: _Wsgi = app
        self._context, self._account = app.request_context, account
        self._writes = Lane(WRITERS, MOST_WRITES, WRITES_WAIT)
        self._reads = Lane(READERS, MOST_READS, READS_WAIT)
        self._being_read = 0
        self._uploading = Counter[str]()
        with app.app_context():
            self._busy, self._slow = (
                _answer(added(problem(refusal)), {"REQUEST_METHOD": "POST"})
                for refusal in (BUSY, SLOW)
            )

    async def __rsgi__(self, head: _Head, connection: Any) -> None:
        status, headers, body = await self._answered(head, connection)
        connection.response_bytes(status, headers, body)

    async def _answered(self, head: _Head, connection: Any) -> _Answer:
        is_write = head.method not in ("GET", "HEAD")
        lane = self._writes if is_write else self._reads
        body = b""
        if is_write:
            if lane.is_full() or self._being_read >= MOST_BODIES:
                return await self._refused()
            uploader = None
            is_upload = re.fullmatch(UPLOADS, head.path) is not None
            if is_upload:
                uploader = await lane.run(self._sender, head)
            if uploader is not None and self._uploading[uploader] >= MOST_UPLOADS:
                return await self._refused()
            try:
                body = await self._read(head, connection, uploader)
            except TimeoutError:
                return self._slow
            if is_upload and uploader is None and len(body) > LONGEST_REQUEST:
                body = b""  # a part of a form could pass for the whole
        if lane.is_full():
            return await self._refused()
        return await lane.run(_answer, self._app, _environ(head, body))

    def _sender(self, head: _Head) -> str | None:
        """Return the name of the account that a request's head shows; None if it shows none."""
        with self._context(_environ(head, b"")):
            return self._account()

    async def _read(self, head: _Head, connection: Any, uploader: str | None) -> bytes:
        """Return a body, or one byte more than the longest that is accepted from its sender.

        Raises
        ------
        TimeoutError
            If it takes too long.
        """
        longest = LONGEST_REQUEST if uploader is None else LONGEST_UPLOAD
        stated = head.headers.get("content-length", "")
        wanted = min(int(stated), longest + 1) if stated.isdigit() else longest + 1
        parts, length = list[bytes](), 0
        self._being_read += 1
        if uploader is not None:
            self._uploading[uploader] += 1
        try:
            async with asyncio.timeout(DEADLINE):
                async for part in connection:
                    parts.append(part)
                    length += len(part)
                    if not part or length >= wanted:
                        break
        finally:
            self._being_read -= 1
            if uploader is not None:
                self._uploading[uploader] -= 1
        return b"".join(parts)[: longest + 1]

    async def _refused(self) -> _Answer:
        await asyncio.sleep(random.uniform(*HELD))
        status, headers, body = self._busy
        others = [header for header in headers if header[0] != "Retry-After"]
        return status, [*others, ("Retry-After", str(random.randint(*AGAIN)))], body


def _environ(head: _Head, body: bytes) -> dict[str, Any]:
    """Return a request as WSGI has it (PEP 3333), without the client's address."""
    host, _, port = head.server.rpartition(":")
    if not port.isdecimal():  # a Unix socket
        host, port = "localhost", "80"
    environ: dict[str, Any] = {
        "REQUEST_METHOD": head.method,
        "SCRIPT_NAME": "",
        # WSGI passes the bytes of the path as characters of these numbers (Latin-1).
        "PATH_INFO": head.path.encode().decode("latin-1"),
        "QUERY_STRING": head.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{head.http_version}",
        "HTTP_HOST": head.authority or "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": head.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in head.headers.items():
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        if key in environ and key != "HTTP_HOST":
            value = environ[key] + (";" if key == "HTTP_COOKIE" else ",") + value
        environ[key] = value
    return environ


def _answer(app: _Wsgi, environ: dict[str, Any]) -> _Answer:
    """Return the whole answer of a WSGI application."""
    head: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
        head[:] = [int(status[:3]), headers]

    parts = app(environ, start)
    try:
        body = b"".join(parts)
    finally:
        getattr(parts, "close", lambda: None)()
    return head[0], head[1], body
