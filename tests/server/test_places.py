"""Respondents and researchers are served apart in the field, and together on one machine."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from limits import MOMENT, wait_until

from server.app import create_app
from server.cli import main
from server.serving import Address, PortError, held
from server.store import Store

EXAMPLE = Path(__file__).parents[2] / "examples/working-conditions.toml"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "survey.localhost"])
def test_on_one_machine_both_may_share_a_port(
    client: FlaskClient, bearer: dict[str, str], host: str
) -> None:
    assert client.get("/surveys", headers={**bearer, "Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "survey.example.org"},
        {"Host": "192.0.2.1:8000"},
        {"Host": "127.0.0.1.example.org"},
        {"Host": "localhost", "X-Forwarded-For": "192.0.2.1"},
        {"Host": "localhost", "Forwarded": "for=192.0.2.1"},
    ],
)
@pytest.mark.parametrize("path", ["/surveys", "/login", "/results/canteen"])
def test_the_respondents_own_address_serves_no_researchers(
    client: FlaskClient, bearer: dict[str, str], headers: dict[str, str], path: str
) -> None:
    response = client.get(path, headers={**bearer, **headers})
    assert response.status_code == 403
    assert "start deniable serve with --research-port" in response.text
    assert response.text.count("\n") == 1
    assert client.get("/healthz", headers=headers).status_code == 200


def test_researchers_port_may_have_any_name(
    store: Store, database: Path, bearer: dict[str, str]
) -> None:
    alone = create_app({"DATABASE": database, "PLANES": ["research"]}).test_client()
    headers = {**bearer, "Host": "results.example.org", "X-Forwarded-For": "192.0.2.1"}
    assert alone.get("/surveys", headers=headers).status_code == 200


@pytest.mark.parametrize("words", [["--host", "0.0.0.0"], ["--socket", "x.sock"]])
def test_serve_requires_a_separate_port_for_researchers_in_the_field(
    words: list[str], tmp_path: Path
) -> None:
    db = tmp_path / "new.db"
    done = CliRunner().invoke(main, ["serve", "--new", "--db", str(db), *words])
    assert done.exit_code == 2
    assert "needs --research-port" in done.stderr
    assert not db.exists()


def test_links_into_a_folder_of_a_host_are_refused(tmp_path: Path) -> None:
    file, db = EXAMPLE.with_name("staff-panel.toml"), ["--db", str(tmp_path / "x.db")]
    for words in (["publish", str(file)], ["open", "staff-panel"]):
        assert CliRunner().invoke(main, [*words, *db]).exit_code == 0
    words = ["invite", "staff-panel", "--count", "1", "--url", "https://www.example.org/survey"]
    done = CliRunner().invoke(main, [*words, *db])
    assert done.exit_code == 2
    assert "shared host" in " ".join(done.stderr.replace("│", " ").split())


def test_a_socket_is_held_only_if_nobody_listens_on_it(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    with held(Address(socket=path)) as address:
        assert address.socket == path
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        one.listen()
        with pytest.raises(PortError, match="another server"), held(Address(socket=path)):
            pass
    with held(Address(socket=path)):  # its server is gone
        assert not path.exists()
    path.write_text("no socket")
    for wrong in (path, tmp_path / "none/a.sock"):
        with pytest.raises(PortError, match="expected a new socket"), held(Address(socket=wrong)):
            pass
    assert path.read_text() == "no socket"


def fetch(path: Path, target: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("localhost", timeout=MOMENT)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    connection.request("GET", target, headers={"Host": "survey.example.org"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.more
def test_respondents_are_served_on_a_socket_of_the_group(tmp_path: Path) -> None:
    path, out = tmp_path / "a.sock", tmp_path / "out"
    call = [sys.executable, "-m", "server.cli", "serve", str(EXAMPLE), "--research-port", "0"]
    with out.open("wb") as stdout:
        process = subprocess.Popen(
            [*call, "--socket", str(path), "--db", str(tmp_path / "x.db")], stdout=stdout
        )
    try:
        wait_until(lambda: process.poll() is not None or "research token" in out.read_text())
        assert process.poll() is None
        assert path.stat().st_mode & 0o777 == 0o660
        assert f"deniable serves on unix:{path}" in out.read_text()
        assert "wave 1: /s/work-2026" in out.read_text()
        status, body = fetch(path, "/s/work-2026")
        assert (status, b"<html" in body) == (200, True)
        assert fetch(path, "/surveys")[0] == 404
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(MOMENT)
