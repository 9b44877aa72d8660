"""Each program that `make bench` runs still runs: once, at its smallest size."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from limits import LONG

pytestmark = pytest.mark.more
ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Makefile").read_text().partition("\nbench:")[2].partition("\n\n")[0]
PROGRAMS = re.findall(r"benchmarks/\S+\.py", RECIPE)


@pytest.mark.parametrize("program", PROGRAMS)
def test_benchmark_runs_at_its_smallest_size(program: str) -> None:
    done = subprocess.run(
        [sys.executable, program, "--smallest"],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    # The status 1 says that a goal is missed, which is no wonder at this size. A program that
    # cannot go on says why on stderr, and so does Python.
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stdout.splitlines()) > 1, done.stderr


def test_the_recipe_is_read() -> None:
    assert len(PROGRAMS) == RECIPE.count("python benchmarks/") > 30
