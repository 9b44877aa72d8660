"""Keeping a database over the years: copies, inspections, and mistakes that must do no harm."""

import json
import re
import sqlite3
import struct
import sys
from collections.abc import Callable
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from command_line import run
from flask.testing import FlaskClient

from analysis.core import csv_json
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server import health
from server.audit.database import audit_database
from server.deliver import to_store
from server.intake import writer
from server.intake.invitations import ISSUER
from server.pages.browser_files import CLIENT
from server.store import Place, Store, StoreBusy
from server.store.file import File

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from load import Server

pytestmark = pytest.mark.both

ANSWER = {"meat": "yes", "dish": "soup", "price": "3"}


def fill(store: Store, survey: Survey, n: int, seed: int = 1) -> None:
    to_store(store, survey.id, payloads(survey, [ANSWER] * n, 1, seed), lambda _: None)


@pytest.mark.sqlite
@pytest.mark.more
def test_the_log_of_a_killed_server_is_never_mixed_with_a_backup(
    store: Store, survey: Survey, database: Path, tmp_path: Path
) -> None:
    fill(store, survey, 20)
    assert run("backup", tmp_path / "b.db", "--db", database).exit_code == 0
    fill(store, survey, 20, seed=2)
    left = Path(f"{database}-wal").read_bytes()
    assert left
    # The file was moved away, but not the log beside it, which SQLite would write over the backup.
    new = tmp_path / "new.db"
    Path(f"{new}-wal").write_bytes(left)
    told = run("restore", tmp_path / "b.db", "--db", new)
    assert told.exit_code == 1
    assert "new.db-wal: already exists; move new.db and all new.db-* away" in told.stderr
    # The raw file without its log lacks acknowledged reports.
    told = run("restore", database, "--db", tmp_path / "other.db")
    assert told.exit_code == 1
    assert "canteen.db-wal holds a part of it; use deniable backup" in told.stderr
    assert not new.exists()
    assert not (tmp_path / "other.db").exists()


def test_audit_says_what_each_table_is(store: Store) -> None:
    found = [one for one in audit_database(store, date(2026, 1, 1)) if "table" in one.subject]
    assert {"table draft", "table draft_version", "table draft_file"} <= {
        one.subject for one in found
    }
    assert [one.subject for one in found if "not a table of this program" in one.finding] == []


def test_a_backup_with_a_changed_log_is_refused(store: Store, tmp_path: Path) -> None:
    for who in ("ada", "bob"):
        store.log.add("2026-01-01T00:00:00Z", who, "close", "canteen")
    store.copy_to(tmp_path / "b.db")
    connection = sqlite3.connect(tmp_path / "b.db")
    connection.execute("DROP TRIGGER log_is_not_changed")
    connection.execute("UPDATE log SET who = 'eve' WHERE number = 1")
    connection.commit()
    connection.close()
    told = run("restore", tmp_path / "b.db", "--db", tmp_path / "new.db")
    assert told.exit_code == 1
    assert "log_is_not_changed" in told.stderr
    assert "was changed" in told.stderr


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER notes AFTER INSERT ON report BEGIN "
        "INSERT INTO throttle VALUES (hex(new.rid), 0, julianday('now')); END",
        "CREATE VIEW pairs AS SELECT rid, respondent FROM report JOIN ledger",
        "CREATE INDEX by_wave ON report (wave)",
        "CREATE TABLE notes (rid BLOB, at TEXT)",
        "ALTER TABLE report ADD COLUMN at TEXT",
    ],
    ids=lambda sql: " ".join(sql.split()[:3]),
)
def test_an_audit_finds_planted_changes(store: Store, database: Place, planted: str) -> None:
    assert run("audit", "--db", database).exit_code == 0
    assert run("audit", "--quiet", "--db", database).output == ""
    store.database.connection.execute(planted)
    assert run("audit", "--quiet", "--db", database).stderr.startswith("not as it should be: ")
    told = run("audit", "--db", database)
    assert told.exit_code == 1
    assert "not as it should be" in told.stderr


@pytest.mark.parametrize(
    "payload",
    [
        '{"dish":0,"meat":99,"price":0}',
        '{"dish":0,"meat":300,"price":0}',
        '{"dish":0,"meat":-1,"price":0}',
        '{"dish":0,"meat":"yes","price":0}',
        '{"dish":0,"meat":"0","price":0}',
        '{"dish":0,"meat":0.7,"price":0}',
        '{"dish":0,"meat":false,"price":0}',
        '{"dish":0,"meat":[0],"price":0}',
        '{"dish":0,"meat":0}',
        '["dish"]',
        '{"dish":0,',
        "[" * 5000 + "]" * 5000,
    ],
    ids=lambda payload: payload[:30],
)
def test_an_audit_finds_a_changed_report(
    store: Store, survey: Survey, database: Place, payload: str
) -> None:
    fill(store, survey, 30)
    store.database.connection.execute(
        "UPDATE report SET payload = ? WHERE rid = (SELECT rid FROM report ORDER BY rid LIMIT 1)",
        (payload,),
    )
    result = run("audit", "--db", database)
    assert result.exit_code == 1
    assert "no device can have sent" in result.stderr


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tally SET counts = zeroblob(800)",
        "UPDATE tally SET counts = zeroblob(3)",
        "UPDATE tally SET cohort = 7",
        "UPDATE tally SET question = question || 'x'",
        "UPDATE respondent_total SET answered = 'x'",
        "UPDATE respondent_total SET answered = '[1]'",
    ],
)
def test_damaged_totals_are_reported_in_a_line(
    store: Store, survey: Survey, database: Place, damage: str
) -> None:
    fill(store, survey, 30)
    store.database.connection.execute(damage)
    result = run("audit", "--db", database)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "is damaged" in result.stderr


