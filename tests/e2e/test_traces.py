"""What a device tells of a survey after its traces were removed: nothing, and no ε is forgotten."""

import json
from collections.abc import Callable

import pytest
from collector import Collector
from device import READ_MEMO, SURVEY, Device, answer, expect_state
from playwright.sync_api import Page, Route, expect

REPORTS = "**/api/surveys/*/reports"
ANSWERS = {"smoked": "no", "team": "lab", "debts": "12"}
REMEMBERS = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)


def kept(page: Page) -> str:
    """Return all that the device keeps, and what the tab itself holds."""
    return json.dumps(page.evaluate(READ_MEMO)) + str(page.evaluate("window.name"))


@pytest.mark.parametrize("text", [SURVEY, REMEMBERS], ids=["fresh", "memory"])
def test_removed_traces_tell_no_survey_and_forget_no_epsilon(
    device: Device, collector: Collector, text: str
) -> None:
    survey = collector.publish(text)
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
    assert "Canteen" not in kept(page)
    page.close()
    collector.open_wave(survey, 2)
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS)
    second = json.loads(device.posted()[-1])
    assert second["respondent"] == first["respondent"]
    (row,) = collector.ledger(survey)
    (record,) = [one for key, one in page.evaluate(READ_MEMO).items() if key != "secret"]
    # The server knows how often a memory was used; the device charges never less than that.
    assert record["spent"] >= round(1e6 * float(row["epsilon_sum"])) > spent


def test_traces_stay_while_a_report_waits(
    device: Device, collector: Collector, new_device: Callable[..., Device]
) -> None:
    survey = collector.publish(SURVEY)
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    answer(page, ANSWERS, "waiting")
    expect(page.locator("#traces")).to_be_hidden()
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
