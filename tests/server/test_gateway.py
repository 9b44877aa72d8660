"""Slow clients hold no thread, and too many reports are refused while pages are served."""

import asyncio
import fcntl
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from itertools import islice
from pathlib import Path
from typing import Self
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

import pytest
from flask import Flask, request

from analysis.survey.survey import LONGEST_REQUEST, Survey
from server import passwords
from server.intake import gateway
from server.store import Store
from server.store.researchers import Researcher

sys.path.insert(0, str(Path(__file__).parent))

from limits import LONG, run_apart, timed, wait_until
from load import Server, check_books, get, is_busy, post, submissions

#: Clients that send a body slowly; they are more than a worker has threads.
SLOW = gateway.WRITERS + gateway.READERS + 20


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, survey_text: str
) -> Iterator[tuple[Server, Path]]:
    """Run a server with one worker for all of these tests."""
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "canteen.toml").write_text(survey_text)
    database = folder / "canteen.db"
    with Server(database, folder / "canteen.toml", "--workers", 1) as server:
        yield server, database


@pytest.fixture
def server(running: tuple[Server, Path]) -> Server:
    return running[0]


@pytest.fixture
def database(running: tuple[Server, Path]) -> Path:
    return running[1]


@contextmanager
def trickling(
    url: str, path: str, clients: int, header: str = "X: x"
) -> Iterator[list[socket.socket]]:
    """Connect this many clients, each of which has sent the beginning of a request's body."""
    parts = urlsplit(url)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{header}\r\n"
    with ExitStack() as opened:
        sockets = []
        for _ in range(clients):
            made = socket.create_connection((parts.hostname, parts.port), LONG)
            sockets.append(opened.enter_context(made))
            made.sendall(f"{head}Content-Length: 600\r\n\r\n{{".encode())
        yield sockets


@contextmanager
def stuck(database: Path) -> Iterator[None]:
    """Let another process hold the file lock."""
    with open(f"{database}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_bodies_that_trickle_in_keep_nobody_waiting(
    server: Server, survey: Survey, database: Path
) -> None:
    path = f"/api/surveys/{survey.id}/reports"
    with trickling(server.url, path, SLOW):
        time.sleep(1)  # until all of them have reached the worker
        assert get(server.url, f"/s/{survey.id}").status == 200
        ((rid, body),) = islice(submissions(survey), 1)
        assert [one.status for one in post(server.url, path, [body])] == [201]
    check_books(database, survey, {rid})


@pytest.fixture(scope="module")
def sessions(running: tuple[Server, Path]) -> list[str]:
    """Return the headers by which two researchers are known who signed in."""
    server, database = running
    store, headers = Store(database), []
    for name in ("ada", "bob"):
        password = passwords.new_password()
        store.researchers.put(Researcher(name, "analyst"), passwords.hashed(password))
        form = urlencode({"name": name, "password": password}).encode()
        signing_in = Request(f"{server.url}/login", form, {"Sec-Fetch-Site": "none"})
        with build_opener(Stay).open(signing_in, timeout=LONG) as answer:
            cookies = answer.headers.get_all("Set-Cookie", [])
            (session,) = [one for one in cookies if one.startswith("__Host-deniable=")]
            headers.append("Cookie: " + session.partition(";")[0])
    return headers


