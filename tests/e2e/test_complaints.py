"""Complaints about answers are shown at the answers, in view, and all at once."""

from collections.abc import Callable

from collector import Collector
from device import Device, begin, expect_state, fill_in, turn_page
from playwright.sync_api import Locator, Page, expect
from stage import PAGES, WELL_BEING

SMALL = {"width": 320, "height": 640}
#: On its first page nothing may be left out.
STRICT = WELL_BEING.replace('id = "work"', 'id = "work"\nrequired = true', 1)


def is_in_view(page: Page, part: Locator) -> bool:
    box = part.bounding_box()
    assert box is not None
    # A browser scrolls by whole pixels.
    return box["y"] > -1 and box["y"] + box["height"] <= SMALL["height"]


def first_page(new_device: Callable[..., Device], collector: Collector) -> Page:
    page = new_device(viewport=SMALL).visit(collector.page(collector.publish(STRICT)))
    expect_state(page, "ready")
    begin(page)
    return page


def test_one_complaint_is_shown_at_its_question_in_view(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    page = first_page(new_device, collector)
    fill_in(page, {"age": "34"})
    turn_page(page)
    field = page.locator('[data-question="work"]')
    for part in (field.locator("legend"), field.locator(".complaint")):
        expect(part).to_be_visible()
        assert is_in_view(page, part)
    expect(page.locator("#work--job")).to_be_focused()
    # Complaints are shown above the options.
    above, below = (field.locator(one).first.bounding_box() for one in (".complaint", ".option"))
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    expect(page.locator(".complaints:visible")).to_have_count(0)


def test_several_are_listed_and_lead_to_their_questions(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    page = first_page(new_device, collector)
    fill_in(page, {"age": "7"})
    turn_page(page)
    listed = page.locator(".complaints:visible")
    assert is_in_view(page, listed)
    links = listed.get_by_role("button")
    expect(links).to_have_text(["How old are you?", "What do you do most of the time?"])
    expect(links.first).to_be_focused()
    links.last.click()
    expect(page.locator("#work--job")).to_be_focused()
    assert is_in_view(page, page.locator('[data-question="work"] legend'))
    # A corrected answer leaves the list; a single complaint needs no list.
    page.locator("#work--job").check()
    expect(listed).to_be_hidden()
    expect(page.locator("#age_complaint")).to_be_visible()
    fill_in(page, {"age": "34"})
    turn_page(page)
    expect(page.locator('[data-question="cheerful"]')).to_be_visible()


def test_one_tick_too_many_is_reported_at_once(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    fill_in(page, PAGES[0] | PAGES[1])
    turn_page(page)
    complaint = page.locator("#strain_complaint")
    for option in ("money", "work"):
        page.locator(f"#strain--{option}").check()
        expect(complaint).to_be_hidden()
    page.locator("#strain--health").check()
    expect(complaint).to_have_text("Tick at most 2.")
    page.locator("#strain--money").uncheck()
    expect(complaint).to_be_hidden()
