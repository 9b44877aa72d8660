"""The running collector: granian's workers, a port that the kernel chose, and the demonstration."""

import contextlib
import csv
import io
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from limits import LONG, MOMENT

from analysis.survey.survey_file import read_survey
from server import serving as running
from server.demo import SURVEY_FILE, answers, truth
from server.serving import _announce
from server.store import Store

COMMAND = [sys.executable, "-m", "server.cli"]


@contextlib.contextmanager
def serving(*arguments: object) -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    """A running server: its address, research token and process."""
    server = subprocess.Popen(
        [*COMMAND, "serve", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = ""
        for line in server.stdout:
            if line.startswith("deniable serves on "):
                url = line.split()[-1]
            if line.startswith("research token: "):
                yield url, line.split()[-1], server
                break
        else:
            raise AssertionError(server.stderr and server.stderr.read())
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=MOMENT)
        assert "Traceback" not in err


def command(*arguments: object) -> str:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=LONG, check=True
    )
    return done.stdout


def fetch(url: str, token: str | None = None) -> str:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=MOMENT) as got:
        return str(got.read().decode())


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text("meat,dish,price\n" + "yes,soup,3.25\nno,,\n,stew,10\n" * 200)
    return path


@pytest.mark.more
def test_results_do_not_depend_on_workers_or_transport(
    survey_file: Path, people: Path, tmp_path: Path
) -> None:
    tables = []
    for workers in (1, 3):
        database = tmp_path / f"{workers}.db"
        with serving(survey_file, "--port", 0, "--db", database, "--workers", workers) as (
            url,
            token,
            _,
        ):
            simulate = ["simulate", survey_file, "--answers", people, "--seed", 5, "--url", url]
            assert ",600,0,0" in command(*simulate)
            assert ",0,600,0" in command(*simulate)
            command("close", "canteen", "--db", database)
            tables.append(fetch(f"{url}/api/surveys/canteen/estimates.csv", token))
            tables.append(command("estimate", "canteen", "--db", database))
    straight = tmp_path / "straight.db"
    command("simulate", survey_file, "--answers", people, "--seed", 5, "--db", straight)
    tables.append(command("estimate", "canteen", "--db", straight))
    read = [list(csv.DictReader(io.StringIO(table))) for table in tables]
    # A server cannot see which reports are made up; the program that makes them counts them.
    made_up = [{row.pop("simulated") for row in rows} for rows in read]
    assert made_up == [{"0"}] * 4 + [{"600"}]
    assert all(rows == read[0] for rows in read)
    assert len(read[0]) == 13


