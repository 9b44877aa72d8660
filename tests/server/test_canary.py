"""Canaries in all parts of a request except its reports are found nowhere afterwards.

A real server runs for this, with all its files, its output and its temporary files in one folder.
"""

import csv
import http.client
import io
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import postgres
import programs
import pytest
from click.testing import CliRunner
from limits import LONG, MOMENT, wait_until

from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.deliver import to_store
from server.store import Store

COMMAND = [sys.executable, "-m", "server.cli"]
ROOT = Path(__file__).parents[2]

#: Headers that proxies and browsers send, and that servers like to log.
HEADERS = [
    "User-Agent",
    "Referer",
    "Origin",
    "Cookie",
    "From",
    "Via",
    "X-Forwarded-For",
    "X-Real-IP",
    "Forwarded",
    "X-Request-ID",
    "X-Forwarded-Host",
    "Accept-Language",
    "DNT",
    "Traceparent",
    "Sec-CH-UA",
    "If-None-Match",
    "X-Canary",
]


def _canary() -> str:
    return f"canary{secrets.token_hex(12)}"


#: A canary, as it is or as hexadecimal.
_CANARY = re.compile(rb"canary[0-9a-f]{24}|63616e617279(?:3[0-9]|6[1-6]){24}")


class Place:
    """Folders that hold everything that a server writes, or its database; and the server."""

    def __init__(self, folder: Path, survey_file: Path, database: str, *more: Path) -> None:
        self.folder, self.database, self._folders = folder, database, (folder, *more)
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict.fromkeys(("TMPDIR", "HOME", "SQLITE_TMPDIR"), str(folder)),
        }
        self.out = folder / "output"
        serve = [*COMMAND, "serve", str(survey_file), "--port", "0", "--workers", "1"]
        with self.out.open("wb") as output:
            self.server = subprocess.Popen(
                [*serve, "--db", str(self.database)],
                cwd=folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        ready = r"serves on http://(\S+)\n(?:.*\n)*research token: (\S+)\n"
        wait_until(lambda: re.search(ready, self.said) or self.server.poll() is not None)
        found = re.search(ready, self.said)
        assert found, self.said
        self.address, self.token = found.groups()

    @property
    def said(self) -> str:
        return self.out.read_text()

    def command(self, *arguments: object) -> str:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments), "--db", str(self.database)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=True,
        )
        return done.stdout + done.stderr

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self.address, timeout=MOMENT)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = "".join(f"{key}: {value}\n" for key, value in answer.getheaders())
        text += answer.read().decode(errors="replace")
        connection.close()
        return answer.status, text

    def _files(self) -> Iterator[Path]:
        return (one for each in self._folders for one in each.rglob("*") if one.is_file())

    def canaries(self) -> list[tuple[str, bytes]]:
        """Return the files that hold a canary, and the first canary of each."""
        found = ((path, _CANARY.search(path.read_bytes())) for path in self._files())
        return [(path.name, canary[0]) for path, canary in found if canary]

    def holds(self, what: str) -> list[str]:
        """Return the files that hold a text, as it is, as hexadecimal, or as the bytes of that."""
        forms = [what.encode(), what.encode().hex().encode()]
        if re.fullmatch("(?:[0-9a-f]{2})+", what):
            forms.append(bytes.fromhex(what))
        return [
            path.name for path in self._files() if any(form in path.read_bytes() for form in forms)
        ]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.more)])
def place(request: pytest.FixtureRequest, tmp_path: Path, survey_file: Path) -> Iterator[Place]:
    folder = tmp_path / "all"
    folder.mkdir()
    with ExitStack() as stack:
        if request.param == "sqlite":
            made = Place(folder, survey_file, str(folder / "data.db"))
        elif programs.find("postgresql") is None:
            pytest.skip("no PostgreSQL is installed: python tests/programs.py postgresql")
        else:
            cluster = stack.enter_context(postgres.cluster())
            made = Place(folder, survey_file, cluster.new().text, cluster.folder)
        yield made
        made.server.send_signal(signal.SIGTERM)
        assert made.server.wait(MOMENT) == 0


