"""An interrupted form starts empty or, if its author allows it, resumes only in its tab."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from collector import Collector
from device import Device, begin, expect_state, press, review, turn_page
from everything import ANSWERS, ASKED, EVERYTHING, MARKERS, REGRET, person, with_page
from limits import wait_until
from playwright.sync_api import Browser, Page, expect
from watchers import Profile, check_device, check_places

pytestmark = pytest.mark.more

#: The content of the form, by the questions that have an answer.
HELD = """() => Object.fromEntries([...document.querySelectorAll('.question')].map((field) => {
  const all = (selector) => [...field.querySelectorAll(selector)];
  const typed = all('.entry input:not([data-search])').map(({ value }) => value);
  // Options may stand in an order that was drawn.
  const ticked = all('.option input:checked').map(({ value }) => value).sort();
  const placed = all('[data-place]').sort((a, b) => a.dataset.place - b.dataset.place);
  const items = placed.map(({ dataset }) => dataset.item);
  return [field.dataset.question, [...typed, ...ticked, ...items].join('|')];
}).filter(([, answer]) => answer))"""

#: Opens the draft as the page's own program does, with the key that no script can read.
OPENED = """async () => {
  const { version, wave, survey } = JSON.parse(document.querySelector('#survey-data').textContent);
  const key = await new Promise((resolve) => {
    const request = indexedDB.open('deniable', 1);
    request.onsuccess = () => {
      const table = request.result.transaction('memo').objectStore('memo');
      const kept = table.get(`draft/${survey.id}`);
      kept.onsuccess = () => resolve(request.result.close() ?? kept.result);
    };
  });
  if (key.extractable) throw new Error('a script could read the key');
  const kept = Uint8Array.from(atob(window.name), (character) => character.charCodeAt(0));
  const additionalData = new TextEncoder().encode(`${version}/${wave}/`);
  const algorithm = { name: 'AES-GCM', iv: kept.slice(0, 12), additionalData };
  return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, kept.slice(12)));
}"""


@pytest.fixture(scope="module")
def resuming(collector: Collector) -> str:
    """Return the id of a survey of everything that lets a tab resume."""
    return collector.publish(with_page("resume", survey=EVERYTHING))


@pytest.fixture(scope="module")
def everything(collector: Collector) -> str:
    """Return the id of a survey whose form starts empty."""
    return collector.publish(EVERYTHING)


def draft(page: Page) -> str:
    """Return everything that the tab keeps, in any place."""
    kept: str = page.evaluate("Object.values(sessionStorage).join() + window.name")
    return kept


def go_on(page: Page) -> None:
    """Say that the answers of this tab are one's own; none is shown before."""
    expect_state(page, "drafted")
    assert page.evaluate(HELD) == {}
    page.locator("#go-on").click()
    # Inside the live region, so that screen readers say it, too.
    expect_state(page, "resumed")
    expect(page.get_by_role("status").first).to_contain_text("Your answers are back.")


