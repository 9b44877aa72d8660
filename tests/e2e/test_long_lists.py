"""Lists of many options can be searched, and do not fill many screens."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import Device, begin, review, turn_page
from playwright.sync_api import Page, expect

PHONE = {"width": 390, "height": 844}
NAMES = [f"Land {chr(65 + n % 26)}{n}" for n in range(38)] + ["Österreich", "España"]
MakeDevice = Callable[..., Device]


def survey(kind: str, names: list[str]) -> str:
    """Return a survey with a required question of this many options."""
    options = ", ".join(f'{{id = "n{n}", text = "{name}"}}' for n, name in enumerate(names))
    return (
        f'title = "T"\nid = "t"\n[[questions]]\nid = "land"\nkind = "{kind}"\ntext = "Where?"\n'
        f"required = true\nepsilon = 1\noptions = [{options}]\n"
    )


@pytest.fixture(params=["choice", "choices"])
def page(request: pytest.FixtureRequest, new_device: MakeDevice, collector: Collector) -> Page:
    """Return the question with forty options on a phone; one, or several, can be ticked."""
    page = new_device(viewport=PHONE).visit(
        collector.page(collector.publish(survey(request.param, NAMES)))
    )
    begin(page)
    return page


def shown(page: Page) -> list[str]:
    """Return the visible labels, except those that always stay."""
    return page.locator(".option:not([data-stays]):visible label").all_inner_texts()


def test_forty_options_take_no_more_than_a_screen_and_a_half(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollHeight") < 1.5 * PHONE["height"]
    page.locator("#land--n37").check()
    expect(page.locator("#land--n37")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("osterr", ["Österreich"]),
        (" ESPAN ", ["España"]),
        ("land a", ["Land A0", "Land A26"]),
        ("nowhere", []),
    ],
)
def test_typing_leaves_options_that_contain_it(page: Page, typed: str, found: list[str]) -> None:
    everything = shown(page)
    page.get_by_label("Search this list").fill(typed)
    assert shown(page) == found
    expect(page.locator("[data-found]")).to_have_text(f"Shown: {len(found)} of {len(everything)}")
    page.get_by_label("Search this list").fill("")
    assert shown(page) == everything
    expect(page.locator("[data-found]")).to_be_empty()


def test_ticked_options_stay_visible_and_enter_turns_no_page(page: Page) -> None:
    page.locator("#land--n38").check()
    search = page.get_by_label("Search this list")
    search.fill("land b")
    assert shown(page) == ["Land B1", "Land B27", "Österreich"]
    search.press("Enter")
    expect(search).to_be_visible()
    assert review(page) == {"Where?": "Österreich"}


@pytest.mark.parametrize("kind", ["choice", "choices"])
def test_other_and_no_answer_stay_in_sight(device: Device, collector: Collector, kind: str) -> None:
    namely = '[[questions]]\nid = "which"\nkind = "text"\ntext = "Namely"\nepsilon = 1\n'
    optional = survey(kind, NAMES).replace("required = true\n", "")
    asked = f'{optional}{namely}namely = "n39"\n'
    page = device.visit(collector.page(collector.publish(asked)))
    begin(page)
    page.get_by_label("Search this list").fill("nowhere")
    seen = page.locator('[data-question="land"] .option:visible label').all_inner_texts()
    assert seen == ["España", *["None of these"] * (kind == "choices"), "Prefer not to say"]
    expect(page.locator("[data-found]")).to_have_text("Shown: 0 of 39")


def test_a_list_is_searched_anew_in_another_language(device: Device, collector: Collector) -> None:
    asked = survey("choice", NAMES).replace('title = "T"', 'title = "T"\nlanguages = ["en", "de"]')
    for text in ("T", "Where?", *NAMES):
        german = "Spanien" if text == "España" else text
        asked = asked.replace(f'= "{text}"', f'= {{en = "{text}", de = "{german}"}}')
    page = device.visit(collector.page(collector.publish(asked)))
    begin(page)
    page.locator("[data-search]").fill("spani")
    assert shown(page) == []
    page.locator("#language").select_option("de")
    assert shown(page) == ["Spanien"]
    expect(page.locator("[data-found]")).to_have_text("Zu sehen: 1 von 40")


def test_a_missing_answer_is_reported_at_the_search(page: Page) -> None:
    page.get_by_label("Search this list").fill("nowhere")
    turn_page(page)
    expect(page.locator("#land_complaint")).to_be_visible()
    expect(page.get_by_label("Search this list")).to_be_focused()


@pytest.mark.parametrize(("count", "is_long"), [(12, False), (13, True)])
def test_a_dozen_options_need_no_search(
    device: Device, collector: Collector, count: int, is_long: bool
) -> None:
    page = device.visit(collector.page(collector.publish(survey("choice", NAMES[:count]))))
    begin(page)
    expect(page.locator("[data-search]")).to_have_count(int(is_long))
