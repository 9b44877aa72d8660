"""Commands write links and passwords so that nobody else can read them, and none is lost."""

import csv
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import Result
from command_line import run

from server import passwords
from server.store import Store
from server.store.invitations import Invitations

COUNT = 5


@pytest.fixture
def db(survey_file: Path, tmp_path: Path) -> Path:
    """Return a database with a survey for invited people."""
    text = survey_file.read_text()
    survey_file.write_text(text.replace('id = "canteen"', 'id = "canteen"\naccess = "invited"', 1))
    db = tmp_path / "x.db"
    assert run("publish", survey_file, "--db", db).exit_code == 0
    return db


def invite(db: Path, *more: object) -> Result:
    return run("invite", "canteen", "--count", COUNT, "--db", db, *more)


def invited(db: Path) -> int:
    store = Store(db)
    return store.invitations.counts("canteen").get(1, (0, 0))[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def left_beside(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.glob(f"{path.name}*"))


def test_links_are_in_a_file_that_only_its_owner_can_read(db: Path, tmp_path: Path) -> None:
    output = tmp_path / "links.csv"
    before = os.umask(0)
    try:
        result = invite(db, "--output", output, "--url", "https://survey.example.org")
    finally:
        os.umask(before)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"rows written to {output}: {COUNT};" in result.stderr
    assert mode(output) == 0o600
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert len({row["link"] for row in rows}) == COUNT == invited(db)
    assert all(row["link"].startswith("https://survey.example.org/s/canteen#") for row in rows)
    assert left_beside(output) == ["links.csv"]


def test_the_file_is_never_open_to_others_while_it_is_written(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    sync = os.fsync

    def spy(descriptor: int) -> None:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            seen.append(stat.S_IMODE(found.st_mode))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    before = os.umask(0)
    try:
        assert invite(db, "--output", tmp_path / "links.csv").exit_code == 0
    finally:
        os.umask(before)
    assert seen == [0o600]


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_existing_files_are_never_overwritten(db: Path, tmp_path: Path, kind: str) -> None:
    output = tmp_path / "links.csv"
    if kind == "file":
        output.write_text("mine")
    elif kind == "link":
        output.symlink_to(tmp_path / "elsewhere")
    else:
        output.mkdir()
    result = invite(db, "--output", output)
    assert result.exit_code == 1
    assert "expected a new file, got one that exists" in result.stderr
    assert invited(db) == 0
    assert not (tmp_path / "elsewhere").exists()
    assert kind != "file" or output.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_stores_no_invitation(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> tuple[int, str]:
        name = tmp_path / "links.csv.part"
        name.touch()
        return os.open("/dev/full", os.O_WRONLY), str(name)

    # Nothing can be written to this file, as on a full disk.
    monkeypatch.setattr(tempfile, "mkstemp", full)
    output = tmp_path / "links.csv"
    result = invite(db, "--output", output)
    assert result.exit_code == 1
    assert "cannot be written: No space left on device" in result.stderr
    assert invited(db) == 0
    assert left_beside(output) == []


def test_invitations_that_cannot_be_stored_leave_no_file(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(Invitations, "add", fail)
    output = tmp_path / "links.csv"
    assert invite(db, "--output", output).exit_code == 1
    assert left_beside(output) == []


def test_links_are_not_lost_if_somebody_takes_the_name_in_the_meantime(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "links.csv"
    store_invitations = Invitations.add

    def intrude(*arguments: object) -> None:
        output.write_text("mine")
        store_invitations(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Invitations, "add", intrude)
    result = invite(db, "--output", output)
    assert result.exit_code == 1
    assert output.read_text() == "mine"
    (part,) = tmp_path.glob("links.csv.*.part")
    assert str(part) in result.stderr
    assert mode(part) == 0o600
    assert len(list(csv.DictReader(part.read_text().splitlines()))) == COUNT == invited(db)


def test_printing_links_to_a_file_that_others_can_read_gives_a_warning(
    db: Path, tmp_path: Path
) -> None:
    for right, warned in ((0o644, True), (0o600, False)):
        path = tmp_path / f"{right:o}.csv"
        path.touch(right)
        with path.open("w") as file:
            command = [sys.executable, "-m", "server.cli", "invite", "canteen", "--count", "1"]
            result = subprocess.run(
                [*command, "--db", str(db)],
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
                check=True,
            )
        assert ("other users of this machine can read" in result.stderr) == warned


def test_a_password_can_be_written_to_a_file(db: Path, tmp_path: Path) -> None:
    output = tmp_path / "password.csv"
    assert run("researcher", "add", "ada", "--db", db, "--output", output).exit_code == 0
    assert mode(output) == 0o600
    (row,) = csv.DictReader(output.read_text().splitlines())
    assert row["name"] == "ada"
    assert len(row["password"]) == 48


def test_no_password_looks_like_a_formula() -> None:
    # Earlier, one in 64 began with -, so 2,000 would miss it with a probability of 2e-14.
    assert all(passwords.new_password()[0] in "0123456789abcdef" for _ in range(2000))
