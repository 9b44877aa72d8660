""" "My privacy" lists what this browser has spent, and can save and forget it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector
from device import CANARIES, READ_MEMO, SURVEY, WRITE_MEMO, Device, answer, expect_state
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.more

#: Devices remember one of these, so its cost depends on whether answers changed.
STABLE = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)
STABLE = STABLE.replace('title = "Canteen"', 'title = "Habits"').replace("cap = 12", "cap = 30")


@pytest.fixture(scope="module")
def surveys(collector: Collector) -> list[str]:
    """Return two surveys, in their first wave."""
    return [collector.publish(SURVEY), collector.publish(STABLE)]


@pytest.fixture
def answered(device: Device, collector: Collector, surveys: list[str]) -> dict[str, str]:
    """Answer both surveys, and return what the device sent."""
    found = {}
    for survey in surveys:
        page = device.visit(collector.page(survey))
        answer(page, CANARIES)
        found[survey] = page.locator("#receipt-rid").text_content() or ""
        page.close()
    return found


def me(device: Device, collector: Collector) -> Page:
    """Return the page."""
    return device.visit(f"{collector.url}/me")


def test_the_page_says_so_if_the_browser_sent_nothing(device: Device, collector: Collector) -> None:
    page = me(device, collector)
    expect_state(page, "nothing")
    expect(page.locator("#spent")).to_be_hidden()
    assert page.evaluate("indexedDB.databases()") == [] or page.evaluate(READ_MEMO) == {}


def test_spends_are_listed_and_added_up(
    device: Device, collector: Collector, answered: dict[str, str]
) -> None:
    page = me(device, collector)
    entries = page.locator("#surveys li")
    expect(entries).to_have_count(2)
    for survey, title, spent, cap in zip(
        answered, ("Canteen", "Habits"), ("5", "5"), ("12", "30"), strict=True
    ):
        entry = entries.filter(has_text=title)
        expect(entry).to_contain_text(answered[survey])
        expect(entry).to_contain_text(f"ε = {spent} of at most {cap}")
        expect(entry.locator('[data-part="waves"]')).to_have_text("1")
        expect(entry.locator('[data-filled="me.waiting"]')).to_be_hidden()
    expect(page.locator('[data-filled="me.total"]')).to_contain_text("ε = 10.")


def test_waiting_reports_are_counted(
    device: Device, collector: Collector, answered: dict[str, str], surveys: list[str]
) -> None:
    collector.open_wave(surveys[1], 2)
    device.context.route("**/reports", lambda route: route.abort())
    page = device.visit(collector.page(surveys[1]))
    answer(page, CANARIES, "waiting")
    page.close()
    collector.open_wave(surveys[1], 1)
    page = me(device, collector)
    entry = page.locator("#surveys li").filter(has_text="Habits")
    expect(entry).to_contain_text("Waiting to be sent: 1")
    expect(entry.locator('[data-part="waves"]')).to_have_text("1, 2")
    expect(entry.locator('[data-filled="me.constant"]')).to_be_visible()
    page.locator("#forget").click()
    expect(page.locator("#sure")).to_contain_text(": 1")
    entry.get_by_role("link", name="Open the survey to send them").click()
    expect(page).to_have_url(collector.page(surveys[1]))


def test_nothing_is_sent_and_nothing_changed_by_looking(
    device: Device, collector: Collector, answered: dict[str, str]
) -> None:
    device.requests.clear()
    page = me(device, collector)
    expect(page.locator("#surveys li")).to_have_count(2)
    kept = page.evaluate(READ_MEMO)
    with page.expect_download():
        page.locator("#export").click()
    page.locator("#forget").click()
    page.locator("#forget-not").click()
    expect(page.locator("#sure")).to_be_hidden()
    assert page.evaluate(READ_MEMO) == kept
    for request in device.requests:
        here = request.url.startswith((f"{collector.url}/me", f"{collector.url}/client/"))
        assert (here and request.method == "GET") or request.url.startswith(("blob:", "data:,"))


def test_saved_file_has_the_shown_list_and_not_the_secret(
    device: Device, collector: Collector, answered: dict[str, str]
) -> None:
    page = me(device, collector)
    with page.expect_download() as download:
        page.locator("#export").click()
    assert download.value.suggested_filename.endswith(".json")
    text = download.value.path().read_text()
    secret = page.evaluate(READ_MEMO)["secret"]
    assert secret not in text
    saved: list[dict[str, Any]] = json.loads(text)["surveys"]
    assert {one["id"]: one["waves"] for one in saved} == {survey: [1] for survey in answered}
    assert [rid for rid in answered.values() if rid in text] == []
    assert sum(one["spent"] for one in saved) == 10_000_000
    assert "pseudonym" not in text
    assert "respondent" not in text


def test_forgetting_deletes_everything_and_the_next_wave_is_somebody_new(
    device: Device, collector: Collector, answered: dict[str, str], surveys: list[str]
) -> None:
    (before,) = {json.loads(body)["respondent"] for body in device.posted()[:1]}
    page = me(device, collector)
    page.locator("#forget").click()
    assert len(page.evaluate(READ_MEMO)) == 3
    page.locator("#forget-sure").click()
    expect_state(page, "forgotten")
    assert page.evaluate(READ_MEMO) == {}
    page.reload()
    expect_state(page, "nothing")
    collector.open_wave(surveys[0], 2)
    page = device.visit(collector.page(surveys[0]))
    answer(page, CANARIES)
    collector.open_wave(surveys[0], 1)
    sent = json.loads(device.posted()[-1])
    assert (sent["wave"], sent["respondent"] != before) == (2, True)
    expect(page.locator("#receipt")).to_contain_text("ε = 5 of at most 12")


def test_a_survey_with_a_memory_explains_what_forgetting_means(
    device: Device, collector: Collector, surveys: list[str]
) -> None:
    collector.open_wave(surveys[1], 2)
    page = device.visit(collector.page(surveys[1]))
    expect_state(page, "ready")
    expect(page.locator("#no-memory")).to_be_visible()
    collector.open_wave(surveys[1], 1)


def test_memo_of_an_earlier_release_is_shown_by_its_id(
    device: Device, collector: Collector
) -> None:
    page = me(device, collector)
    old = {"spent": 1_500_000, "cap": 4, "waves": {"3": "ab" * 16}, "times": {}, "pending": []}
    page.evaluate(WRITE_MEMO, ["survey/old-one", old])
    page.reload()
    entry = page.locator("#surveys li")
    expect(entry.locator("h2")).to_have_text("old-one")
    expect(entry).to_contain_text("ε = 1.5 of at most 4")


def test_watcher_catches_a_page_that_forgets_nothing(
    device: Device, serve_client: Callable[..., Collector]
) -> None:
    served = serve_client(("memo.js", "table.clear()", "table.count()"))
    answer(device.visit(served.page(served.publish(SURVEY))), CANARIES)
    page = me(device, served)
    page.locator("#forget").click()
    page.locator("#forget-sure").click()
    expect_state(page, "forgotten")
    assert page.evaluate(READ_MEMO) != {}