def test_no_canary_of_a_request_is_found_in_anything_kept(
    place: Place, make: Callable[..., dict[str, Any]]
) -> None:
    canaries: list[str] = []

    def headers() -> dict[str, str]:
        own = {name: _canary() for name in HEADERS}
        canaries.extend(own.values())
        return own | {"Content-Type": "application/json"}

    def unforwarded() -> dict[str, str]:
        said = re.compile("Forwarded|Via|Real-IP")
        return {name: value for name, value in headers().items() if not said.search(name)}

    def canary() -> str:
        canaries.append(_canary())
        return canaries[-1]

    path = "/api/surveys/canteen/reports"
    answers = []
    # They are stored, known, or refused for each reason, with each field in its turn.
    for row in range(5):
        body = json.dumps(make(row)).encode()
        for status in (201, 200):
            got, text = place.request("POST", f"{path}?{canary()}={canary()}", body, headers())
            assert got == status
            answers.append(text)
    for change in (
        {"token": canary()},
        {"version": canary()},
        {"rid": canary()},
        {"respondent": canary()},
        {"wave": canary()},
        {"reports": {canary(): 1}},
        {"reports": {"meat": canary(), "dish": 1, "price": 1}},
        {canary(): 1},
    ):
        got, _ = place.request("POST", path, json.dumps(make(9) | change).encode(), headers())
        assert got in (400, 403)
    for body in (canary().encode(), b"\xff" + canary().encode(), canary().encode() * 3000):
        assert place.request("POST", path, body, headers())[0] in (400, 413)
    for address in ("/s/canteen", "/client/page/survey.js", "/healthz", "/", f"/{canary()}"):
        place.request("GET", f"{address}?{canary()}", headers=headers())
    place.request("POST", f"/api/surveys/{canary()}/reports", b"{}", headers())
    place.request("GET", f"/results/{canary()}?version={canary()}", headers=unforwarded())
    form = f"name={canary()}&password={canary()}&target={canary()}".encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    # Researchers' pages are not served through a proxy on the respondents' port.
    assert place.request("POST", "/login", form, headers() | kind)[0] == 403
    assert place.request("POST", "/login", form, unforwarded() | kind)[0] == 401
    known = {"Authorization": f"Basic {canary()}"}
    place.request("GET", "/results", headers=unforwarded() | known)
    # After an error within the server, no part of the request may be printed.
    place.request("GET", f"/results/canteen?level={canary()}", headers=unforwarded())

    pseudonym, rid = make(0)["respondent"], make(0)["rid"]
    place.command("backup", place.folder / "backup.db")
    (place.folder / "export.csv").write_text(place.command("export", "canteen"))
    (place.folder / "ledger.csv").write_text(place.command("ledger", "canteen"))
    (place.folder / "estimates.csv").write_text(place.command("estimate", "canteen"))
    (place.folder / "audit.csv").write_text(place.command("audit", "--backup", "backup.db"))
    (place.folder / "log.csv").write_text(place.command("log"))
    assert len(canaries) > 400
    for one in canaries:  # each would be found, also as hexadecimal
        assert _CANARY.fullmatch(one.encode())
        assert _CANARY.fullmatch(one.encode().hex().encode())
    assert place.canaries() == []
    # The search finds what is kept: rid and pseudonym, each only in its own table.
    assert "backup.db" in place.holds(rid)
    assert set(place.holds(rid)) - {"backup.db"}
    assert "ledger.csv" in place.holds(pseudonym)
    assert "export.csv" not in place.holds(rid) + place.holds(pseudonym)
    # Nothing about the sender comes back in an answer either.
    assert not any(one in text for one in canaries for text in answers)
    for line in place.said.splitlines():
        assert line.startswith(("deniable serves", "survey ", "results of", "research token"))


def test_authors_labels_are_no_formulas_in_a_spreadsheet(tmp_path: Path, survey_file: Path) -> None:
    formula = '=HYPERLINK(\\"http://evil.example\\")'
    text = survey_file.read_text().replace('text = "Stew"', f'text = "{formula}"')
    survey_file.write_text(text)
    survey = read_survey(survey_file)
    store = Store(tmp_path / "x.db", create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    people = [{"meat": "yes", "dish": "stew", "price": "3"}] * 20
    to_store(store, survey.id, payloads(survey, people, 1, 1), lambda _: None)
    store.log.add("2026-01-01T00:00:00Z", "=cmd|' /C calc'!A0", "+1", "-1")
    store.close()
    for command in ("estimate", "export", "ledger", "plausibility"):
        done = CliRunner().invoke(main, [command, survey.id, "--db", str(store.database.place)])
        assert done.exit_code == 0
        cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
        odd = [cell for cell in cells if cell[:1] in tuple("=+@\t\r")]
        odd += [cell for cell in cells if re.match(r"-[^0-9.]", cell)]
        assert odd == []
        if command == "estimate":
            assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    done = CliRunner().invoke(main, ["log", "--db", str(store.database.place)])
    assert "'=cmd" in done.stdout
    assert "'+1" in done.stdout
