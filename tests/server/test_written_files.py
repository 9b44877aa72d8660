"""Commands write files completely or not at all, and never over another file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from limits import LONG

from server.formats import FORMATS
from server.store import Store

#: Writes 100 kB to the named file, after something has been done to the process.
PROGRAM = """
import os, resource, signal, sys
from pathlib import Path
import click
from server.commands import write_new
os.umask(0)
{before}
try:
    write_new(Path(sys.argv[1]), b"x" * 100_000)
except click.ClickException as error:
    sys.exit(error.format_message())
"""
#: No file may have more bytes, as if the disk were full.
FULL = "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
#: The program is killed when the content is on the disk and has no name yet.
KILLED = "os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
#: A file system that has neither links nor rights.
STICK = """
def refused(*_): raise PermissionError(1, "Operation not permitted")
os.link = os.chmod = refused
"""


def _written(output: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", PROGRAM.format(before=before), str(output)]
    return subprocess.run(words, capture_output=True, text=True, timeout=LONG, check=False)


def test_a_file_is_complete_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    output = tmp_path / "out.zip"
    assert _written(output).returncode == 0
    assert output.read_bytes() == b"x" * 100_000
    assert output.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [output]
    again = _written(output)
    assert (again.returncode, again.stderr) == (
        1,
        f"{output}: expected a new file, got one that exists\n",
    )


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out.zip"
    done = _written(output, FULL)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"{output}: cannot be written: ")
    assert not list(tmp_path.iterdir())


def test_a_killed_command_leaves_no_half_file_of_this_name(tmp_path: Path) -> None:
    output = tmp_path / "out.zip"
    assert _written(output, KILLED).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.zip.")
    assert left.name.endswith(".part")
    assert _written(output).returncode == 0


def test_a_memory_stick_without_links_accepts_files(tmp_path: Path) -> None:
    output = tmp_path / "out.zip"
    assert _written(output, STICK).returncode == 0
    assert output.read_bytes() == b"x" * 100_000
    assert list(tmp_path.iterdir()) == [output]
    assert _written(output, STICK).stderr.endswith("expected a new file, got one that exists\n")


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_an_export_of_an_open_wave_says_what_a_second_one_shows(
    store: Store, answered: int, tmp_path: Path, form: str
) -> None:
    words = "export", "canteen", "--db", store.database.place, "--format", form
    assert "is open" not in run(*words, "--output", tmp_path / "closed").stderr
    store.surveys.open_wave("canteen")
    told = run(*words, "--output", tmp_path / "open").stderr
    assert "wave 1 is open, and another export would show which reports came in between" in told


def test_files_with_reports_or_results_are_for_their_owner_alone(
    store: Store, answered: int, tmp_path: Path
) -> None:
    words = "canteen", "--db", store.database.place
    made_in = tmp_path / "made"
    made_in.mkdir()
    before = os.umask(0)
    try:
        commands = [
            *(("export", *words, "--format", form, "--output", made_in / form) for form in FORMATS),
            ("export", *words, "--format", "parquet", "--parts", made_in / "parts"),
            ("bundle", *words, "--output", made_in / "bundle.zip"),
            ("tally", "export", *words, "--output", made_in / "tally"),
        ]
        for command in commands:
            assert run(*command).exit_code == 0, command
    finally:
        os.umask(before)
    made = {path: path.stat().st_mode & 0o777 for path in made_in.iterdir()}
    assert len(made) == len(commands)
    assert made.pop(made_in / "parts") == 0o700
    assert set(made.values()) == {0o600}
