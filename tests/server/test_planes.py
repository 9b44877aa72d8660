"""A plane that is frozen starts again by itself; the other plane goes on, and so do its signs."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from limits import MOMENT, wait_until

pytestmark = pytest.mark.more
SURVEY = Path(__file__).parents[2] / "examples/working-conditions.toml"
#: Microseconds of the manager's period. A sign comes after half of it, and a silent plane starts
#: again after two thirds. A busy machine must answer within it.
PERIOD = 40_000_000


@dataclass
class Running:
    """A collector with both planes, and the socket on which its service manager listens."""

    process: "subprocess.Popen[bytes]"
    manager: socket.socket
    ports: dict[str, int]

    def answers(self, plane: str, seconds: float = 5) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[plane], timeout=seconds)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False

    def workers(self, plane: str) -> set[int]:
        """Return the processes that serve a plane; granian's own process starts them again."""
        servers = children(self.process.pid)
        beside = {pid for pid in servers if children(pid)}
        mine = beside if plane == "research" else {self.process.pid}
        found = {worker for pid in mine for worker in children(pid)} - beside
        return {pid for pid in found if b"resource_tracker" not in command_of(pid)}

    def freeze(self, plane: str) -> int:
        (worker,) = self.workers(plane)
        os.kill(worker, signal.SIGSTOP)
        return worker

    def forget_signs(self) -> None:
        """Leave out the signs of life that came until now."""
        self.manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.manager.recv(100):
                pass
        self.manager.settimeout(MOMENT)

    def next_sign(self) -> bytes:
        return self.manager.recv(100)


def children(pid: int) -> set[int]:
    with contextlib.suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return {int(child) for task in tasks for child in task.read_text().split()}
    return set()


def command_of(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start both planes once: each test finds them whole, and leaves them so."""
    tmp_path = tmp_path_factory.mktemp("planes")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(MOMENT)
    ports = {"public": free_port(), "research": free_port()}
    environment = {
        **{name: value for name, value in os.environ.items() if name != "WATCHDOG_PID"},
        "NOTIFY_SOCKET": str(tmp_path / "notify"),
        "WATCHDOG_USEC": str(PERIOD),
    }
    call = [sys.executable, "-m", "server.cli", "serve", str(SURVEY), "--workers", "1"]
    call += ["--port", str(ports["public"]), "--research-port", str(ports["research"])]
    with manager, (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            [*call, "--db", str(tmp_path / "x.db")], stdout=out, stderr=out, env=environment
        )
        try:
            wait_until(lambda: b"deniable serves on" in (tmp_path / "out").read_bytes())
            one = Running(process, manager, ports)
            # By the first sign of life, each plane has long been seen to answer.
            assert [one.next_sign() for _ in range(3)] == [b"READY=1", *[b"WATCHDOG=1"] * 2]
            yield one
        finally:
            process.terminate()
            process.wait(MOMENT)


@pytest.fixture
def running(started: Running) -> Running:
    started.forget_signs()
    return started


def test_a_frozen_console_starts_again_while_respondents_are_served(running: Running) -> None:
    before = running.workers("public")
    frozen = running.freeze("research")
    assert not running.answers("research", 1)
    # The sign that was under way when it froze may have come before.
    assert [running.next_sign() for _ in range(2)] == [b"WATCHDOG=1"] * 2
    assert running.answers("public", MOMENT)
    wait_until(lambda: running.answers("research"))
    assert frozen not in running.workers("research")
    assert running.workers("public") == before


def test_a_frozen_collector_gives_no_sign_until_it_has_started_again(running: Running) -> None:
    before = running.workers("research")
    frozen = running.freeze("public")
    assert not running.answers("public", 1)
    assert running.answers("research", MOMENT)
    # One sign may have been under way. The next comes from a collector that answers.
    assert [running.next_sign() for _ in range(2)] == [b"WATCHDOG=1"] * 2
    assert frozen not in running.workers("public")
    assert running.answers("public", MOMENT)
    assert running.workers("research") == before


def test_a_console_that_ends_starts_again(running: Running) -> None:
    before = running.workers("public")
    (worker,) = running.workers("research")
    (server,) = (pid for pid in children(running.process.pid) if worker in children(pid))
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: running.workers("research") not in (set(), {worker}))
    wait_until(lambda: running.answers("research"))
    assert running.workers("public") == before
