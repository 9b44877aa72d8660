"""Promises of a running server: no order of arrival in the file, deletions, access to results.

The attack on the order reads the file from the disk, cell by cell.
"""

import json
import os
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from flask.testing import FlaskClient

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server import retention
from server.app import create_app
from server.intake import requests, writer
from server.passwords import hashed
from server.retention import Keeper
from server.store import Store, StoreBusy
from server.store.file import File
from server.store.locks import server_lock, serving
from server.store.researchers import Researcher
from server.store.upkeep import Upkeep

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from limits import MOMENT, stopwatch, wait_until
from load import Server, post, submissions, take_in

pytestmark = pytest.mark.more


def _with(survey_file: Path, *lines: str) -> Survey:
    head = "\n".join(['id = "canteen"', *lines])
    survey_file.write_text(survey_file.read_text().replace('id = "canteen"', head, 1))
    return read_survey(survey_file)


def _linked(database: Path, pairs: list[tuple[bytes, bytes]]) -> int:
    """Return how many reports are linked to their pseudonyms by the places of both in the file."""
    content = database.read_bytes()
    rids = sorted((rid for rid, _ in pairs), key=content.index)
    respondents = sorted((respondent for _, respondent in pairs), key=content.index)
    return len(set(zip(rids, respondents, strict=True)) & set(pairs))


def _by_key_alone(database: Path, values: list[bytes]) -> bool:
    """Return whether values of one page are in their own order, which reveals nothing else."""
    content = database.read_bytes()
    placed = sorted(values, key=content.index)
    return placed in (sorted(values), sorted(values, reverse=True))


def _opened(database: Path, survey: Survey) -> Store:
    """Return a new database with this survey, whose first wave is open."""
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    return store


def _sent(survey: Survey, n: int) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    sent = list(islice(submissions(survey), n))
    pairs = [(rid, bytes.fromhex(json.loads(body)["respondent"])) for rid, body in sent]
    # By chance the keys of both may be in the order of arrival, or in one order.
    if sum(a == b for a, b in zip(*_orders(pairs), strict=True)) > 4:
        return _sent(survey, n)
    return [body for _, body in sent], pairs


def _orders(pairs: list[tuple[bytes, bytes]]) -> list[list[int]]:
    return [sorted(range(len(pairs)), key=lambda one: pairs[one][side]) for side in (0, 1)]


def test_twelve_reports_to_an_open_survey_are_in_no_order_of_arrival(
    survey: Survey, survey_file: Path, database: Path
) -> None:
    bodies, pairs = _sent(survey, 12)

    def settled(values: list[bytes]) -> bool:
        content = database.read_bytes()
        return all(one in content for one in values) and _by_key_alone(database, values)

    with Server(database, survey_file) as server:
        for body in bodies:
            (answer,) = post(server.url, f"/api/surveys/{survey.id}/reports", [body])
            assert answer.status == 201
        for values in zip(*pairs, strict=True):
            wait_until(partial(settled, list(values)), writer.IDLE + 60)
        assert _linked(database, pairs) <= 4
        assert server.process.poll() is None


def test_a_survey_that_closed_while_no_server_ran_is_put_in_order_at_the_next_start(
    survey_file: Path, database: Path
) -> None:
    survey = _with(survey_file, "closes = 2020-01-15")
    bodies, pairs = _sent(survey, 12)
    store = _opened(database, survey)
    for body in bodies:
        assert take_in(store, [body], survey, date(2020, 1, 10)) == [201]
    store.close()
    assert _linked(database, pairs) == 12  # so the attack works if nothing is done
    with Server(database, "--workers", 1):
        for values in zip(*pairs, strict=True):
            assert _by_key_alone(database, list(values))
    assert _linked(database, pairs) <= 4


def _for(path: Path, here: Callable[[File], bool], name: str) -> Callable[[File], bool]:
    """Return a method of this name for one file; writers of earlier tests may still use theirs."""
    usual: Callable[[File], bool] = getattr(File, name)
    return lambda file: (here if file.place == path.resolve() else usual)(file)


@pytest.mark.parametrize("error", [StoreBusy("x.db: disk is full"), ValueError("unexpected")])
def test_a_file_that_cannot_be_written_anew_loses_nothing_and_is_reported(
    client: FlaskClient, send: Callable[..., Any], make: Callable[..., Any], survey: Survey,
    database: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    error: Exception,
) -> None:  # fmt: skip
    told = "the order of arrival cannot be removed from the file"

    def full(_: File) -> bool:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(File, "rewrite", _for(database, full, "rewrite"))
        assert send(make()).status_code == 201
        wait_until(lambda: client.get("/healthz").get_json() == {"status": told}, 60)
        assert client.get("/healthz").status_code == 503
        time.sleep(2 * writer.IDLE)
    wait_until(lambda: client.get("/healthz").status_code == 200, 60)
    # It is tried again and again, and reported once.
    assert capfd.readouterr().err.count(f"{type(error).__name__} while settling") == 1
    store: Store = client.application.extensions["store"]
    assert store.reports.kept(survey.id, 1) == 1
    assert list(store.upkeep.discrepancies(date.today())) == []


