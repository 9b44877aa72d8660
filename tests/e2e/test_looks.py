"""Everybody can use the pages: on a phone, in the dark, with a screen reader, by touch."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from collector import Collector
from device import CANARIES, Device, expect_state, fill_in, press, review
from explore_scenes import explore
from page_errors import MODULE
from playwright.sync_api import Page, ViewportSize
from research_scenes import research
from scenes import SCENES, complaints, insecure, my_privacy, questions, unstored, without_script
from stage import Scene, Stage, simulated

PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],  # of the other results, one node each instead of all
}
#: What depends on the style alone is the same for all elements of a kind.
_STYLE = ("color-contrast", "target-size", "link-in-text-block")
CONTENT = RULES | {"rules": {rule: {"enabled": False} for rule in _STYLE}}
#: Elements that extend beyond a side of the window, by themselves or through the page. Tables whose
#: rows phones show as cards do not scroll there, and their heads are only read aloud.
_WIDER = """() => {
  const limit = document.documentElement.clientWidth;
  const cards = '.scroll:not(:has(> [role="table"])), [role="table"] > thead';
  const may = `${limit > 640 ? '.scroll' : cards}, .hidden-text`;
  const scrolls = (element) => element.closest(may) !== null;
  const isOver = ({ left, right, width }) => width > 1 && (right > limit + 0.5 || left < -0.5);
  const over = [...document.querySelectorAll('body *')].filter((element) =>
    !scrolls(element) && element.checkVisibility() && isOver(element.getBoundingClientRect()));
  return [document.documentElement.scrollWidth > limit ? 'page' : null,
    ...over.map((element) => element.outerHTML.slice(0, 80))].filter(Boolean);
}"""
#: Separate controls that are less than 44 pixels high.
_SMALL = """() => {
  const targets = ['.option', 'button', 'summary', 'select', '.entry input', '[data-slider]',
    '.matrix .option label', 'footer a'].join();
  const shown = [...document.querySelectorAll(targets)].filter((one) => one.checkVisibility());
  const small = shown.filter((one) => one.getBoundingClientRect().height < 43.9);
  return [shown.length ? null : 'no target',
    ...small.map((one) => one.outerHTML.slice(0, 120))].filter(Boolean);
}"""
#: Marks shown elements of new kinds, and returns these: the tag, classes and attributes of an
#: element, after those of the two elements around it.
MARK = """(known) => {
  const attributes = (one) => one.getAttributeNames().filter((name) => name !== 'data-is-new');
  const name = (one) => one && [one.tagName, ...one.classList, ...attributes(one)].join('.');
  const found = new Set();
  for (const one of document.querySelectorAll('body, body *')) {
    const around = one.parentElement;
    const kind = [around?.parentElement, around, one].map(name).join(' > ');
    delete one.dataset.isNew;
    if (known.includes(kind) || !one.checkVisibility()) continue;
    one.dataset.isNew = '';
    found.add(kind);
  }
  return [...found];
}"""


def violations(
    page: Page, parts: str = ":root", rules: dict[str, Any] = RULES
) -> list[tuple[str, list[str]]]:
    """Return the rules that parts of a page violate, each with the elements that do."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    given = [{"include": [parts]}, rules]
    found = page.evaluate("(given) => axe.run(...given)", given)["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


def check_accessible(page: Page) -> None:
    """Check that nothing exceeds the window, and that nothing violates WCAG 2.2 A and AA."""
    _settle(page)
    assert violations(page) == []
    check_width(page)


def _settle(page: Page) -> None:
    # Without its style, a page that is still loading has targets that are too small.
    page.wait_for_load_state()
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    # An element half under a bar that stays in sight is not too small for that reason.
    page.evaluate("scrollTo(0, 0)")


def check_new(page: Page, known: set[str]) -> None:
    """Check the style of elements of a kind that is not `known`; their kinds become known."""
    if new := page.evaluate(MARK, [*known]):
        _settle(page)
        assert violations(page, "[data-is-new]") == []
        known.update(new)


def check_width(page: Page) -> None:
    """Check that nothing is wider than the window."""
    found = page.evaluate(_WIDER)
    assert not found, found


def check_desktop_at_night(page: Page, known: set[str]) -> None:
    """Check the same on a large and dark screen, and return to a phone by day."""
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="dark")
    check_new(page, known)
    check_width(page)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="light")


