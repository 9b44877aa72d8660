"""Firefox, too, accepts no tampered module after a first fetch that failed."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from collector import in_process
from device import SURVEY
from firefox import Firefox, firefox
from flask import Flask
from limits import wait_until
from tampering import FAILURES, Tampering, layers_of

from server.pages.browser_files import CLIENT

pytestmark = pytest.mark.more


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(tmp_path_factory.mktemp("firefox")) as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tampering, dict[str, str]]]:
    made: list[Tampering] = []

    def around(app: Flask) -> Tampering:
        made.append(Tampering(app))
        return made[-1]

    with ExitStack() as running:
        folder = tmp_path_factory.mktemp("attacked")
        collector = running.enter_context(in_process(folder, CLIENT, around))
        survey = collector.page(collector.publish(SURVEY))
        yield made[0], {"survey": survey, "me": f"{collector.url}/me"}


#: Whether something can be filled in or pressed, except a language or "Load the page again".
OPEN = (
    "[...document.querySelectorAll('input, button:not(#load-again), select:not(#language)')]"
    ".some((one) => !one.matches(':disabled') && one.checkVisibility())"
)
#: The state of the page.
STATE = "document.querySelector('[data-state]:not([hidden])')?.dataset.state"


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", ["survey", "me"])
def test_no_tampered_module_is_accepted(
    browser: Firefox, served: tuple[Tampering, dict[str, str]], name: str, failure: str
) -> None:
    tampering, urls = served
    for layer in layers_of(name):
        tampering.attack(layer, FAILURES[failure])
        browser.visit(urls[name])
        assert tampering.failed == set(layer)
        assert tampering.accepted == tampering.ran == set()
        assert browser.evaluate(STATE) == "loading"
        assert not browser.evaluate(OPEN)


def test_pages_run_where_nothing_is_tampered(
    browser: Firefox, served: tuple[Tampering, dict[str, str]]
) -> None:
    tampering, urls = served

    def is_in(state: str) -> bool:
        return bool(browser.evaluate(STATE) == state)

    tampering.attack([], None)
    for name, state in (("survey", "ready"), ("me", "nothing")):
        browser.visit(urls[name])
        wait_until(partial(is_in, state))
    browser.visit(urls["survey"])
    wait_until(lambda: browser.evaluate(OPEN))
