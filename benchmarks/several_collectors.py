"""Measure how fast several collectors take reports in.

Usage: `python benchmarks/several_collectors.py [--help]`. The benchmark loads one, two and four
collectors of one worker each that share a PostgreSQL database. A file can have only one collector,
so it also loads one collector with SQLite that has as many workers. Beside them runs the floor of
`intake.py`, a server that answers nothing. All of this runs on one machine, with the database and
the load, so read the ratios. A wrk of its own loads each collector. At the end, everything that was
acknowledged must be stored; the exit status is 1 if it is not.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import wrk
from intake import Server, serving

# The PostgreSQL server is the one that the tests use.
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import postgres

from server.store import Place

COLLECTORS = (1, 2, 4)


@contextmanager
def collectors(folder: Path, name: str, number: int, place: Place) -> Iterator[list[Server]]:
    """Run several collectors on one database."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                serving(
                    folder, f"{name}-{one}", "-m", "server.cli", "serve", place=place, workers=1
                )
            )
            for one in range(number)
        ]


def loaded(servers: list[Server], seconds: int, connections: int) -> wrk.Round:
    """Return what all collectors took in together."""
    each = connections // len(servers)
    with ThreadPoolExecutor(len(servers)) as pool:
        seen = list(pool.map(lambda server: server.load(seconds, each), servers))
    return wrk.Round(
        sum(one.requests for one in seen),
        max(one.seconds for one in seen),
        median(one.p50 for one in seen),
        max(one.p99 for one in seen),
        sum(one.refused for one in seen),
        sum(one.broken for one in seen),
    )


def lost(name: str, servers: list[Server], connections: int) -> list[str]:
    """Return a complaint if not everything acknowledged is stored, or more than was sent."""
    together = servers[0]
    together.acknowledged = sum(server.acknowledged for server in servers)
    return [f"{name}: {one}" for one in together.lost(connections)]


def show(name: str, seen: wrk.Round) -> None:
    """Print the measurements."""
    print(
        f"{name:<34}{seen.rate:>9,.0f}{seen.p50:>9.0f}{seen.p99:>9.0f}{seen.errors:>9}", flush=True
    )


def main() -> int:
    """Measure, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="of each measurement")
    parser.add_argument("--connections", type=int, default=64, help="of all collectors together")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    numbers = COLLECTORS[1:2] if given.smallest else COLLECTORS
    if given.smallest:
        given.seconds = given.rounds = 1
    warm_up = min(2, given.seconds)
    missed: list[str] = []
    print(f"{'':34}{'stored/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'refused':>9}")
    with tempfile.TemporaryDirectory() as name, postgres.cluster() as cluster:
        folder = Path(name)
        for turn in range(given.rounds):
            with serving(folder, f"floor-{turn}", "benchmarks/intake.py", "--floors") as floor:
                show("bare server", wrk.run(f"{floor.url}/bare", given.seconds, given.connections))
            for number in numbers:
                what = f"SQLite, 1 collector, {number} workers"
                with serving(
                    folder, f"file-{turn}-{number}", "-m", "server.cli", "serve", workers=number
                ) as server:
                    loaded([server], warm_up, given.connections)
                    show(what, loaded([server], given.seconds, given.connections))
                    missed += lost(what, [server], given.connections)
            for number in numbers:
                what = f"PostgreSQL, {number} collectors, 1 worker each"
                place = cluster.new()
                with collectors(folder, f"pg-{turn}-{number}", number, place) as servers:
                    loaded(servers, warm_up, given.connections)
                    show(what, loaded(servers, given.seconds, given.connections))
                    missed += lost(what, servers, given.connections)
    for one in missed:
        print(one, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
