"""Measure the time and memory to print a large ledger: 100,000 respondents of 12 waves.

.venv/bin/python benchmarks/privacy/ledger.py [RESPONDENTS]

The goals, for each kind of survey, are at most 5 times the time of the SQL that reads the ledger,
the start of the program included, and less than 1 GB. The exit status is 1 if one is missed.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.survey.survey import Survey
from analysis.survey.survey_file import read_survey
from server.store import Store
from server.store.file import ACCOUNTS

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
RESPONDENTS = 100 if SMALLEST else int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
WAVES = 12
RATIO, MEMORY = 5.0, 1e9

SURVEY = """
title = "{title}"
id = "panel"
[privacy]
cap = {cap}
"""
QUESTION = """
[[questions]]
id = "q{number}"
kind = "yes-no"
text = "Question {number}?"
epsilon = {epsilon}
"""


@dataclass(frozen=True)
class Case:
    """A survey's versions, and how many waves of each respondent `row` answered."""

    name: str
    versions: tuple[Survey, ...]
    waves: Callable[[int], tuple[int, ...]]


def survey(folder: Path, title: str, remembered: int = 0, cap: int = 500) -> Survey:
    """Return a survey of ten questions, of which the device remembers this many."""
    text = SURVEY.format(title=title, cap=cap)
    for number in range(10):
        text += QUESTION.format(number=number, epsilon=0.5 + number / 10)
        text += "epsilon_forever = 3\n" * (number < remembered)
    (folder / "panel.toml").write_text(text)
    return read_survey(folder / "panel.toml")


def cases(folder: Path) -> list[Case]:
    """Return the cases to measure."""
    fresh = survey(folder, "Panel")
    memory = survey(folder, "Panel", remembered=5)
    # These have other terms, so that each respondent has two rows.
    again, memory_again = (survey(folder, "Panel", n, cap=501) for n in (0, 5))

    def mixed(row: int) -> tuple[int, ...]:
        return row % WAVES, 1 + row // WAVES % (WAVES - row % WAVES)

    return [
        Case("10 questions", (fresh,), lambda _: (WAVES,)),
        Case("5 of 10 remembered", (memory,), lambda _: (WAVES,)),
        Case("two versions, 1 to 12 waves", (fresh, again), mixed),
        Case("the same, 5 of 10 remembered", (memory, memory_again), mixed),
    ]


def fill(database: Path, case: Case) -> int:
    """Publish the versions, and write a ledger of random pseudonyms; return the number of rows."""
    store = Store(database, create=True)
    for one in case.versions:
        store.surveys.publish(one)
    for wave in range(1, WAVES + 1):
        store.surveys.open_wave("panel", wave)
    store.close()

    @cache
    def own(waves: tuple[int, ...]) -> list[tuple[bytes, int, int]]:
        """Return terms, submissions and charges of all waves together."""
        times, charges = Counter[bytes](), Counter[bytes]()
        before: list[tuple[Survey, int]] = []
        for version, n in zip(case.versions, waves, strict=True):
            for _ in range(n):
                terms = bytes.fromhex(version.terms)
                times[terms] += 1
                charges[terms] += version.charge_after(before)
                before.append((version, 1))
        return [(terms, n, charges[terms]) for terms, n in sorted(times.items())]

    def rows() -> Iterator[tuple[str, bytes, bytes, int, int]]:
        for row, respondent in enumerate(sorted(os.urandom(16) for _ in range(RESPONDENTS))):
            for terms, n, charge in own(case.waves(row)):
                yield "panel", respondent, terms, n, charge
            if row % 20_000 == 0:
                print(f"{case.name}: {row:,} respondents written", file=sys.stderr)

    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany("INSERT INTO ledger VALUES (?, ?, ?, ?, ?)", rows())
        return int(connection.execute("SELECT count(*) FROM ledger").fetchone()[0])


def sql_alone(database: Path) -> float:
    """Return the seconds of reading the ledger's rows.

    The better of two runs, as for the command.
    """
    with closing(sqlite3.connect(database)) as connection:
        return min(
            timed(lambda: connection.execute(ACCOUNTS, ("panel",)).fetchall()) for _ in range(2)
        )


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def command(folder: Path, *arguments: str) -> tuple[float, int, int]:
    """Return the seconds of a whole command, the most bytes that it held, and its printed lines."""
    call = [sys.executable, "-m", "server.cli", *arguments]
    with (folder / "out").open("w+b") as out:
        begin = time.perf_counter()
        running = subprocess.Popen(call, stdout=out, cwd=Path(__file__).parents[2])
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - begin
        running.returncode = os.waitstatus_to_exitcode(status)
        assert running.returncode == 0, call
        out.seek(0)
        return seconds, used.ru_maxrss * 1024, sum(1 for _ in out)


def main() -> int:
    """Measure each case, print a table, and say whether the goals are met."""
    line = "{:30} {:>9} {:>7} {:>9} {:>7} {:>8}"
    print(line.format(f"{RESPONDENTS:,} respondents", "rows", "SQL, s", "ledger, s", "ratio", "MB"))
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in cases(folder)[-1 if SMALLEST else 0 :]:
            database = folder / "ledger.db"
            n = fill(database, case)
            base = sql_alone(database)
            for form in ("csv", "json"):
                arguments = "ledger", "panel", "--db", str(database), "--format", form
                runs = [command(folder, *arguments) for _ in range(1 if SMALLEST else 2)]
                seconds, most = min(run[0] for run in runs), max(run[1] for run in runs)
                lines = RESPONDENTS + (1 if form == "csv" else 2)
                assert {run[2] for run in runs} == {lines}, runs
                ratio = seconds / base
                met = met and ratio <= RATIO and most < MEMORY
                shown = f"{base:.2f}", f"{seconds:.2f}", f"{ratio:.2f}", f"{most / 1e6:,.0f}"
                print(line.format(f"{case.name}, {form}", f"{n:,}", *shown), flush=True)
            for file in folder.glob("ledger.db*"):
                file.unlink()
    starts = range(1 if SMALLEST else 2)
    start = min(command(Path(tempfile.gettempdir()), "--version")[0] for _ in starts)
    print(f"of which the start of the program takes {start:.2f} s")
    goal = f"at most {RATIO:g} times the SQL, below {MEMORY / 1e6:,.0f} MB"
    print(f"{goal}: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
