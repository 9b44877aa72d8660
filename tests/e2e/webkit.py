"""Drive WebKit by WebKitWebDriver: Debian's build, which Playwright cannot drive."""

import contextlib
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from limits import MOMENT, wait_until
from page_errors import note_errors
from programs import find
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

#: Notes what goes wrong from now on. The driver reports nothing, and can note nothing before a page
#: has loaded.
_NOTE_ERRORS = """globalThis.wrong = [];
for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation']) {
  addEventListener(name, (event) => globalThis.wrong.push(
    `${name}: ${event.message ?? event.reason ?? 'Content Security Policy'}`));
}"""


class WebKit:
    """A browser that has never been anywhere, and what people do in it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        driver.set_window_size(430, 900)
        driver.set_script_timeout(MOMENT)

    def visit(self, url: str) -> None:
        """Open an address in this tab."""
        self.driver.get(url)
        self.driver.execute_script(_NOTE_ERRORS)

    def new_tab(self) -> str:
        """Open an address in another tab; return the name of the tab before."""
        before: str = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        return before

    def to_tab(self, name: str) -> None:
        """Go to a tab."""
        self.driver.switch_to.window(name)

    def evaluate(self, script: str, *given: Any) -> Any:
        """Return the result of an asynchronous function in the page."""
        done = self.driver.execute_async_script(
            f"const tell = arguments[arguments.length - 1]; const given = [...arguments];"
            f"({script})(...given.slice(0, -1))"
            ".then((value) => tell([true, value]), (error) => tell([false, String(error)]));",
            *given,
        )
        assert done[0], done[1]
        return done[1]

    def all(self, selector: str) -> list[WebElement]:
        """Return the visible elements."""
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return [element for element in found if element.is_displayed()]

    def one(self, selector: str) -> WebElement:
        """Return the first of them, once there is one."""
        found: list[WebElement] = []

        def is_seen() -> bool:
            found[:] = self.all(selector)
            return bool(found)

        wait_until(is_seen)
        return found[0]

    def press(self, selector: str) -> None:
        """Press a visible element, wherever it is on the page."""
        element = self.one(selector)
        self.driver.execute_script(
            "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element
        )
        element.click()

    def type_in(self, selector: str, text: str) -> None:
        """Type over the content of a field."""
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def is_in(self, state: str) -> bool:
        """Return whether the page says that it is in a state, and in no other."""
        shown = [one.get_attribute("data-state") for one in self.all("[data-state]")]
        return shown == [state]

    def expect_state(self, state: str) -> None:
        """Wait until the page says that it is in this state."""
        wait_until(lambda: self.is_in(state))
        note_errors(self.driver.execute_script("return globalThis.wrong?.splice(0) ?? []"))

    def begin(self, state: str = "ready") -> None:
        """Go to the first question, and agree to everything on the way."""
        self.expect_state(state)
        self.press("#begin")
        if self.all("#agreement"):
            for box in ("#consent", "#quiz--either"):
                self.press(box)
            self.press('#agreement [type="submit"]')

    def fill_in(self, answers: dict[str, str]) -> None:
        """Give answers on the shown page: typed texts, or ids of options, several joined by '|'."""
        for question, answer in answers.items():
            field = f'[data-question="{question}"]'
            if self.all(f"{field} .entry input:not([type=search])"):
                self.type_in(f"{field} .entry input", answer)
                continue
            for option in answer.split("|"):
                self.press(f'[id="{question}--{option}"]')

    def turn(self) -> None:
        """Turn to the next page, or to the review."""
        self.press('[data-page]:not([hidden]) button[type="submit"]')

    def review(self) -> dict[str, str]:
        """Return what the review shows."""
        self.one("#review")
        terms, details = self.all("#review dt"), self.all("#review dd:not(:has(.link))")
        return {one.text: other.text for one, other in zip(terms, details, strict=True)}


@contextlib.contextmanager
def _display(folder: Path) -> Iterator[str]:
    """Run a display that nobody sees, on a number that is free."""
    path = find("xvfb")
    assert path is not None, "no Xvfb; python tests/programs.py xvfb installs one"
    reading, writing = os.pipe()
    with (folder / "xvfb").open("wb") as output:
        process = subprocess.Popen(
            [path, "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
            pass_fds=[writing],
            stdout=output,
            stderr=output,
        )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        process.terminate()
        process.wait(MOMENT)


@contextlib.contextmanager
def webkit(folder: Path) -> Iterator[Callable[[], WebKit]]:
    """Start new browsers, one at a time; they end with the context."""
    path = find("webkit")
    assert path is not None, "no WebKitWebDriver; python tests/programs.py webkit installs one"
    running: list[Any] = []

    def end() -> None:
        while running:
            running.pop().quit()

    with _display(folder) as display:
        # Tests run in containers, in which WebKit can neither make a sandbox nor use a graphics
        # card.
        environment = os.environ | {
            "DISPLAY": display,
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "NO_AT_BRIDGE": "1",
        }

        def start() -> WebKit:
            end()
            options = Options()
            options.binary_location = _browser_of(path)
            options.add_argument("--automation")
            with (folder / "webkit").open("ab") as output:
                service = Service(path, log_output=output, env=environment)
                with warnings.catch_warnings():
                    # Selenium's own driver of WebKit calls functions that Selenium has deprecated.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    running.append(webdriver.WebKitGTK(options=options, service=service))
            return WebKit(running[-1])

        try:
            yield start
        finally:
            end()


def _browser_of(driver: str) -> str:
    """Return the browser that belongs to the driver; Debian hides it beside the library."""
    named = os.environ.get("DENIABLE_WEBKIT_BROWSER")
    folders = Path("/usr/lib").glob("*/webkit*gtk-4*/MiniBrowser")
    found = [named] if named else sorted(map(str, folders))
    assert found, f"no MiniBrowser for {driver}; install webkit2gtk-driver"
    return found[-1]
