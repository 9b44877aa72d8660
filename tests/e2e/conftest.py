"""Fixtures of the browser tests. Without Chromium the tests fail; they are never skipped."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from limits import MOMENT
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from collector import Change, Collector, Relay, ServeClient, command, in_process
from device import SURVEY, Device
from engines import launching
from javascript import TOOLS, Run, beside_modules
from page_errors import check_errors, watch_all_browsers

from server.pages.browser_files import CLIENT

expect.set_options(timeout=1000 * MOMENT)
watch_all_browsers()


@pytest.fixture(autouse=True)
def only_provoked_errors(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail if something went wrong in a page but what the test's marker says."""
    yield
    marker = request.node.get_closest_marker("provokes")
    is_chromium = request.config.getoption("--engine") == "chromium"
    must_come = marker is not None and is_chromium and not hasattr(request.node, "callspec")
    check_errors(marker.args if marker else (), must_come)


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator[Browser]:
    """Return the browser that was asked for; `Profile` is one whose files can be read."""
    with sync_playwright() as playwright:
        engine = getattr(playwright, pytestconfig.getoption("--engine"))
        found = engine.launch(**launching(engine, "headless-shell"))
        yield found
        found.close()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Collector]]:
    """Start the real server, each time with a database of its own."""
    with ExitStack() as running:
        yield lambda: running.enter_context(command(tmp_path_factory.mktemp("served"), SURVEY))


@pytest.fixture(scope="session")
def collector(serve: Callable[[], Collector]) -> Collector:
    """Run a real server for all tests that publish a survey of their own."""
    return serve()


@pytest.fixture
def survey(collector: Collector) -> str:
    """Return the id of a survey that nobody has answered."""
    return collector.publish(SURVEY)


@pytest.fixture
def serve_client(tmp_path: Path) -> Iterator[ServeClient]:
    """Serve a copy of client/ with changes, from this process."""
    with ExitStack() as running:

        def start(
            *changes: Change, around: Callable[[Any], Any] = lambda app: app
        ) -> Collector:  # fmt: skip
            shutil.copytree(CLIENT, tmp_path / "client")
            for name, old, new in changes:
                file = tmp_path / "client" / name
                text = file.read_text()
                assert old in text, f"{name} no longer has {old!r}: change the test with it"
                file.write_text(text.replace(old, new, 1))
            data = tmp_path / "data"
            data.mkdir()
            return running.enter_context(in_process(data, tmp_path / "client", around))

        yield start


@pytest.fixture
def new_device(browser: Browser) -> Iterator[Callable[..., Device]]:
    """Make new devices, with the options of Playwright's contexts."""
    made: list[Device] = []

    def make(**options: Any) -> Device:
        made.append(Device(browser, **options))
        return made[-1]

    yield make
    for device in made:
        device.context.close()


@pytest.fixture
def device(new_device: Callable[..., Device]) -> Device:
    """Return a device that has never been here."""
    return new_device()


@pytest.fixture
def page(device: Device, collector: Collector, survey: str) -> Page:
    """Return the page of the unanswered survey."""
    return device.visit(collector.page(survey))


@pytest.fixture
def relay() -> Iterator[Callable[[Collector], Relay]]:
    """Make relays, which see the bytes that browsers send."""
    with ExitStack() as running:

        def make(target: Collector) -> Relay:
            made = Relay(target.url)
            running.callback(made.close)
            return made

        yield make


@pytest.fixture(scope="module")
def modules(browser: Browser, collector: Collector) -> Iterator[Page]:
    """Return a page beside the modules, which runs nothing by itself."""
    device = Device(browser)
    yield beside_modules(device, collector)
    device.context.close()


@pytest.fixture
def run(modules: Page) -> Run:
    """Run a body of JavaScript with one served module `m` and the vector `v`."""

    def call(module: str, body: str, vector: Any) -> Any:
        script = f"async (v) => {{ const m = await import('/client/{module}'); {TOOLS} {body} }}"
        return modules.evaluate(script, vector)

    return call
