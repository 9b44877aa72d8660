"""A running server refuses bytes that are not requests, and odd requests, and goes on."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from limits import MOMENT

from server.clock import today
from server.store import Store

POST = (
    b"POST /api/surveys/canteen/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
)
LENGTHS = (b"-1", b"x", b"9" * 40, b"1, 2", b"+2", b"0x2", b"", b"2\r\nContent-Length: 3", b"1000")
CODINGS = (b"chunked", b"chunked, identity", b"xchunked", b"\x0bchunked", b"x\r\nContent-Length: 2")
CHUNKS = (b"ZZ", b"F" * 17, b"-2", b"2;" + b"x" * 20_000, b"")
LINES = (b"a" * 100_000, b"a\r\nX: " * 20_000, b"a\x00b", b"a\r\n folded", b"a\r\n: b")
STARTS = [
    *(b"GET /" + b"a" * 100_000 + b" HTTP/1.1", b"GET /s/canteen\r\nX-Ours: no HTTP/1.1"),
    *(b"GET http://evil.example/healthz HTTP/1.1", b"CONNECT evil.example:443 HTTP/1.1"),
    *(b"OPTIONS * HTTP/1.1", b"G\x00ET /healthz HTTP/9.9", b"PRI * HTTP/2.0\r\n\r\nSM"),
    *(b"GET /client/../server/app.py HTTP/1.1", b"GET /client/..%2fserver/app.py HTTP/1.0"),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
]
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
WIRES = [
    *(POST + b"Content-Length: " + one + b"\r\n\r\n{}" for one in LENGTHS),
    *(POST + b"Transfer-Encoding: " + one + b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n" for one in CODINGS),
    *(CHUNKED + one + b"\r\n{}\r\n0\r\n\r\n" for one in CHUNKS),
    *(POST + b"X: " + one + b"\r\nContent-Length: 2\r\n\r\n{}" for one in LINES),
    *(one + b"\r\nHost: x\r\n\r\n" for one in STARTS),
    POST + b"Content-Length: 70000\r\n\r\n" + b" " * 70_000,
]


def _exchange(port: int, request: bytes, seconds: float) -> bytes:
    """Return the beginning of a server's answer; nothing if it waits for more, or hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(request)
        with contextlib.suppress(OSError):
            return connection.recv(65536)
    return b""


@pytest.mark.more
def test_no_bytes_make_a_running_server_fail(survey_file: Path, database: Path) -> None:
    command = [sys.executable, "-m", "server.cli", "serve", str(survey_file), "--port", "0"]
    command += ["--workers", "1", "--db", str(database)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(next(s for s in server.stdout if "serves on" in s).rpartition(":")[2])
        for wire in WIRES:
            answer = _exchange(port, wire, 1)
            assert re.match(rb"HTTP/1.[01] [24]|\Z", answer), (wire[:120], answer[:200])
            assert not re.search(b"X-Ours|import", answer)
            well = _exchange(port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", MOMENT)
            assert well.startswith(b"HTTP/1.1 200 ")
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=MOMENT)
    assert not re.search("Traceback|deniable: ", err)
    store = Store(database)
    assert store.reports.kept("canteen", 1) == 0
    assert list(store.upkeep.discrepancies(today())) == []