@pytest.mark.sqlite
def test_a_slow_reader_of_what_is_printed_does_not_keep_the_order_of_arrival(
    store: Store, survey: Survey, database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, survey, 30)
    other = Store(database)
    settled: list[bool] = []
    echo = click.echo

    def slow(text: Any = None, **more: Any) -> None:
        if more.get("err"):
            return  # a message
        # While it is printed, another process writes and empties its log.
        fill(other, survey, 1, 100 + len(settled))
        settled.append(other.database.settle())
        echo(text, **more)

    monkeypatch.setattr(click, "echo", slow)
    monkeypatch.setattr("server.store.database.AT_ONCE", 4)
    monkeypatch.setattr(csv_json, "_AT_ONCE", 4)
    for what in ("export", "ledger"):
        assert run(what, survey.id, "--db", database).exit_code == 0
    assert len(settled) == 2
    assert all(settled)


def _pages_of(told: Result) -> list[str]:
    """Return the lines with the hash of a whole page."""
    return re.findall(r"^page(?: as served)?,.*$", told.stdout, re.M)


def test_an_audit_compares_served_pages(survey_file: Path, tmp_path: Path) -> None:
    with Server(tmp_path / "x.db", survey_file, "--workers", 1) as server:
        told = run("audit", "--url", server.url, "--survey", "canteen", "--db", tmp_path / "x.db")
        assert told.exit_code == 0, told.stderr
        assert len(set(re.findall(r"sha256-[^,]+", "".join(_pages_of(told))))) == 1
        assert len(_pages_of(told)) == 3  # of the database, of what is served, and as it is served
        assert told.stdout.count("served module") == len(list(CLIENT.rglob("*.*s")))
    told = run("audit", "--url", server.url)
    assert told.exit_code == 1
    assert "expected a collector, got no answer" in told.stderr


def test_a_start_that_fails_leaves_a_running_server_alone(
    survey_file: Path, tmp_path: Path
) -> None:
    database = tmp_path / "x.db"
    with Server(database, survey_file, "--workers", 1) as server:
        port = server.url.rpartition(":")[2]
        told = run("serve", survey_file, "--wave", 7, "--port", port, "--db", database)
        assert told.exit_code == 1
        assert "Address already in use" in told.stderr
        store = Store(database)
        assert store.surveys.waves("canteen") == {1: "open"}
        assert store.database.tables()["research_token"][1] == 1
        store.close()