def test_answers_come_back_after_a_reload_of_the_tab(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    shown = person(page)
    page.reload()
    go_on(page)
    assert page.evaluate(HELD) == {**ANSWERS, "regret": REGRET}
    expect(page.locator('[data-question="regret"]')).to_have_js_property("disabled", True)
    assert review(page) == shown


def test_answers_come_back_in_no_other_tab(
    device: Device, collector: Collector, resuming: str
) -> None:
    first = device.visit(collector.page(resuming))
    person(first)
    second = device.visit(collector.page(resuming))
    expect_state(second, "ready")
    assert second.evaluate(HELD) == {}
    assert draft(second) == ""


def test_answers_are_gone_from_the_tab_with_the_press(
    device: Device, collector: Collector, resuming: str
) -> None:
    device.context.route("**/reports", lambda route: route.abort())
    page = device.visit(collector.page(resuming))
    person(page)
    wait_until(lambda: page.evaluate("window.name !== ''"))
    press(page)
    expect_state(page, "waiting")
    assert draft(page) == ""
    check_device(page, device, resuming, MARKERS)
    page.reload()
    assert page.evaluate(HELD) == {}


def test_answers_are_gone_from_all_tabs_of_a_device_that_has_sent(
    device: Device, collector: Collector, resuming: str
) -> None:
    first, second = (device.visit(collector.page(resuming)) for _ in range(2))
    person(first)
    person(second)
    press(second)
    expect_state(second, "stored")
    first.reload()
    expect_state(first, "answered")
    assert draft(first) == ""
    assert first.evaluate(HELD) == {}


def test_page_says_what_becomes_of_answers_that_are_not_sent(
    device: Device, collector: Collector, resuming: str, everything: str
) -> None:
    page = device.visit(collector.page(resuming))
    expect(page.get_by_text("your answers stay in this browser tab")).to_be_visible()
    page = device.visit(collector.page(everything))
    expect(page.get_by_text("Nothing is saved while you answer")).to_be_visible()


def leave_and_come_back(page: Page, collector: Collector) -> None:
    page.goto(f"{collector.url}/me")
    page.go_back()


def load_again(page: Page, collector: Collector) -> None:
    page.reload()


@pytest.mark.parametrize("way", [load_again, leave_and_come_back], ids=lambda way: way.__name__)
def test_form_starts_empty_whatever_the_browser_restores(
    browser: Browser,
    tmp_path: Path,
    collector: Collector,
    everything: str,
    way: Callable[[Page, Collector], None],
) -> None:
    device = Profile(browser, tmp_path / "profile")
    page = device.visit(collector.page(everything))
    person(page)
    assert draft(page) == ""
    way(page, collector)
    expect_state(page, "ready")
    assert page.evaluate(HELD) == {}
    check_device(page, device, everything, MARKERS)
    device.context.close()
    check_places(device.files(), MARKERS)


def test_draft_has_every_answer_and_nothing_else(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    expect_state(page, "ready")
    assert draft(page) == ""
    begin(page)
    page.locator("#visited--yes").check()
    page.locator("#animal--okapi-quxil").check()
    turn_page(page)
    page.wait_for_timeout(300)
    assert list(json.loads(page.evaluate(OPENED))["answers"]) == ASKED


def test_next_person_in_a_tab_starts_empty_and_is_shown_no_answer(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    person(page)
    page.reload()
    expect_state(page, "drafted")
    assert page.evaluate(HELD) == {}
    page.locator("#start-empty").click()
    expect_state(page, "ready")
    assert (page.evaluate(HELD), draft(page)) == ({}, "")
    page.reload()
    expect_state(page, "ready")


def test_draft_ends_half_an_hour_after_the_last_change(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.context.new_page()
    page.clock.install()
    page.goto(collector.page(resuming))
    person(page)
    wait_until(lambda: draft(page) != "")
    page.clock.run_for(29 * 60 * 1000)
    assert draft(page) != ""
    page.clock.run_for(2 * 60 * 1000)
    wait_until(lambda: draft(page) == "")


def test_question_about_a_draft_that_nobody_answers_for_hours_shows_no_answer(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.context.new_page()
    page.clock.install()
    page.goto(collector.page(resuming))
    person(page)
    wait_until(lambda: draft(page) != "")
    page.reload()
    expect_state(page, "drafted")
    page.clock.run_for(5 * 60 * 60 * 1000)
    page.locator("#go-on").click()
    expect_state(page, "ready")
    assert page.evaluate(HELD) == {}


def test_restored_tab_forgets_answers_that_are_older_than_half_an_hour(
    device: Device, collector: Collector, resuming: str
) -> None:
    page = device.visit(collector.page(resuming))
    person(page)
    wait_until(lambda: draft(page) != "")
    page.add_init_script("Date.prototype.valueOf = () => 0;")
    page.evaluate("window.stop()")
    page.reload()
    expect_state(page, "ready")
    assert page.evaluate(HELD) == {}


def test_answers_that_a_tab_kept_are_in_no_file_once_they_are_sent(
    browser: Browser, tmp_path: Path, collector: Collector, resuming: str
) -> None:
    device = Profile(browser, tmp_path / "profile")
    page = device.visit(collector.page(resuming))
    person(page)
    page.wait_for_timeout(7000)  # after which Chromium has written it
    press(page)
    expect_state(page, "stored")
    device.context.close()
    check_places(device.files(), MARKERS)
