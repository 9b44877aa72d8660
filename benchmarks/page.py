"""Measure how soon a survey's page can be used on a slow phone.

Usage: `python benchmarks/page.py [--quick]`. The server is real, and so is the browser, whose
network and processor Chromium slows down. A page is usable once its program has checked everything
and "Begin" can be pressed. Each visit is the first one of a new browser profile; the median of
several visits counts. For comparison, the same is measured without a slow network and processor.
The exit status is 1 if the goal is missed.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, expect, sync_playwright

ROOT = Path(__file__).parent.parent
# The tests are not a package, so their folders are named first.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/e2e")]

from collector import Collector, command  # noqa: E402
from programs import CHROMIUM, find  # noqa: E402

#: A short survey, and a survey in five languages with every kind of question.
SURVEYS = ("working-conditions", "well-being")
#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
#: Seconds within which a page is usable.
GOAL = 1.5
#: A slow phone: bytes a second down and up, milliseconds of a round trip, and how many times as
#: slow.
NETWORK = {"downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8, "latency": 150}
SLOWER = 4
#: Returns when "Begin" can be pressed, in milliseconds from the start of the visit.
_WATCH = """addEventListener('DOMContentLoaded', () => {
  const controls = document.querySelector('#controls');
  const look = () => { if (!controls.disabled) window.usable ??= performance.now(); };
  new MutationObserver(look).observe(controls, { attributes: true });
  look();
})"""


@dataclass(frozen=True)
class Visit:
    """A first visit: seconds until the page was usable, requests, and bytes with their headers."""

    seconds: float
    requests: int
    transferred: int


def visit(browser: Browser, url: str, is_slow: bool) -> Visit:
    """Visit a page with a fresh profile."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.add_init_script(_WATCH)
    devtools = context.new_cdp_session(page)
    finished: list[dict[str, Any]] = []
    devtools.on("Network.loadingFinished", lambda one: finished.append(one))
    devtools.send("Network.enable")
    if is_slow:
        devtools.send("Network.emulateNetworkConditions", {"offline": False, **NETWORK})
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(url)
    # No function of ours may wait within the page, since its policy forbids evaluating texts.
    expect(page.locator("#explanation [data-turn]").first).to_be_enabled(timeout=60_000)
    usable = page.evaluate("window.usable")
    context.close()
    transferred = sum(one["encodedDataLength"] for one in finished)
    return Visit(usable / 1000, len(finished), int(transferred))


@contextmanager
def served() -> Iterator[Collector]:
    """Run the real server."""
    with tempfile.TemporaryDirectory() as name, command(Path(name), example(SURVEYS[0])) as found:
        yield found


def example(name: str) -> str:
    """Return one of the surveys in examples/."""
    return (ROOT / "examples" / f"{name}.toml").read_text()


def row(name: str, network: str, visits: list[Visit]) -> str:
    """Return one line of the table."""
    seconds = sorted(one.seconds for one in visits)
    last = visits[-1]
    return (
        f"{name:<20} {network:<10} {last.requests:>8} {last.transferred / 1000:>7.1f} "
        f"{median(seconds):>8.2f} {seconds[0]:>6.2f} {seconds[-1]:>6.2f}"
    )


def main(times: int) -> int:
    """Print the table; return 1 if the goal is missed."""
    path = find("chromium") or sys.exit(
        "no Chromium; python tests/programs.py chromium installs one"
    )
    missed = []
    with sync_playwright() as playwright, served() as collector:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        print("survey               network    requests      kB   median  least   most  (seconds)")
        for name in SURVEYS:
            url = collector.page(collector.publish(example(name)))
            # The server makes each page once, so this visit stands for an earlier visitor.
            visit(browser, url, is_slow=False)
            for network, is_slow in (("1.6 Mbit/s", True), ("as it is", False)):
                visits = [visit(browser, url, is_slow) for _ in range(times)]
                print(row(name, network, visits), flush=True)
                if is_slow and median(one.seconds for one in visits) > GOAL:
                    missed.append(name)
        browser.close()
    for name in missed:
        print(f"missed: {name}: usable in more than {GOAL} s", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(1 if SMALLEST else 5))
