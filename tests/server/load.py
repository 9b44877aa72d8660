"""A collector under load: its processes, and clients that know the answer to each request."""

import contextlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from itertools import count, islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from limits import LONG, MOMENT, wait_until

from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake.requests import check
from server.intake.wire import Refusal
from server.store import Place, Store

COMMAND = [sys.executable, "-m", "server.cli"]


def deniable(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    call = [*COMMAND, *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, timeout=LONG, check=False)


class Server:
    """`deniable serve` on a port that the kernel chose; its stderr goes to a file."""

    def __init__(self, database: Place, *arguments: object, ready: bool = True) -> None:
        self.stderr = Path(tempfile.mkdtemp(prefix="served-")) / "stderr"
        if isinstance(database, Path):
            self.stderr = database.with_name(f"{database.name}.stderr")
        call = [*COMMAND, "serve", *map(str, arguments), "--port", "0", "--db", str(database)]
        with self.stderr.open("ab") as stderr:
            self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.urls: list[str] = []
        self._seen: set[int] = set()
        self.token = ""
        if ready:
            self._wait()

    def _wait(self) -> None:
        assert self.process.stdout is not None
        watchdog = threading.Timer(LONG, self.process.kill)
        watchdog.start()
        for line in self.process.stdout:
            if line.startswith(("deniable serves on ", "researchers: ")):
                self.urls.append(line.split()[-1].removesuffix("/results"))
            if line.startswith("research token: "):
                self.token = line.split()[-1]
                break
        watchdog.cancel()
        if not self.urls:
            self.kill()
            raise AssertionError(self.stderr.read_text())

    @property
    def url(self) -> str:
        """Return the address at which respondents reach it."""
        return self.urls[0]

    def below(self) -> list[int]:
        """Return the processes that it started, and the processes that these started."""
        found = _below(self.process.pid)
        self._seen.update(found)
        return found

    def kill(self) -> None:
        """Send SIGKILL to all of it: first to the parent, which would start workers again."""
        self.below()
        self.process.kill()
        for pid in self._seen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate(timeout=MOMENT)
        wait_until(lambda: not any(map(is_alive, self._seen)))

    def stop(self) -> int:
        """Send SIGTERM, and return its exit status."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=MOMENT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
        told = self.stderr.read_text()
        assert "Traceback" not in told, told


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _below(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                found += [child, *_below(child)]
    return found


@dataclass(frozen=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class Lost(Exception):
    """A connection that ended before the answer did; `received` is the part that came."""

    def __init__(self, received: bytes) -> None:
        super().__init__("connection lost")
        self.received = received


class Connection:
    """One connection to a server, kept alive. Unlike http.client's, it reports what was lost."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.port:
            raise ValueError("no address")
        self._host = parts.netloc
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=MOMENT)

    def request(self, method: str, path: str, body: bytes = b"") -> Answer:
        """Return the answer to a request; raise Lost if there is none."""
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: {len(body)}"
        head += "\r\nContent-Type: application/json"
        received = b""
        with contextlib.suppress(ConnectionError):
            self._socket.sendall(f"{head}\r\n\r\n".encode() + body)
            while part := self._socket.recv(65536):
                received += part
                answer = _whole(received)
                if answer is not None:
                    return answer
        raise Lost(received)

    def close(self) -> None:
        self._socket.close()


def _whole(received: bytes) -> Answer | None:
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return None
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines)}
    protocol, status, *_ = first.split()
    assert protocol == "HTTP/1.1"
    missing = int(headers["content-length"]) - len(body)
    assert missing >= 0
    return None if missing else Answer(int(status), headers, body)


def submissions(survey: Survey, wave: int = 1) -> Iterator[tuple[bytes, bytes]]:
    """Yield without end what devices send: the rid, and a request's body."""
    people = [{"meat": "yes" if row % 3 else "no", "dish": "stew", "price": str(row % 20)}
              for row in range(40)]  # fmt: skip
    kinds = list(payloads(survey, people, wave, 1))
    for number in count():
        rid, respondent = secrets.token_bytes(16), secrets.token_hex(16)
        one = {**kinds[number % len(kinds)], "rid": rid.hex(), "respondent": respondent}
        yield rid, json.dumps(one).encode()


def invited(survey: Survey, tokens: Iterable[str]) -> Iterator[bytes]:
    """Return a submission for each invitation, each of another respondent."""
    for token, (_, body) in zip(tokens, submissions(survey), strict=False):
        yield json.dumps({**json.loads(body), "token": token}).encode()


def take_in(
    store: Store, bodies: Iterable[bytes], survey: Survey, today: date | None = None
) -> Sequence[Refusal | int]:
    """Put bodies straight into a store, in one transaction; return the result of each."""
    batch = [check(store, survey.id, body) for body in bodies]
    return store.add(batch, today or date.today())


