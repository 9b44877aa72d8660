"""All pages work by keyboard alone, and the focus is always visible."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collector import Collector
from device import SURVEY, Device, expect_state
from limits import MOMENT, wait_until
from playwright.sync_api import Page, expect
from stage import KIOSK, REPORTS, WELL_BEING

#: The element with the focus, and whether that is visible. When the page turns, headings and the
#: state get the focus for screen readers; nobody can press them.
_FOCUS = """(selector) => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const { top, bottom } = one.getBoundingClientRect();
  const rings = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  return {
    markup: one.outerHTML.slice(0, 160),
    isRinged: rings || one.matches('h1, h2, #status'),
    isInWindow: one !== document.body && bottom > 0 && top < innerHeight,
    isNone: one === document.body,
    isIt: one.matches(selector),
  };
}"""


class Keys:
    """A page, and a person who uses only keys."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        """Press keys one after another; after each of them some element visibly has the focus."""
        for key in keys:
            self.page.keyboard.press(key)
        self.check_focus()

    def type(self, text: str) -> None:
        """Type over the content of the field."""
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def check_focus(self) -> None:
        """Check that some element visibly has the focus."""
        expect(self.page.locator(":focus"), "nothing has the focus").to_have_count(1)
        # While the page turns, the element with the focus is hidden or out of sight for a moment,
        # until the page moves the focus on.
        wait_until(lambda: self._focus()["isInWindow"], MOMENT)
        self._check_ring(self._focus())

    def _focus(self, selector: str = "*") -> dict[str, Any]:
        focus: dict[str, Any] = self.page.evaluate(_FOCUS, selector)
        return focus

    def _check_ring(self, focus: dict[str, Any]) -> None:
        assert focus["isRinged"], f"not seen to have the focus: {focus['markup']}"

    def reach(self, selector: str, key: str = "Tab") -> None:
        """Press Tab until an element has the focus; each stop on the way is visible."""
        passed = []
        for _ in range(80):
            self.page.keyboard.press(key)
            focus = self._focus(selector)
            passed.append(focus["markup"][:60])
            # After the last stop and before the first comes the browser's own.
            if focus["isInWindow"]:
                self._check_ring(focus)
            elif not focus["isNone"]:
                self.check_focus()
            if focus["isIt"]:
                return
        raise AssertionError(f"{selector} is not reached, but {passed}")

    def has_focus(self, selector: str) -> None:
        """Check that the page has moved the focus there."""
        expect(self.page.locator(selector)).to_be_focused()
        self.check_focus()


def visit(device: Device, collector: Collector, text: str = WELL_BEING) -> Keys:
    page = device.visit(collector.page(collector.publish(text)))
    expect_state(page, "ready")
    return Keys(page)


def turn(keys: Keys, heading: str) -> None:
    """Press "Next" or go to the review; the focus moves to the new heading."""
    keys.reach('[data-page]:not([hidden]) [type="submit"]')
    keys.press("Enter")
    keys.has_focus(f"{heading} h2")


def test_survey_is_answered_by_keyboard_alone(device: Device, collector: Collector) -> None:
    keys = visit(device, collector)
    page = keys.page
    # The language is changed and changed back.
    keys.reach("#language")
    keys.press("ArrowDown")
    expect(page.locator("h1")).to_have_text("Wohlbefinden 2026", use_inner_text=True)
    keys.press("ArrowUp")
    # The study's description, the consent, the question about the promise, and on.
    keys.reach("#explanation summary")
    keys.press("Enter")
    expect(page.locator("#explanation details").first).to_have_attribute("open", "")
    keys.reach("#begin", "Shift+Tab")
    keys.press("Enter")
    keys.has_focus("#agreement h2")
    keys.reach("#consent")
    keys.press("Space")
    keys.reach('[name="quiz"]')
    keys.press("Space")
    expect(page.locator('[data-reply="other"]')).to_be_visible()
    keys.press("ArrowDown", "ArrowDown")
    expect(page.locator('[data-reply="right"]')).to_be_visible()
    keys.reach('#agreement [type="submit"]')
    keys.press("Enter")
    keys.has_focus("[data-page]:not([hidden]) h2")
    first_page(keys)
    second_page(keys)
    third_page(keys)
    review_and_receipt(keys)
    assert len(device.posted()) == 1


def first_page(keys: Keys) -> None:
    """Type a wrong number and correct it, choose an option, and see what chance does to it."""
    page = keys.page
    keys.reach("#age--number")
    keys.type("7")
    keys.reach('[data-page]:not([hidden]) [type="submit"]')
    keys.press("Enter")
    keys.has_focus("#age--number")
    expect(page.locator("#age_complaint")).to_have_text("Please give a number from 16 to 100.")
    keys.type("34")
    expect(page.locator("#age_complaint")).to_be_hidden()
    keys.reach("#work--job")
    keys.press("Space", "ArrowDown")
    expect(page.locator("#work--study")).to_be_checked()
    keys.reach("[data-page]:not([hidden]) .protection > summary")
    keys.press("Enter")
    keys.reach('[data-trial="work"]')
    keys.press("ArrowDown")
    keys.reach('[data-draw="work"]')
    keys.press("Enter")
    drawn = page.locator(".trial:has([data-trial=work]) .draws")
    expect(drawn).to_contain_text("“School or studies”, tried 20 times")
    keys.has_focus('[data-draw="work"]')
    keys.reach('[data-turn="back"]')
    keys.press("Enter")
    keys.has_focus("#agreement h2")
    keys.reach('#agreement [type="submit"]')
    keys.press("Enter")
    turn(keys, "[data-page]:not([hidden])")


def second_page(keys: Keys) -> None:
    """Answer a grid and a slider."""
    page = keys.page
    keys.reach("#cheerful--1")
    keys.press("Space", "ArrowRight", "ArrowRight")
    expect(page.locator("#cheerful--3")).to_be_checked()
    keys.reach("#lonely--1")
    keys.press("Space")
    keys.reach("#sleep--slider")
    keys.press("Home", *["ArrowRight"] * 13)
    expect(page.locator("#sleep--number")).to_have_value("6.5")
    turn(keys, "[data-page]:not([hidden])")


def third_page(keys: Keys) -> None:
    """Answer a page with a condition, ticks, places, and a suggested text."""
    page = keys.page
    keys.reach("#hopeless--yes")
    keys.press("Space")
    expect(page.locator('[data-note="talk"]')).to_be_visible()
    # The options of this page are in a drawn order.
    drawn = page.locator('[data-question="strain"] input:not([value="no-answer"])').evaluate_all(
        "all => all.map((one) => one.id)"
    )
    for option in drawn[:3]:
        keys.reach(f"#{option}")
        keys.press("Space")
    keys.reach('[data-page]:not([hidden]) [type="submit"]')
    keys.press("Enter")
    keys.has_focus(f"#{drawn[0]}")
    expect(page.locator("#strain_complaint")).to_have_text("Tick at most 2.")
    keys.press("Space")
    expect(page.locator("#strain_complaint")).to_be_hidden()
    for item in ("friends", "moving", "quiet"):
        keys.reach(f"#helps--{item}")
        keys.press("Space")
    keys.reach('[data-item="quiet"] .earlier')
    keys.press("Enter")
    keys.press("Enter")
    # Once it is the first, its button is gone, and the item has the focus.
    keys.has_focus("#helps--quiet")
    order = page.locator('[data-question="helps"] [data-order]')
    expect(order).to_have_text("1. Peace and quiet, 2. Friends, 3. Exercise")
    keys.reach("#app--text-input")
    keys.type("tik")
    expect(page.locator("#app--suggestions option")).to_have_count(1)
    keys.type("TikTok")
    turn(keys, "#review")


def review_and_receipt(keys: Keys) -> None:
    """Go back to change an answer, again to the review, and press once."""
    page = keys.page
    keys.reach("#review dd .link")
    keys.press("Enter")
    keys.has_focus("#age--number")
    turn(keys, "#review")
    keys.reach("#send")
    keys.press("Enter")
    expect_state(page, "stored")
    keys.has_focus("#receipt h2")
    keys.reach("#sent > summary")
    keys.press("Enter")
    expect(page.locator("#receipt-bytes")).not_to_be_empty()
    # It is closed again by the way back.
    keys.reach("#program summary")
    keys.reach("#sent > summary", "Shift+Tab")
    keys.press("Enter")
    expect(page.locator("#receipt-bytes")).to_be_empty()


def least(keys: Keys) -> None:
    """Go from the explanation to the receipt without an answer."""
    keys.reach("#begin")
    keys.press("Enter")
    if keys.page.locator("#consent").count():
        keys.has_focus("#agreement h2")
        keys.reach("#consent")
        keys.press("Space")
    if keys.page.locator("#quiz").count():
        keys.reach('[name="quiz"]')
        keys.press("Space", "ArrowDown", "ArrowDown")
    for _ in range(3 if keys.page.locator("#agreement").count() else 2):
        turn(keys, "[data-page]:not([hidden])")
    turn(keys, "#review")
    keys.reach("#send")
    keys.press("Enter")


def test_next_person_begins_by_keyboard_alone(device: Device, collector: Collector) -> None:
    keys = visit(device, collector, KIOSK)
    least(keys)
    expect_state(keys.page, "stored")
    keys.has_focus("#receipt h2")
    keys.reach("#next-person")
    keys.press("Enter")
    expect_state(keys.page, "ready")
    keys.has_focus("h1")


def test_focus_is_not_lost_while_a_report_waits(device: Device, collector: Collector) -> None:
    keys = visit(device, collector)
    device.context.route(REPORTS, lambda route: route.abort())
    least(keys)
    expect_state(keys.page, "waiting")
    keys.check_focus()
    keys.reach("#program summary")


def test_own_privacy_is_read_saved_and_forgotten_by_keyboard_alone(
    device: Device, collector: Collector, tmp_path: Path
) -> None:
    keys = visit(device, collector, SURVEY.replace("required = true\n", ""))
    least_of_one_page(keys)
    keys.reach('footer a[href="/me"]')
    with keys.page.expect_popup() as opened:
        keys.page.keyboard.press("Enter")
    me = opened.value
    keys = Keys(me)
    expect(me.locator("#spent")).to_be_visible()
    keys.reach("#export")
    with me.expect_download() as found:
        keys.press("Enter")
    found.value.save_as(tmp_path / "file.json")
    assert len(json.loads((tmp_path / "file.json").read_text())["surveys"]) == 1
    keys.reach("#forget")
    keys.press("Enter")
    keys.has_focus("#sure h2")
    keys.reach("#forget-not")
    keys.press("Enter")
    keys.has_focus("#forget")
    keys.press("Enter")
    keys.reach("#forget-sure")
    me.keyboard.press("Enter")
    expect_state(me, "forgotten")
    keys.check_focus()


def least_of_one_page(keys: Keys) -> None:
    keys.reach("#begin")
    keys.press("Enter")
    turn(keys, "#review")
    keys.reach("#send")
    keys.press("Enter")
    expect_state(keys.page, "stored")
    keys.has_focus("#receipt h2")


def test_the_check_finds_elements_that_keys_cannot_reach(
    device: Device, collector: Collector
) -> None:
    keys = visit(device, collector)
    with pytest.raises(AssertionError, match="is not reached"):
        keys.reach("#review button")


def test_the_check_finds_an_invisible_focus(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    keys = visit(new_device(bypass_csp=True), collector)
    keys.page.add_style_tag(content=":focus-visible { outline: none !important; }")
    with pytest.raises(AssertionError, match="not seen to have the focus"):
        keys.reach("#begin")
