"""Nothing can be sent unless the page's own program runs, unchanged and able to protect."""

from collections.abc import Callable

import pytest
from collector import Collector, Relay
from device import CANARIES, SURVEY, Device, expect_state
from page_errors import INTEGRITY, MODULE
from playwright.sync_api import Page, Route, expect
from watchers import check_bytes

MakeRelay = Callable[[Collector], Relay]
#: Opens the form as somebody with the browser's developer tools could, and answers.
FORCE = """() => {
  document.querySelector('#controls').disabled = false;
  for (const part of document.querySelectorAll('#answers [hidden]')) part.hidden = false;
  document.querySelector('#smoked--yes').checked = true;
  document.querySelector('#pet--zebra-canary').checked = true;
  document.querySelector('#team--lab').checked = true;
  document.querySelector('#debts--number').value = '73914682';
}"""


def try_to_answer(page: Page) -> None:
    """Do what a respondent can do on a page whose program does not run."""
    expect(page.locator("#controls")).to_have_js_property("disabled", True)
    page.locator("#begin").click(force=True, no_wait_after=True)
    for part in page.locator("#answers [data-page][hidden]").all():
        part.evaluate("(part) => { part.hidden = false; }")
    page.locator("#smoked--yes").click(force=True, no_wait_after=True)
    page.locator("#debts--number").click(force=True, no_wait_after=True)
    page.keyboard.type(CANARIES["debts"])
    page.keyboard.press("Enter")
    page.locator('#answers [type="submit"]').click(force=True, no_wait_after=True)
    page.wait_for_timeout(200)
    expect(page.locator("#debts--number")).to_have_value("")


def check_silent(device: Device, relay: Relay) -> None:
    """Check that the browser asked for one page and its files, and sent no answer."""
    for method, target in relay.targets():
        assert method == "GET", f"{method} {target}"
        assert "?" not in target, f"{method} {target}"
    assert sum(target.startswith("/s/") for _, target in relay.targets()) == 1
    assert len([one for one in device.requests if one.is_navigation_request()]) == 1
    check_bytes(bytes(relay.sent))


def block(device: Device, name: str) -> None:
    """Keep one module from the device's pages."""
    device.context.route(f"**/client/{name}", lambda route: route.abort())


def without_javascript(new_device: Callable[..., Device]) -> Device:
    return new_device(java_script_enabled=False)


def without_module(new_device: Callable[..., Device]) -> Device:
    device = new_device()
    block(device, "page/survey.js")
    return device


def without_import(new_device: Callable[..., Device]) -> Device:
    device = new_device()
    block(device, "channels.js")
    return device


WAYS = [without_javascript, without_module, without_import]


@pytest.mark.provokes(MODULE)
@pytest.mark.parametrize("way", WAYS)
def test_form_without_its_program_sends_nothing(
    new_device: Callable[..., Device],
    collector: Collector,
    survey: str,
    relay: MakeRelay,
    way: Callable[[Callable[..., Device]], Device],
) -> None:
    wire, device = relay(collector), way(new_device)
    try_to_answer(device.visit(f"{wire.url}/s/{survey}"))
    check_silent(device, wire)


def test_page_without_javascript_says_what_it_needs(
    new_device: Callable[..., Device], collector: Collector, survey: str
) -> None:
    page = without_javascript(new_device).visit(collector.page(survey))
    assert "It needs JavaScript" in (page.locator("noscript").text_content() or "")


@pytest.mark.provokes(MODULE)
def test_watcher_catches_a_form_served_open_and_without_the_policy(
    device: Device, collector: Collector, survey: str, relay: MakeRelay
) -> None:
    def careless(route: Route) -> None:
        response = route.fetch()
        headers = {**response.headers}
        del headers["content-security-policy"]
        body = response.text().replace('id="controls" disabled', 'id="controls"')
        body = body.replace(' method="dialog"', "")
        route.fulfill(response=response, headers=headers, body=body)

    wire = relay(collector)
    block(device, "page/survey.js")
    device.context.route("**/s/*", careless, times=1)
    page = device.visit(f"{wire.url}/s/{survey}")
    page.evaluate(FORCE)
    page.locator('#answers [type="submit"]').click()
    page.wait_for_url("**/s/*?*")
    with pytest.raises(AssertionError, match=CANARIES["debts"]):
        check_silent(device, wire)


@pytest.mark.provokes("broken", INTEGRITY)
@pytest.mark.parametrize("name", ["page/survey.js", "channels.js"])
def test_program_that_throws_leaves_the_form_closed(
    device: Device, serve_client: Callable[..., Collector], relay: MakeRelay, name: str
) -> None:
    first = {"page/survey.js": "import { shown"}.get(name, "export")
    served = serve_client((name, first, f"throw new Error('broken');\n{first}"))
    survey, wire = served.publish(SURVEY), relay(served)
    try_to_answer(device.visit(f"{wire.url}/s/{survey}"))
    check_silent(device, wire)


@pytest.mark.provokes(INTEGRITY)
@pytest.mark.parametrize("name", ["page/survey.js", "channels.js"])
def test_module_with_other_bytes_is_refused_by_the_browser(
    device: Device, collector: Collector, survey: str, relay: MakeRelay, name: str
) -> None:
    def tamper(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text() + "\n// one more line\n")

    wire = relay(collector)
    device.context.route(f"**/client/{name}", tamper)
    try_to_answer(device.visit(f"{wire.url}/s/{survey}"))
    check_silent(device, wire)
    assert any("integrity" in line for line in device.console)


@pytest.mark.provokes(MODULE)
@pytest.mark.parametrize(
    "name", ["exact.js", "page/survey.js", "optional/numbers.js", "optional/kiosk.js"]
)
def test_module_that_was_not_loaded_closes_the_page_and_can_be_loaded_again(
    device: Device, collector: Collector, name: str
) -> None:
    # Without this module, nothing would empty a shared device.
    survey = collector.publish(f"{SURVEY}\n[page]\nkiosk = true\n")
    fails = True

    def refuse(route: Route) -> None:
        if fails:
            route.abort()
        else:
            route.continue_()

    device.context.route(f"**/client/{name}", refuse)
    page = device.visit(f"{collector.page(survey)}#end-of-the-link")
    advice = page.locator(".panel", has_text="has not started yet")
    # The style alone would show the text after eight seconds, and no button.
    expect(page.locator("#load-again")).to_be_visible()
    expect(advice).to_be_visible()
    expect(page.locator("#controls")).to_have_js_property("disabled", True)
    fails = False
    page.locator("#load-again").click()
    expect_state(page, "ready")
    assert page.url.endswith("#end-of-the-link")