def take(
    database: Place, survey_file: Path, tokens: list[str], start: Barrier, seed: int, to: Path
) -> None:
    """Try every invitation, a few in each transaction; a process of its own does this.

    What came of them is written into a file, a word for each.
    """
    store, survey = Store(database), read_survey(survey_file)
    sent = invited(survey, random.Random(seed).sample(tokens, len(tokens)))
    start.wait(LONG)
    outcomes: list[str] = []
    while bodies := list(islice(sent, 4)):
        results = take_in(store, bodies, survey)
        if not outcomes:
            start.wait(LONG)  # on a busy machine, one could be done before another begins
        outcomes += (one.word if isinstance(one, Refusal) else str(one) for one in results)
    to.write_text(" ".join(outcomes))


@dataclass
class Load:
    """Clients that post reports until they are told to stop; each report is of a new respondent.

    Parameters
    ----------
    survey : Survey
        What they answer.
    url : str
        Where to; may change while they run. They wait while there is none.
    clients : int
        How many post at once.
    """

    survey: Survey
    url: str = ""
    clients: int = 16
    sent: dict[bytes, bytes] = field(default_factory=dict)
    answers: dict[bytes, Answer] = field(default_factory=dict)
    lost: dict[bytes, bytes] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(self.clients)
        self._running: list[Future[None]] = [
            self._pool.submit(self._client) for _ in range(self.clients)
        ]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Wait for the answers under way, and end; an error in a client is raised."""
        self._stopping.set()
        self._pool.shutdown()
        for one in self._running:
            one.result()

    def _client(self) -> None:
        connection = None
        new = submissions(self.survey)
        while not self._stopping.is_set():
            try:
                connection = connection or Connection(self.url)
            except (OSError, ValueError):
                time.sleep(0.1)
                continue
            rid, body = next(new)
            self.sent[rid] = body
            try:
                self.answers[rid] = connection.request("POST", self.path, body)
            except Lost as lost:
                self.lost[rid] = lost.received
                connection.close()
                connection = None
        if connection:
            connection.close()

    @property
    def path(self) -> str:
        return f"/api/surveys/{self.survey.id}/reports"

    def count(self, *statuses: int) -> int:
        """Return how many answers had one of these statuses so far."""
        return sum(one.status in statuses for one in self.answers.copy().values())

    def acknowledged(self) -> set[bytes]:
        """Return the rids that were answered with 200 or 201 so far."""
        # A thread that adds items can interrupt the iteration over a list, but not a copy.
        answers = self.answers.copy()
        return {rid for rid, one in answers.items() if one.status in (200, 201)}

    def retry(self) -> Counter[int]:
        """Send everything again that was not acknowledged; return how often each status came."""
        waiting = sorted(set(self.sent) - self.acknowledged())
        answers = post_until_taken(self.url, self.path, [self.sent[rid] for rid in waiting])
        self.answers.update(zip(waiting, answers, strict=True))
        return Counter(one.status for one in answers)


def post(url: str, path: str, bodies: Sequence[bytes], clients: int = 16) -> list[Answer]:
    """Return the answers to requests that many clients send at once, in the order of the bodies."""
    place = threading.local()
    opened: list[Connection] = []

    def send(body: bytes) -> Answer:
        if not hasattr(place, "connection"):
            place.connection = Connection(url)
            opened.append(place.connection)
        answer: Answer = place.connection.request("POST", path, body)
        return answer

    with ThreadPoolExecutor(clients) as pool:
        answers = list(pool.map(send, bodies))
    for one in opened:
        one.close()
    return answers


def post_until_taken(url: str, path: str, bodies: Sequence[bytes]) -> list[Answer]:
    """Do the same, but try again when asked to, as devices do; return the last answers."""
    answers = post(url, path, bodies)

    def nobody_waits() -> bool:
        waiting = [number for number, answer in enumerate(answers) if is_busy(answer)]
        again = post(url, path, [bodies[number] for number in waiting])
        for number, answer in zip(waiting, again, strict=True):
            answers[number] = answer
        return not any(map(is_busy, answers))

    wait_until(nobody_waits)
    return answers


def get(url: str, path: str) -> Answer:
    connection = Connection(url)
    answer = connection.request("GET", path)
    connection.close()
    return answer


def is_busy(answer: Answer) -> bool:
    """Return whether an answer is the refusal that asks a device to try again."""
    return (
        answer.status == 503
        and answer.headers["content-type"] == "application/problem+json"
        and int(answer.headers["retry-after"]) > 0
        and json.loads(answer.body)["type"] == "urn:deniable:problem:try-again"
    )


def column(database: Place, sql: str) -> list[Any]:
    """Return the first column of a query, on a connection of its own."""
    store = Store(database)
    try:
        return [row[0] for row in store.database.query(sql).fetchall()]
    finally:
        store.database.leave()


def check_books(database: Place, survey: Survey, acknowledged: set[bytes]) -> None:
    """Check that everything acknowledged is stored, charged and tallied exactly once."""
    store = Store(database)
    assert store.database.integrity() == "ok"
    stored = column(database, f"SELECT rid FROM report WHERE survey = '{survey.id}'")
    assert not acknowledged - set(stored)
    assert len(stored) == len(set(stored))
    spends = store.ledger.spends(survey.id)
    # Each submission was another respondent's.
    assert {one.submissions for one in spends} == {1}
    assert {one.charged for one in spends} == {survey.charge}
    assert len(spends) == len(stored)
    assert list(store.upkeep.discrepancies(date.today())) == []
    store.close()
