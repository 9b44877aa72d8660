"""The pages can be used by everybody: on a phone, in the dark, with a screen reader, by touch."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from collector import Collector
from device import CANARIES, SURVEY, Device, expect_closed, expect_state, fill_in, press, review
from playwright.sync_api import Browser, Page

PHONE = {"width": 360, "height": 640}
DESKTOP = {"width": 1280, "height": 800}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
HELPFUL = SURVEY.replace('text = "Did', 'help = "Even once."\nsection = "Health"\ntext = "Did', 1)
#: Elements that reach over the side of the window, by themselves or through the page.
_WIDER = """() => {
  const limit = document.documentElement.clientWidth;
  const scrolls = (element) => element.closest('.scroll') !== null;
  const over = [...document.querySelectorAll('body *')].filter((element) =>
    !scrolls(element) && element.getBoundingClientRect().right > limit + 0.5);
  return [document.documentElement.scrollWidth > limit ? 'page' : null,
    ...over.map((element) => element.outerHTML.slice(0, 80))].filter(Boolean);
}"""


@pytest.fixture(params=["phone", "desktop", "phone-dark", "desktop-dark"])
def looks(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How a device shows pages; axe is let in past the pages' policy."""
    size, _, dark = request.param.partition("-")
    return {
        "viewport": PHONE if size == "phone" else DESKTOP,
        "color_scheme": "dark" if dark else "light",
        "bypass_csp": True,
    }


@pytest.fixture(scope="module")
def answered(browser: Browser, collector: Collector) -> str:
    """A survey that two have answered."""
    survey = collector.publish(HELPFUL)
    for _ in range(2):
        device = Device(browser)
        page = device.visit(collector.page(survey))
        expect_state(page, "ready")
        fill_in(page, CANARIES)
        review(page)
        press(page)
        expect_state(page, "stored")
        device.context.close()
    return survey


def check_accessible(page: Page) -> None:
    """axe finds no violation of WCAG 2.2 A and AA; nothing is wider than the window."""
    for summary in page.locator("summary:visible").all():
        if summary.evaluate("(one) => !one.parentElement.open"):
            summary.click()
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    violations = Axe().run(page, options=RULES).response["violations"]
    found = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in violations]
    assert found == []
    assert page.evaluate(_WIDER) == []


def check_targets(page: Page) -> None:
    """What is pressed is at least 44 pixels high."""
    targets = page.locator(".option:visible, button:visible, summary:visible, select:visible")
    assert targets.count() > 0
    for target in targets.all():
        box = target.bounding_box()
        assert box is not None
        assert box["height"] >= 44, target.inner_text()


def check_quiet(device: Device, collector: Collector) -> None:
    """No line in the console, and no request to another host."""
    assert device.console == []
    for request in device.requests:
        assert request.url.startswith((f"{collector.url}/", "data:,")), request.url


def test_survey_page_is_accessible_in_every_state(
    new_device: Callable[..., Device], collector: Collector, looks: dict[str, Any]
) -> None:
    device = new_device(**looks)
    page = device.visit(collector.page(collector.publish(HELPFUL)))
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    check_accessible(page)
    check_targets(page)
    review(page)
    check_accessible(page)
    check_targets(page)
    press(page)
    expect_state(page, "stored")
    check_accessible(page)
    page.reload()
    expect_closed(page, "answered")
    check_accessible(page)
    check_quiet(device, collector)


def test_results_page_is_accessible(
    new_device: Callable[..., Device], collector: Collector, answered: str, looks: dict[str, Any]
) -> None:
    bearer = {"Authorization": f"Bearer {collector.token}"}
    device = new_device(**looks, extra_http_headers=bearer)
    page = device.visit(f"{collector.url}/results/{answered}")
    assert page.locator("figure svg").count() >= 4
    check_accessible(page)
    check_quiet(device, collector)


def test_survey_works_under_its_own_policy_without_a_word_in_the_console(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    check_targets(page)
    check_quiet(device, collector)


def test_results_work_under_their_own_policy_without_a_word_in_the_console(
    new_device: Callable[..., Device], collector: Collector, answered: str
) -> None:
    device = new_device(extra_http_headers={"Authorization": f"Bearer {collector.token}"})
    device.visit(f"{collector.url}/results/{answered}")
    check_quiet(device, collector)


def test_axe_does_find_what_is_wrong(device: Device) -> None:
    page = device.context.new_page()
    page.set_content('<html lang="en"><title>x</title><main><h1>x</h1><input></main>')
    with pytest.raises(AssertionError, match="label"):
        check_accessible(page)


def test_focus_moves_with_the_page(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    focused = "document.activeElement.textContent"
    review(page)
    assert page.evaluate(focused) == "Your answers"
    page.get_by_role("button", name="Change my answers").click()
    assert page.evaluate(focused) == "Questions"
    review(page)
    press(page)
    expect_state(page, "stored")
    assert page.evaluate(focused) == "Your receipt"