@pytest.mark.more
def test_every_acknowledged_report_survives_a_kill(
    survey_file: Path, people: Path, tmp_path: Path
) -> None:
    database = tmp_path / "killed.db"
    with serving(survey_file, "--port", 0, "--db", database) as (url, _, server):
        command("simulate", survey_file, "--answers", people, "--seed", 5, "--url", url)
        workers = subprocess.run(
            ["pgrep", "-P", str(server.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        server.kill()
        for pid in map(int, workers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    rows = command("ledger", "canteen", "--db", database).splitlines()
    assert len(rows) == 601


class Late(HTTPServer):
    """Opens its port, but accepts connections only after it was asked 1,000 times."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BaseHTTPRequestHandler, bind_and_activate=False)
        self.server_bind()
        self.asked = 0

    def sleep(self, _: float) -> None:
        """Do what the asking program does between two tries."""
        self.asked += 1
        if self.asked == 1000:
            self.server_activate()
            threading.Thread(target=self.handle_request).start()


def test_serve_says_that_it_serves_however_long_it_takes_to_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[str, ...]] = []
    with Late() as late:
        monkeypatch.setattr(running, "time", late)
        url = f"http://127.0.0.1:{late.server_port}"
        _announce([url], lambda *urls: said.append(urls))
    assert (said, late.asked) == ([(url,)], 1000)


def test_ctrl_c_on_a_terminal_stops_the_server(survey_file: Path, tmp_path: Path) -> None:
    arguments = [*COMMAND, "serve", str(survey_file), "--port", "0", "--workers", "1"]
    arguments += ["--db", str(tmp_path / "x.db")]
    leader, terminal = pty.openpty()
    server = subprocess.Popen(
        arguments, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    )
    try:
        shown = b""
        while b"research token" not in shown:
            shown += os.read(leader, 4096)
        # As a terminal does, the signal goes to the whole group.
        os.killpg(server.pid, signal.SIGINT)
        assert server.wait(timeout=MOMENT) == 0
    finally:
        server.kill()
        os.close(leader)
        os.close(terminal)


def test_a_taken_port_is_reported_in_one_line(survey_file: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "serve", survey_file, "--port", str(port), "--db", tmp_path / "x.db"],
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
    assert done.returncode == 1
    assert "cannot listen there: Address already in use" in done.stderr
    assert done.stderr.count("\n") == 1


def test_token_ends_with_the_server_and_wave_opens_with_it(
    survey_file: Path, tmp_path: Path
) -> None:
    database = tmp_path / "x.db"
    options = ("--port", 0, "--db", database, "--workers", 1)
    with serving(survey_file, *options, "--wave", 2) as (url, first, _):
        assert '"wave":2' in fetch(f"{url}/api/surveys/canteen")
        fetch(f"{url}/results/canteen", first)
    with serving(*options) as (url, second, _):
        assert '"wave":2' in fetch(f"{url}/api/surveys/canteen")
        fetch(f"{url}/results/canteen", second)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetch(f"{url}/results/canteen", first)


@pytest.mark.more
@pytest.mark.parametrize(
    ("who", "people"),
    [("real people answered this in 1974", "6,366"), ("people are made up here", "1,200")],
)
def test_demonstration_replays_everybody_and_ends(who: str, people: str, tmp_path: Path) -> None:
    program = "from server import cli, demo"
    if "made up" in who:
        (tmp_path / "statsmodels.py").write_text("raise ImportError('it is not installed')")
        program += f"; demo._MADE_UP = {people.replace(',', '')}"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; cli.main(['demo'])"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{people} {who}" in done.stdout
    assert f"{people} of {people}" in done.stderr
    rows = [line for line in done.stdout.splitlines() if line.endswith((" yes", " no"))]
    assert len(rows) == 19
    # Each interval misses with probability at most .05, and those of one question's shares
    # together. If all were independent, 12 or more of 19 miss with probability 9e-12, and 8 or more
    # with 2e-6.
    assert sum(row.endswith(" yes") for row in rows) >= 8
    assert f"Each of the {people} respondents spent ε = 4" in done.stdout
    # Three shares and three pairs, of the same people by separate draws and by one.
    beside = re.findall(r"^a share of .* (\d+\.\d) times$", done.stdout, re.M)
    assert len(beside) == 6
    assert min(map(float, beside[3:])) > 2


def test_data_of_the_demonstration_are_the_published_ones() -> None:
    rows = answers()
    assert rows is not None
    assert len(rows) == 6366
    # 32.2 % of them had had an affair.
    assert truth(rows, "affair", "yes") == pytest.approx(2053 / 6366)
    assert SURVEY_FILE.is_file()


def test_a_new_database_begins_without_a_survey(tmp_path: Path) -> None:
    database = tmp_path / "new.db"
    with serving("--new", "--port", 0, "--db", database, "--workers", 1) as (url, token, _):
        assert "No survey" in fetch(f"{url}/surveys", token)
    with pytest.raises(subprocess.CalledProcessError) as told:
        command("serve", "--new", "--db", database)
    assert "already exists; leave --new out" in told.value.stderr


@pytest.mark.more
def test_surveys_published_in_the_browser_stay_closed_over_a_restart(
    survey_file: Path, tmp_path: Path
) -> None:
    database = tmp_path / "browser.db"
    store = Store(database, create=True)
    survey = read_survey(survey_file)
    store.drafts.begin(survey.id, survey_file.read_text(), "ada", "began it")
    store.surveys.publish(survey)
    store.close()
    for wave in ((), ("--wave", 2)):
        options = (*wave, "--port", 0, "--db", database, "--workers", 1)
        with serving(*options) as (url, _, _), pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(f"{url}/s/{survey.id}")
    command("open", survey.id, "--db", database)
    with serving("--port", 0, "--db", database, "--workers", 1) as (url, _, _):
        assert survey.id in fetch(f"{url}/s/{survey.id}")


def test_starting_does_not_wait_for_slow_imports() -> None:
    heavy = "{'scipy.stats', 'scipy.optimize'}"
    modules = "server.commands.serve, server.demo, server.remarks, server.serving"
    program = f"import sys, {modules}; print({heavy} & {{*sys.modules}})"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONG)
    assert done.stdout == "set()\n"
