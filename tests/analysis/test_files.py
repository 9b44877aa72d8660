"""Check which files are read because another file names them, and the messages about others.

Each command has limits of time and memory: a FIFO would keep it waiting for ever, and a device
would fill the memory.
"""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analysis.survey.files import LARGEST_FILE
from server.cli import main

SURVEY = """
title = "Names"
id = "names"
[[questions]]
id = "name"
kind = "text"
text = "Which name?"
epsilon = 1
candidates = "CANDIDATES"
"""
SECRET = "root-password"
#: Seconds after which a command counts as hanging.
PATIENCE = 20

#: How much more memory a command may use.
MEMORY = 1 << 30

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a survey, where commands run, beside a file that they must not read."""
    (tmp_path / "secret.txt").write_text(f"{SECRET}\nother\n")
    folder = tmp_path / "surveys"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run() -> Iterator[Run]:
    """Run a command with a limit of time and one of memory."""

    def stop(*_: object) -> None:
        raise TimeoutError("the command waits")

    def deniable(*arguments: object) -> Result:
        signal.alarm(PATIENCE)
        result = CliRunner().invoke(main, [str(one) for one in arguments])
        signal.alarm(0)
        return result

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    handler = signal.signal(signal.SIGALRM, stop)
    yield deniable
    signal.signal(signal.SIGALRM, handler)
    resource.setrlimit(resource.RLIMIT_AS, before)


def one_line(result: Result) -> str:
    """Return the message of a command that refused something in one line."""
    assert result.exit_code == 1, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def _fifo(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return "pipe"


def _link(folder: Path) -> str:
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    return "link.txt"


def _linked_folder(folder: Path) -> str:
    (folder / "sub").symlink_to(folder.parent)
    return "sub/secret.txt"


def _link_to_device(folder: Path) -> str:
    (folder / "zero").symlink_to("/dev/zero")
    return "zero"


def _folder(folder: Path) -> str:
    (folder / "names").mkdir()
    return "names"


def _large(folder: Path) -> str:
    with (folder / "large.txt").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    return "large.txt"


def _not_text(folder: Path) -> str:
    (folder / "bytes.txt").write_bytes(f"{SECRET}\n".encode() + b"\xff\n")
    return "bytes.txt"


def _no_name(_: Path) -> str:
    return "a\\u0000b"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../secret.txt", "outside"),
        ("../../../../../../../../etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        (_link, "outside"),
        (_linked_folder, "outside"),
        ("/dev/zero", "outside"),
        (_link_to_device, "outside"),
        (_fifo, "regular file"),
        (_folder, "regular file"),
        (_large, "at most 4 MiB"),
        (_not_text, "UTF-8"),
        (_no_name, "null"),
        ("missing.txt", "No such file"),
    ],
)
def test_candidates_are_read_only_from_regular_files_in_the_folder(
    folder: Path, run: Run, name: str | Callable[[Path], str], expected: str
) -> None:
    text = SURVEY.replace("CANDIDATES", name if isinstance(name, str) else name(folder))
    (folder / "names.toml").write_text(text)
    for command in (["check"], ["publish", "--db", "x.db"]):
        message = one_line(run(command[0], "names.toml", *command[1:]))
        assert 'question "name": candidates' in message
        assert expected in message
        assert SECRET not in message
        assert "root:" not in message
    assert not (folder / "x.db").exists()


@pytest.mark.parametrize("bad", [SECRET * 9, f"{SECRET}\n{SECRET}", "other", "no-answer"])
def test_no_message_quotes_a_line_of_a_file_of_candidates(folder: Path, run: Run, bad: str) -> None:
    (folder / "names.toml").write_text(SURVEY.replace("CANDIDATES", "names.txt"))
    (folder / "names.txt").write_text(f"Ada\n{bad}\n")
    message = one_line(run("check", "names.toml"))
    assert "names.txt: line" in message
    assert SECRET not in message


def test_links_within_the_folder_and_to_the_folder_are_followed(folder: Path, run: Run) -> None:
    (folder / "lists").mkdir()
    (folder / "lists/long.txt").write_text("Ada\nBob\n")
    (folder / "names.txt").symlink_to("lists/long.txt")
    (folder / "names.toml").write_text(SURVEY.replace("CANDIDATES", "names.txt"))
    assert run("check", "names.toml").exit_code == 0
    (folder.parent / "other").symlink_to(folder)
    assert run("check", folder.parent / "other/names.toml").exit_code == 0
    assert run("check", "../surveys/names.toml").exit_code == 0


def _survey_of_zeros(_: Path) -> str:
    return "/dev/zero"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (_survey_of_zeros, "regular file"),
        (_fifo, "regular file"),
        (_folder, "regular file"),
        (_large, "at most 4 MiB"),
        (_not_text, "UTF-8"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("check", "FILE"),
        ("publish", "FILE", "--db", "x.db"),
        ("plan", "FILE", "--respondents", "10"),
        ("analyze", "data.csv", "--design", "FILE"),
    ],
    ids=lambda command: str(command[0]),
)
def test_an_unreadable_survey_or_design_gives_one_line(
    folder: Path,
    run: Run,
    command: tuple[str, ...],
    make: Callable[[Path], str],
    expected: str,
) -> None:
    name = make(folder)
    assert expected in one_line(run(*(name if one == "FILE" else one for one in command)))
    assert not (folder / "x.db").exists()


@pytest.mark.parametrize("make", [_survey_of_zeros, _fifo, _folder])
def test_unreadable_data_and_answers_give_one_line(
    folder: Path, run: Run, make: Callable[[Path], str]
) -> None:
    name = make(folder)
    (folder / "design.toml").write_text('[columns.a]\nvalues = ["0", "1"]\ndesign = "two-coin"\n')
    (folder / "names.toml").write_text(SURVEY.replace("CANDIDATES", "n.txt"))
    (folder / "n.txt").write_text("Ada\nBob\n")
    for command in (
        ["analyze", name, "--design", "design.toml"],
        ["simulate", "names.toml", "--answers", name, "--dry-run"],
    ):
        assert "regular file" in one_line(run(*command))
