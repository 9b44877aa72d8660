"""systemd learns when the server is ready, and as long as it answers."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from limits import MOMENT, wait_until

from server.supervision import notify, watch

SURVEY = Path(__file__).parents[2] / "examples/working-conditions.toml"


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    """Return the socket on which a service manager listens."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.bind(str(tmp_path / "notify"))
    one.settimeout(MOMENT)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    return one


@pytest.mark.more
def test_server_is_ready_and_then_gives_signs_of_life(
    manager: socket.socket, tmp_path: Path
) -> None:
    call = [sys.executable, "-m", "server.cli", "serve", str(SURVEY), "--port", "0"]
    environment = {**os.environ, "WATCHDOG_USEC": "200000"}
    environment.pop("WATCHDOG_PID", None)
    with manager, (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            [*call, "--workers", "1", "--db", str(tmp_path / "x.db")], stdout=out, env=environment
        )
        try:
            assert manager.recv(100) == b"READY=1"
            wait_until(lambda: "deniable serves on" in (tmp_path / "out").read_text())
            assert [manager.recv(100) for _ in range(2)] == [b"WATCHDOG=1"] * 2
        finally:
            process.terminate()
            process.wait(MOMENT)


class Enough(Exception):
    """Ends a loop that otherwise goes on for ever."""


def test_a_server_that_does_not_answer_gives_no_sign(
    manager: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "1000")
    answers = iter([True, False, False, True])

    def next_answer() -> bool:
        try:
            return next(answers)
        except StopIteration:
            raise Enough from None

    with manager:
        with pytest.raises(Enough):
            watch(next_answer)
        manager.setblocking(False)
        assert [manager.recv(100) for _ in range(2)] == [b"WATCHDOG=1"] * 2
        with pytest.raises(BlockingIOError):
            manager.recv(100)


def test_without_a_manager_nothing_is_sent_and_nothing_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC"):
        monkeypatch.delenv(name, raising=False)
    notify("READY=1")
    watch(lambda: pytest.fail("nobody waits for signs"))
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    notify("READY=1")
    # Signs of another process are not meant for this one.
    monkeypatch.setenv("WATCHDOG_USEC", "1000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    watch(lambda: pytest.fail("another process is watched"))
