"""Neither another website nor the browser's files reveal the draft of an unfinished form."""

import base64
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from collector import Collector
from device import Device, expect_state, press
from everything import (
    ANSWERS,
    EVERYTHING,
    FIRST,
    MARKERS,
    REGRET,
    hasty_person,
    person,
    with_page,
)
from limits import MOMENT, wait_until
from playwright.sync_api import Browser, Page, expect
from test_resume import HELD, go_on
from watchers import Profile, check_places

pytestmark = pytest.mark.more

#: The length of the tab's name: AES-GCM of 16 KiB with its nonce and tag, in base64.
LENGTH = 21884
#: What `person` leaves in the form, with the answer that a condition hides.
HIDDEN_TOO = ANSWERS | {"regret": REGRET}
#: The keys of the memo; its values hold a key that no script can read.
KEYS = """() => new Promise((resolve) => {
  const request = indexedDB.open('deniable', 1);
  request.onsuccess = () => {
    const keys = request.result.transaction('memo').objectStore('memo').getAllKeys();
    keys.onsuccess = () => resolve(request.result.close() ?? keys.result);
  };
})"""


@pytest.fixture(scope="module")
def resuming(collector: Collector) -> str:
    """Return the id of a survey of everything that lets a tab resume."""
    return collector.publish(with_page("resume", survey=EVERYTHING))


class _Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer as another website, with a page that links to whatever is in the query."""
        target = self.path.partition("?")[2]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<!doctype html><a href="{target}">The survey</a>'.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """Run another website; return its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join(MOMENT)
    server.server_close()


def name_of(page: Page) -> str:
    """Return what the shown page can read of the tab's name."""
    name: str = page.evaluate("window.name")
    return name


def kept(page: Page) -> str:
    """Return the name once it has the last answer of `person` and no longer changes."""
    names = [""] * 10

    def is_settled() -> bool:
        page.wait_for_timeout(50)
        names.append(name_of(page))
        return names[-1] != "" and len(set(names[-10:])) == 1

    wait_until(is_settled)
    return names[-1]


def by_address(page: Page, other: str, home: str) -> None:
    page.goto(other)


def by_address_after_me(page: Page, other: str, home: str) -> None:
    page.goto(f"{home}/me")
    page.goto(other)


def by_a_link(page: Page, other: str, home: str) -> None:
    page.evaluate("url => { location.href = url; }", other)
    page.wait_for_url(other)


def by_back(page: Page, other: str, home: str) -> None:
    # This is beyond all pages of the survey.
    page.evaluate("history.go(-1 - (history.state?.step ?? 0))")
    page.wait_for_url(other)


def by_back_over_me(page: Page, other: str, home: str) -> None:
    page.goto(f"{home}/me")
    page.go_back()
    expect_state(page, "drafted")
    wait_until(lambda: not page.evaluate("history.state?.step"))
    page.go_back()


WAYS = (by_address, by_address_after_me, by_a_link, by_back, by_back_over_me)


@pytest.mark.parametrize(
    ("host", "way"),
    [
        pytest.param(host, way, id=f"{host}-{way.__name__}")
        for host, way in [*(("127.0.0.1", way) for way in WAYS), ("localhost", by_back)]
    ],
)
def test_another_website_reads_no_answer_from_the_tab(
    device: Device,
    collector: Collector,
    resuming: str,
    elsewhere: int,
    way: Callable[[Page, str, str], None],
    host: str,
) -> None:
    home = collector.url.replace("127.0.0.1", host)
    other_host = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}[host]
    other = f"http://{other_host}:{elsewhere}/?{home}/s/{resuming}"
    page = device.visit(other)
    page.get_by_text("The survey").click()
    hasty_person(page)
    assert kept(page) != ""
    way(page, other, home)
    expect(page.get_by_text("The survey")).to_be_visible()
    name = name_of(page)
    check_places({"name": name.encode()}, MARKERS)
    # Browsers that do not clear the name show text of a fixed length that reveals nothing.
    assert len(name) in (0, LENGTH)
    # Back at the survey, the respondent's answers are there again, or gone, but never in part.
    page.goto(f"{home}/s/{resuming}")
    expect(
        page.locator('[data-state="drafted"], [data-state="ready"]').filter(visible=True)
    ).to_have_count(1)
    if page.locator("#go-on").is_visible():
        go_on(page)
        assert page.evaluate(HELD) == FIRST
    else:
        assert page.evaluate(HELD) == {}


