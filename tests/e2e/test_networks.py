"""Whatever networks, browsers and people do: one report a wave, the same bytes, charged once."""

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import Collector, Relay
from device import (
    CANARIES,
    COST,
    READ_MEMO,
    SURVEY,
    Device,
    expect_closed,
    expect_state,
    fill_in,
    press,
    review,
)
from playwright.sync_api import Browser, Error, Page, Route, expect
from watchers import Profile

from server.store import Store

pytestmark = pytest.mark.more

REPORTS = "**/api/surveys/*/reports"
#: How long the page waits for the answer to a report, in milliseconds.
PATIENCE = 30_000
#: Makes the page give up its first request soon; on a busy machine all would take too long.
IMPATIENT = f"""(() => {{
  const timeout = globalThis.setTimeout;
  globalThis.setTimeout = (then, milliseconds) => {{
    const isFirst = milliseconds === {PATIENCE} && !globalThis.isImpatient;
    globalThis.isImpatient ||= isFirst;
    return timeout(then, isFirst ? milliseconds / 60 : milliseconds);
  }};
}})()"""
#: By default Playwright keeps browsers from storing pages that are left, to show them again.
KEEPS_PAGES = {"ignore_default_args": ["--disable-back-forward-cache"]}


class BadRelay(Relay):
    """Does to one report what bad networks do, and nothing to later requests."""

    def __init__(self, server: str, fault: str) -> None:
        self.fault, self._struck = fault, set[socket.socket]()
        super().__init__(server)

    def _pass(self, source: socket.socket, target: socket.socket, keep: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if keep:
                    self.sent += data
                if keep and data.startswith(b"POST") and not self._struck:
                    self._struck.add(source)
                    if self.fault == "request cut":
                        target.sendall(data[: len(data) // 2])
                        break
                if target in self._struck and self.fault != "request cut":
                    if self.fault == "no response":
                        continue
                    if self.fault == "response cut":
                        target.sendall(data[: len(data) // 2])
                    break
                target.sendall(data)
            for one in (source, target):
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def bad_relay(collector: Collector) -> Iterator[Callable[[str], BadRelay]]:
    """Make relays with a fault."""
    with contextlib.ExitStack() as running:

        def make(fault: str) -> BadRelay:
            made = BadRelay(collector.url, fault)
            running.callback(made.close)
            return made

        yield make


@pytest.fixture
def new_profile(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Profile]]:
    """Start browsers with the same profile on disk, one after another."""
    made: list[Profile] = []

    def make(**options: Any) -> Profile:
        made.append(Profile(browser, tmp_path / "profile", **options))
        return made[-1]

    yield make
    for device in made:
        with contextlib.suppress(Error):
            device.context.close()


def ready_to_press(page: Page) -> Page:
    """Return a page that is answered and reviewed."""
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    review(page)
    return page


def check_once(devices: list[Device], collector: Collector, survey: str) -> None:
    """Check that all tries have the same bytes, and that one report is stored and charged once."""
    bodies = {body for device in devices for body in device.posted()}
    assert len(bodies) == 1
    assert collector.stored(survey) == 1
    (row,) = collector.ledger(survey)
    assert (row["reports"], row["epsilon_sum"]) == ("4", COST)


def waiting(page: Page, survey: str) -> list[str]:
    """Return the reports that wait on the device."""
    memo: list[str] = page.evaluate(READ_MEMO)[f"survey/{survey}"]["pending"]
    return memo


@pytest.mark.parametrize("fault", ["request cut", "response lost", "response cut", "no response"])
def test_fault_on_the_way_makes_no_second_report(
    device: Device,
    collector: Collector,
    survey: str,
    bad_relay: Callable[[str], BadRelay],
    fault: str,
) -> None:
    wire = bad_relay(fault)
    device.context.add_init_script(IMPATIENT)
    page = ready_to_press(device.visit(f"{wire.url}/s/{survey}"))
    press(page)
    expect_state(page, "stored")
    tries = [target for method, target in wire.targets() if method == "POST"]
    assert len(tries) > 1
    assert page.evaluate("isImpatient")
    assert waiting(page, survey) == []
    check_once([device], collector, survey)


def test_reload_while_it_is_sent_sends_the_same_bytes(
    device: Device, collector: Collector, survey: str, bad_relay: Callable[[str], BadRelay]
) -> None:
    wire = bad_relay("no response")
    page = ready_to_press(device.visit(f"{wire.url}/s/{survey}"))
    with page.expect_request(REPORTS):
        press(page)
    expect_state(page, "sending")
    page.reload()
    expect_state(page, "stored")
    assert len(device.posted()) == 2
    check_once([device], collector, survey)


def test_three_waves_without_a_connection_arrive_as_they_were_drawn(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY.replace("cap = 12", "cap = 15"))
    store = Store(collector.database)
    device.context.route(REPORTS, lambda route: route.abort())
    with contextlib.closing(store):
        for wave in (1, 2, 3):
            store.surveys.open_wave(survey, wave)
            page = device.visit(collector.page(survey))
            expect_state(page, "ready")
            waits = page.locator("#earlier-wait")
            expect(waits).to_be_visible(visible=wave > 1)
            if wave > 1:
                expect(waits).to_contain_text(str(wave - 1))
            press(ready_to_press(page))
            expect_state(page, "waiting")
            frozen = waiting(page, survey)
            assert len(frozen) == wave
            if wave < 3:
                page.close()
    tried = len(device.posted())
    device.context.unroute(REPORTS)
    expect_state(page, "stored")
    expect(waits).to_be_hidden()
    assert waiting(page, survey) == []
    assert {body.decode() for body in device.posted()} == set(frozen)
    # Once the network is back, each is sent once.
    assert len(device.posted()) == tried + 3
    assert [collector.stored(survey, wave) for wave in (1, 2, 3)] == [1, 1, 1]
    (row,) = collector.ledger(survey)
    assert (row["waves"], row["epsilon_sum"]) == ("3", "15")


@pytest.mark.parametrize("lost", [False, True], ids=["request", "response"])
def test_survey_that_closes_before_it_is_known_to_be_stored(
    page: Page, device: Device, collector: Collector, survey: str, lost: bool
) -> None:
    def fail(route: Route) -> None:
        if lost:
            assert route.fetch().status == 201
        route.abort()

    page.route(REPORTS, fail, times=1)
    press(ready_to_press(page))
    expect_state(page, "waiting")
    store = Store(collector.database)
    with contextlib.closing(store):
        store.surveys.close_waves(survey)
    if lost:
        expect_state(page, "stored")
        check_once([device], collector, survey)
        return
    expect(page.locator('[data-state="waiting"]')).to_contain_text("closed at the moment")
    assert len(waiting(page, survey)) == 1
    assert collector.ledger(survey) == []


def test_tabs_take_turns_so_that_a_report_is_requested_once(
    device: Device, collector: Collector, survey: str
) -> None:
    def linger(route: Route) -> None:
        response = route.fetch()
        tabs[0].wait_for_timeout(300)
        route.fulfill(response=response)

    tabs = [ready_to_press(device.visit(collector.page(survey))) for _ in range(3)]
    device.context.route(REPORTS, linger)
    for tab in tabs:
        tab.evaluate("setTimeout(() => document.querySelector('#send').click(), 50)")
    for tab in tabs:
        expect(tab.locator("#receipt")).to_be_visible()
    assert len(device.posted()) == 1
    assert len({tab.locator("#receipt-rid").text_content() for tab in tabs}) == 1
    check_once([device], collector, survey)


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "loaded anew"])
def test_going_back_and_forward_sends_nothing_twice(
    new_profile: Callable[..., Profile], collector: Collector, survey: str, is_kept: bool
) -> None:
    device = new_profile(**KEEPS_PAGES if is_kept else {})
    page = ready_to_press(device.visit(collector.page(survey)))
    page.goto(f"{collector.url}/me")
    page.go_back(wait_until="commit")
    if page.locator("#review").is_hidden():
        ready_to_press(page)
    press(page)
    expect_state(page, "stored")
    page.goto(f"{collector.url}/me")
    page.go_back(wait_until="commit")
    expect(page.locator("#receipt")).to_be_visible()
    page.go_forward(wait_until="commit")
    # Until the browser shows the page that it goes forward to, it refuses to go back.
    expect(page.locator("#surveys")).to_be_visible()
    page.go_back(wait_until="commit")
    expect(page.locator("#receipt")).to_be_visible()
    expect(page.locator("#send")).to_be_hidden()
    assert len(device.posted()) == 1
    check_once([device], collector, survey)


def test_page_that_is_left_before_the_press_and_shown_again_after_another_tab(
    new_profile: Callable[..., Profile], collector: Collector, survey: str
) -> None:
    device = new_profile(**KEEPS_PAGES)
    first = ready_to_press(device.visit(collector.page(survey)))
    first.goto(f"{collector.url}/me")
    second = ready_to_press(device.visit(collector.page(survey)))
    press(second)
    expect_state(second, "stored")
    first.go_back(wait_until="commit")
    if first.locator("#send").is_visible():
        press(first)
    expect_state(first, "answered")
    assert len(device.posted()) == 1
    check_once([device], collector, survey)


def test_page_that_is_kept_for_going_back_holds_no_answer_and_begins_anew(
    new_profile: Callable[..., Profile], collector: Collector, survey: str
) -> None:
    page = ready_to_press(new_profile(**KEEPS_PAGES).visit(collector.page(survey)))
    page.evaluate("window.isKept = true")
    page.goto(f"{collector.url}/me")
    page.go_back(wait_until="commit")
    expect(page.locator("#explanation")).to_be_visible()
    assert page.evaluate("window.isKept"), "the browser did not keep the page"
    assert page.locator("#answers input:checked").count() == 0
    assert page.locator("#debts--number").input_value() == ""
    expect(page.locator("#review dd")).to_have_count(0)
    expect(page.locator("#send")).to_be_hidden()


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_browser_that_ends_right_after_the_press_sends_it_when_it_is_back(
    new_profile: Callable[..., Profile], collector: Collector, survey: str, end: str
) -> None:
    device = new_profile()
    device.context.route(REPORTS, lambda route: None)
    page = ready_to_press(device.visit(collector.page(survey)))
    with page.expect_request(REPORTS):
        press(page)
    if end == "killed":
        os.kill(process_of(device), signal.SIGKILL)
        assert collector.ledger(survey) == []
    with contextlib.suppress(Error):
        device.context.close()
    again = new_profile()
    page = again.visit(collector.page(survey))
    expect_state(page, "stored")
    page.reload()
    expect_closed(page, "answered")
    check_once([device, again], collector, survey)


def process_of(device: Profile) -> int:
    """Return the number of the browser's own process, which this test started."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes().split(b"\0")
            is_browser = not any(word.startswith(b"--type=") for word in words)
            if is_browser and f"--user-data-dir={device.folder}".encode() in words:
                return int(file.parent.name)
    raise AssertionError("no browser has this profile")
