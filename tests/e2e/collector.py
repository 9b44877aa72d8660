"""Collectors for the browser tests: the real command, one in this process, and a relay."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from limits import MOMENT, wait_until
from werkzeug.serving import WSGIRequestHandler, make_server

from analysis.core.csv_json import pieces
from analysis.estimate.estimates import estimate_rows
from analysis.privacy.ledger import COLUMNS_BY, ledger_rows
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.store import Store
from server.stored_ledger import ledger_of_survey
from server.stored_results import StoredWave

EXAMPLES = Path(__file__).parents[2] / "examples"
_NUMBERS = count(1)

#: A change of one file of client/: its name, the text to replace, and the new text.
Change = tuple[str, str, str]


class Collector:
    """A running server: its address, database and token, and what researchers get from it."""

    def __init__(self, url: str, database: Path, token: str) -> None:
        self.url, self.database, self.token = url, database, token

    def publish(self, text: str, wave: int = 1) -> str:
        """Store one more survey under an id that no other test has; return the id."""
        name = f"canteen-{next(_NUMBERS)}"
        file = self.database.parent / f"{name}.toml"
        file.write_text(re.sub(r'^id = ".*"$', f'id = "{name}"', text, count=1, flags=re.M))
        for image in EXAMPLES.glob("*.png"):
            shutil.copy(image, file.parent)
        with self._store() as store:
            store.surveys.publish(read_survey(file))
        self.open_wave(name, wave)
        return name

    def open_wave(self, survey: str, wave: int) -> None:
        """Open a wave, and close the others."""
        with self._store() as store:
            store.surveys.open_wave(survey, wave, alone=True)

    def close(self, survey: str) -> None:
        """Close all waves."""
        with self._store() as store:
            store.surveys.close_waves(survey)

    def page(self, survey: str) -> str:
        """Return the address of a survey's page."""
        return f"{self.url}/s/{survey}"

    def frozen(self, survey: str) -> dict[str, Any]:
        """Return the survey with its randomizers, as devices get it."""
        frozen: dict[str, Any] = self._json(f"/api/surveys/{survey}")
        return frozen

    def estimates(self, survey: str, wave: int = 1) -> list[dict[str, Any]]:
        """Return the rows of estimates.json for all reports.

        Pages would show only whole batches.
        """
        with self._store() as store:
            stored = StoredWave(store, survey, wave)
            return estimate_rows(survey, stored.survey.version, wave, stored.estimates(0.95))

    def stored(self, survey: str, wave: int = 1) -> int:
        """Return the number of stored reports, which is the same for every question."""
        with self._store() as store:
            return StoredWave(store, survey, wave).n

    def ledger(self, survey: str) -> list[dict[str, str]]:
        """Return the rows of ledger.csv for all respondents."""
        with self._store() as store:
            rows = ledger_rows(ledger_of_survey(store, survey))
            text = "".join(pieces(rows, COLUMNS_BY["respondent"], "csv"))
        return list(csv.DictReader(io.StringIO(text)))

    @contextlib.contextmanager
    def _store(self) -> Iterator[Store]:
        store = Store(self.database, create=True)
        yield store
        store.close()

    def _json(self, path: str) -> Any:
        return json.loads(self._get(path))

    def _get(self, path: str) -> bytes:
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=MOMENT) as response:
            content: bytes = response.read()
        return content


@contextlib.contextmanager
def command(folder: Path, survey: str | None) -> Iterator[Collector]:
    """Run `deniable serve` as its users do, with its output in files beside the database.

    Without a survey it serves those of the database, or a new one for surveys that are written in
    the browser.
    """
    file, database, out = folder / "survey.toml", folder / "deniable.db", folder / "stdout"
    if survey is not None:
        file.write_text(survey)
    begin = [] if database.exists() else ["--new"]
    first = begin if survey is None else [str(file)]
    call = [sys.executable, "-m", "server.cli", "serve", *first, "--port", "0"]
    with out.open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [*call, "--db", str(database)], stdout=stdout, stderr=stderr, start_new_session=True
        )
    try:
        yield Collector(
            _line(process, out, r"deniable serves on (\S+)"),
            database,
            _line(process, out, r"research token: (\S+)"),
        )
    finally:
        process.terminate()
        try:
            process.wait(MOMENT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(MOMENT)


def _line(process: "subprocess.Popen[bytes]", out: Path, pattern: str) -> str:
    line = re.compile(pattern + r"\n")
    wait_until(lambda: line.search(out.read_text()) or process.poll() is not None)
    found = line.search(out.read_text())
    if found is None:
        raise RuntimeError(f"no {pattern!r} from serve: {out.with_name('stderr').read_text()}")
    return found[1]


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing, as the real server does."""


@contextlib.contextmanager
def in_process(
    folder: Path, client: Path, around: Callable[[Any], Any] = lambda app: app
) -> Iterator[Collector]:
    """Run the application with other browser modules; `around` wraps it for a test."""
    database, token = folder / "deniable.db", "a-token-for-tests"
    store = Store(database, create=True)
    store.access.add_token(token)
    store.close()
    app = create_app({"DATABASE": database, "CLIENT": client})
    connections = app.extensions["store"]
    connections.close()
    # Each request has a thread, and each thread a connection, which nobody else would close.
    app.teardown_request(lambda _: connections.close())
    server = make_server("127.0.0.1", 0, around(app), threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Collector(f"http://127.0.0.1:{server.server_port}", database, token)
    finally:
        server.shutdown()
        thread.join(MOMENT)
        server.server_close()


class Relay:
    """Passes bytes on to a server; `sent` has every byte that browsers have sent through it."""

    def __init__(self, server: str) -> None:
        host, port = server.removeprefix("http://").split(":")
        self._server, self.sent, self._open = (host, int(port)), bytearray(), list[socket.socket]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def targets(self) -> list[tuple[str, str]]:
        """Return the method and target of each request, in their order."""
        found = re.findall(rb"([A-Z]+) (\S+) HTTP/1\.1\r\n", bytes(self.sent))
        return [(method.decode(), target.decode()) for method, target in found]

    def close(self) -> None:
        """Close all connections."""
        for one in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
                server = socket.create_connection(self._server)
            except OSError:
                return
            self._open += [browser, server]
            threading.Thread(target=self._pass, args=(browser, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, browser, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, keep: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if keep:
                    self.sent += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


class ServeClient(Protocol):
    """Serves a changed copy of client/."""

    def __call__(
        self, *changes: Change, around: Callable[[Any], Any] = ...
    ) -> Collector: ...  # fmt: skip