def test_answers_come_back_after_a_look_at_my_privacy(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    person(page)
    kept(page)
    page.goto(f"{collector.url}/me")
    check_places({"name": name_of(page).encode()}, MARKERS)
    page.go_back()
    go_on(page)
    assert page.evaluate(HELD) == HIDDEN_TOO


def test_draft_is_another_text_after_each_change_and_always_as_long(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    page.evaluate(
        """() => {
          window.names = new Set();
          setInterval(() => window.names.add(window.name), 1);
        }"""
    )
    person(page)
    kept(page)
    names = page.evaluate("[...window.names]")
    assert {len(name) for name in names} <= {0, LENGTH}
    # Neither the beginning nor the end repeats: a nonce is used only once.
    assert len({name[:16] for name in names}) == len({name[-16:] for name in names}) == len(names)
    assert len(names) > len(ANSWERS)


def test_answers_that_are_too_long_for_a_draft_are_not_kept_and_break_nothing(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    hasty_person(page)
    page.locator("#review dd .link").first.click()
    page.locator("#word--text-input").evaluate(
        """(input) => {
          input.removeAttribute('maxlength');
          input.value = 'x'.repeat(20000);
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }"""
    )
    assert len(kept(page)) == LENGTH
    page.reload()
    expect_state(page, "ready")
    assert page.evaluate(HELD) == {}


def _again(page: Page) -> dict[str, str]:
    """Return what the form holds after a reload."""
    page.reload()
    go_on(page)
    held: dict[str, str] = page.evaluate(HELD)
    return held


def test_two_tabs_of_a_survey_keep_a_draft_each(
    device: Device, collector: Collector, resuming: str
) -> None:
    first, second = (device.visit(collector.page(resuming)) for _ in range(2))
    for page, option in ((first, "yes"), (second, "no")):
        page.locator("#begin").click()
        page.locator(f"#visited--{option}").check()
        kept(page)
    assert _again(first) == {"visited": "yes"}
    assert _again(second) == {"visited": "no"}


def test_sending_one_survey_leaves_the_draft_of_another(
    device: Device, collector: Collector, resuming: str
) -> None:
    other = collector.publish(with_page("resume", survey=EVERYTHING))
    first, second = (device.visit(collector.page(survey)) for survey in (resuming, other))
    hasty_person(first)
    kept(first)
    hasty_person(second)
    press(second)
    expect_state(second, "stored")
    assert _again(first) == FIRST


@pytest.mark.parametrize("end", ["forgotten", "sent in another tab"])
def test_old_text_of_a_draft_is_unreadable_once_the_draft_has_ended(
    device: Device, collector: Collector, end: str
) -> None:
    survey = collector.publish(with_page("resume", survey=EVERYTHING))
    page = device.visit(collector.page(survey))
    hasty_person(page)
    old = kept(page)
    if end == "forgotten":
        me = device.visit(f"{collector.url}/me")
        me.locator("#forget").click()
        me.locator("#forget-sure").click()
        expect_state(me, "forgotten")
        assert me.evaluate("window.name") == ""
        me.close()
    else:
        other = device.visit(collector.page(survey))
        hasty_person(other)
        press(other)
        expect_state(other, "stored")
        collector.open_wave(survey, 2)
    page.close()
    page = device.context.new_page()
    page.goto(f"{collector.url}/healthz")
    page.evaluate("old => { window.name = old; }", old)
    page.goto(collector.page(survey))
    expect_state(page, "ready")
    assert page.evaluate(HELD) == {}


def test_write_that_ends_after_the_press_restores_nothing(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(with_page("resume", survey=EVERYTHING))
    page = device.visit(collector.page(survey))
    # Each encryption takes half a second, so the last one ends long after the press.
    page.evaluate(
        """() => {
          const { encrypt } = SubtleCrypto.prototype;
          SubtleCrypto.prototype.encrypt = async function slow(...given) {
            const sealed = await encrypt.apply(this, given);
            await new Promise((resolve) => { setTimeout(resolve, 500); });
            return sealed;
          };
        }"""
    )
    hasty_person(page)
    press(page)
    expect_state(page, "stored")
    page.wait_for_timeout(800)
    assert name_of(page) == ""
    assert page.evaluate(KEYS) == ["secret", f"survey/{survey}"]


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "closed"])
def test_copied_profile_holds_no_answer_and_not_the_text_of_the_draft(
    browser: Browser, tmp_path: Path, collector: Collector, resuming: str, is_running: bool
) -> None:
    device = Profile(browser, tmp_path / "profile")
    page = device.visit(collector.page(resuming))
    person(page)
    name = kept(page)
    assert page.evaluate(KEYS) == [f"draft/{resuming}", "secret"]
    page.wait_for_timeout(7000)  # after which Chromium has written its session
    if not is_running:
        device.context.close()
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "profile", copy, symlinks=True)
    for lock in copy.glob("Singleton*"):
        lock.unlink()
    # The key is in this place, so no part of the text may be there, in any of its encodings.
    files = {path.name: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    check_places(files, [*MARKERS, name[:64], name[10_000:10_064], name[-64:]])
    raw = base64.b64decode(name)[5000:5032]
    assert not [path for path, content in files.items() if raw in content]
    assert any("IndexedDB" in str(path) for path in copy.rglob("*"))
    other = Profile(browser, copy, restores=True)
    page = other.visit(collector.page(resuming))
    expect_state(page, "ready")
    for tab in other.context.pages:
        assert tab.evaluate("window.name") == ""
        if tab.url == page.url:
            expect_state(tab, "ready")
            assert tab.evaluate(HELD) == {}
    other.context.close()
    if is_running:
        device.context.close()
