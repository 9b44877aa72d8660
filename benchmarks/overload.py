"""Measure what happens at ten times the load and more: `python benchmarks/overload.py [--help]`.

The benchmark loads `deniable serve` with 64 connections, then with ten times as many, then with
3,000, and with 64 again. wrk, which makes the load, asks again at once, whatever a refusal says, so
it is worse than devices are. Beside it some clients measure how long a taken report and a reader of
the page have to wait. Then as many devices come at once, each with one report, and wait as long as
the server asks them to.

The exit status is 1 if a goal below is missed.
"""

import argparse
import asyncio
import http.client
import os
import secrets
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import intake
import wrk

#: The least part of the best rate that must be stored in overload.
KEPT = 0.8
#: Seconds within which 99 % of taken reports, and of readers, must get an answer.
SLOWEST = 2.0
#: Seconds after an overload until the rate must have recovered.
RECOVERY = 10
#: The number of clients that measure beside wrk.
PROBES = 8
NORMAL, LOADS = 64, (640, 3000)


@dataclass
class Probes:
    """Clients that send a report, or read the page, one after another, and time each answer."""

    server: intake.Server
    taken: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    others: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> "Probes":
        self._stopping = threading.Event()
        template = self.server.template()
        kinds = [template, None] * (PROBES // 2)
        self._threads = [threading.Thread(target=self._run, args=(kind,)) for kind in kinds]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self.server.acknowledged += len(self.taken)

    def _run(self, template: str | None) -> None:
        connection = http.client.HTTPConnection(urlsplit(self.server.url).netloc, timeout=60)
        while not self._stopping.wait(0.05):
            begin = time.monotonic()
            if template is None:
                connection.request("GET", f"/s/{intake.SURVEY}")
            else:
                path = f"/api/surveys/{intake.SURVEY}/reports"
                kind = {"Content-Type": "application/json"}
                connection.request("POST", path, body(template), kind)
            answer = connection.getresponse()
            answer.read()
            seconds = time.monotonic() - begin
            if answer.status == 201:
                self.taken.append(seconds)
            elif answer.status == 200:
                self.read.append(seconds)
            else:
                self.others[answer.status] = self.others.get(answer.status, 0) + 1


def body(template: str) -> str:
    """Return a new respondent's submission."""
    draws = [secrets.randbelow(4) for _ in intake.IDS]
    return template % (secrets.token_hex(16), secrets.token_hex(16), *draws)


def at(seconds: list[float], share: float) -> float:
    """Return a quantile; nan if there are no numbers."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Measurement:
    """Loads a server and prints measurements; `missed` has the goals that were missed."""

    def __init__(self, server: intake.Server, seconds: int) -> None:
        self.server, self.seconds = server, seconds
        self.missed: list[str] = []
        print(f"{'connections':>11}{'stored/s':>10}{'refused/s':>10}{'broken':>8}", end="")
        print(f"{'taken p50 s':>13}{'p99':>7}{'read p50 s':>12}{'p99':>7}{'MiB':>6}")

    def run(self, connections: int) -> float:
        """Load the server; return the rate of stored reports."""
        with Probes(self.server) as probes:
            seen = self.server.load(self.seconds, connections)
        numbers = f"{stored(seen):>10,.0f}{seen.refused / seen.seconds:>10,.0f}{seen.broken:>8}"
        for times, width in ((probes.taken, 13), (probes.read, 12)):
            numbers += f"{at(times, 0.5):>{width}.2f}{at(times, 0.99):>7.2f}"
        numbers += f"{self.server.memory() / 2**20:>6.0f}"  # hardly less than during the load
        print(f"{connections:>11}{numbers}   load average {os.getloadavg()[0]:.0f}", flush=True)
        if seen.broken:
            self.missed.append(f"{connections}: {seen.broken} requests broke")
        for name, times in (("taken", probes.taken), ("read", probes.read)):
            if not at(times, 0.99) <= SLOWEST:
                self.missed.append(f"{connections}: p99 {name} {at(times, 0.99):.2f} s")
        return stored(seen)

    def recover(self, rate: float) -> None:
        """Wait until the server stores as much as it should again."""
        begin, took, seen = time.monotonic(), 0.0, 0.0
        while seen < KEPT * rate and took < RECOVERY:
            seen = stored(self.server.load(1, NORMAL))
            took = time.monotonic() - begin
        print(f"{'':11}after {took:.0f} s {seen:,.0f} stored/s", flush=True)
        if seen < KEPT * rate:
            self.missed.append(f"no recovery within {took:.0f} s")


def stored(seen: wrk.Round) -> float:
    """Return the reports a second that were taken."""
    return (seen.requests - seen.refused) / seen.seconds


def overload(folder: Path, seconds: int, loads: tuple[int, ...]) -> list[str]:
    """Measure rates and waiting times; return the goals that are missed."""
    with intake.ours(folder) as server:
        server.load(min(3, seconds), NORMAL)  # to warm up
        measured = Measurement(server, seconds)
        before = measured.run(NORMAL)
        for connections in loads:
            rate = measured.run(connections)
            measured.recover(before)
            after = measured.run(NORMAL)
            share = rate / max(before, after)
            print(f"{'':11}{share:.0%} of the better rate before and after", flush=True)
            if share < KEPT:
                measured.missed.append(f"{connections}: {share:.0%} of the best rate")
            before = after
        measured.missed += heeding(server, loads[-1])
        return measured.missed + server.lost(loads[-1])


def heeding(server: intake.Server, devices: int) -> list[str]:
    """Let this many devices come at once, each trying again as it is asked; each must be taken."""
    template, begin = server.template(), time.monotonic()
    waits: list[float] = []
    tries: list[int] = []

    async def device() -> None:
        sent = body(template).encode()
        pause = 1.0
        for tried in range(1, 100):
            status, after = await once(server.url, sent)
            if status in (200, 201):
                waits.append(time.monotonic() - begin)
                tries.append(tried)
                return
            await asyncio.sleep(max(pause, after))
            pause = min(60, 2 * pause)

    async def all_of_them() -> None:
        await asyncio.gather(*(device() for _ in range(devices)))

    asyncio.run(all_of_them())
    server.acknowledged += len(waits)
    print(
        f"\n{devices} devices at once, which wait as told: {len(waits)} taken, half within "
        f"{median(waits):.1f} s, all within {max(waits):.1f} s; tries: {max(tries)} at most, "
        f"{sum(tries) / len(tries):.2f} each"
    )
    return [] if len(waits) == devices else [f"{devices - len(waits)} devices were never taken"]


async def once(url: str, sent: bytes) -> tuple[int, float]:
    """Return the status of one request on a new connection, and when the client may try again."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return 0, 0.0
    try:
        path = f"/api/surveys/{intake.SURVEY}/reports"
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        writer.write(head.encode() + sent)
        answer = (await reader.read()).decode()
    except OSError:
        return 0, 0.0
    finally:
        writer.close()
    status, *lines = answer.partition("\r\n\r\n")[0].lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return int(status.split()[1]) if status else 0, float(headers.get("retry-after", 0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=int, default=10, help="of each round")
    parser.add_argument("--directory", default="/var/tmp", help="for the database; on a disk")
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    wrk.find()
    sizes = (1, (2 * NORMAL,)) if given.smallest else (given.seconds, LOADS)
    with tempfile.TemporaryDirectory(dir=given.directory) as name:
        missed = overload(Path(name), *sizes)
    print("\n" + ("\n".join(missed) if missed else "All goals are reached."))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
