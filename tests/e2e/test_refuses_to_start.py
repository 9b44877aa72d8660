"""A page that cannot protect answers says so and stays closed."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from collector import Collector
from device import Device, expect_closed, survey_data
from playwright.sync_api import Route, expect

from analysis.survey.survey import version_of


def nearer(data: dict[str, Any]) -> None:
    data["randomizers"]["team"]["channel"]["near"] -= 1
    data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})


def dearer(data: dict[str, Any]) -> None:
    randomizer = data["randomizers"]["team"]
    randomizer["channel"] |= {"near": 30, "far": 1}
    randomizer["ratio"] = ["30", "1"]
    data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})


def slightly_dearer(data: dict[str, Any]) -> None:
    randomizer = data["randomizers"]["team"]
    randomizer["channel"] |= {"near": 4, "far": 1}  # ε = log(4) = 1.39
    randomizer["ratio"] = ["4", "1"]
    data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})


def other_version(data: dict[str, Any]) -> None:
    data["version"] = "0" * 64


def other_survey(data: dict[str, Any]) -> None:
    data["survey"]["privacy"]["cap"] = 1000


def other_protocol(data: dict[str, Any]) -> None:
    data["protocol"] = "deniable-2"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_protocol, "expected deniable-1"),
        (nearer, "ratio must be"),
        (dearer, '"team" expected ε of 1'),
        (slightly_dearer, '"team" expected ε of 1'),
        (other_version, '"version" expected'),
        (other_survey, '"version" expected'),
    ],
)
def test_page_refuses_to_start_with_numbers_that_do_not_fit(
    device: Device,
    collector: Collector,
    survey: str,
    change: Callable[[dict[str, Any]], None],
    says: str,
) -> None:
    def rewrite(route: Route) -> None:
        response = route.fetch()
        text, data = survey_data(response.text())
        changed = copy.deepcopy(data)
        change(changed)
        route.fulfill(response=response, body=response.text().replace(text, json.dumps(changed)))

    device.context.route("**/s/*", rewrite)
    page = device.visit(collector.page(survey))
    expect_closed(page, "broken")
    expect(page.locator("#error code")).to_contain_text(says)
    expect(page.locator('[data-state="broken"]')).not_to_contain_text(says)
    assert device.posted() == []


@pytest.mark.provokes("Cross-Origin-Opener-Policy")
def test_page_on_an_insecure_address_stays_closed(
    device: Device, collector: Collector, survey: str
) -> None:
    def serve(route: Route) -> None:
        path = route.request.url.removeprefix("http://survey.test")
        route.fulfill(response=route.fetch(url=collector.url + path))

    device.context.route("http://survey.test/**", serve)
    expect_closed(device.visit(f"http://survey.test/s/{survey}"), "insecure")
    assert device.posted() == []


@pytest.mark.provokes("full")
@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(window, 'indexedDB', {get() { throw new Error('denied'); }});",
        "IDBObjectStore.prototype.put = () => { throw new Error('full'); };",
        "Object.defineProperty(window, 'indexedDB', {value: undefined});",
    ],
    ids=["storage denied", "storage full", "no storage"],
)
def test_page_that_can_keep_nothing_stays_closed(
    device: Device, collector: Collector, survey: str, broken: str
) -> None:
    device.context.add_init_script(broken)
    page = device.visit(collector.page(survey))
    expect_closed(page, "unstored")
    expect(page.locator('[data-state="unstored"]')).to_contain_text("private window")
    expect(page.locator("#error code")).not_to_be_empty()
    assert device.posted() == []
