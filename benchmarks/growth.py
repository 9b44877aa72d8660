"""Measure how costs grow with the number of reports: `python benchmarks/growth.py [--help]`.

The benchmark fills databases with 1,000 to 1,000,000 reports to three questions (yes-no by k-RR, 8
options by unary encoding, a number) and runs each command on them, as a program of its own. With
`--reports 1000 10000000` it does so for these numbers of reports. Those after the first 100,000
are copied from one batch, under new ids.

These are the goals. What is printed from running totals takes at most 1.5 times as long for the
most reports as for the fewest. What reads every report takes less than 5 µs for each report and
question, the start of the program included, and less than 300 MiB. A model takes less than 400 MiB.
Each page of the console takes at most 0.3 s. Taking in five unary encodings of 256 options costs at
most 1.5 times the processor time of five yes-no questions. The exit status is 1 if a goal is
missed.

--beside FOLDER also measures another checkout in the same run; the goals do not apply to it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
#: How many submissions are stored in a transaction, and how many are decided one by one. All that
#: are more repeat a batch under new ids: otherwise it would take longer to fill a large database
#: than to measure it.
BATCH, DECIDED = 5_000, 100_000
GROWTH, MICROSECONDS, MEBIBYTES, LARGE, PAGE = 1.5, 5.0, 300, 1.5, 0.3
OF_MODELS = 400

#: Commands that print from running totals, and commands that read every report of some questions.
FLAT = {
    "estimate": ("command", "estimate", "growth"),
    "plausibility": ("command", "plausibility", "growth"),
    "ledger --by total": ("command", "ledger", "growth", "--by", "total"),
    "results page, second look": ("page", "2", "/results/growth"),
}
#: Pages of the console, when they are opened for the first time.
PAGES: dict[str, tuple[str, ...]] = {
    path: ("page", "1", path)
    for path in (
        "/surveys",
        "/surveys/growth",
        "/results/growth",
        "/results/growth?version=pooled",
        "/surveys/growth/together",
        "/surveys/growth/privacy",
        "/surveys/growth/downloads",
        "/public/growth",
        "/log",
    )
}
if SMALLEST:
    # One process opens them one after the other.
    PAGES = {"all pages": ("page", "1", *PAGES)}
READING = {
    "crosstab": ("command", "crosstab", "growth", "met", "tools"),
    "export": ("command", "export", "growth"),
    "audit": ("command", "audit"),
}
#: How long a model takes depends on its likelihood more than on the number of reports.
MODELS = {"regress": ("command", "regress", "growth", "met ~ tools")}
QUESTIONS = {"crosstab": 2, "export": 3, "audit": 3}


@dataclass(frozen=True)
class Cost:
    """Processor seconds, and the most memory in MiB."""

    seconds: float
    mebibytes: float


def run(checkout: Path, database: Path, *what: str) -> Cost:
    """Run a part of `growth_worker.py`; if it prints anything, these are the seconds that count."""
    program = [
        sys.executable,
        str(ROOT / "benchmarks/growth_worker.py"),
        str(checkout),
        str(database),
    ]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [*program, *what], stdout=out, stderr=subprocess.PIPE, text=True, cwd=database.parent
        )
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read().decode().strip()
    if process.returncode:
        sys.exit(f"{' '.join(what)} failed in {checkout}:\n{told}")
    seconds = float(printed) if printed else used.ru_utime + used.ru_stime
    return Cost(seconds, used.ru_maxrss / 1024)


def costs(checkout: Path, folder: Path, sizes: list[int]) -> dict[str, dict[int, Cost]]:
    """Measure the cost of each command on a database of each size."""
    # An older checkout may lack some pages.
    measured = FLAT | READING | MODELS | (PAGES if checkout == ROOT else {})
    found: dict[str, dict[int, Cost]] = {name: {} for name in measured}
    # The largest comes first: if it does not fit into the disk, that is known soon.
    for n in reversed(sizes):
        database = folder / f"{n}.db"
        filled = run(checkout, database, "fill", str(n))
        told = f"{1e6 * filled.seconds / n:.0f} µs each" if n <= DECIDED else "most are copies"
        print(f"  {n:>9,} reports stored: {told}", flush=True)
        for name, what in measured.items():
            # The start of Python varies more than the difference that is measured.
            times = 3 if n <= 10_000 and name in FLAT and not SMALLEST else 1
            tries = [run(checkout, database, *what) for _ in range(times)]
            best = median(one.seconds for one in tries)
            cost = Cost(best, max(one.mebibytes for one in tries))
            found[name][n] = cost
            print(f"  {'':9} {name:32} {cost.seconds:.2f} s, {cost.mebibytes:.0f} MiB", flush=True)
        database.unlink()
    return found


def report(found: dict[str, dict[int, Cost]], sizes: list[int]) -> bool:
    """Print a table; return whether all goals are met."""
    print(f"\n  {'':32}" + "".join(f"{n:>12,}" for n in sizes) + "   grows, or µs, and MiB")
    good = True
    for name, own in found.items():
        cells = "".join(f"{own[n].seconds:>11.2f}s" for n in sizes)
        least, most = own[sizes[0]], own[sizes[-1]]
        if name in FLAT:
            grown = most.seconds / least.seconds
            told, met = f"{grown:.2f} times", grown <= GROWTH
        elif name in PAGES:
            told, met = f"{1000 * most.seconds:.0f} ms", most.seconds <= PAGE
        elif name in MODELS:
            told, met = f"{most.mebibytes:.0f} MiB", most.mebibytes < OF_MODELS
        else:
            each = 1e6 * most.seconds / sizes[-1] / QUESTIONS[name]
            told = f"{each:.2f} µs, {most.mebibytes:.0f} MiB"
            met = each < MICROSECONDS and most.mebibytes < MEBIBYTES
        good = good and met
        print(f"  {name:32}{cells}   {told}{'' if met else ' (goal missed)'}")
    return good


def intake(checkout: Path, folder: Path) -> bool:
    """Print what large and small reports cost to take in; return whether the goal is met."""
    each: dict[str, list[float]] = {"small": [], "large": []}
    for turn in range(1 if SMALLEST else 3):
        for name, own in each.items():
            own.append(run(checkout, folder / f"{name}{turn}.db", "intake", name).seconds)
    small, large = (median(own) for own in each.values())
    print(
        f"  intake, µs of processor time: five yes-no {small:.0f}, five of 256 bits {large:.0f}: "
        f"{large / small:.2f} times"
    )
    return large / small <= LARGE


def main() -> int:
    """Measure this checkout, and another one if it is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument(
        "--reports",
        type=int,
        nargs="+",
        default=[1_000, 10_000, 100_000, 1_000_000],
        help=f"how many reports each database has; above {DECIDED:,} a multiple of {BATCH:,}",
    )
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    if SMALLEST:
        given.reports = [300]
    for n in given.reports:
        if n < 1 or (n > DECIDED and n % BATCH):
            told = f"expected 1 to {DECIDED:,}, or a multiple of {BATCH:,}, got {n}"
            parser.error(f"--reports: {told}")
    sizes = sorted(given.reports)
    good = True
    for checkout in (given.beside, ROOT):
        if checkout is None:
            continue
        print(f"{'this checkout' if checkout == ROOT else checkout}:")
        with tempfile.TemporaryDirectory() as name:
            met = report(costs(checkout.resolve(), Path(name), sizes), sizes)
            met = intake(checkout.resolve(), Path(name)) and met
        good = met if checkout == ROOT else good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
