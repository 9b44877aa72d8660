"""The stage of scenes, and what people do in most of them."""

import csv
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from collector import Collector
from device import Device, expect_state, fill_in, press, review
from limits import LONG
from playwright.sync_api import Page

from server.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"
REPORTS = "**/api/surveys/*/reports"
#: A question of every kind, a grid, a slider, notes, three pages, five languages.
WELL_BEING = (EXAMPLES / "well-being.toml").read_text()
#: Its first page alone, for states in which no question is shown.
FIRST_PAGE = WELL_BEING.partition('[[questions]]\nid = "cheerful"')[0]
KIOSK = WELL_BEING.replace("comprehension = true", "kiosk = true", 1)
#: Its answers, page by page.
PAGES: list[dict[str, str]] = [
    {"age": "34", "work": "study"},
    {"cheerful": "2", "lonely": "1", "sleep": "6.5"},
    {"hopeless": "yes", "strain": "money|work", "helps": "quiet|friends|moving", "app": "TikTok"},
]
ANSWERS = PAGES[0] | PAGES[1] | PAGES[2]


@dataclass(frozen=True)
class Stage:
    """A collector, and a maker of devices that look alike."""

    collector: Collector
    new_device: Callable[..., Device]

    def visit(self, text: str = WELL_BEING, **options: Any) -> tuple[Device, Page]:
        """Open a survey that nobody has answered, on a new device."""
        device = self.new_device(**options)
        return device, device.visit(self.collector.page(self.collector.publish(text)))

    def with_store(self, act: Callable[[Store], Any]) -> None:
        """Do what researchers do to the database."""
        store = Store(self.collector.database, create=True)
        act(store)
        store.close()


Scene = Iterator[tuple[str, Page]]


def open_details(page: Page) -> None:
    """Open everything that can be opened on the page, except the parts that each page repeats."""
    for summary in page.locator("main summary:visible:not(footer *)").all():
        if not summary.evaluate("one => one.parentElement.open"):
            summary.click()


def to_review(page: Page) -> None:
    """Answer the first page, and go to the review."""
    expect_state(page, "ready")
    fill_in(page, PAGES[0])
    review(page)


def send(page: Page, state: str = "stored") -> None:
    """Press, and wait for the result."""
    press(page)
    expect_state(page, state)


@cache
def simulated(collector: Collector, people: int = 200) -> str:
    """Publish a survey that this many people have answered; return its id."""
    text = (EXAMPLES / "working-conditions.toml").read_text()
    survey = collector.publish(text)
    answers = collector.database.parent / f"{survey}.csv"
    with answers.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["harassed", "told", "team", "income"])
        for one in range(people):
            harassed = "yes" if one % 4 == 0 else "no"
            told = ["nobody", "superior", "council"][one % 3] if harassed == "yes" else ""
            rows.writerow([harassed, told, ["lab", "office"][one % 2], 1500 + 10 * (one % 300)])
    command = [sys.executable, "-m", "server.cli", "simulate", str(answers.with_suffix(".toml"))]
    subprocess.run(
        [*command, "--answers", str(answers), "--db", str(collector.database), "--seed", "8"],
        check=True,
        capture_output=True,
        timeout=LONG,
    )
    collector.close(survey)  # so that pages show all of it
    return survey
