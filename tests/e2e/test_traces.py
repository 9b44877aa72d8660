"""What a device tells of a survey after its traces were removed: nothing, and no ε is forgotten."""

import json
from collections.abc import Callable

import pytest
from collector import Collector
from device import READ_MEMO, SURVEY, Device, answer, expect_state, fill_in, press, review
from playwright.sync_api import Page, Route, expect

REPORTS = "**/api/surveys/*/reports"
ANSWERS = {"smoked": "no", "team": "lab", "debts": "12"}
REMEMBERS = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)


def kept(page: Page) -> str:
    """Return all that the device keeps, and what the tab itself holds."""
    return json.dumps(page.evaluate(READ_MEMO)) + str(page.evaluate("window.name"))


def test_removed_traces_tell_no_survey_and_forget_no_epsilon(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY)
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS)
    first = json.loads(device.posted()[0])
    spent = page.evaluate(READ_MEMO)[f"survey/{survey}"]["spent"]
    page.locator("#remove-traces").click()
    expect_state(page, "removed")
    for trace in ("canteen", "Canteen", first["rid"], first["respondent"], "smoked"):
        assert trace not in kept(page), trace
    expect(page.locator("#receipt")).to_be_hidden()
    page.close()
    me = device.visit(f"{collector.url}/me")
    expect(me.locator("#surveys")).to_contain_text("A survey whose traces were removed")
    expect(me.locator("#surveys a")).to_be_hidden()
    me.close()
    # The device still knows that it has answered, and goes on with its pseudonym and what it spent.
    page = device.visit(collector.page(survey))
    expect_state(page, "answered")
    expect(page.locator("#receipt-rid")).to_be_hidden()
    expect(page.locator("#remove-traces")).to_be_hidden()
    assert "Canteen" not in kept(page)
    page.close()
    collector.open_wave(survey, 2)
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS)
    second = json.loads(device.posted()[-1])
    assert second["respondent"] == first["respondent"]
    (row,) = collector.ledger(survey)
    (record,) = [one for key, one in page.evaluate(READ_MEMO).items() if key != "secret"]
    assert record["spent"] == round(1e6 * float(row["epsilon_sum"])) == 2 * spent


@pytest.mark.parametrize("by", ["a double press", "another tab"])
def test_traces_that_are_removed_twice_leave_what_was_spent(
    device: Device, collector: Collector, by: str
) -> None:
    survey = collector.publish(SURVEY)
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS)
    other = device.visit(collector.page(survey))
    expect_state(other, "answered")
    if by == "a double press":
        page.locator("#remove-traces").dblclick()
    else:
        page.locator("#remove-traces").click()
        expect_state(page, "removed")
        other.locator("#remove-traces").click()
        expect_state(other, "removed")
    expect_state(page, "removed")
    (record,) = [one for key, one in page.evaluate(READ_MEMO).items() if key != "secret"]
    assert (record["spent"], list(record["waves"])) == (5_000_000, ["1"])
    page.reload()
    expect_state(page, "answered")


def test_report_that_another_tab_draws_after_the_traces_are_gone_is_sent_once(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(SURVEY)
    first = device.visit(collector.page(survey))
    answer(first, ANSWERS)
    collector.open_wave(survey, 2)
    second = device.visit(collector.page(survey))
    fill_in(second, ANSWERS)
    review(second)
    first.locator("#remove-traces").click()
    expect_state(first, "removed")
    device.context.route(REPORTS, lambda route: route.abort())
    press(second)
    expect_state(second, "waiting")
    second.close()
    device.context.unroute(REPORTS)
    # Reports of earlier waves are sent from wherever the record is.
    collector.open_wave(survey, 3)
    collector.open_wave(survey, 2)
    page = device.visit(collector.page(survey))
    expect_state(page, "stored")
    (record,) = [one for key, one in page.evaluate(READ_MEMO).items() if key != "secret"]
    assert (record["spent"], list(record["waves"])) == (10_000_000, ["1", "2"])
    assert len(collector.ledger(survey)) == 1


def test_survey_with_a_memory_offers_no_removal_since_its_uses_have_to_be_counted(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(REMEMBERS)))
    answer(page, ANSWERS)
    expect(page.locator("#remove-traces")).to_have_count(0)


def test_traces_stay_while_a_report_waits(
    device: Device, collector: Collector, new_device: Callable[..., Device]
) -> None:
    survey = collector.publish(SURVEY)
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS, "waiting")
    expect(page.locator("#remove-traces")).to_be_hidden()
    page.close()
    first = json.loads(device.posted()[0])["rid"]
    collector.open_wave(survey, 2)
    device.context.unroute(REPORTS)

    def without_the_first(route: Route) -> None:
        if first in (route.request.post_data or ""):
            route.abort()
        else:
            route.continue_()

    device.context.route(REPORTS, without_the_first)
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS)
    page.locator("#remove-traces").click()
    expect(page.locator("#traces-wait")).to_be_visible()
    assert first in kept(page)
    expect_state(page, "stored")


def test_a_shared_device_offers_no_removal_since_it_keeps_nothing(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(f"{SURVEY}\n[page]\nkiosk = true\n")))
    answer(page, ANSWERS)
    expect(page.locator("#remove-traces")).to_have_count(0)
