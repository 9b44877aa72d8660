"""A device stops at its limit over all surveys of an address (`device_cap`)."""

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
from playwright.sync_api import expect


def test_a_device_stops_at_its_limit_over_all_surveys_of_the_address(
    device: Device, collector: Collector
) -> None:
    limited = SURVEY.replace("[privacy]", "[privacy]\ndevice_cap = 9.999999")
    first, second, free = (collector.publish(text) for text in (limited, limited, SURVEY))
    answer(device.visit(collector.page(first)), CANARIES)
    page = device.visit(collector.page(second))
    expect_closed(page, "spent")
    told = page.locator('[data-state="spent"]')
    expect(told).to_contain_text("all surveys of this address together")
    assert len(device.posted()) == 1
    # A survey without such a limit is answered, and what it costs counts for the others.
    answer(device.visit(collector.page(free)), CANARIES)
    # What another survey cost cannot be read, so nobody can tell.
    page.evaluate(WRITE_MEMO, [f"survey/{first}", {"spent": "5"}])
    page.reload()
    expect_closed(page, "damaged")
    page.evaluate(WRITE_MEMO, [f"survey/{first}", None])
    page.evaluate(WRITE_MEMO, [f"survey/{free}", None])
    page.reload()
    answer(page, CANARIES)
    assert len(device.posted()) == 3


def test_a_device_may_spend_all_of_its_limit(device: Device, collector: Collector) -> None:
    exact = SURVEY.replace("[privacy]", "[privacy]\ndevice_cap = 10")
    for name in [collector.publish(exact) for _ in range(2)]:
        answer(device.visit(collector.page(name)), CANARIES)
    expect_closed(device.visit(collector.page(collector.publish(exact))), "spent")
    assert len(device.posted()) == 2


def test_the_receipt_says_what_is_left_of_the_smaller_limit(
    device: Device, collector: Collector
) -> None:
    for most, left in ((11.5, "6.5"), (11.5, "1.5"), (30, "7")):
        limited = SURVEY.replace("[privacy]", f"[privacy]\ndevice_cap = {most}")
        page = device.visit(collector.page(collector.publish(limited)))
        answer(page, CANARIES)
        spent = f"ε = 5 of at most 12; {left} are left."
        expect(page.locator("#receipt")).to_contain_text(spent)
        page.reload()
        expect_state(page, "answered")
        expect(page.locator("#receipt")).to_contain_text(spent)


def test_a_page_that_was_open_before_draws_nothing_beyond_the_limit(
    device: Device, collector: Collector
) -> None:
    limited = SURVEY.replace("[privacy]", "[privacy]\ndevice_cap = 9.999999")
    names = [collector.publish(limited) for _ in range(2)]
    tabs = [device.visit(collector.page(name)) for name in names]
    for tab in tabs:
        expect_state(tab, "ready")
        fill_in(tab, CANARIES)
        review(tab)
    press(tabs[0])
    expect_state(tabs[0], "stored")
    press(tabs[1])
    expect_state(tabs[1], "spent")
    assert len(device.posted()) == 1
    assert tabs[0].evaluate(READ_MEMO)[f"survey/{names[0]}"]["spent"] == 5_000_000


def test_a_report_that_waits_goes_although_another_survey_is_damaged(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY.replace("[privacy]", "[privacy]\ndevice_cap = 20"))
    device.context.route("**/reports", lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, CANARIES, "waiting")
    page.evaluate(WRITE_MEMO, ["survey/another", {"spent": "5"}])
    device.context.unroute("**/reports")
    page.reload()
    expect_state(page, "stored")
    collector.open_wave(survey, 2)
    page.reload()
    expect_closed(page, "damaged")
    assert collector.stored(survey) == 1
