"""Acknowledged reports stay: through kills, a full disk, a stop under load and a stuck store."""

import fcntl
import json
import math
import resource
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import pytest
from limits import LONG, MOMENT, timed, wait_until

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake import writer
from server.intake.requests import check
from server.intake.writer import BUSY, Writer
from server.store import Place, Store
from server.store.file import File

# The tests are not a package, so none of their names can hide a name of the application.
sys.path.insert(0, str(Path(__file__).parent))

from load import (
    Answer,
    Load,
    Server,
    check_books,
    get,
    is_alive,
    is_busy,
    post,
    submissions,
    take_in,
)

pytestmark = pytest.mark.both


def _has(load: Load, status: int, count: int) -> bool:
    """Return whether this many requests got this status."""
    return load.count(status) >= count


@pytest.mark.more
def test_acknowledged_reports_survive_kills(
    survey: Survey, survey_file: Path, database: Place
) -> None:
    with ExitStack() as running, Load(survey) as load:
        server = running.enter_context(Server(database, survey_file))
        for _ in range(2):
            load.url = server.url
            enough = load.count(201) + 200
            wait_until(partial(_has, load, 201, enough))
            server.kill()
            load.url = ""  # which may belong to anybody now
            server = running.enter_context(Server(database))
        load.url = server.url
        enough = load.count(201) + 200
        wait_until(lambda: load.count(201) >= enough)
        load.stop()
        assert all(one.status == 201 or is_busy(one) for one in load.answers.values())
        assert load.lost  # the kills did hit requests under way
        check_books(database, survey, load.acknowledged())
        assert set(load.retry()) <= {200, 201}
        check_books(database, survey, set(load.sent))


@pytest.mark.sqlite
@pytest.mark.more
@pytest.mark.parametrize("ready", [True, False], ids=["serving", "starting"])
def test_nothing_of_a_killed_server_goes_on(
    ready: bool, survey_file: Path, database: Place
) -> None:
    server = Server(database, survey_file, "--research-port", 0, ready=ready)
    try:
        # There is one for each address, for the two workers of the first and that of the other.
        wait_until(lambda: len(server.below()) >= 4)
        left = server.below()
        server.process.kill()
        wait_until(lambda: not any(map(is_alive, left)))
    finally:
        server.kill()
    for url in server.urls:
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", int(url.rpartition(":")[2])))
            taken.listen()


@contextmanager
def _largest_file(pids: list[int], size: int) -> Iterator[None]:
    """Let writes beyond a file's first bytes fail, as they do on a full disk."""
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


@pytest.mark.sqlite
@pytest.mark.more
def test_a_full_disk_refuses_and_loses_nothing(
    survey: Survey, survey_file: Path, database: Path
) -> None:
    wal = Path(f"{database}-wal")
    with Server(database, survey_file) as server:
        with Load(survey, server.url) as load:
            wait_until(lambda: load.count(201) >= 100)
            for room in (wal.stat().st_size + 100_000, 0):
                full, stored = load.count(503) + 100, load.count(201) + 100
                with _largest_file(server.below(), room):
                    wait_until(partial(_has, load, 503, full))
                    assert get(server.url, f"/api/surveys/{survey.id}").status == 200
                wait_until(partial(_has, load, 201, stored))
            with _largest_file(server.below(), 0):
                full = load.count(503) + 16
                wait_until(lambda: load.count(503) >= full)
                load.stop()
                time.sleep(writer.IDLE + 0.5)  # the log cannot be emptied either
                assert wal.stat().st_size
        wait_until(lambda: not wal.stat().st_size)
        refused = [one for one in load.answers.values() if one.status != 201]
        assert all(map(is_busy, refused))
        assert not load.lost
        check_books(database, survey, load.acknowledged())
        assert set(load.retry()) <= {200, 201}
        check_books(database, survey, set(load.sent))


