"""Measure how fast the collector takes reports in: `python benchmarks/intake.py [--help]`.

The benchmark loads `deniable serve` beside two floors in the same run, in turns: a Flask
application that answers nothing (`bare`), and one that reads a submission and answers nothing
(`body`). `deniable serve` runs the floors, too, with another application in its workers, so that
every setting is the same. wrk, which makes the load, runs on the same machine, so read the ratios.
At the end, everything that was acknowledged must be stored. The exit status is 1 if a goal below is
missed.

--memory 1000000 instead watches the workers' memory while this many reports come in (5 minutes).
--profile shows where a worker spends its time, if py-spy is installed.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import wrk
from flask import Flask, request
from granian import Granian

from server.cli import main as deniable
from server.intake.gateway import WRITERS, Gateway
from server.store import Place, Store
from server.stored_results import StoredWave

#: Shares of the floors' rates that must be reached: always, and on a quiet machine.
GOALS = {"bare": (0.15, 0.20), "body": (0.25, 0.33)}
#: Milliseconds within which 99 % of the answers must come.
SLOWEST = 250
#: How much a worker may grow after the first fifth of the reports: a share, or MiB if that is more.
GROWTH, GROWTH_MIB = 0.10, 20

WORKERS = 2
SURVEY = "intake-benchmark"
#: The ids are long, so that a body has 520 bytes.
IDS = [f"question-{i:02}-about-some-habit" for i in range(10)]
_QUESTION = """
[[questions]]
id = "{}"
kind = "choice"
text = "Which?"
options = [{{id = "a", text = "A"}}, {{id = "b", text = "B"}},
           {{id = "c", text = "C"}}, {{id = "d", text = "D"}}]
