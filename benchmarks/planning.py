"""Measure how long `deniable plan --html` takes, beside an earlier state of the program.

`python benchmarks/planning.py [COMMIT] [ROUNDS]` takes six minutes on a quiet core. The earlier
state is a commit, by default the last one before drafts were planned in the browser. Both states
plan each example for 400 respondents in processes of their own, one after the other. The benchmark
prints the medians of their CPU seconds (user and system) and the ratio. The exit status is 1 if a
plan is less than `LEAST` times as fast as it was.
"""

import os
import resource
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
EXAMPLES = ("working-conditions", "well-being", "night-life", "one-draw")
#: How many times as fast as then a plan must be. Machines differ, so this is less than was
#: measured.
LEAST = 3.0
ROUNDS = 3


def before_planning_in_the_browser() -> str:
    """Return the commit before the first one of the console."""
    shown = _git("log", "--reverse", "--format=%H", "--", "server/console")
    return f"{shown.decode().split()[0]}^"


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def extract(commit: str, folder: Path) -> None:
    """Write the program's files as they were at a commit."""
    archive = _git("archive", commit, "server", "analysis", "client")
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def cpu_of_plan(program: Path, example: str, folder: Path) -> float:
    """Return the CPU seconds that a state of the program takes to plan an example."""
    survey = ROOT / "examples" / f"{example}.toml"
    asked = ["plan", str(survey), "--respondents", "400", "--html", str(folder / "plan.html")]
    environment = {**os.environ, "PYTHONPATH": str(program), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "server.cli", *asked],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    given = [text for text in sys.argv[1:] if not text.startswith("--")]
    commit = given[0] if given else "HEAD" if SMALLEST else before_planning_in_the_browser()
    rounds = int(given[1]) if len(given) > 1 else 1 if SMALLEST else ROUNDS
    print(f"CPU seconds of deniable plan --html, 400 respondents, then ({commit[:8]}) and now:")
    least = float("inf")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extract(commit, folder / "then")
        programs = folder / "then", ROOT
        for program in (
            () if SMALLEST else programs
        ):  # so that Python's modules are compiled before anything is timed
            cpu_of_plan(program, "one-draw", folder)
        for example in EXAMPLES[-1 if SMALLEST else 0 :]:
            pairs = [
                [cpu_of_plan(program, example, folder) for program in programs]
                for _ in range(rounds)
            ]
            then, now = (median(seconds) for seconds in zip(*pairs, strict=True))
            print(f"  {example:20} {then:5.1f} {now:5.1f}  {then / now:.1f} times as fast")
            least = min(least, then / now)
    sys.exit(least < LEAST)


if __name__ == "__main__":
    main()
