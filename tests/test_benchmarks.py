"""Each program that `make bench` runs still runs: once, at its smallest size."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from limits import LONG

pytestmark = pytest.mark.more
ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Makefile").read_text().partition("\nbench:")[2].partition("\n\n")[0]
PROGRAMS = re.findall(r"benchmarks/\S+\.py", RECIPE)


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], tuple[int, str, str]]]:
    """Run a program at its smallest size; return its status, output and error.

    Each runs in a fork of one process, because most of them spend more time on imports than on
    their own work.
    """
    files = [tmp_path_factory.mktemp("benchmarks") / name for name in ("out", "err")]
    with subprocess.Popen(
        [sys.executable, ROOT / "tests/forked.py", str(int(LONG))],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forks:
        assert forks.stdin is not None
        assert forks.stdout is not None
        stdin, stdout = forks.stdin, forks.stdout

        def at_its_smallest_size(program: str) -> tuple[int, str, str]:
            print(json.dumps([str(ROOT / program), *map(str, files), "--smallest"]), file=stdin)
            stdin.flush()
            status = int(stdout.readline())
            out, err = (file.read_text() for file in files)
            return status, out, err

        yield at_its_smallest_size
    assert forks.returncode == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_benchmark_runs_at_its_smallest_size(
    program: str, run: Callable[[str], tuple[int, str, str]]
) -> None:
    status, out, err = run(program)
    # The status 1 says that a goal is missed, which is no wonder at this size. A program that
    # cannot go on says why on stderr, and so does Python.
    assert status in (0, 1), err
    assert "Traceback" not in err
    assert len(out.splitlines()) > 1, err


def test_the_recipe_is_read() -> None:
    assert len(PROGRAMS) == RECIPE.count("python benchmarks/") > 30
