"""The button "Exit this page" leaves the page at once, before somebody who comes up can read it."""

from typing import Any

import pytest
from collector import Collector
from device import SURVEY, Device, answer, begin, expect_state, fill_in, review
from playwright.sync_api import Page, expect

ANSWERS = {"smoked": "yes", "team": "lab", "debts": "73914682"}


def asked(collector: Collector, address: str) -> str:
    return collector.page(collector.publish(f'{SURVEY}\n[page]\nexit = "{address}"\n'))


def held(page: Page) -> Any:
    """Return how many fields hold an answer."""
    return page.evaluate(
        "[...document.querySelectorAll('#answers input')]"
        ".filter((one) => (one.type === 'text' ? one.value : one.checked)).length"
    )


@pytest.mark.parametrize("place", ["questions", "review"])
def test_exit_leaves_at_once_sends_nothing_and_the_page_is_empty_again(
    device: Device, collector: Collector, place: str
) -> None:
    address = asked(collector, "about:blank")
    page = device.visit(address)
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    assert held(page) > 0
    if place == "review":
        review(page)
    page.locator("#exit").click()
    page.wait_for_url("about:blank")
    # "Back" leads to an earlier step of the survey, where no answer is.
    page.go_back()
    assert page.url == address
    expect_state(page, "ready")
    assert held(page) == 0
    page.reload()
    expect_state(page, "ready")
    assert held(page) == 0
    assert device.posted() == []
    assert not any("73914682" in line for line in device.console)


def test_exit_leads_to_the_address_that_the_survey_froze(
    device: Device, collector: Collector
) -> None:
    page = device.visit(asked(collector, f"{collector.url}/healthz"))
    expect_state(page, "ready")
    begin(page)
    page.locator("#exit").click()
    page.wait_for_url("**/healthz")


def test_exit_while_a_report_is_sent_draws_nothing_twice(
    device: Device, collector: Collector
) -> None:
    address = asked(collector, "about:blank")
    device.context.route("**/reports", lambda route: route.abort())
    page = device.visit(address)
    answer(page, ANSWERS, "waiting")
    page.locator("#exit").click()
    page.wait_for_url("about:blank")
    device.context.unroute("**/reports")
    page.goto(address)
    expect_state(page, "stored")
    assert len(set(device.posted())) == 1
    expect(page.locator("#sent")).to_be_hidden()
