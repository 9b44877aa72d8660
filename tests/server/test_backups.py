"""Backups, in a series and by hand, are encrypted, wait, are deleted and restored."""

import os
import random
import shutil
import stat
import subprocess
from contextlib import AbstractContextManager
from datetime import date
from itertools import count
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import Result
from command_line import run
from load import Server, get
from programs import find

import server.commands.backup
from analysis.survey.simulate import payloads
from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.backups import abandoned, name_of, series
from server.deliver import to_store
from server.store import Store
from server.store.backups import Held

ANSWER = {"meat": "yes", "dish": "soup", "price": "3"}


def fill(store: Store, survey: Survey, n: int, simulated: bool = False) -> None:
    seed = random.randrange(2**32)
    sent = payloads(survey, [ANSWER] * n, 1, seed)
    assert to_store(store, survey.id, sent, lambda _: None, simulated)["stored"] == n


def test_files_of_killed_commands_are_found_after_a_day(tmp_path: Path) -> None:
    name = f".{name_of('a', '2026-11-25T023000Z', date(2027, 6, 30))}.x1.part"
    for one in (name, ".a_other.part", name.replace("a_", "b_", 1)):
        (tmp_path / one).touch()
    written = (tmp_path / name).stat().st_mtime
    assert abandoned(tmp_path, "a", written + 3600) == []
    assert abandoned(tmp_path, "a", written + 25 * 3600) == [tmp_path / name]


def test_backups_from_before_a_day_can_be_deleted(tmp_path: Path) -> None:
    for day in (24, 25, 26):
        (tmp_path / name_of("a", f"2026-11-{day}T023000Z", None)).touch()
    told = run("prune", tmp_path, "--before", "2026-11-26", "--dry-run")
    assert "1 of 3 backups would be kept" in told.stderr
    assert run("prune", tmp_path, "--before", "2026-11-25").exit_code == 0
    assert [one.at[:10] for one in series(tmp_path)] == ["2026-11-25", "2026-11-26"]
    assert "found none" in run("prune", tmp_path / "none").stderr


def test_files_outside_a_series_are_named_and_kept(tmp_path: Path) -> None:
    due = tmp_path / name_of("a", "2020-01-01T023000Z", date(2020, 1, 2))
    by_hand = tmp_path / "copy.db"
    for path in (due, by_hand):
        path.touch()
    done = run("prune", tmp_path)
    assert done.exit_code == 0
    assert f"{by_hand}: does not belong to a series" in done.stderr
    assert f"{due}: does not belong to a series" not in done.stderr
    assert (due.exists(), by_hand.exists()) == (False, True)


def test_an_encrypted_backup_is_not_taken_for_a_damaged_one(
    store: Store, database: Path, tmp_path: Path
) -> None:
    (tmp_path / "b.age").write_bytes(b"age-encryption.org/v1\n")
    told = run("audit", "--backup", tmp_path / "b.age", "--db", database)
    assert told.exit_code == 1
    assert "b.age: is encrypted; restore it" in told.stderr


def test_a_copy_in_memory_is_whole_and_has_no_sessions(
    store: Store, survey: Survey, tmp_path: Path
) -> None:
    store.access.add_token("let me in")
    fill(store, survey, 30)
    with store.copied_in_memory() as copy:
        plain = copy.serialize()
    (tmp_path / "copy.db").write_bytes(plain)
    again = Store(tmp_path / "copy.db")
    assert list(again.upkeep.discrepancies(date(2026, 1, 1))) == []
    assert again.reports.kept(survey.id, 1) == 30
    assert again.database.query("SELECT count(*) FROM research_token").fetchone() == (0,)
    assert not list(tmp_path.glob("*.part"))


def scheduled(database: Path, folder: Path, *more: object) -> Result:
    keys = database.with_name("backup-keys.txt")
    words = ["--recipients", keys, "--db", database, *more]
    return run("backup", "--scheduled", folder, *words)


