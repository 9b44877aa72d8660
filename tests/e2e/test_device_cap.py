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
    expect(told).to_contain_text("this one alone and all together")
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


def test_of_two_surveys_that_race_for_the_last_of_a_device_one_draws(
    device: Device, collector: Collector
) -> None:
    limited = SURVEY.replace("[privacy]", "[privacy]\ndevice_cap = 9")
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