def test_a_large_database_rests_after_it_was_settled(
    send: Callable[..., Any],
    make: Callable[..., Any],
    database: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[float, float]] = []
    passed = stopwatch()

    def slow(_: File) -> bool:
        begin = passed()
        time.sleep(0.2)
        calls.append((begin, passed()))
        return True

    for name, here in (("is_small", lambda _: False), ("settle", slow)):
        monkeypatch.setattr(File, name, _for(database, here, name))
    assert send(make(0)).status_code == 201
    wait_until(lambda: len(calls) > 0)
    assert send(make(1)).status_code == 201
    wait_until(lambda: len(calls) > 1)
    (begin, end), (again, _) = calls[:2]
    assert again - end >= writer.REST * (end - begin)


def test_a_reader_does_not_have_the_file_written_anew_again_and_again(
    store: Store, survey: Survey, database: Path
) -> None:
    ours = writer.Writer(store, date.today)
    ((_, body),) = islice(submissions(survey), 1)
    reader = sqlite3.connect(database, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM report").fetchone()
    assert ours.put(requests.check(store, survey.id, body)) == 201
    before = ours._rewritten
    wait_until(lambda: ours._rewritten != before)
    size = File(database).wal_size()
    time.sleep(3 * writer.IDLE)
    assert File(database).wal_size() == size > 0
    reader.close()
    wait_until(lambda: not File(database).wal_size())


def _status(url: str, token: str) -> int:
    request = urllib.request.Request(
        f"{url}/api/log.csv", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


@contextmanager
def looked_at(database: Path) -> Iterator[None]:
    """Look whether a server runs just when the next one starts."""
    looked = threading.Event()

    def look() -> None:
        with serving(database.resolve()):
            looked.set()
            time.sleep(0.3)

    looking = threading.Thread(target=look)
    looking.start()
    assert looked.wait(MOMENT)
    yield
    looking.join()


def test_the_token_of_a_killed_server_opens_nothing_at_the_next_one(
    survey_file: Path, database: Path
) -> None:
    with Server(database, survey_file, "--workers", 1) as server:
        Store(database).access.add_token("printed by the first")
        assert _status(server.url, "printed by the first") == 200
        server.kill()
    with looked_at(database), Server(database, "--workers", 1) as server:
        assert _status(server.url, "printed by the first") == 401


def test_starting_ends_access_though_somebody_looks_who_serves(
    store: Store, database: Path, survey_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.access.add_token("of a killed server")
    monkeypatch.setattr("server.serving.run", lambda *_: None)
    with looked_at(database):
        assert run("serve", "--port", 0, "--db", database).exit_code == 0
    assert not store.access.knows_token("of a killed server")


def test_promises_are_kept_whatever_fails_once(
    store: Store, database: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(retention, "PAUSE", 0.01)
    looked, enough = [], threading.Event()

    def look(self: Keeper) -> None:
        looked.append(self)
        if len(looked) < 4:
            raise KeyError("what a respondent sent")
        enough.set()
        threading.Event().wait()  # for good: a thread of the server is never told to end

    monkeypatch.setattr(Keeper, "look", look)
    Keeper(database).start()
    assert enough.wait(MOMENT)
    told = capsys.readouterr().err
    assert told.count("deniable: KeyError while keeping promises at test_retention.py:") == 3
    assert "what a respondent sent" not in told


def test_a_look_that_failed_does_all_of_it_the_next_time(
    survey_file: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = _with(survey_file, "delete_reports_after = 2020-01-31")
    bodies, _ = _sent(survey, 12)
    store = _opened(database, survey)
    assert set(take_in(store, bodies, survey, date(2020, 1, 31))) == {201}
    keeper = Keeper(database)
    with store.database.served():
        os.utime(server_lock(database), (0, 0))
        with monkeypatch.context() as patch:
            patch.setattr(Upkeep, "forget", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                keeper.look()
        assert (store.reports.kept(survey.id, 1), store.database.silence() > 1e9) == (12, True)
        keeper.look()
        assert (store.reports.kept(survey.id, 1), store.database.silence() < 600) == (0, True)


def test_health_checks_report_overdue_deletions(survey_file: Path, database: Path) -> None:
    survey = _with(survey_file, "delete_reports_after = 2020-01-31")
    bodies, _ = _sent(survey, 12)
    store = _opened(database, survey)
    assert set(take_in(store, bodies, survey, date(2020, 1, 31))) == {201}
    client = create_app({"DATABASE": database}).test_client()
    told = {"status": "reports that were to be deleted are still there"}
    assert (client.get("/healthz").status_code, client.get("/healthz").get_json()) == (503, told)
    assert not store.upkeep.is_overdue(date(2020, 1, 31))
    assert store.upkeep.forget(date(2020, 2, 1)) == 12
    assert client.get("/healthz").get_json() == {"status": "ok"}


def test_health_checks_report_a_thread_that_has_stopped(
    client: FlaskClient, store: Store, database: Path
) -> None:
    assert client.get("/healthz").status_code == 200  # no server runs, so nobody should
    with store.database.served():
        store.database.beat()
        assert client.get("/healthz").status_code == 200
        os.utime(server_lock(database), (time.time() - 700,) * 2)
        answer = client.get("/healthz")
        assert answer.status_code == 503
        assert "has not succeeded lately" in answer.get_json()["status"]
        store.database.beat()
        assert client.get("/healthz").status_code == 200


# Restoring


def test_a_backup_is_restored_though_a_survey_is_past_its_last_day(
    survey_file: Path, database: Path, tmp_path: Path
) -> None:
    survey = _with(survey_file, "delete_reports_after = 2020-01-31")
    bodies, _ = _sent(survey, 12)
    store = _opened(database, survey)
    assert set(take_in(store, bodies, survey, date(2020, 1, 31))) == {201}
    store.copy_to(tmp_path / "b.db")
    told = run("restore", tmp_path / "b.db", "--db", tmp_path / "new.db")
    assert told.exit_code == 0, told.stderr
    assert "12 reports were deleted, as the surveys promised" in told.stderr
    new = Store(tmp_path / "new.db")
    assert new.reports.kept(survey.id, 1) == 0
    assert new.reports.per_version(survey.id) == {survey.version: 12}
    assert run("audit", "--db", tmp_path / "new.db").exit_code == 0


def test_restoring_opens_nothing_and_says_what_comes_back(
    store: Store, survey: Survey, tmp_path: Path
) -> None:
    bodies, _ = _sent(survey, 12)
    assert set(take_in(store, bodies, survey)) == {201}
    store.surveys.open_wave(survey.id, 2, alone=True)
    store.researchers.put(Researcher("ada", "analyst"), hashed("x"))
    store.researchers.put(Researcher("bob", "owner"), hashed("y"))
    store.copy_to(tmp_path / "b.db")
    store.surveys.close_waves(survey.id)
    store.researchers.remove("bob")
    new = tmp_path / "new.db"
    told = run("restore", tmp_path / "b.db", "--db", new)
    assert told.exit_code == 0, told.stderr
    assert Store(new).surveys.waves(survey.id) == {1: "closed", 2: "closed"}
    command = f"deniable open canteen --wave 2 --db {new}"
    assert "canteen: wave 2 was open in the backup, and is closed now" in told.stderr
    assert command in told.stderr
    assert "accounts, as of the backup: ada (analyst), bob (owner); remove accounts" in told.stderr
    assert run(*command.split()[1:]).exit_code == 0
    assert Store(new).surveys.waves(survey.id) == {1: "closed", 2: "open"}
    kept = tmp_path / "kept.db"
    told = run("restore", tmp_path / "b.db", "--keep-open", "--db", kept)
    assert told.exit_code == 0
    assert "canteen: wave 2 was open in the backup, and is open\n" in told.stderr
    assert Store(kept).surveys.waves(survey.id) == {1: "closed", 2: "open"}


# Groups of few


def test_small_groups_cause_a_warning(store: Store, survey: Survey, survey_file: Path) -> None:
    bodies, _ = _sent(survey, 19)
    database = store.database.place
    assert set(take_in(store, bodies, survey)) == {201}
    told = run("audit", "--db", database)
    assert told.exit_code == 0
    assert f"note: canteen, version {survey.version[:12]}, wave 1: 19 reports" in told.stderr
    assert f"note: canteen, terms {survey.terms[:12]}: 19 pseudonyms" in told.stderr
    few = f"canteen: wave 1 has 19 reports to version {survey.version[:12]}, fewer than 20"
    assert few in run("open", "canteen", "--wave", 2, "--db", database).stderr
    assert few not in run("open", "canteen", "--wave", 2, "--db", database).stderr
    assert run("open", "canteen", "--wave", 1, "--db", database).stderr == ""
    text = survey_file.read_text()
    survey_file.write_text(text.replace("Roast", "Roast beef"))
    told = run("publish", survey_file, "--db", database)
    assert few in told.stderr
    assert "its prices or its cap change" not in told.stderr
    survey_file.write_text(text.replace("cap = 12.0", "cap = 13.0"))
    told = run("publish", survey_file, "--db", database)
    assert few not in told.stderr
    assert "canteen: its prices or its cap change, so the ledger separates" in told.stderr


def test_large_groups_cause_no_warning(store: Store, survey: Survey, survey_file: Path) -> None:
    bodies, _ = _sent(survey, 20)
    assert set(take_in(store, bodies, survey)) == {201}
    told = run("audit", "--db", store.database.place)
    assert "note: " not in told.stderr
    assert "none has fewer than 20" in told.stdout
    survey_file.write_text(survey_file.read_text().replace("Roast", "Roast beef"))
    assert "fewer than 20" not in run("publish", survey_file, "--db", store.database.place).stderr