def test_missing_or_wrong_parts_are_named(
    store: Store, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*words: object) -> str:
        result = run("backup", *words, "--db", database)
        assert result.exit_code != 0
        return result.stderr

    keys, folder = tmp_path / "backup-keys.txt", tmp_path / "b"
    assert "expected either FILE or" in said()
    assert "expected either FILE or" in said("x.db", "--scheduled", folder)
    assert "expected --recipients" in said("--scheduled", folder)
    assert "--overdue is for" in said("x.db", "--overdue", 3)
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    assert "apt-get install age" in said("--scheduled", folder, "--recipients", keys)
    (programs / "age").symlink_to("/bin/false")
    assert "age-keygen on another machine" in said("--scheduled", folder, "--recipients", keys)
    keys.write_text("# public key: age1x\nAGE-SECRET-KEY-1XX\n")
    assert "got a private one" in said("--scheduled", folder, "--recipients", keys)
    keys.write_text("age1x\n")
    assert "age has failed: it gave no reason" in said("--scheduled", folder, "--recipients", keys)
    assert list(folder.iterdir()) == []
    assert store.backups.last() is None
    restored = run("restore", keys, "--identity", keys, "--db", tmp_path / "new.db")
    assert "expected a file encrypted with age" in restored.stderr


@pytest.fixture
def private(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the private key.

    The public one lies beside the database. Backups are a second apart.
    """
    seconds = count(10)
    monkeypatch.setattr(
        server.commands.backup, "stamp", lambda: f"{date.today()}T00:00:{next(seconds)}Z"
    )
    if find("age") is None:
        pytest.fail("no age; python tests/programs.py age installs one")
    key = database.with_name("private.txt")
    subprocess.run(["age-keygen", "-o", key], check=True, capture_output=True)
    public = subprocess.run(["age-keygen", "-y", key], check=True, capture_output=True).stdout
    database.with_name("backup-keys.txt").write_bytes(public)
    return key


@pytest.mark.more
def test_a_series_waits_prunes_replaces_and_is_restored(
    store: Store, survey: Survey, database: Path, tmp_path: Path, private: Path
) -> None:
    folder = tmp_path / "new/backups"
    fill(store, survey, 49)
    waits = scheduled(database, folder)
    assert waits.exit_code == 0
    assert "no backup was made: less than a batch of reports has come to canteen" in waits.stderr
    assert not any(folder.iterdir())
    fill(store, survey, 500, simulated=True)  # belong to nobody
    assert not any(folder.iterdir())
    fill(store, survey, 11)
    assert scheduled(database, folder).exit_code == 0
    (first,) = series(folder)
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # With nothing new another backup is made, and the day's last one is kept.
    assert scheduled(database, folder).exit_code == 0
    assert store.backups.held()[survey.id, survey.version, 1] == Held(60, first.at)
    fill(store, survey, 3)
    late = scheduled(database, folder, "--overdue", 1)
    assert late.exit_code == 0
    with store.database.writing() as connection:
        connection.execute("UPDATE backup SET at = '2026-01-01T000000Z'")
    late = scheduled(database, folder, "--overdue", 1)
    assert late.exit_code == 1
    assert "Last backup: 2026-01-01. That is" in late.stderr
    # Once the wave is closed, its last three reports come into a backup that replaces earlier ones.
    store.surveys.close_waves(survey.id)
    old = {one.path for one in series(folder)}
    closed = scheduled(database, folder, "--daily", 100)
    assert closed.exit_code == 0
    (last,) = series(folder)
    assert last.path not in old
    assert "the new one differs from it by less than a batch" in closed.stderr
    again = tmp_path / "again.db"
    assert "is encrypted; expected --identity" in run("restore", last.path, "--db", again).stderr
    wrong = run("restore", last.path, "--identity", database, "--db", again)
    assert "age has failed" in wrong.stderr
    done = run("restore", last.path, "--identity", private, "--db", again)
    assert done.exit_code == 0, done.output
    assert run("audit", "--db", again).exit_code == 0
    restored = Store(again)
    assert restored.reports.kept(survey.id, 1) == 563
    # The series goes on where the backup ends.
    assert restored.backups.held() == store.backups.held()
    restored.close()
    assert not list(tmp_path.glob("tmp*"))
    with Server(again) as server:
        assert get(server.url, "/healthz").status == 200


@pytest.mark.more
def test_reports_that_come_during_a_backup_also_delay_it(
    store: Store, survey: Survey, database: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, survey, 60)
    folder = database.with_name("b")
    assert scheduled(database, folder).exit_code == 0
    copied = Store.copied_in_memory

    def copied_late(self: Store) -> AbstractContextManager[Connection]:
        fill(store, survey, 1)
        return copied(self)

    before = series(folder), store.backups.held()
    monkeypatch.setattr(Store, "copied_in_memory", copied_late)
    assert "no backup was made" in scheduled(database, folder).stderr
    assert (series(folder), store.backups.held()) == before


@pytest.mark.more
def test_only_encrypted_bytes_reach_the_disk(
    store: Store, survey: Survey, database: Path, tmp_path: Path, private: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    fill(store, survey, 60)
    programs, seen = tmp_path / "programs", tmp_path / "seen"
    programs.mkdir()
    (tmp_path / "temporary").mkdir()
    # Lists files that begin like a database while the encryption runs.
    (programs / "age").write_text(
        f"#!/bin/sh\ngrep -rl 'SQLite forma[t]' {tmp_path} > {seen}\n"
        f'exec {shutil.which("age")} "$@"\n'
    )
    (programs / "age").chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    assert scheduled(database, tmp_path / "b").exit_code == 0
    in_use = {str(database), f"{database}-wal"}
    assert {str(database)} <= {*seen.read_text().split()} <= in_use
    single = run("backup", tmp_path / "s.age", "--recipients", tmp_path / "backup-keys.txt",
                 "--db", database)  # fmt: skip
    assert single.exit_code == 0
    assert {str(database)} <= {*seen.read_text().split()} <= in_use
    assert (tmp_path / "s.age").read_bytes().startswith(b"age-encryption.org/")


@pytest.mark.more
def test_the_name_has_the_first_day_on_which_something_in_it_is_due(
    survey_file: Path, database: Path, private: Path
) -> None:
    text = survey_file.read_text()
    store = Store(database, create=True)
    for day in ("2031-01-01", "2030-01-01"):
        changed = f'id = "canteen"\ndelete_reports_after = {day}'
        survey_file.write_text(text.replace('id = "canteen"', changed, 1))
        survey = read_survey(survey_file)
        store.surveys.publish(survey)
        store.surveys.open_wave("canteen")
        if day == "2031-01-01":
            fill(store, survey, 60)
    folder = database.with_name("b")
    assert scheduled(database, folder).exit_code == 0
    assert [one.last_day for one in series(folder)] == [date(2031, 1, 1)]
    fill(store, survey, 60)
    store.close()
    assert scheduled(database, folder).exit_code == 0
    (one,) = series(folder)
    assert one.last_day == date(2030, 1, 1)
    past = folder / name_of("canteen", "2020-01-01T000000Z", date(2020, 1, 2))
    past.touch()
    told = run("prune", folder, "--dry-run")
    assert (
        f"{past}: would be deleted: it has reports that had to be deleted after 2020-01-02"
        in told.stderr
    )
    assert past.exists()
    assert "1 of 2 backups are kept" in run("prune", folder).stderr
    assert series(folder) == [one]


@pytest.mark.more
def test_trials_and_pilots_delay_nothing(
    store: Store, survey: Survey, survey_file: Path, database: Path, private: Path
) -> None:
    store.studies.begin_trial("trial")
    survey_file.write_text(survey_file.read_text().replace('"canteen"', '"trial"', 1))
    trial = read_survey(survey_file)
    store.surveys.publish(trial, is_trial=True)
    store.surveys.open_wave("trial", is_trial=True)
    fill(store, trial, 3)
    assert scheduled(database, database.with_name("b")).exit_code == 0
    assert len(series(database.with_name("b"))) == 1
    fill(store, survey, 3)
    assert "to canteen, and" in scheduled(database, database.with_name("b")).stderr
