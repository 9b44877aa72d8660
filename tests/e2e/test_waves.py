"""Each later wave gets a new report, as long as the cap allows it, and none is lost."""

import json
from typing import Any

import pytest
from collector import Collector
from device import (
    CANARIES,
    READ_MEMO,
    SURVEY,
    WRITE_MEMO,
    Device,
    answer,
    expect_closed,
    expect_state,
    fill_in,
    press,
    review,
)
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.more

REPORTS = "**/api/surveys/*/reports"
#: Enough for one wave, but not for two.
TIGHT = SURVEY.replace("cap = 12", "cap = 9")


def two_tabs(device: Device, collector: Collector, survey: str) -> list[Page]:
    """Return a page of wave 1 that was left open, and one of wave 2; both answered and reviewed."""
    tabs = []
    for wave in (1, 2):
        collector.open_wave(survey, wave)
        tabs.append(device.visit(collector.page(survey)))
        expect_state(tabs[-1], "ready")
        fill_in(tabs[-1], CANARIES)
        review(tabs[-1])
    return tabs


def memo(page: Page, survey: str) -> dict[str, Any]:
    """Return what the device keeps for a survey."""
    found: dict[str, Any] = page.evaluate(READ_MEMO)[f"survey/{survey}"]
    return found


def test_server_refuses_reports_over_the_cap_and_the_page_says_so(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(TIGHT)
    page = device.visit(collector.page(survey))
    answer(page, CANARIES)
    collector.open_wave(survey, 2)
    # The device pretends to have forgotten everything except its secret.
    page.evaluate(WRITE_MEMO, [f"survey/{survey}", None])
    page.reload()
    answer(page, CANARIES, "refused")
    expect(page.locator('[data-state="refused"]')).to_contain_text("ask only up to a limit")
    assert collector.stored(survey, 2) == 0


def test_next_wave_is_answered_with_a_new_report(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    answer(page, CANARIES)
    collector.open_wave(survey, 2)
    page.reload()
    answer(page, CANARIES)
    assert len(set(device.posted())) == 2
    (row,) = collector.ledger(survey)
    assert (row["waves"], row["epsilon_sum"]) == ("2", "10")


def test_device_stays_closed_once_its_cap_is_spent(device: Device, collector: Collector) -> None:
    survey = collector.publish(TIGHT)
    page = device.visit(collector.page(survey))
    answer(page, CANARIES)
    collector.open_wave(survey, 2)
    page.reload()
    expect_closed(page, "spent")
    assert len(device.posted()) == 1


def test_survey_opens_for_the_next_wave_after_the_last_report_was_sent_late(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, CANARIES, "waiting")
    page.close()
    collector.open_wave(survey, 2)
    device.context.unroute(REPORTS)
    answer(device.visit(collector.page(survey)), CANARIES)
    assert collector.stored(survey, 2) == 1


def test_tab_of_an_earlier_wave_draws_nothing_over_the_cap(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(TIGHT)
    first, second = two_tabs(device, collector, survey)
    press(second)
    expect_state(second, "stored")
    press(first)
    first.wait_for_timeout(500)
    assert memo(first, survey)["spent"] <= 9_000_000
    assert len(device.posted()) == 1


def test_report_that_waits_is_not_lost_to_the_next_wave(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    first, second = two_tabs(device, collector, survey)
    press(first)
    expect_state(first, "waiting")
    waiting = device.posted()[0].decode()
    press(second)
    second.wait_for_timeout(500)
    assert json.dumps(waiting)[1:-1] in json.dumps(memo(second, survey))


def test_three_reports_of_a_tenth_fit_into_three_tenths_and_no_fourth(
    device: Device, collector: Collector
) -> None:
    head, first, *_ = TIGHT.replace("cap = 9", "cap = 0.3").split("[[questions]]")
    first = first.replace("epsilon = 1", "epsilon = 0.1")
    survey = collector.publish(f"{head}[[questions]]{first}")
    page = device.visit(collector.page(survey))
    for wave in (1, 2, 3):
        collector.open_wave(survey, wave)
        page.reload()
        expect_state(page, "ready")
        review(page)
        press(page)
        expect_state(page, "stored")
    assert memo(page, survey)["spent"] == 300_000
    collector.open_wave(survey, 4)
    page.reload()
    expect_closed(page, "spent")
    assert len(device.posted()) == 3


def test_of_two_tabs_that_race_for_the_last_of_the_cap_one_draws(
    device: Device, collector: Collector
) -> None:
    # Tabs are processes, so the test is about what happens at the same time.
    survey = collector.publish(TIGHT)
    tabs = two_tabs(device, collector, survey)
    soon = "Math.ceil(Date.now() / 500) * 500 + 500 - Date.now()"
    for tab in tabs:
        tab.evaluate(f"setTimeout(() => document.querySelector('#send').click(), {soon})")
    # The first tab shows the wave that was closed since: if it draws, its report waits.
    states = "stored", "answered", "refused", "spent", "waiting"
    ended = ", ".join(f'[data-state="{state}"]:visible' for state in states)
    for tab in tabs:
        expect(tab.locator(ended)).to_have_count(1)
    found = memo(tabs[0], survey)
    assert found["spent"] == 5_000_000
    assert len(found["waves"]) == len(set(device.posted())) == 1


def test_report_of_a_wave_that_was_closed_meanwhile_waits_until_it_is_opened_again(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, CANARIES, "waiting")
    page.close()  # otherwise it would try again, and be the one that sends
    device.context.unroute(REPORTS)
    collector.open_wave(survey, 2)
    page = device.visit(collector.page(survey))
    expect(page.locator("#earlier-wait")).to_contain_text("1")
    expect_state(page, "ready")
    assert collector.stored(survey) == 0
    page.close()
    collector.open_wave(survey, 1)
    page = device.visit(collector.page(survey))
    expect_state(page, "stored")
    assert collector.stored(survey) == 1
    assert len(set(device.posted())) == 1