@pytest.mark.sqlite
def test_a_power_failure_before_the_rewrite_leaves_no_deleted_report(
    survey_file: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = survey_file.read_text()
    survey_file.write_text(
        text.replace("[privacy]", "delete_reports_after = 2020-01-31\n[privacy]")
    )
    survey = read_survey(survey_file)
    store = Store(database, create=True)
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    sent = dict(islice(submissions(survey), 100))
    assert take_in(store, sent.values(), survey, date(2020, 1, 31)) == [201] * 100
    store.database.settle()
    monkeypatch.setattr(File, "rewrite", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.upkeep.forget(date(2020, 2, 1))
    again = Store(database)
    again.database.settle()
    assert again.reports.kept(survey.id, 1) == 0
    assert not any(rid in database.read_bytes() for rid in sent)


@pytest.mark.sqlite
@pytest.mark.more
def test_a_stop_under_load_completes_answers_that_have_begun(
    survey: Survey, survey_file: Path, database: Path
) -> None:
    with Server(database, survey_file) as server, Load(survey, server.url) as load:
        wait_until(lambda: load.count(201) >= 300)
        # The clients go on for ever and keep their connections, so the server must not wait for
        # them.
        assert server.stop() == 0
    # Clients that got no byte know that they must try again; nobody got a part of an answer.
    assert not any(load.lost.values())
    assert {one.status for one in load.answers.values()} <= {201, 503}
    wal = Path(f"{database}-wal")
    assert not wal.exists() or not wal.stat().st_size
    check_books(database, survey, load.acknowledged())


@contextmanager
def _stuck(database: Place) -> Iterator[None]:
    """Let another process hold the file lock."""
    with open(f"{database}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.sqlite
@pytest.mark.more
def test_a_stuck_store_refuses_in_time_and_is_read_meanwhile(
    survey: Survey, survey_file: Path, database: Path
) -> None:
    sent = dict(islice(submissions(survey), 16))
    path, bodies = f"/api/surveys/{survey.id}/reports", list(sent.values())
    # There is one worker, since each worker knows only of itself that it is stuck.
    with Server(database, survey_file, "--workers", 1) as server:

        def send() -> list[Answer]:
            return post(server.url, path, bodies)

        def read() -> None:
            assert get(server.url, f"/s/{survey.id}").status == 200
            assert get(server.url, f"/api/surveys/{survey.id}").status == 200
            assert get(server.url, "/healthz").status in (200, 503)

        # All of it ends while the store is stuck, which is until this block ends.
        with _stuck(database), ThreadPoolExecutor(1) as pool:
            waiting, reading = pool.submit(timed, send), []
            while not waiting.done():
                reading.append(timed(read)[1])
                time.sleep(0.2)
            answers, patience = waiting.result()
            assert all(map(is_busy, answers))
            assert median(reading) < patience / 2
            # The server knows by now that it is stuck, so nobody waits any more.
            assert json.loads(get(server.url, "/healthz").body)["status"] != "ok"
            answers, seconds = timed(send)
            assert all(map(is_busy, answers))
            assert seconds < patience / 2
        wait_until(lambda: {one.status for one in post(server.url, path, bodies)} <= {200, 201})
        assert get(server.url, "/healthz").status == 200
        check_books(database, survey, set(sent))


@pytest.mark.sqlite
def test_more_than_may_wait_are_refused_at_once(
    store: Store, survey: Survey, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "QUEUE", 8)
    monkeypatch.setattr(writer, "STUCK", math.inf)
    monkeypatch.setattr(writer, "PATIENCE", 2 * LONG)
    monkeypatch.setattr(File, "LOCK_PATIENCE", 2 * LONG)
    ours = Writer(store, date.today)
    bodies = [body for _, body in islice(submissions(survey), 10)]
    first, *waiting, last = (check(store, survey.id, body) for body in bodies)
    results: list[object] = []
    clients = [
        threading.Thread(target=lambda one=one: results.append(ours.put(one)))
        for one in (first, *waiting)
    ]
    with _stuck(database):
        clients[0].start()
        wait_until(lambda: ours._thread and not ours._queue.qsize())
        for one in clients[1:]:
            one.start()
        wait_until(lambda: ours._queue.qsize() == 8)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(ours.put, last).result(MOMENT) == BUSY
        assert not results
    for one in clients:
        one.join(LONG)
    assert results == [201] * 9
    assert ours.put(last) == 201


@pytest.mark.sqlite
def test_a_report_that_waited_too_long_is_refused_and_may_be_stored_later(
    store: Store, survey: Survey, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "STUCK", math.inf)
    monkeypatch.setattr(writer, "PATIENCE", 0.3)
    ours = Writer(store, date.today)
    (body,) = (body for _, body in islice(submissions(survey), 1))
    with _stuck(database):
        assert ours.put(check(store, survey.id, body)) == BUSY
    monkeypatch.setattr(writer, "PATIENCE", LONG)
    assert ours.put(check(store, survey.id, body)) == 200
    assert len(store.ledger.spends(survey.id)) == 1