def test_a_forgotten_option_does_not_mix_made_up_reports_with_real_ones(
    survey_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = tmp_path / "truth.csv"
    people.write_text("meat,dish,price\nyes,soup,3\n")
    monkeypatch.chdir(tmp_path)
    with Server(tmp_path / "deniable.db", survey_file, "--workers", 1):
        told = run("simulate", survey_file, "--answers", people)
        assert told.exit_code == 1
        assert "is served to real people" in told.stderr
    assert run("simulate", survey_file, "--answers", people).exit_code == 0
    assert run("close", "canteen").exit_code == 0
    told = run("simulate", survey_file, "--answers", people)
    assert told.exit_code == 1
    assert "canteen is closed" in told.stderr


@pytest.mark.more
def test_closed_waves_stay_closed_when_the_server_starts_again(
    survey_file: Path, tmp_path: Path
) -> None:
    database = tmp_path / "x.db"
    assert run("publish", survey_file, "--db", database).exit_code == 0
    with Server(database, "--workers", 1):
        assert Store(database).surveys.waves("canteen") == {1: "open"}
    assert run("close", "canteen", "--db", database).exit_code == 0
    with Server(database, "--wave", 3, "--workers", 1):
        assert Store(database).surveys.waves("canteen") == {1: "closed"}
    assert run("open", "canteen", "--wave", 2, "--db", database).exit_code == 0
    assert Store(database).surveys.waves("canteen") == {1: "closed", 2: "open"}


@pytest.mark.sqlite
def test_no_list_of_writes_is_left_in_the_index_of_the_log(
    store: Store, survey: Survey, database: Path
) -> None:
    def listed() -> list[int]:
        index = Path(f"{database}-shm").read_bytes()
        pages: tuple[int, ...] = struct.unpack("<4062I", index[136 : 136 + 4 * 4062])
        return [page for page in pages if page]

    for seed in range(40):
        fill(store, survey, 1, seed)
    assert len(listed()) > 80
    assert store.database.settle()
    assert listed() in ([], [1])


@pytest.mark.sqlite
def test_invitations_are_deleted_even_if_nobody_answered(survey_file: Path, database: Path) -> None:
    text = survey_file.read_text().replace(
        'id = "canteen"', 'id = "canteen"\naccess = "panel"\ndelete_reports_after = 2030-01-01', 1
    )
    survey_file.write_text(text)
    store = Store(database, create=True)
    store.surveys.publish(read_survey(survey_file))
    store.surveys.open_wave("canteen")
    keys = [ISSUER.key(ISSUER.issue()) for _ in range(20)]
    store.surveys.open_wave("canteen", 2)
    store.invitations.add("canteen", 1, keys)  # after the second wave was opened
    assert store.invitations.counts("canteen") == {1: (20, 0), 2: (20, 0)}
    assert store.upkeep.forget(date(2030, 1, 1)) == 0
    assert store.invitations.counts("canteen") == {1: (20, 0), 2: (20, 0)}
    assert store.upkeep.forget(date(2030, 1, 2)) == 0
    assert store.invitations.counts("canteen") == {}
    kept = database.read_bytes() + Path(f"{database}-wal").read_bytes()
    assert not any(key in kept for key in keys)


def test_exported_reports_are_in_no_order_except_their_own(
    store: Store, survey: Survey, database: Place
) -> None:
    fill(store, survey, 200)
    told = run("export", "canteen", "--db", database, "--json")
    rows = [
        json.dumps(
            {key[len("noisy_") :]: one for key, one in row.items() if key.startswith("noisy_")},
            separators=(",", ":"),
            sort_keys=True,
        )
        for row in json.loads(told.stdout)
    ]
    assert len(rows) == 200
    assert rows == sorted(rows)
    by_id = [
        json.dumps(one, separators=(",", ":"), sort_keys=True)
        for one in chain(*store.reports.payloads(survey, 1))
    ]
    assert by_id != rows


def test_averages_of_exported_weights_are_the_estimates(
    store: Store, survey: Survey, database: Place
) -> None:
    fill(store, survey, 200)
    rows = json.loads(run("export", "canteen", "--db", database, "--json").stdout)
    told = json.loads(run("estimate", "canteen", "--db", database, "--json").stdout)
    compared = 0
    for one in told:
        name = f"debiased_{one['question']}_{one['term']}".replace("-", "_")
        if name in rows[0]:
            assert sum(row[name] for row in rows) / 200 == pytest.approx(one["estimate"])
            compared += 1
    assert compared == 7
    above = sum(row["debiased_price"] for row in rows)
    there = sum(row["debiased_price_answered"] for row in rows)
    (mean,) = (one["estimate"] for one in told if one["term"] == "mean")
    assert above / there == pytest.approx(mean)


@pytest.mark.sqlite
def test_health_checks_say_what_is_wrong(
    client: FlaskClient, send: Callable[..., Any], make: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert client.get("/healthz").get_json() == {"status": "ok"}
    with monkeypatch.context() as patch:
        patch.setattr(health, "ROOM", 2**62)
        assert client.get("/healthz").get_json() == {"status": "the disk is nearly full"}
    store: Store = client.application.extensions["store"]
    client.application.config["PROPAGATE_EXCEPTIONS"] = False
    store.database.connection.execute("ALTER TABLE tally RENAME TO elsewhere")
    assert send(make()).status_code == 500
    answer = client.get("/healthz")
    assert (answer.status_code, answer.get_json()) == (503, {"status": "reports cannot be stored"})
    with monkeypatch.context() as patch:
        patch.setattr(writer, "UNWELL", 0.0)  # a minute later
        assert client.get("/healthz").status_code == 200
    store.database.connection.execute("ALTER TABLE elsewhere RENAME TO tally")
    assert send(make()).status_code == 201
    assert client.get("/healthz").status_code == 200


def test_a_clock_that_was_set_back_locks_nobody_out(store: Store) -> None:
    for _ in range(20):
        store.access.attempt("x", 2_000_000.0)
    assert 0 < store.access.attempt("x", 1_000_000.0) <= 60


def test_odd_names_are_names_of_files(tmp_path: Path, survey_file: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for name in (":memory:", "file:x.db", "a b?c#d%e.db"):
            assert run("publish", survey_file, "--db", name).exit_code == 0
            assert (tmp_path / name).is_file()
            assert (tmp_path / name).stat().st_mode & 0o077 == 0
            assert run("audit", "--db", name).exit_code == 0
    (tmp_path / "link.db").symlink_to(tmp_path / "file:x.db")
    linked, itself = Store(tmp_path / "link.db"), Store(tmp_path / "file:x.db")
    assert linked.database.place == itself.database.place


@pytest.mark.sqlite
def test_others_wait_for_the_lock_only_so_long(
    store: Store, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    monkeypatch.setattr(File, "LOCK_PATIENCE", 0.2)
    other = File(database)
    busy = pytest.raises(StoreBusy, match="another process has been writing for too long")
    with other.locked(), busy:
        store.log.add("2026-01-01T00:00:00Z", "ada", "view", "canteen")
    store.log.add("2026-01-01T00:00:00Z", "ada", "view", "canteen")
    assert [entry.number for entry in store.log.entries()] == [1]