mechanism = "krr"
epsilon = 1.0
"""


def floors() -> Gateway:
    """Return the application of the floors, as one of the workers makes it."""
    os.setpgrp()  # as the collector's do
    app = Flask(__name__)

    @app.get("/bare")
    @app.get("/healthz")
    def bare() -> str:
        return ""

    @app.post("/body")
    def body() -> tuple[str, int]:
        return "", 204 if request.get_data() else 400

    return Gateway(app, lambda: None)


def serve_floors(arguments: list[str]) -> None:
    """Run `deniable serve`, but with `floors` in its workers."""
    make = Granian.__init__

    def make_floors(self: Any, target: str, **settings: Any) -> None:
        make(self, "intake:floors", **settings)

    Granian.__init__ = make_floors  # type: ignore[assignment, method-assign]
    deniable(["serve", *arguments])


@dataclass
class Server:
    """A running `deniable serve`, and how many answers of 2xx it gave in how many runs."""

    process: subprocess.Popen[bytes]
    database: Place
    url: str = ""
    token: str = ""
    acknowledged: int = field(default=0, init=False)
    runs: int = field(default=0, init=False)

    def get(self, path: str) -> Any:
        """Return JSON that is given to people with the research token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        asked = urllib.request.Request(f"{self.url}/api/surveys/{SURVEY}{path}", headers=headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def template(self) -> str:
        """Return the template of a submission for `intake.lua`."""
        reports = ",".join(f'"{name}":%d' for name in IDS)
        head = f'"version":"{self.get("")["version"]}","wave":1,"rid":"%s","respondent":"%s"'
        return f'{{{head},"reports":{{{reports}}}}}'

    def load(self, seconds: int, connections: int) -> wrk.Round:
        """Send submissions, each from a new respondent."""
        url = f"{self.url}/api/surveys/{SURVEY}/reports"
        seen = wrk.run(url, seconds, connections, self.template())
        self.acknowledged += seen.requests - seen.refused
        self.runs += 1
        return seen

    def lost(self, connections: int) -> list[str]:
        """Return a complaint if not everything acknowledged is stored, or more than was sent."""
        stored = StoredWave(Store(self.database), SURVEY).n
        extra = connections * self.runs  # stored, but nobody sees its answer
        print(
            f"\n{self.acknowledged:,} acknowledged, {stored:,} stored (up to {extra} more may be)"
        )
        right = self.acknowledged <= stored <= self.acknowledged + extra
        return [] if right else [f"{stored} are stored of {self.acknowledged} acknowledged"]

    def memory(self) -> int:
        """Return the bytes that all its processes have in memory; shared ones count once."""
        total = 0
        for pid in (self.process.pid, *descendants(self.process.pid)):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return total * 1024

    def workers(self) -> list[int]:
        """Return the ids of its processes that serve."""
        return [
            pid
            for pid in descendants(self.process.pid)
            if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]


def descendants(pid: int) -> list[int]:
    """Return the ids of a process's children, and of their children."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    near = [int(one) for path in listed for one in path.read_text().split()]
    return near + [far for one in near for far in descendants(one)]


@contextlib.contextmanager
def serving(
    folder: Path, name: str, *command: str, place: Place | None = None, workers: int = WORKERS
) -> Iterator[Server]:
    """Run a server of the benchmark's survey on a new database file, or at a given place.

    The server is stopped in any case.
    """
    survey, log = (folder / f"{name}.{kind}" for kind in ("toml", "log"))
    database = folder / f"{name}.db" if place is None else place
    survey.write_text(f'title = "Intake"\nid = "{SURVEY}"\n' + "".join(map(_QUESTION.format, IDS)))
    arguments = [survey, "--port", "0", "--workers", workers, "--db", database]
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *command, *map(str, arguments)],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=Path(__file__).parent.parent,
            start_new_session=True,  # Ctrl-C comes to this process, which stops the server
        )
    server = Server(process, database)
    try:
        for _ in range(1800):
            found = re.search(r"serves on (\S+)\n(?:.*\n)*research token: (\S+)\n", log.read_text())
            if found or process.poll() is not None:
                break
            time.sleep(0.1)
        if not found:
            raise RuntimeError(f"{name} does not serve: {log.read_text()[-1000:]}")
        server.url, server.token = found.groups()
        yield server
    finally:
        left = [process.pid, *descendants(process.pid)]
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def ours(folder: Path) -> contextlib.AbstractContextManager[Server]:
    return serving(folder, "ours", "-m", "server.cli", "serve")


def speed(folder: Path, seconds: int, connections: int, rounds: int) -> list[str]:
    """Measure rates and latencies beside the floors; return the goals that are missed."""
    seen: dict[str, list[wrk.Round]] = {"bare": [], "body": [], "ours": []}
    with serving(folder, "floors", __file__, "--floors") as floor, ours(folder) as server:
        load = {
            "bare": lambda s: wrk.run(f"{floor.url}/bare", s, connections),
            "body": lambda s: wrk.run(f"{floor.url}/body", s, connections, server.template()),
            "ours": lambda s: server.load(s, connections),
        }
        for name in load:
            load[name](min(2, seconds))  # to warm up
        print(f"{'':8}{'requests/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'refused':>9}{'broken':>8}")
        for turn in range(rounds):
            for name, found in seen.items():
                found.append(load[name](seconds))
                print(f"{turn + 1:<3}{name:<5}{line(found[-1:])}", flush=True)
        missed = server.lost(connections)
    print("\nMedians")
    for name, found in seen.items():
        print(f"   {name:<5}{line(found)}")
    for name, (least, quiet) in GOALS.items():
        ratio = median(a.rate / b.rate for a, b in zip(seen["ours"], seen[name], strict=True))
        reached = "reached" if ratio >= quiet else "missed"
        print(f"{ratio:.1%} of {name}: goal {least:.0%}; on a quiet machine {quiet:.0%}, {reached}")
        if ratio < least:
            missed.append(f"{ratio:.1%} of the requests of {name}, goal {least:.0%}")
    slow = median(one.p99 for one in seen["ours"])
    missed += [f"p99 is {slow:.0f} ms, goal {SLOWEST}"] if slow >= SLOWEST else []
    bad = {name: sum(one.errors for one in found) for name, found in seen.items()}
    return missed + [f"{name}: {n} requests went wrong" for name, n in bad.items() if n]


def line(found: list[wrk.Round]) -> str:
    """Return the medians of some rounds; errors are added up."""
    rate, p50, p99 = (median(getattr(one, key) for one in found) for key in ("rate", "p50", "p99"))
    refused, broken = (sum(getattr(one, key) for one in found) for key in ("refused", "broken"))
    return f"{rate:>10,.0f}{p50:>9.1f}{p99:>9.1f}{refused:>9}{broken:>8}"


def memory(folder: Path, wanted: int, connections: int) -> list[str]:
    """Measure how the workers grow while so many reports come in; what goals are missed."""
    print(f"{'reports':>10}{'worker':>9}{'RSS MiB':>9}{'PSS MiB':>9}")
    missed, sizes = [], []
    with ours(folder) as server:
        for fifth in range(1, 6):
            while server.acknowledged < wanted * fifth / 5:
                if server.load(2, connections).errors:
                    raise RuntimeError("requests went wrong")
            sizes.append({pid: resident(pid) for pid in server.workers()})
            for pid, (rss, pss) in sizes[-1].items():
                print(f"{server.acknowledged:>10,}{pid:>9}{rss:>9.1f}{pss:>9.1f}", flush=True)
        files = sorted(folder.glob("ours.db*"))
        print(
            "\n" + ", ".join(f"{path.name} {path.stat().st_size / 2**20:.1f} MiB" for path in files)
        )
        missed += server.lost(connections)
    for pid, (rss, _) in sizes[-1].items():
        before = sizes[0].get(pid, (0.0, 0.0))[0]
        if rss - before > max(GROWTH * before, GROWTH_MIB):
            missed.append(f"worker {pid} grew from {before:.1f} to {rss:.1f} MiB")
    return missed


def resident(pid: int) -> tuple[float, float]:
    """Return RSS and PSS of a process in MiB."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    rss, pss = (int(re.findall(rf"^{key}: +(\d+)", rollup, re.M)[0]) for key in ("Rss", "Pss"))
    return rss / 1024, pss / 1024


def profile(folder: Path, seconds: int, connections: int) -> list[str]:
    """Show what a worker runs while it holds the GIL, and where another one waits, by samples."""
    spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if spy is None:
        sys.exit("--profile needs py-spy; run this, then again: pip install py-spy")
    kinds = {"holds the GIL": "--gil", "runs, or waits in a system call": "--function"}
    with ours(folder) as server:
        server.load(2, connections)
        jobs = []
        for pid, option in zip(server.workers(), kinds.values(), strict=True):
            command = [spy, "record", option, "-f", "raw", "-r", "200", "-d", str(seconds)]
            command += ["-o", str(folder / option), "-p", str(pid)]
            jobs.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        server.load(seconds + 1, connections)
        codes = [job.wait(60) for job in jobs]
        if any(codes):
            sys.exit("py-spy failed; it must be root's, or have the right to trace processes")
        missed = server.lost(connections)
    for kind, option in kinds.items():
        own: Counter[str] = Counter()
        cumulative: Counter[str] = Counter()
        for sample in (folder / option).read_text().splitlines():
            stack, _, n = re.sub(r":\d+\)", ")", sample).rpartition(" ")
            if not stack:
                continue  # a thread without Python
            own[stack.split(";")[-1]] += int(n)
            cumulative.update(dict.fromkeys(stack.split(";"), int(n)))
        for title, counts in (("itself", own), ("with what it calls", cumulative)):
            print(f"\nA function {title} {kind}, of {own.total()} samples at 200 a second")
            for name, times in counts.most_common(25):
                print(f"{times / own.total():>7.1%}  {name}")
    return missed


def main() -> int:
    if sys.argv[1:2] == ["--floors"]:
        serve_floors(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=6, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default="/var/tmp", help="for the database; on a disk")
    parser.add_argument("--memory", type=int, metavar="N", help="watch it while N reports come in")
    parser.add_argument("--profile", action="store_true", help="with py-spy")
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    if given.smallest:
        given.seconds = given.rounds = 1
    wrk.find()
    command = ["df", "--output=fstype", given.directory]
    disk = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
    if disk in ("tmpfs", "ramfs"):
        sys.exit(f"{given.directory} is in memory ({disk}); name a --directory on a disk")
    print(
        f"{WORKERS} workers of {WRITERS} threads, {given.connections} connections, database on "
        f"{disk}, load average {os.getloadavg()[0]:.1f}\n"
    )
    with tempfile.TemporaryDirectory(dir=given.directory) as name:
        folder = Path(name)
        if given.memory:
            missed = memory(folder, given.memory, given.connections)
        elif given.profile:
            missed = profile(folder, given.seconds, given.connections)
        else:
            missed = speed(folder, given.seconds, given.connections, given.rounds)
    print("\n" + ("\n".join(missed) if missed else "All goals are reached."))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
