"""Check what `deniable doctor` reports about simulated machines that each have one fault."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.survey.simulate import payloads
from analysis.survey.survey_file import read_survey
from server.cli import main
from server.deliver import Unreachable, to_store
from server.deploy import Settings, made
from server.doctor import Check, machine, outside
from server.intake.decision import WHOLE
from server.store import Store
from server.store.backups import Held

EXAMPLE = Path(__file__).parents[2] / "examples/working-conditions.toml"
TODAY = date(2026, 1, 1)
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max core file size        {core}                    {core}                    bytes
Max open files            1024                 {files}               files
"""
UNIT = made("systemd", Settings("survey.example.org"))["deniable.service"]


@pytest.fixture
def root(tmp_path: Path, db: Path) -> Path:
    """Return the system files of a machine without faults."""
    folder = tmp_path / "root"
    for name, text in {
        "proc/77/cmdline": "/opt/bin/python\0/opt/bin/deniable\0serve\0",
        "proc/77/limits": LIMITS.format(core=0, files=65536),
        "proc/78/cmdline": "/bin/cat\0serve\0",
        # One is another survey's, one is another user's, and one has ended.
        "proc/79/cmdline": "deniable\0serve\0--db=/elsewhere/deniable.db\0",
        "proc/80/cmdline": "deniable\0serve\0--db\0deniable.db\0",
        "proc/swaps": "Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n",
        "proc/sys/kernel/core_pattern": "|/lib/systemd/systemd-coredump %P\n",
        "etc/nginx/nginx.conf": made("nginx", Settings("survey.example.org"))["nginx.conf"],
        "var/log/nginx/access.log": "",
        "etc/caddy/caddy.json": made("caddy", Settings("survey.example.org"))["caddy.json"],
        "etc/systemd/system/deniable.service": UNIT,
        "etc/systemd/journald.conf": "[Journal]\n#Storage=none\nStorage=volatile\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "proc/77/cwd").symlink_to(db.parent)
    (folder / "proc/79/root").symlink_to("/")
    return folder


@pytest.fixture
def db(tmp_path: Path) -> Path:
    file = tmp_path / "kept/deniable.db"
    file.parent.mkdir(mode=0o700)
    store = Store(file, create=True)
    store.surveys.publish(read_survey(EXAMPLE))
    store.close()
    return file


def wrong(db: Path, root: Path) -> dict[str, str]:
    """Return the findings of faults, by subject."""
    found = [one for one in machine.look(db, TODAY, root) if not one.ok]
    assert all(one.advice for one in found)
    return {one.subject: one.finding for one in found}


def test_a_machine_without_faults(db: Path, root: Path) -> None:
    assert wrong(db, root) == {}
    subjects = {one.subject for one in machine.look(db, TODAY, root)}
    assert {"disk", "deletions", "swap", "open files of process 77"} <= subjects


def test_servers_of_this_database_are_found_by_any_name(db: Path, root: Path) -> None:
    def said() -> str:
        (found,) = (one for one in machine.look(db, TODAY, root) if one.subject == "servers")
        return found.finding

    assert said() == "1 serve this database here"
    shutil.rmtree(root / "proc/77")
    assert said() == "none serves this database here, as far as this user can see"
    # In a container the path is another one.
    other = root / "proc/79"
    (other / "cmdline").write_text("deniable\0serve\0--db=/data/deniable.db\0")
    (other / "root").unlink()
    (root / "container").mkdir()
    (root / "container/data").symlink_to(db.parent)
    (other / "root").symlink_to(root / "container")
    assert said() == "1 serve this database here"


def test_the_place_of_the_journal_is_reported(db: Path, root: Path) -> None:
    def said() -> str:
        (found,) = (one for one in machine.look(db, TODAY, root) if one.subject == "journal")
        return found.finding

    assert said() == "the journal is in memory, and has no research token"
    edit("etc/systemd/journald.conf.d/ours.conf", "Storage=auto\n")(db, root)
    assert said().startswith("the journal is in memory")
    (root / "var/log/journal").mkdir()
    assert said().startswith("the journal is on the disk")


def test_the_file_with_which_caddy_runs_is_read(db: Path, root: Path) -> None:
    edit("etc/caddy/caddy.json", "{}")(db, root)
    edit("etc/caddy/ours.json", made("caddy", Settings("a.example.org"))["caddy.json"])(db, root)
    edit("proc/5/cmdline", "/usr/bin/caddy\0run\0--config\0/etc/caddy/ours.json\0")(db, root)
    assert wrong(db, root) == {}
    edit("proc/5/cmdline", "/usr/bin/caddy\0run\0--config=/etc/caddy/caddy.json\0")(db, root)
    assert "log default has errors" in wrong(db, root)["logs of Caddy"]


def edit(name: str, text: str) -> Callable[[Path, Path], None]:
    def change(db: Path, root: Path) -> None:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return change


FAULTS: dict[str, tuple[Callable[[Path, Path], object], str, str]] = {
    "modes": (lambda db, root: db.chmod(0o644), "file modes", "others can read deniable.db"),
    "folder": (lambda db, root: db.parent.chmod(0o777), "folder", "others can write"),
    "second": (
        lambda db, root: edit("proc/79/cmdline", f"python\0-m\0server.cli\0serve\0--db\0{db}\0")(
            db, root
        ),
        "servers",
        "2 serve this database",
    ),
    "log of Caddy": (
        edit("etc/caddy/caddy.json", '{"apps": {"http": {"servers": {"s": {"logs": {}}}}}}'),
        "logs of Caddy",
        "server s logs requests; log default has errors of requests",
    ),
    "Caddyfile": (
        edit("etc/caddy/caddy.json", "survey.example.org {}"),
        "logs of Caddy",
        "not Caddy's JSON",
    ),
    "token": (
        edit("etc/systemd/system/deniable.service", UNIT.replace("StandardOutput=null", "")),
        "journal",
        "and has the research token that deniable.service prints",
    ),
    "files": (
        edit("proc/77/limits", LIMITS.format(core=0, files=1024)),
        "open files of process 77",
        "1024",
    ),
    "core": (
        edit("proc/77/limits", LIMITS.format(core="unlimited", files=65536)),
        "core of process 77",
        "unlimited",
    ),
    "swap": (edit("proc/swaps", "Filename\n/dev/sda2 partition 1 0 -2\n"), "swap", "/dev/sda2"),
    "dumps": (edit("proc/sys/kernel/core_pattern", "|/bin/x %P"), "core dumps", "/bin/x"),
    "log": (
        edit("etc/nginx/nginx.conf", "access_log off; error_log /var/log/e;"),
        "logs of nginx",
        "error_log /var/log/e",
    ),
    "default log": (edit("etc/nginx/nginx.conf", "# access_log off;"), "logs of nginx", "default"),
    "old logs": (edit("var/log/nginx/access.log", "1.2.3.4"), "old logs of nginx", "access.log"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_reported_alone(name: str, db: Path, root: Path) -> None:
    change, subject, said = FAULTS[name]
    change(db, root)
    found = wrong(db, root)
    assert found.keys() == {subject}
    assert said in found[subject]


def test_encrypted_swap_is_accepted(db: Path, root: Path) -> None:
    edit("proc/swaps", "Filename\n/dev/dm-1 partition 1 0 -2\n")(db, root)
    assert wrong(db, root).keys() == {"swap"}
    edit("sys/block/dm-1/dm/uuid", "CRYPT-LUKS2-x")(db, root)
    assert wrong(db, root) == {}


def test_overdue_deletions_are_reported(tmp_path: Path, root: Path) -> None:
    db, survey = tmp_path / "kept/panel.db", tmp_path / "panel.toml"
    text = EXAMPLE.with_name("staff-panel.toml").read_text()
    survey.write_text(text)
    for words in (["publish", str(survey)], ["open", "staff-panel"], INVITE):
        assert CliRunner().invoke(main, [*words, "--db", str(db)]).exit_code == 0, words
    assert [one.ok for one in deletions(db, root, date(2029, 6, 30))] == [True]
    assert [one.ok for one in deletions(db, root, date(2029, 7, 1))] == [False]


INVITE = ["invite", "staff-panel", "--count", "1", "--url", "https://survey.example.org"]


def deletions(db: Path, root: Path, today: date) -> list[Check]:
    return [one for one in machine.look(db, today, root) if one.subject == "deletions"]


def test_a_series_of_backups_that_has_stopped_is_reported(db: Path, root: Path) -> None:
    store = Store(db)
    current = store.surveys.current("work-2026")
    assert current is not None
    survey, key = current.survey, ("work-2026", current.survey.version, 1)
    store.surveys.open_wave(survey.id)
    person = {"harassed": "yes", "told": "nobody", "team": "lab", "income": "1230"}
    to_store(store, survey.id, payloads(survey, [person] * 60, 1, 1), lambda _: None)
    assert wrong(db, root) == {"backups": "no backup of a series was made"}
    store.backups.note("2025-12-31T023000Z", {key: Held(0, "")})
    assert wrong(db, root) == {}
    store.backups.note("2025-12-01T023000Z", {key: Held(0, "")})
    assert wrong(db, root) == {"backups": "the last backup of a series was made on 2025-12-01"}
    held = {key: Held(60, ""), (survey.id, *WHOLE): Held(60, "")}
    store.backups.note("2025-12-01T023000Z", held)  # and nothing has come since
    assert wrong(db, root) == {}
    store.close()


def test_a_full_disk_is_reported(db: Path, root: Path) -> None:
    free = shutil.disk_usage(db.parent).free
    with db.open("r+b") as file:
        before = db.stat().st_size
        file.truncate(free)  # a hole takes no room
    try:
        assert not machine._disk(db).ok
    finally:
        os.truncate(db, before)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://www.example.org/survey", "a host of its own"),
        ("http://survey.example.org", "such as https://"),
        ("survey.example.org", "such as https://"),
        ("https://survey.example.org:x", "such as https://"),
        ("https://127.0.0.1:1", "no answer"),
    ],
)
def test_addresses_that_cannot_be_checked_are_refused(url: str, said: str) -> None:
    with pytest.raises(Unreachable, match=said):
        list(outside.look(url))


def test_command_prints_findings_and_advice(db: Path) -> None:
    db.chmod(0o644)
    words = ["doctor", "--db", str(db)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "NO  database, file modes: others can read deniable.db" in done.stdout
    assert "what to do: chmod 0600 deniable.db" in done.stdout
    rows = json.loads(CliRunner().invoke(main, [*words, "--format", "json"]).stdout)
    assert {"part", "subject", "finding", "ok", "advice"} == rows[0].keys()
    missing = CliRunner().invoke(main, ["doctor", "--db", str(db.with_name("none.db"))])
    assert missing.exit_code == 1
    assert "expected a database" in missing.stderr
