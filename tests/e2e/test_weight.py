"""How much a phone loads before a survey can be answered; `benchmarks/page.py` has the time."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector
from device import Device, expect_state
from stage import EXAMPLES

#: A slow phone's network: seconds of a round trip, bytes a second, and browsers' connections.
LATENCY, RATE, CONNECTIONS = 0.15, 1.6e6 / 8, 6
#: Seconds within which the page is usable, and the part of them that its program needs.
GOAL, COMPUTING = 1.5, 0.1


def waiting(requests: int, transferred: int) -> float:
    """Return seconds for a page and its files, which wait for the page and for each other."""
    rounds = 1 + math.ceil((requests - 1) / CONNECTIONS)
    return LATENCY * rounds + transferred / RATE


@pytest.mark.parametrize("example", ["working-conditions", "well-being"])
def test_page_and_its_files_are_few_and_small(
    new_device: Callable[..., Device], collector: Collector, example: str
) -> None:
    survey = collector.publish((EXAMPLES / f"{example}.toml").read_text())
    device = new_device()
    page = device.context.new_page()
    devtools, sizes = device.context.new_cdp_session(page), list[int]()
    fetched: set[str] = set()

    def sent(one: dict[str, Any]) -> None:
        # Images are part of the page, and are fetched from nobody.
        fetched.update({one["requestId"]} if one["request"]["url"].startswith("http") else ())

    def finished(one: dict[str, Any]) -> None:
        sizes.extend([one["encodedDataLength"]] if one["requestId"] in fetched else [])

    devtools.on("Network.requestWillBeSent", sent)
    devtools.on("Network.loadingFinished", finished)
    devtools.send("Network.enable")
    page.goto(collector.page(survey))
    expect_state(page, "ready")
    files = [one.url for one in device.requests if one.url.startswith("http")]
    assert len(files) == len(set(files)) == len(sizes)
    assert waiting(len(sizes), sum(sizes)) <= GOAL - COMPUTING, (len(sizes), sum(sizes))


def test_the_check_finds_pages_that_are_too_heavy() -> None:
    assert waiting(25, 90_000) < GOAL - COMPUTING
    assert waiting(43, 90_000) > GOAL - COMPUTING
    assert waiting(25, 140_000) > GOAL - COMPUTING
