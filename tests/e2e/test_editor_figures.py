"""Figures beside the editor's forms: what is saved, what it costs, what can be undone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from test_editor import EPSILON, SHOWN, add, begun, served, sign_in, signed_in, write
from test_looks import check_accessible as seen

__all__ = ["begun", "served", "sign_in", "signed_in"]

pytestmark = pytest.mark.more


def test_the_page_shows_whether_all_is_saved_while_one_scrolls(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in(viewport={"width": 390, "height": 844})
    begun(page)
    state, form = page.locator("#saving"), page.locator("#form")
    assert state.get_attribute("role") == "status"
    expect(state).to_have_text("Saved")
    held: list[Route] = []
    page.route("**/edit", lambda route: held.append(route))
    form.get_by_label("Help below it", exact=True).fill("Think first.")
    expect(state).to_have_text("Not saved yet")
    with page.expect_request("**/edit"):
        form.get_by_label("Help below it", exact=True).press("Tab")
    expect(state).to_have_text("Saving…")
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        expect(state).to_be_in_viewport(ratio=1)
    while held:
        held.pop().continue_()
    expect(state).to_have_text("Saved")
    page.unroute_all(behavior="wait")
    form.get_by_label(EPSILON, exact=True).fill("99")
    form.get_by_label(EPSILON, exact=True).press("Tab")
    expect(state).to_have_text("Not all is saved")
    write(page, EPSILON, "2")
    expect(state).to_have_text("Saved")
    page.route("**/edit", lambda route: route.abort())
    form.get_by_label("Help below it", exact=True).fill("Think twice.")
    form.get_by_label("Help below it", exact=True).press("Tab")
    expect(state).to_have_text("Not all is saved")
    seen(page)
    # A request that is being refused when the page closes would fail another test.
    page.unroute_all(behavior="wait")


def test_the_page_is_named_after_the_study_at_once(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in()
    begun(page)
    page.get_by_role("link", name="The study").click()
    write(page, "Title", "Conditions of work")
    expect(page.get_by_role("heading", level=1)).to_have_text("Conditions of work")
    expect(page).to_have_title("Write: Conditions of work")


def test_a_total_is_typed_beside_its_slider(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in()
    begun(page)
    add(page, "Where do you work?", "One of several options", "team")
    totals = page.locator("#totals")
    slider = page.get_by_label("Slider: total ε of one wave")
    slider.focus()
    with page.expect_response(re.compile("total=2.1")):
        page.keyboard.press("ArrowRight")
    expect(totals).to_contain_text("ε = 2.1: odds")
    total = page.get_by_label("Total ε of one wave", exact=True)
    total.fill("3.37")
    with page.expect_response(re.compile("total=3.37")):
        total.press("Tab")
    expect(totals).to_contain_text("ε = 3.37: odds")
    page.get_by_role("button", name="Put these into the draft").click()
    expect(page.locator("#saving")).to_have_text("Saved")
    expect(page.locator("#list tfoot")).to_contain_text("3.37")
    page.get_by_label("Waves", exact=True).fill("2")
    page.get_by_label("Waves", exact=True).press("Tab")
    expect(totals).to_contain_text("too low, since it is enough for 1")
    seen(page)
    page.get_by_role("button", name="Set the limit to 6.74").click()
    expect(totals).to_contain_text("6.74: enough")


def test_a_deleted_question_is_brought_back_by_keyboard(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in(viewport={"width": 390, "height": 844})
    begun(page)
    add(page, "Where do you work?", "A number", "team")
    page.get_by_role("link", name="In the last 12 months").click()
    # Until the page of that question is here, the button would be that of the number.
    expect(page.locator("#form").get_by_label("Id in data files")).to_have_value("harassed")
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    expect(page.locator("#undo")).to_contain_text("Deleted: “In the last 12 months")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    seen(page)
    page.keyboard.press("Enter")
    expect(page.locator("#list tbody tr").first).to_contain_text("In the last 12 months")
    expect(page.locator("#form").get_by_label("Id in data files")).to_have_value("harassed")
    expect(undo).to_have_count(0)


def height(page: Page, label: str) -> float:
    """Return the height of a menu in pixels; it is at least 44."""
    box = page.get_by_label(label).bounding_box()
    assert box is not None
    return box["height"]


def test_long_questions_are_read_whole_in_menus_of_a_phone(
    sign_in: Callable[..., Page], begun: Callable[[Page], None]
) -> None:
    page = sign_in(viewport={"width": 390, "height": 844})
    begun(page)
    add(page, "Where do you work?", "One of several options", "team")
    page.get_by_text("Whom it is asked").click()
    with page.expect_response(SHOWN):
        page.get_by_label("Condition 1: question").select_option("harassed")
    plan = page.url.replace("/edit", "/plan").partition("?")[0]
    heights = [height(page, "Condition 1: question")]
    seen(page)
    page.goto(plan)
    heights.append(height(page, "Of answers to"))
    # The text takes two lines.
    assert min(heights) > 50, heights
    seen(page)


def test_bounds_are_typed_by_keyboard_before_a_form_is_imported(
    sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    rows = ["type,name,label", "integer,packs,How many packs a week?", "integer,age,Your age?"]
    (tmp_path / "smoking.csv").write_text("\n".join(["survey", *(f",{row}" for row in rows)]))
    page = sign_in(viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="A new survey").click()
    page.get_by_label("Questionnaire").set_input_files(tmp_path / "smoking.csv")
    page.get_by_role("button", name="Import it").click()
    page.get_by_label("Lowest: How many packs a week?").focus()
    for text in ("0", "ten", "packs"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.get_by_role("checkbox", name="Your age?").uncheck()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("highest: expected a number, got 'ten'")
    expect(page.get_by_role("checkbox", name="Your age?")).not_to_be_checked()
    seen(page)
    page.get_by_label("Highest: How many packs a week?").fill("10")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Write").click()
    expect(page.locator("#list tbody tr")).to_have_count(1)
    expect(page.locator("#form").get_by_label("Highest", exact=True)).to_have_value("10")
    expect(page.locator("#form").get_by_label("Unit", exact=True)).to_have_value("packs")