def check_targets(page: Page) -> None:
    """Check that everything that can be pressed is at least 44 pixels high."""
    found = page.evaluate(_SMALL)
    assert not found, found


def check_quiet(device: Device, collector: Collector) -> None:
    """Check that the console has no line, and that no request went to another host."""
    assert device.console == []
    for request in device.requests:
        assert request.url.startswith((f"{collector.url}/", "data:,")), request.url


#: Each scene as a phone shows it by day; and the pages that people fill in, from right to left, by
#: night. Axe is let in past the pages' policy.
LOOKS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": PHONE},
    "phone-dark-arabic": {"viewport": PHONE, "color_scheme": "dark", "locale": "ar"},
}
PLAYED = [*(("phone", scene) for scene in SCENES), ("phone-dark-arabic", questions)]
#: A phone's scenes whose pages a desktop shows by night, too.
BY_NIGHT = (questions, complaints, my_privacy, explore, research)
#: What goes wrong in the pages of a scene, since the scene is about it.
PROVOKED = {
    without_script: [MODULE],
    unstored: [MODULE],
    insecure: ["Cross-Origin-Opener-Policy"],
}
#: These are looked at again with more content.
PASSED = {"explanation", "page-1", "page-2", "page-3", "stored", "kiosk-page-1"}


@pytest.fixture(scope="module")
def known() -> Callable[[str], set[str]]:
    """Return the kinds of elements whose style has been checked, for each look, in all scenes."""
    kinds = defaultdict[str, set[str]](set)
    return lambda look: kinds[look]


@pytest.mark.parametrize(
    ("look", "scene"),
    [
        pytest.param(
            look,
            scene,
            id=f"{look}-{scene.__name__}",
            marks=[
                pytest.mark.provokes(*PROVOKED.get(scene, ())),
                *[pytest.mark.more] * (look != "phone"),
            ],
        )
        for look, scene in PLAYED
    ],
)
def test_every_page_is_accessible_in_every_state(
    new_device: Callable[..., Device],
    collector: Collector,
    look: str,
    scene: Callable[[Stage], Scene],
    known: Callable[[str], set[str]],
) -> None:
    def make(**options: Any) -> Device:
        return new_device(**LOOKS[look], bypass_csp=True, **options)

    wrong = []
    for state, page in scene(Stage(collector, make)):
        if state in PASSED:
            continue
        try:
            _settle(page)
            assert violations(page, rules=CONTENT) == []
            check_new(page, known(look))
            check_width(page)
            if look == "phone" and scene in BY_NIGHT:
                check_desktop_at_night(page, known("desktop"))
        except AssertionError as error:
            wrong.append(f"{state}: {error}")
    assert not wrong, "\n".join(wrong)


def test_axe_finds_violations(device: Device) -> None:
    page = device.context.new_page()
    page.set_content('<html lang="en"><title>x</title><main><h1>x</h1><input></main>')
    with pytest.raises(AssertionError, match="label"):
        check_accessible(page)


def test_survey_works_under_its_own_policy_without_console_messages(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    check_quiet(device, collector)


def test_results_work_under_their_own_policy_without_console_messages(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    device = new_device(extra_http_headers={"Authorization": f"Bearer {collector.token}"})
    page = device.visit(f"{collector.url}/results/{simulated(collector)}")
    assert page.locator("figure svg").count() >= 4
    check_quiet(device, collector)


def test_focus_moves_with_the_page(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    focused = "document.activeElement.textContent"
    review(page)
    assert page.evaluate(focused) == "Your answers"
    page.locator("#review").get_by_role("button", name="Back").click()
    assert page.evaluate(focused) == "Questions"
    review(page)
    press(page)
    expect_state(page, "stored")
    assert page.evaluate(focused) == "Your receipt"
