"""A study that an earlier release began continues with this one, as docs/operations.md says."""

import sqlite3
import subprocess
from datetime import date
from itertools import islice
from pathlib import Path

import pytest
from command_line import run, table
from limits import MOMENT
from load import COMMAND, Server, get, post, submissions

from server.store import Store

SCHEMAS = Path(__file__).parent / "schemas"


@pytest.mark.more
def test_a_study_is_upgraded_goes_on_is_restored_and_closed(tmp_path: Path) -> None:
    database, saved = tmp_path / "deniable.db", tmp_path / "backups/upgraded.db"
    connection = sqlite3.connect(database)
    connection.executescript((SCHEMAS / "1.sql").read_text())
    connection.close()
    # The unit starts the new release before anybody has migrated: it ends, and changes no byte.
    before = database.read_bytes()
    command = [*COMMAND, "serve", "--db", str(database), "--port", "0"]
    refused = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=MOMENT,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert refused.returncode == 1
    assert "got one of schema 1, of an earlier release" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert database.read_bytes() == before
    assert run("migrate", "--db", database).exit_code == 0
    assert run("open", "canteen", "--db", database).exit_code == 0
    store = Store(database)
    current = store.surveys.current("canteen")
    assert current is not None
    path = "/api/surveys/canteen/reports"
    bodies = [body for _, body in islice(submissions(current.survey), 40)]
    with Server(database) as server:
        assert {one.status for one in post(server.url, path, bodies[:20])} == {201}
        assert run("backup", saved, "--db", database).exit_code == 0
        assert {one.status for one in post(server.url, path, bodies[20:30])} == {201}
    assert store.reports.kept("canteen", 1) == 55
    store.close()
    # The disk breaks. The reports of the backup come back, closed, and devices go on.
    for part in tmp_path.glob("deniable.db*"):
        if part.is_file() and "backup" not in part.name:
            part.unlink()
    restored = run("restore", saved, "--db", database)
    assert "wave 1 was open in the backup, and is closed now" in restored.stderr
    with Server(database) as server:
        assert {one.status for one in post(server.url, path, bodies[30:31])} == {409}
        assert run("open", "canteen", "--wave", 1, "--db", database).exit_code == 0
        # Reports that came after the backup were acknowledged, but are gone: sent again, they would
        # count.
        assert {one.status for one in post(server.url, path, bodies[:20])} == {200}
        assert {one.status for one in post(server.url, path, bodies[30:])} == {201}
        assert get(server.url, "/healthz").status == 200
        closed = table(run("close", "canteen", "--db", database))
    assert [(row["state"], row["reports"]) for row in closed] == [("closed", "55")]
    assert run("audit", "--quiet", "--db", database, "--backup", saved).output == ""
    estimated = table(run("estimate", "canteen", "--db", database))
    assert {row["n"] for row in estimated} == {"55"}
    assert list(Store(database).upkeep.discrepancies(date(2026, 1, 1))) == []
