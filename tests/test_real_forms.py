"""The list of public questionnaires is complete, and its program says what it lacks."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from server.forms import TOOLS

PROGRAM = Path(__file__).parents[1] / "benchmarks/real_forms.py"
#: The functions of the program; the folder of benchmarks is no package.
CALL = runpy.run_path(str(PROGRAM))
FORMS = CALL["listed"]()


def test_each_form_can_be_fetched_and_recognized() -> None:
    for form in FORMS:
        assert form["tool"] in TOOLS
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", form["repository"])
        assert re.fullmatch(r"[0-9a-f]{40}", form["commit"])
        assert re.fullmatch(r"[0-9a-f]{64}", form["sha256"])
        assert form["bytes"] > 0
        assert all(form[key] for key in ("path", "license", "query"))


def test_no_form_is_listed_twice() -> None:
    assert len({form["sha256"] for form in FORMS}) == len(FORMS) >= 40


def test_files_are_found_by_their_hashes(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "any name").write_bytes(b"form")
    (tmp_path / "other").write_bytes(b"of another size")
    assert list(CALL["contents"](tmp_path, [4]).values()) == [b"form"]


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ("its id is q-12; its image is left out", ["its id is …", "its image is left out"]),
        (
            "the condition a; b could not be translated (12 is not understood), so it is left out",
            ["the condition … could not be translated (N is not understood), so it is left out"],
        ),
        ("the constraint . < 7 is left out", ["the constraint … is left out"]),
    ],
)
def test_details_are_counted_without_names_and_numbers(detail: str, told: list[str]) -> None:
    assert list(CALL["kinds"](detail)) == told


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["no-folder"], 2), (["."], 1)])
def test_the_program_says_which_files_it_lacks(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    if status == 2:
        assert "tests/forms.toml" in done.stderr
    else:
        assert done.stdout.count("missing: ") == len(FORMS)
