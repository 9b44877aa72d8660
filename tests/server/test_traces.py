"""Check what files reveal, and for how long: backups, the order of arrival, deleted reports."""

import contextlib
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from limits import wait_until
from load import (
    Load,
    Server,
    check_books,
    column,
    deniable,
    invited,
    is_busy,
    post,
    submissions,
    take_in,
)
from scipy.stats import spearmanr

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.intake import writer
from server.intake.invitations import ISSUER
from server.intake.requests import check
from server.intake.wire import Refusal
from server.intake.writer import Writer
from server.store import Store
from server.store.file import File
from server.stored_results import StoredWave


def _variant(survey_file: Path, *lines: str, name: str = "canteen") -> Survey:
    """The survey under another id, or with more lines before its first table."""
    path = survey_file.with_name("variant.toml")
    head = "\n".join([f'id = "{name}"', *lines])
    path.write_text(survey_file.read_text().replace('id = "canteen"', head, 1))
    return read_survey(path)


def _bytes(database: Path) -> bytes:
    """Return all bytes in the files of a database, also in its write-ahead log."""
    files = [one for one in database.parent.iterdir() if one.name.startswith(database.name)]
    return b"".join(one.read_bytes() for one in files)


def _dump(database: Path, *but: str) -> list[str]:
    """Return the rows of a database, except those of some tables."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        lines = list(connection.iterdump())
    return [line for line in lines if not line.startswith(tuple(f'INSERT INTO "{n}"' for n in but))]


# Backups


@pytest.mark.more
def test_a_backup_under_load_has_all_that_was_acknowledged_before(
    survey: Survey, survey_file: Path, database: Path, tmp_path: Path
) -> None:
    backup, restored = tmp_path / "backup.db", tmp_path / "restored.db"
    with Server(database, survey_file) as server:
        assert Store(database).access.begin_session("a session", "", server.token)
        with Load(survey, server.url, clients=8) as load:
            wait_until(lambda: load.count(201) >= 200)
            before = load.acknowledged()
            done = deniable("backup", backup, "--db", database)
            assert done.returncode == 0, done.stderr
            after = load.count(201)
            wait_until(lambda: load.count(201) >= after + 50)
        assert all(one.status == 201 or is_busy(one) for one in load.answers.values())
        assert not load.lost
        assert after > len(before)
        names = [one.name for one in tmp_path.iterdir() if one.name.startswith(("backup", "."))]
        assert names == ["backup.db"]
        for table in ("session", "research_token"):
            (secret,) = column(database, f"SELECT hash FROM {table}")
            assert secret in _bytes(database)
            assert secret not in backup.read_bytes()
    result = run("restore", backup, "--db", restored)
    assert result.exit_code == 0, result.stderr
    check_books(restored, survey, before)
    # A restore adds a line to the log and closes the waves, and then pages show all reports.
    changed = ("log", "wave", "cell", "snapshot", "total_snapshot")
    assert _dump(restored, *changed) == _dump(backup, *changed)
    assert Store(restored).log.is_whole()
    content = restored.read_bytes()
    again = run("restore", backup, "--db", restored)
    assert (again.exit_code, again.stderr.count("\n")) == (1, 1)
    assert "already exists" in again.stderr
    assert restored.read_bytes() == content


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _of_another_program() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE things (id)")
        return connection.serialize()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda sound: sound[: len(sound) // 2], id="half"),
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"long enough to be looked at" * 400, id="text"),
        pytest.param(lambda _: _of_another_program(), id="another program's"),
        # The first byte of the last page says what kind of page it is.
        pytest.param(lambda sound: _flipped(sound, -_page_size(sound)), id="page"),
        # SQLite does not object to these: another key, invalid JSON, and another survey.
        pytest.param(lambda sound: _flipped(sound, sound.rindex(b'meat":')), id="report"),
        pytest.param(lambda sound: _flipped(sound, sound.rindex(b'"meat":')), id="quote"),
        pytest.param(lambda sound: _flipped(sound, sound.index(b"Which dish")), id="survey"),
    ],
)
def test_a_damaged_backup_is_refused_in_one_line(
    damage: Callable[[bytes], bytes], store: Store, survey: Survey, database: Path, tmp_path: Path
) -> None:
    take_in(store, [body for _, body in islice(submissions(survey), 50)], survey)
    backup, restored = tmp_path / "backup.db", tmp_path / "restored.db"
    assert run("backup", backup, "--db", database).exit_code == 0
    assert run("restore", backup, "--db", tmp_path / "sound.db").exit_code == 0
    backup.write_bytes(damage(backup.read_bytes()))
    before = sorted(tmp_path.rglob("*"))
    done = run("restore", backup, "--db", restored)
    assert isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert sorted(tmp_path.rglob("*")) == before


# The order of arrival


def _page_size(content: bytes) -> int:
    return int.from_bytes(content[16:18], "big")


def _pages(database: Path) -> list[bytes]:
    content = database.read_bytes()
    size = _page_size(content)
    return [content[at : at + size] for at in range(0, len(content), size)]


def _places(database: Path, values: Sequence[bytes]) -> list[list[int]]:
    """Return for each page of a file the numbers of its values, in the order of their places."""
    found = []
    for page in _pages(database):
        places = [(page.find(one), number) for number, one in enumerate(values)]
        found.append([number for at, number in sorted(places) if at >= 0])
    return found


def _by_chance(database: Path, table: str, key: str, arrived: Sequence[bytes]) -> bool:
    """Return whether neither a table's order nor places in its pages depend on arrival.

    Spearman's rho of n values has variance 1 / (n - 1) if their order is by chance, and the sum
    over pages of (n - 1) rho has variance sum (n - 1). Six standard deviations are passed by chance
    once in 10^8, in three trials.
    """
    numbers = {value: number for number, value in enumerate(arrived)}
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(f"SELECT {key} FROM {table}").fetchall()
    scanned = [numbers[value] for (value,) in rows]
    pages = _places(database, arrived)
    placed = [number for page in pages for number in page]
    assert sorted(scanned) == list(range(len(arrived)))
    assert set(placed) == set(scanned)
    within = [(len(page) - 1, _rho(page)) for page in pages if len(page) > 2]
    z = sum(n * rho for n, rho in within) / sum(n for n, _ in within) ** 0.5
    rhos = (abs(_rho(one)) * len(one) ** 0.5 for one in (scanned, placed))
    return bool(max(abs(z), *rhos) < 6)


def _rho(order: Sequence[int]) -> float:
    return float(spearmanr(order, np.arange(len(order))).statistic)


def test_nothing_of_the_order_of_arrival_is_left_after_closing(
    survey_file: Path, tmp_path: Path
) -> None:
    survey = _variant(survey_file, 'access = "invited"')
    tokens = [ISSUER.issue() for _ in range(700)]
    bodies = list(invited(survey, tokens))
    databases = [tmp_path / "one.db", tmp_path / "other.db"]
    for database, order in zip(databases, (bodies, bodies[::-1]), strict=True):
        store = Store(database, create=True)
        store.surveys.publish(survey)
        store.surveys.open_wave(survey.id)
        store.invitations.add(survey.id, 1, map(ISSUER.key, tokens))
        for body in order:
            assert take_in(store, [body], survey) == [201]  # each in a transaction of its own
        store.close()
    sent = [check(store, survey.id, body) for body in bodies]
    arrived = {
        ("report", "rid"): [one.rid for one in sent],
        ("ledger", "respondent"): [one.respondent for one in sent],
        ("invitation", "token_hash"): [one.invitation or b"" for one in sent],
    }

    def told(values: list[bytes]) -> int:
        """Return pages with these values that are not in both files."""
        one, other = (set(_pages(database)) for database in databases)
        return sum(any(value in page for value in values) for page in one ^ other)

    # A row goes where there is room in its page when it comes, so places reveal the order until
    # now.
    assert told(arrived["report", "rid"]) > 20
    assert told(arrived["ledger", "respondent"]) > 12
    for database in databases:
        assert run("close", survey.id, "--db", database).exit_code == 0
        assert list(Store(database).upkeep.discrepancies(date.today())) == []
    for (table, key), values in arrived.items():
        # The file is exactly the same, in whatever order they came.
        assert told(values) == 0
        assert _by_chance(databases[0], table, key, values)


def test_the_order_of_arrival_would_be_visible_in_an_ordinary_table(tmp_path: Path) -> None:
    database, arrived = tmp_path / "x.db", [secrets.token_bytes(16) for _ in range(700)]
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE report (rid BLOB, payload TEXT)")
        rows = [(rid, "x" * 100) for rid in arrived]
        connection.executemany("INSERT INTO report VALUES (?, ?)", rows)
        connection.commit()
    assert not _by_chance(database, "report", "rid", arrived)


@pytest.mark.more
def test_the_latest_writes_are_gone_from_the_log_when_the_server_idles(
    survey: Survey, survey_file: Path, database: Path
) -> None:
    wal, path = Path(f"{database}-wal"), f"/api/surveys/{survey.id}/reports"
    with Server(database, survey_file) as server:
        sent = submissions(survey)

        def is_seen() -> bool:
            rid, body = next(sent)
            assert post(server.url, path, [body])[0].status == 201
            return rid in wal.read_bytes()

        # On a busy machine it may be gone before the test looks.
        wait_until(is_seen)
        wait_until(lambda: not wal.stat().st_size)
        assert server.process.poll() is None


def test_readers_keep_neither_reports_out_nor_the_log_for_good(
    store: Store, survey: Survey, database: Path
) -> None:
    ours = Writer(store, date.today)
    sent = [check(store, survey.id, body) for _, body in islice(submissions(survey), 3)]
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as reader:
        assert ours.put(sent[0]) == 201
        # For example a long export, or a backup.
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM report").fetchone() == (1,)
        assert ours.put(sent[1]) == 201
        time.sleep(writer.IDLE + 0.5)  # now the log would be emptied
        assert ours.put(sent[2]) == 201
        time.sleep(writer.IDLE + 0.5)
        assert File(database).wal_size() > 0
        reader.execute("COMMIT")
    wait_until(lambda: not File(database).wal_size())


# Retention


def test_reports_that_are_due_are_gone_and_nothing_else(survey_file: Path, tmp_path: Path) -> None:
    days = "closes = 2020-01-15", "delete_reports_after = 2020-01-31"
    due, kept = _variant(survey_file, *days), _variant(survey_file)
    other = _variant(survey_file, name="other")
    during, after = date(2020, 1, 10), date(2020, 2, 1)
    database = tmp_path / "x.db"
    store = Store(database, create=True)
    sent: dict[str, list[tuple[bytes, bytes]]] = {}
    for survey in (kept, other, due):
        store.surveys.publish(survey)
        store.surveys.open_wave(survey.id)
        sent[survey.version] = list(islice(submissions(survey), 40))
    # All versions are published by now; the last one decides with the others until when.
    for survey in (kept, other, due):
        bodies = [body for _, body in sent[survey.version]]
        assert take_in(store, bodies, survey, during) == [201] * 40
    rids = {version: [rid for rid, _ in some] for version, some in sent.items()}
    tallies = {
        survey.version: {
            name: one.tolist() for name, one in store.reports.tallies(survey, 1).items()
        }
        for survey in (due, kept, other)
    }
    ledgers = {name: sorted(map(str, store.ledger.spends(name))) for name in ("canteen", "other")}
    estimates = str(StoredWave(store, due.id, 1, due.version).estimates(0.95))

    assert store.upkeep.forget(after - timedelta(1)) == 0
    assert list(store.upkeep.discrepancies(after - timedelta(1))) == []
    (found,) = store.upkeep.discrepancies(after)
    assert "40 reports that were to be deleted after 2020-01-31" in found
    assert all(rid in _bytes(database) for rid in rids[due.version])

    assert store.upkeep.forget(after) == 40
    assert not any(rid in _bytes(database) for rid in rids[due.version])
    assert all(rid in _bytes(database) for one in (kept, other) for rid in rids[one.version])
    assert list(store.upkeep.discrepancies(after)) == []
    assert store.database.integrity() == "ok"
    assert str(StoredWave(store, due.id, 1, due.version).estimates(0.95)) == estimates

    # A respondent whose report was deleted cannot send it again.
    bodies = [body for _, body in sent[due.version]]
    replayed = take_in(store, bodies, due, after)
    assert {one.word for one in replayed if isinstance(one, Refusal)} == {"over"}
    assert len(replayed) == 40
    assert store.upkeep.forget(after) == 0
    for survey in (due, kept, other):
        assert tallies[survey.version] == {
            name: one.tolist() for name, one in store.reports.tallies(survey, 1).items()
        }
    assert ledgers == {name: sorted(map(str, store.ledger.spends(name))) for name in ledgers}
    store.close()
    told = run("export", "canteen", "--db", database)
    assert told.exit_code == 1
    assert "were kept until 2020-01-31, and deleted then; estimates stay" in told.stderr
    assert run("export", "other", "--db", database).stdout.count("\n") == 41


def test_invitations_to_a_survey_go_with_its_reports(survey_file: Path, tmp_path: Path) -> None:
    survey = _variant(survey_file, 'access = "invited"', "delete_reports_after = 2020-01-31")
    other = _variant(survey_file, 'access = "invited"', name="other")
    database = tmp_path / "x.db"
    store = Store(database, create=True)
    keys = {}
    for one in (survey, other):
        store.surveys.publish(one)
        store.surveys.open_wave(one.id)
        tokens = [ISSUER.issue() for _ in range(20)]
        keys[one.id] = [ISSUER.key(token) for token in tokens]
        store.invitations.add(one.id, 1, keys[one.id])
        bodies = list(invited(one, tokens[:10]))
        assert take_in(store, bodies, one, date(2020, 1, 31)) == [201] * 10
    assert all(key in _bytes(database) for some in keys.values() for key in some)
    assert store.upkeep.forget(date(2020, 2, 1)) == 10
    assert store.invitations.counts("canteen") == {}
    assert store.invitations.counts("other") == {1: (20, 10)}
    assert not any(key in _bytes(database) for key in keys["canteen"])
    assert list(store.upkeep.discrepancies(date(2020, 2, 1))) == []


# The clock


def test_a_clock_that_jumps_changes_only_what_is_open(survey_file: Path, tmp_path: Path) -> None:
    always = _variant(survey_file)
    until = _variant(survey_file, "closes = 2026-06-15", name="until")
    steady = date(2026, 6, 15)
    jumps = [steady, steady - timedelta(1), steady + timedelta(1), date.min, date.max]
    jumps += [date(1970, 1, 1), date(2038, 1, 20), steady]
    dumps: list[list[str]] = []
    bodies = {one.id: [body for _, body in islice(submissions(one), 40)] for one in (always, until)}
    for days in ([steady] * len(jumps), jumps):
        database = tmp_path / f"{len(dumps)}.db"
        store = Store(database, create=True)
        for survey in (always, until):
            store.surveys.publish(survey)
            store.surveys.open_wave(survey.id)
        clock = {"today": steady}
        ours = Writer(store, partial(clock.__getitem__, "today"))
        for number, day in enumerate(days):
            clock["today"] = day
            for survey in (always, until):
                expected = 201 if survey is always or day <= steady else "over"
                for body in bodies[survey.id][5 * number : 5 * number + 5]:
                    result = ours.put(check(store, survey.id, body))
                    assert (result.word if isinstance(result, Refusal) else result) == expected
                # A stored report is known, on whatever day it is sent again.
                assert ours.put(check(store, survey.id, bodies[survey.id][0])) == 200
            assert store.upkeep.forget(day) == 0
            assert list(store.upkeep.discrepancies(day)) == []
        # Back on the right day, refused reports are accepted.
        for body in bodies["until"]:
            assert ours.put(check(store, "until", body)) in (200, 201)
        store.database.settle()
        dumps.append(_dump(database))
    assert dumps[0] == dumps[1]
    assert sum('INSERT INTO "report"' in line for line in dumps[0]) == 80
