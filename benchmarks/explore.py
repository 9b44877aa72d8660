"""Measure how a flood of `/explore` delays reports: `python benchmarks/explore.py [--seconds N]`.

First it measures how much of a core each section takes: for what is shown first, and for the most
expensive numbers that its fields allow. Then a server takes in reports in three situations: nobody
explores, people look at answers that are known, and clients ask for ever new numbers, on which the
server may spend a tenth of its time. For comparison, clients ask for a page that does not exist
(`/nothing`), which shows what any request costs.

The exit status is 1 if a goal below is missed.
"""

import argparse
import http.client
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import intake
from overload import Probes, at

from server.explore.fields import Field, Wrong
from server.explore.sections import SECTIONS, Section

#: The most seconds of a core that one answer may take.
DEAREST = 1.0
#: How many times as long 99 % of reports may take beside new numbers as beside pages that do not
#: exist.
SLOWER = 2.0
CLIENTS = 8

#: Returns the address of a page.
Make = Callable[[], str]


def seconds_of(section: Section, given: dict[str, str]) -> float:
    """Return the seconds that an answer takes if nobody has asked for it before."""
    begin = time.thread_time()
    with suppress(Wrong):  # these limits do not go together
        section.make(*section.read(given).values)
    return time.thread_time() - begin


def dearest(section: Section) -> float:
    """Return the most seconds at the ends of all fields, near which no number is cached."""
    ends = [
        [str(field.least), str(field.most)] if isinstance(field, Field) else [field.usual]
        for field in section.fields
    ]
    names = [field.name for field in section.fields]
    return max(
        seconds_of(section, dict(zip(names, values, strict=True))) for values in product(*ends)
    )


def costs(sections: Sequence[Section]) -> bool:
    """Print what each section costs; return whether all stay within the goal."""
    print(f"{'section':<14}{'first, s':>10}{'dearest, s':>12}")
    worst = 0.0
    for section in sections:
        first, most = seconds_of(section, {}), dearest(section)
        worst = max(worst, most)
        print(f"{section.id:<14}{first:>10.3f}{most:>12.3f}")
    return worst <= DEAREST


def known() -> str:
    return "/explore"


def nothing() -> str:
    return f"/nothing?{secrets.token_hex(4)}"


def new() -> str:
    """Return numbers that nobody has asked for."""
    n, part = 10 + secrets.randbelow(10**6), secrets.randbelow(9000)
    names = {
        "precision-epsilon": f"0.{1000 + part}",
        "precision-people": n,
        "totals-epsilon": f"0.{1000 + part}",
        "groups-epsilon": f"0.{1000 + part}",
        "groups-people": n,
    }
    return f"/explore?{urlencode(names)}"


def flood(server: intake.Server, make: Make, stopping: threading.Event, seen: Counter[int]) -> None:
    """Ask for one page after another."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    while not stopping.is_set():
        connection.request("GET", make())
        answer = connection.getresponse()
        answer.read()
        seen[answer.status] += 1


def measure(server: intake.Server, name: str, make: Make | None, seconds: int) -> float:
    """Print how long reports wait during a flood.

    Return the time within which 99 % are answered.
    """
    stopping, seen = threading.Event(), Counter[int]()
    threads = []
    if make is not None:
        arguments = server, make, stopping, seen
        threads = [threading.Thread(target=flood, args=arguments) for _ in range(CLIENTS)]
    with Probes(server) as probes:
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        stopping.set()
        for thread in threads:
            thread.join()
    times = [at(some, share) for some in (probes.taken, probes.read) for share in (0.5, 0.99)]
    print(
        f"{name:<24}"
        + "".join(f"{one:>10.3f}" for one in times)
        + f"   {sum(seen.values()) / seconds:.0f} pages/s {dict(seen)}",
        flush=True,
    )
    return times[1]


def main() -> int:
    """Measure everything; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    seconds = 1 if given.smallest else given.seconds
    is_cheap = costs(SECTIONS[:1] if given.smallest else SECTIONS)
    print(f"\n{'beside':<24}{'taken p50':>10}{'p99 s':>10}{'read p50':>10}{'p99 s':>10}")
    with tempfile.TemporaryDirectory() as folder, intake.ours(Path(folder)) as server:
        measure(server, "nothing", None, seconds)
        any_page = measure(server, "a page that is not there", nothing, seconds)
        measure(server, "/explore, known", known, seconds)
        slowest = measure(server, "/explore, ever new", new, seconds)
    print(f"\n99 % of reports: {slowest / any_page:.2f} times as long as beside any other page")
    return int(not (is_cheap and slowest <= SLOWER * any_page))


if __name__ == "__main__":
    sys.exit(main())
