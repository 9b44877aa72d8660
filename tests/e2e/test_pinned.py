"""Each module is pinned by its hash, however often it is fetched; no tampered one ever runs."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from collector import Collector, in_process
from device import SURVEY, Device, expect_state
from flask import Flask
from limits import wait_until
from page_errors import INTEGRITY, MODULE
from playwright.sync_api import Page, Route, expect
from tampering import FAILURES, Tampering, layers_of

from server.pages.browser_files import CLIENT
from server.pages.rendering import OPTIONAL

pytestmark = pytest.mark.more

PAGES = ("survey", "me")
OPTIONS = ", ".join(f'{{id = "{name}", text = "{name}"}}' for name in "xyz")

#: A survey that needs all modules of client/optional/.
NEEDY = """
title = "T"
id = "t"
[[together]]
id = "both"
questions = ["a", "b"]
epsilon = 2
epsilon_each = 1.5
""" + "".join(
    f'[[questions]]\nid = "{name}"\ntext = "{name}"\n{more}\n'
    for name, more in {
        "a": 'kind = "yes-no"',
        "b": 'kind = "yes-no"',
        "c": 'kind = "yes-no"\nepsilon = 1\nepsilon_forever = 2',
        "d": 'kind = "text"\nepsilon = 2\ncandidates = ["x", "y", "z"]',
        "e": f'kind = "rank"\nepsilon = 2\nitems = [{OPTIONS}]',
        "f": f'kind = "choices"\nepsilon = 2\nat_most = 1\noptions = [{OPTIONS}]',
    }.items()
)


class Attacked:
    """A served survey, whose modules can be attacked."""

    def __init__(self, collector: Collector, tampering: Tampering) -> None:
        self.tampering = tampering
        survey, needy = collector.publish(SURVEY), collector.publish(NEEDY)
        self.urls = {
            "survey": collector.page(survey),
            "me": f"{collector.url}/me",
            "needy": collector.page(needy),
        }


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    made: list[Tampering] = []

    def around(app: Flask) -> Tampering:
        made.append(Tampering(app))
        return made[-1]

    with ExitStack() as running:
        folder = tmp_path_factory.mktemp("attacked")
        collector = running.enter_context(in_process(folder, CLIENT, around))
        yield Attacked(collector, made[0])


def expect_dead(page: Page, name: str) -> None:
    """Check that nothing can be filled in or pressed, and nothing looks as if the program ran."""
    if name == "survey":
        expect_state(page, "loading")
        open_controls = "[...document.forms[0].elements].filter((one) => !one.matches(':disabled'))"
        assert page.evaluate(f"{open_controls}.length") == 0
    else:
        expect(page.locator("#forgetting")).to_be_hidden()
        expect(page.locator('[data-state]:not([hidden], [data-state="loading"])')).to_have_count(0)


@pytest.mark.provokes(MODULE, INTEGRITY)
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", PAGES)
def test_no_tampered_module_is_accepted_after_a_first_fetch_that_failed(
    device: Device, attacked: Attacked, name: str, failure: str
) -> None:
    for layer in layers_of(name):
        attacked.tampering.attack(layer, FAILURES[failure])
        page = device.visit(attacked.urls[name])
        assert attacked.tampering.failed == set(layer)
        assert attacked.tampering.accepted == attacked.tampering.ran == set()
        expect_dead(page, name)
        page.close()


@pytest.mark.provokes(MODULE, INTEGRITY)
def test_without_the_import_map_tampered_modules_are_accepted_and_seen(
    device: Device, attacked: Attacked
) -> None:
    _, layer, *_ = layers_of("survey")
    attacked.tampering.attack(layer, FAILURES["503"], strips_import_map=True)
    page = device.visit(attacked.urls["survey"])
    expect_state(page, "ready")
    assert attacked.tampering.accepted == set(layer)
    # The next test must not see a mark of this one that comes late.
    wait_until(lambda: attacked.tampering.ran == set(layer))


@pytest.mark.provokes(MODULE, INTEGRITY)
@pytest.mark.parametrize("name", PAGES)
def test_browser_without_import_maps_and_preloads_accepts_no_tampered_module(
    device: Device, attacked: Attacked, name: str
) -> None:
    def forget(route: Route) -> None:
        response = route.fetch()
        body = re.sub(r'<script type="importmap">.*?</script>', "", response.text(), flags=re.S)
        body = re.sub(r'<link rel="modulepreload"[^>]*>', "", body)
        route.fulfill(response=response, body=body)

    device.context.route(re.compile(r"/(s/[^/]+|me)$"), forget)
    for layer in layers_of(name):
        attacked.tampering.attack(layer, None)
        # The page itself comes at once: nothing is preloaded that could be waited for.
        attacked.tampering.failed = set(layer)
        page = device.visit(attacked.urls[name])
        assert attacked.tampering.accepted == attacked.tampering.ran == set()
        expect_dead(page, name)
        page.close()


def test_pages_run_where_nothing_is_tampered(device: Device, attacked: Attacked) -> None:
    attacked.tampering.attack([], None)
    expect_state(device.visit(attacked.urls["survey"]), "ready")
    expect_state(device.visit(attacked.urls["me"]), "nothing")


def test_layers_have_all_modules_of_a_page() -> None:
    every = {path.relative_to(CLIENT).as_posix() for path in Path(CLIENT).rglob("*.js")}
    attacked = {name for page in PAGES for layer in layers_of(page) for name in layer}
    assert attacked | {*OPTIONAL} == every


@pytest.mark.provokes(MODULE, INTEGRITY)
@pytest.mark.parametrize("name", ["together", "memory", "several", "orders", "texts"])
def test_a_survey_without_a_module_that_it_needs_stays_closed(
    device: Device, attacked: Attacked, name: str
) -> None:
    attacked.tampering.attack([f"optional/{name}.js"], FAILURES["503"])
    page = device.visit(attacked.urls["needy"])
    expect(page.locator("#load-again")).to_be_visible()
    expect_dead(page, "survey")
    attacked.tampering.attack([], None)
    page.locator("#load-again").click()
    expect_state(page, "ready")
    assert device.posted() == []
