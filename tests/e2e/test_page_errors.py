"""The watcher of all browser tests sees what goes wrong in a page, and only that."""

import pytest
from collector import Collector
from device import Device, wait_for
from page_errors import check_errors
from playwright.sync_api import Page

from server.pages.browser_files import CLIENT

#: What goes wrong, and what a page then runs.
WRONG = {
    "policy": "new Image().src = 'https://elsewhere.invalid/x'",
    "error": "setTimeout(() => { throw new Error('wrong'); })",
    "rejection": "Promise.reject(new Error('wrong'))",
    "line": "console.error('wrong')",
}
#: What tests look at, and programs expect.
USUAL = {
    "answer": "fetch('/api/surveys/no-such-survey')",
    "line": "console.log('usual')",
}


@pytest.mark.parametrize("script", WRONG.values(), ids=WRONG)
def test_watcher_sees(page: Page, device: Device, script: str) -> None:
    page.evaluate(f"() => {{ {script}; }}")
    wait_for(page, lambda: device.console)
    with pytest.raises(AssertionError, match=r"elsewhere\.invalid|wrong"):
        check_errors((), must_come=False)


@pytest.mark.parametrize("failure", ["cut", "tampered"])
def test_watcher_sees_a_module_that_is(
    device: Device, collector: Collector, survey: str, failure: str
) -> None:
    text = (CLIENT / "memo.js").read_text() + "\n"
    device.context.route(
        "**/client/memo.js",
        lambda route: route.abort() if failure == "cut" else route.fulfill(body=text),
    )
    page = device.visit(collector.page(survey))
    wait_for(page, lambda: device.console)
    with pytest.raises(AssertionError, match=r"memo\.js"):
        check_errors((), must_come=False)


@pytest.mark.parametrize("script", USUAL.values(), ids=USUAL)
def test_watcher_is_quiet_about(page: Page, collector: Collector, script: str) -> None:
    page.evaluate(f"async () => {{ await {script}; }}")
    page.goto(f"{collector.url}/no-such-page")
    check_errors((), must_come=False)


def test_what_is_provoked_must_come(page: Page) -> None:
    wait_for(page, lambda: page.title())
    with pytest.raises(AssertionError, match="got none"):
        check_errors(("wrong",), must_come=True)
