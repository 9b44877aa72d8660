"""One press makes one draw: the same bytes are sent until the server has them."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import (
    CANARIES,
    COST,
    SURVEY,
    Device,
    answer,
    expect_closed,
    expect_state,
    fill_in,
    press,
    review,
)
from playwright.sync_api import Page, Route, expect

REPORTS = "**/api/surveys/*/reports"


def ready_to_press(page: Page) -> Page:
    """Return a page that is answered and reviewed."""
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    review(page)
    return page


def check_stored_once(device: Device, collector: Collector, survey: str, sent: int) -> None:
    """Check that this many requests had the same bytes, and one report is stored and charged."""
    bodies = device.posted()
    assert len(bodies) == sent
    assert len(set(bodies)) == 1
    assert collector.stored(survey) == 1
    (row,) = collector.ledger(survey)
    assert row["epsilon_sum"] == COST


def test_double_click_sends_one_report(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    ready_to_press(page).locator("#send").dblclick()
    expect_state(page, "stored")
    check_stored_once(device, collector, survey, sent=1)


def test_many_presses_by_program_send_one_report(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    button = ready_to_press(page).locator("#send")
    button.evaluate(
        "(button) => { for (let press = 0; press < 9; press += 1)"
        " button.dispatchEvent(new MouseEvent('click')); }"
    )
    # Some of the presses find the report stored already, and may be the last to say so.
    expect(page.locator("#receipt")).to_be_visible()
    page.wait_for_timeout(300)
    check_stored_once(device, collector, survey, sent=len(device.posted()))


def test_reload_after_a_lost_response_sends_the_same_bytes(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    def lose_response(route: Route) -> None:
        assert route.fetch(post_data=device.posted()[-1]).status in (201, 200)
        route.abort()

    page.route(REPORTS, lose_response)
    press(ready_to_press(page))
    expect_state(page, "waiting")
    page.unroute(REPORTS)
    page.reload()
    expect_state(page, "stored")
    assert len(device.posted()) > 1
    check_stored_once(device, collector, survey, sent=len(device.posted()))


def test_report_made_without_a_connection_is_sent_when_it_is_back(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    ready_to_press(page)
    device.context.set_offline(True)
    press(page)
    expect_state(page, "waiting")
    device.context.set_offline(False)
    expect_state(page, "stored")
    check_stored_once(device, collector, survey, sent=len(device.posted()))


def test_report_that_waited_is_sent_from_a_page_opened_later(
    device: Device, collector: Collector, survey: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    press(ready_to_press(page))
    expect_state(page, "waiting")
    page.close()
    device.context.unroute(REPORTS)
    expect_state(device.visit(collector.page(survey)), "stored")
    check_stored_once(device, collector, survey, sent=len(device.posted()))


@pytest.mark.more
def test_tabs_that_are_pressed_at_the_same_moment_send_the_same_report(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    # Tabs are processes, so the test is about what happens at the same time.
    for _ in range(2):
        device, survey = new_device(), collector.publish(SURVEY)
        tabs = [ready_to_press(device.visit(collector.page(survey))) for _ in range(4)]
        soon = "Math.ceil(Date.now() / 500) * 500 + 500 - Date.now()"
        for tab in tabs:
            tab.evaluate(f"setTimeout(() => document.querySelector('#send').click(), {soon})")
        for tab in tabs:
            expect(tab.locator("#receipt")).to_be_visible()
        check_stored_once(device, collector, survey, sent=len(device.posted()))
        assert len({tab.locator("#receipt-rid").text_content() for tab in tabs}) == 1


def test_tab_left_open_sends_nothing_more(
    device: Device, collector: Collector, survey: str
) -> None:
    first, second = (ready_to_press(device.visit(collector.page(survey))) for _ in range(2))
    press(first)
    expect_state(first, "stored")
    press(second)
    expect_state(second, "answered")
    check_stored_once(device, collector, survey, sent=1)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_server_gets_the_same_bytes_again(
    page: Page, device: Device, collector: Collector, survey: str, status: int
) -> None:
    page.route(
        REPORTS, lambda route: route.fulfill(status=status, headers={"Retry-After": "600"}), times=1
    )
    page.clock.install()
    press(ready_to_press(page))
    expect_state(page, "waiting")
    page.clock.run_for(500_000)
    assert len(device.posted()) == 1
    page.clock.run_for(100_000)
    expect_state(page, "stored")
    check_stored_once(device, collector, survey, sent=2)


def test_refused_report_is_not_sent_again(page: Page, device: Device) -> None:
    why = '{"type": "urn:deniable:problem:cap-exceeded", "detail": "respondent: too much"}'
    page.route(
        REPORTS,
        lambda route: route.fulfill(status=409, body=why, content_type="application/problem+json"),
    )
    press(ready_to_press(page))
    expect_state(page, "refused")
    expect(page.locator('[data-state="refused"]')).to_contain_text("ask only up to a limit")
    page.reload()
    expect_closed(page, "answered")
    assert len(device.posted()) == 1


def test_device_that_has_answered_says_so_and_sends_nothing(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    answer(page, CANARIES)
    number = page.locator("#receipt-rid").text_content()
    page.reload()
    expect_closed(page, "answered")
    expect(page.locator("#receipt-rid")).to_have_text(number or "")
    check_stored_once(device, collector, survey, sent=1)


def test_draw_that_cannot_be_kept_is_not_sent_and_the_next_press_is_the_first(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    ready_to_press(page)
    page.evaluate(
        """() => {
          const { put } = IDBObjectStore.prototype;
          IDBObjectStore.prototype.put = function fail(value, key) {
            if (key === 'secret') return put.call(this, value, key);
            IDBObjectStore.prototype.put = put;
            throw new Error('full');
          };
        }"""
    )
    press(page)
    expect_state(page, "unkept")
    assert device.posted() == []
    expect(page.locator("#review dd:not(:has(.link))")).to_have_count(4)
    press(page)
    expect_state(page, "stored")
    check_stored_once(device, collector, survey, sent=1)


def test_other_device_is_another_respondent(
    new_device: Callable[..., Device], collector: Collector, survey: str
) -> None:
    for _ in range(2):
        answer(new_device().visit(collector.page(survey)), CANARIES)
    assert [row["epsilon_sum"] for row in collector.ledger(survey)] == [COST, COST]
