"""How long collectors wait while rows are written anew: `python benchmarks/settling.py [--help]`.

This fills PostgreSQL databases with 10,000 to 1,000,000 reports to three questions, adds 1,280, and
removes their order of arrival, as the writer of a collector does under load. All collectors wait
while a table is written anew. The goal is that this takes less time than a transaction may take
before devices are told to come again. The exit status is 1 if the goal is missed.
"""

import argparse
import os
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from statistics import median

import growth

# The PostgreSQL server is started by the module that the tests use.
sys.path.insert(0, str(growth.ROOT / "tests"))

import postgres

from server.intake.wire import Submission
from server.intake.writer import STUCK
from server.store import Store
from server.store.database import OF_RESPONDENTS
from server.store.postgres import settling
from server.store.postgres.database import Postgres

#: How many batches are added before each look, how many submissions each has, and how many looks.
BATCHES, BATCH, LOOKS = 20, 64, 3


def waits(store: Store) -> tuple[float, float]:
    """Add reports and write them anew; return the seconds of the slowest table, and of all."""
    survey, *_ = store.surveys.every("growth")
    payloads = next(store.reports.payloads(survey, 1))
    drawn = next(iter(payloads))
    for _ in range(BATCHES):
        batch = [
            Submission(survey, 1, os.urandom(16), os.urandom(16), None, dict(drawn))
            for _ in range(BATCH)
        ]
        assert set(store.add(batch, date(2026, 1, 1))) == {201}
    database = store.database
    assert isinstance(database, Postgres)
    seconds = []
    for table in OF_RESPONDENTS:
        begin = time.monotonic()
        settling.write_anew(database, table, {survey.id: 1})
        seconds.append(time.monotonic() - begin)
    return max(seconds), sum(seconds)


def main() -> int:
    """Measure, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1_000_000, help="reports, at most")
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    sizes, looks = [10_000, 100_000, 1_000_000], LOOKS
    if given.smallest:
        sizes, looks = [1_000], 1
    longest = 0.0
    print(f"{'reports':>10}{'longest table':>16}{'all tables':>14}")
    with tempfile.TemporaryDirectory() as name, postgres.cluster() as cluster:
        for number in sizes:
            if number > given.most:
                break
            file, place = Path(name) / f"{number}.db", cluster.new()
            growth.run(growth.ROOT, file, "fill", str(number))
            Store(file).copy_to(place)
            file.unlink()
            store = Store(place)
            store.surveys.open_wave("growth")
            store.database.rewrite()
            found = [waits(store) for _ in range(looks)]
            longest, all_tables = (median(part) for part in zip(*found, strict=True))
            print(f"{number:>10,}{longest:>14.2f} s{all_tables:>12.2f} s", flush=True)
            store.close()
    return 0 if longest < STUCK else 1


if __name__ == "__main__":
    sys.exit(main())
