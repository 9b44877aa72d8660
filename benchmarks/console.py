"""Measure whether researchers slow the intake: `python benchmarks/console.py [--help]`.

The benchmark loads `deniable serve` with the submissions of 200 connections, in turns with nobody
else and with two researchers at work. Each researcher looks at a page of the console every three
seconds, and one of them has one table of a trial copy computed after another. wrk, which makes the
load, runs on the same machine, so read the ratio. The goal is that the intake keeps at least 0.9 of
its rate. In addition, everything that was acknowledged must be stored. The exit status is 1 if a
goal is missed.
"""

import argparse
import contextlib
import http.client
import re
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import intake

KEPT, CONNECTIONS, RESEARCHERS = 0.9, 200, 2
#: Seconds between two pages; seconds between two looks at work, as on the page; the most for work.
PAUSE, POLL, LONGEST = 3.0, 2.0, 120
PAGES = ("/surveys", "/surveys/{}", "/results/{}", "/surveys/{}/privacy", "/surveys/{}/downloads")


class Researcher:
    """A signed-in owner, who asks for pages and for work."""

    def __init__(self, server: intake.Server) -> None:
        self._host = urllib.parse.urlsplit(server.url).netloc
        self._cookie = ""
        self.looked = self.computed = 0
        self._send("/login", name="", password=server.token)

    def look(self, path: str) -> str:
        """Fetch a page and return it."""
        self.looked += 1
        return self._request("GET", path)

    def ask(self, path: str, page: str, **form: str) -> str:
        """Send a form of a page; return the page that comes."""
        token = re.search(r'name="csrf" value="([^"]+)"', self.look(page))
        assert token is not None
        return self._send(path, csrf=token[1], **form)

    def wait(self, path: str, words: str) -> None:
        """Look at a page until it no longer says that it waits."""
        deadline = time.monotonic() + LONGEST
        while words in self.look(path):
            assert time.monotonic() < deadline, path
            time.sleep(0.5)

    def _send(self, path: str, **form: str) -> str:
        return self._request("POST", path, urllib.parse.urlencode(form))

    def _request(self, method: str, path: str, body: str | None = None) -> str:
        """Send a request with the session's cookie, which urllib would send over https only."""
        connection = http.client.HTTPConnection(self._host, timeout=60)
        headers = {"Cookie": self._cookie} if self._cookie else {}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self._cookie = answer.headers.get("Set-Cookie", self._cookie).partition(";")[0]
        connection.close()
        if answer.status == 303:
            return self._request("GET", str(answer.headers["Location"]).partition("#")[0])
        assert answer.status == 200, f"{path}: {answer.status} {text[:300]}"
        return text


@contextlib.contextmanager
def at_work(server: intake.Server, pause: float = PAUSE) -> Iterator[list[Researcher]]:
    """Run researchers who look at pages, and have tables and models computed, until the end."""
    stopping = threading.Event()
    researchers = [Researcher(server) for _ in range(RESEARCHERS)]
    trial = f"{intake.SURVEY}-trial"
    together, names = f"/surveys/{trial}/together", intake.IDS

    def look(researcher: Researcher) -> None:
        turn = 0
        while not stopping.wait(pause):
            researcher.look(PAGES[turn % len(PAGES)].format(trial))
            turn += 1

    def compute(researcher: Researcher) -> None:
        turn = 0
        while not stopping.is_set():
            pair = {"first": names[turn % 9], "second": names[turn // 9 % 9 + 1]}
            level = f"0.{9000 + turn}"  # so that nothing was computed before
            if pair["first"] != pair["second"]:
                researcher.ask(together, together, level=level, **pair)
                query = urllib.parse.urlencode({"level": level, **pair})
                while not stopping.wait(POLL):
                    if "It is being computed" not in researcher.look(f"{together}?{query}"):
                        researcher.computed += 1
                        break
            turn += 1

    threads = [threading.Thread(target=look, args=(one,)) for one in researchers]
    threads.append(threading.Thread(target=compute, args=(Researcher(server),)))
    for thread in threads:
        thread.start()
    try:
        yield researchers
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def main() -> int:
    """Measure in turns without and with researchers, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smallest", action="store_true", help="only to see that it runs")
    given = parser.parse_args()
    people, pause = 3000, PAUSE
    if given.smallest:
        given.seconds, given.rounds, people, pause = 3, 1, 100, 0.2
    rates: dict[str, list[float]] = {"alone": [], "with researchers": []}
    looked = 0
    with tempfile.TemporaryDirectory() as folder, intake.ours(Path(folder)) as server:
        first = Researcher(server)
        page = f"/surveys/{intake.SURVEY}"
        first.ask(f"{page}/trial", page, respondents=str(people))
        first.wait(f"{page}/pilot", "The copy is being filled")
        server.load(2, CONNECTIONS)  # to warm up
        for _ in range(given.rounds):
            rates["alone"].append(server.load(given.seconds, CONNECTIONS).rate)
            with at_work(server, pause) as researchers:
                rates["with researchers"].append(server.load(given.seconds, CONNECTIONS).rate)
            looked += sum(one.looked for one in researchers)
        for name, found in rates.items():
            print(f"{name:18}{median(found):>8,.0f} reports/s", *(f"{one:,.0f}" for one in found))
        ratios = [b / a for a, b in zip(*rates.values(), strict=True)]
        kept = median(ratios)
        print(f"{looked} pages were looked at; the intake keeps {kept:.2f} of its rate")
        complaints = server.lost(CONNECTIONS)
    complaints += [] if kept >= KEPT else [f"expected at least {KEPT}"]
    for complaint in complaints:
        print(f"goal missed: {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