class Stay(HTTPErrorProcessor):
    """The answer of signing in is wanted, and not the page to which it leads."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        return response


def sent_whole(url: str, header: str, length: int) -> int:
    """Return the status of a form of this many bytes to the page of new surveys."""
    parts = urlsplit(url)
    form = b"csrf=" + b"x" * (length - 5)
    with socket.create_connection((parts.hostname, parts.port), LONG) as client:
        client.sendall(
            f"POST /surveys/new HTTP/1.1\r\nHost: {parts.netloc}\r\n{header}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {length}\r\n\r\n".encode()
        )
        client.sendall(form)
        return int(client.recv(65536).split()[1])


#: What a form without the right proof of its page gets from somebody who is known, and others.
KNOWN, STRANGE = 403, 401


@pytest.mark.parametrize(
    "header", ["X: x", "Cookie: __Host-deniable=forged", "Authorization: Bearer guess"]
)
def test_slow_uploads_of_strangers_keep_no_researcher_waiting(
    server: Server, sessions: list[str], header: str
) -> None:
    with trickling(server.url, "/surveys/new", gateway.MOST_UPLOADS + 1, header):
        time.sleep(1)  # until all of them have reached the worker
        assert sent_whole(server.url, sessions[0], 1000) == KNOWN


def test_slow_uploads_of_an_account_keep_no_other_waiting(
    server: Server, sessions: list[str]
) -> None:
    def is_kept_out() -> bool:
        with trickling(server.url, "/surveys/new", gateway.MOST_UPLOADS, sessions[0]):
            time.sleep(1)  # until all of them have reached the worker, unless it is busy
            statuses = [sent_whole(server.url, one, 1000) for one in sessions]
        assert statuses[1] == KNOWN
        return statuses[0] == 503

    wait_until(is_kept_out)


@dataclass
class Head:
    """The head of a form, as granian gives it."""

    path: str
    headers: dict[str, str]
    method = "POST"
    query_string = ""
    scheme = "http"
    server = "127.0.0.1:80"
    authority: str | None = "x"
    http_version = "1.1"


class Connection:
    """A connection that brings so many bytes, and keeps what is answered."""

    def __init__(self, length: int) -> None:
        self.left, self.answer = length, b""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if not self.left:
            raise StopAsyncIteration
        part = b"x" * min(self.left, 65_536)
        self.left -= len(part)
        return part

    def response_bytes(self, status: int, headers: object, body: bytes) -> None:
        self.answer = body


@pytest.mark.parametrize(
    ("account", "length", "read"),
    [
        ("ada", 2 * LONGEST_REQUEST, 2 * LONGEST_REQUEST),
        (None, LONGEST_REQUEST, LONGEST_REQUEST),
        # A part of a form could pass for the whole, if the view then knows who sent it.
        (None, LONGEST_REQUEST + 1, 0),
        (None, 2 * LONGEST_REQUEST, 0),
    ],
)
def test_no_part_of_a_form_reaches_a_view(account: str | None, length: int, read: int) -> None:
    app = Flask(__name__)
    app.add_url_rule(
        "/surveys/new", view_func=lambda: f"{len(request.get_data())}", methods=["POST"]
    )
    connection = Connection(length)
    head = Head("/surveys/new", {"content-length": f"{length}", "content-type": "text/plain"})
    made = gateway.Gateway(app, lambda: account)
    run_apart(made.__rsgi__(head, connection))
    assert connection.answer == f"{read}".encode()


def test_only_researchers_can_send_much(server: Server, sessions: list[str]) -> None:
    # The places of other tests are free once the server has noticed that their clients left.
    wait_until(lambda: sent_whole(server.url, sessions[0], 2 * LONGEST_REQUEST) == KNOWN)
    assert sent_whole(server.url, "X: x", 2 * LONGEST_REQUEST) == STRANGE
    assert sent_whole(server.url, "X: x", 1000) == STRANGE


@pytest.mark.more
def test_a_body_that_does_not_come_in_time_is_refused(server: Server, survey: Survey) -> None:
    with trickling(server.url, f"/api/surveys/{survey.id}/reports", 3) as clients:
        answers, seconds = timed(lambda: [client.recv(65536) for client in clients])
    for answer in answers:
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"urn:deniable:problem:too-slow" in answer
    assert seconds > gateway.DEADLINE / 2


def test_no_more_of_a_body_is_read_than_the_limit(server: Server, survey: Survey) -> None:
    path = f"/api/surveys/{survey.id}/reports"
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), LONG) as client:
        client.sendall(
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        # This is without a stated length, and the body never ends.
        for _ in range(LONGEST_REQUEST // 1024 + 1):
            client.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_pages_are_served_while_reports_wait_for_the_store(
    server: Server, survey: Survey, database: Path
) -> None:
    path, many = f"/api/surveys/{survey.id}/reports", SLOW + 60
    sent = dict(islice(submissions(survey), many))
    with ThreadPoolExecutor(1) as pool:
        with stuck(database):
            answers = pool.submit(post, server.url, path, list(sent.values()), many)
            # The store is stuck until all of these are answered.
            for _ in range(20):
                assert get(server.url, f"/s/{survey.id}").status == 200
        got = dict(zip(sent, answers.result(), strict=True))
    assert all(one.status == 201 or is_busy(one) for one in got.values())
    stored = {rid for rid, one in got.items() if one.status == 201}
    again = post(server.url, path, [sent[rid] for rid in sent if rid not in stored])
    assert {one.status for one in again} <= {200, 201}
    check_books(database, survey, set(sent))


def _sleep(seconds: float) -> tuple[int, list[tuple[str, str]], bytes]:
    time.sleep(seconds)
    return 200, [], b""


def test_a_lane_is_full_while_requests_wait_too_long() -> None:
    async def load() -> None:
        lane = gateway.Lane(threads=2, most=1000, longest=0.2)
        assert not lane.is_full()
        # Half a second of work for two threads, and more work while it is done.
        waiting = [asyncio.create_task(lane.run(_sleep, 0.01)) for _ in range(100)]
        while not lane.is_full():
            assert not all(one.done() for one in waiting), "it was never full"
            await asyncio.sleep(0.01)
        await asyncio.gather(*waiting)
        assert not lane.is_full()

    run_apart(load())


def test_a_lane_accepts_no_more_than_its_limit() -> None:
    async def load() -> None:
        lane = gateway.Lane(threads=2, most=5, longest=60)
        waiting = [asyncio.create_task(lane.run(_sleep, 0.3)) for _ in range(5)]
        await asyncio.sleep(0)
        assert lane.is_full()
        await asyncio.gather(*waiting)
        assert not lane.is_full()

    run_apart(load())
