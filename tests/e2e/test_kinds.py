"""A person answers every kind of question: ticks, points and places, up to stored reports."""

import json
from collections.abc import Callable
from typing import Any

from collector import Collector
from device import Device, begin, expect_state, fill_in, press, review, turn_page
from playwright.sync_api import Page, expect
from test_looks import PHONE, check_accessible
from test_one_shape import shape

OPTIONS = "".join(f'{{id = "{one}", text = "{one.title()}"}}, ' for one in ("ale", "bun", "cod"))
KINDS = f"""
format = 2
title = "Supper"
id = "supper"
[[questions]]
id = "die"
kind = "yes-no"
text = "Did you eat here?"
required = true
mechanism = {{name = "forced", p_yes = "1/6", p_no = "1/6"}}
[[questions]]
id = "had"
kind = "choices"
text = "What did you have?"
options = [{OPTIONS}]
at_most = 2
epsilon = 2
[[questions]]
id = "bits"
kind = "choices"
text = "What was cold?"
none = "Nothing was cold"
options = [{OPTIONS}]
required = true
mechanism = "multihot"
epsilon = 3
[[questions]]
id = "often"
kind = "scale"
text = "How often do you come?"
points = ["Never", "Rarely", "Often"]
aim = "mean"
epsilon = 1
[[questions]]
id = "order"
kind = "rank"
text = "What do you like best?"
items = [{OPTIONS}]
epsilon = 1
shows_if = "selected(had, 'bun')"
[[questions]]
id = "whole"
kind = "rank"
text = "And the other way round?"
items = [{OPTIONS}]
mechanism = "permutations"
epsilon = 3
[[questions]]
id = "price"
kind = "number"
text = "What did you pay?"
min = 0
max = 100
required = true
mechanism = "gaussian"
epsilon = 1
[[questions]]
id = "tips"
kind = "number"
text = "And on top?"
min = 0
max = 10
epsilon = 1
[[questions]]
id = "hash"
kind = "choice"
text = "Which one would you leave out?"
options = [{OPTIONS}]
mechanism = "hashed-krr"
epsilon = 1
"""
MakeDevice = Callable[..., Device]


def tick(page: Page, question: str, *options: str) -> None:
    for option in options:
        page.locator(f"#{question}--{option}").check()


def place(page: Page, question: str, *order: str) -> None:
    fill_in(page, {question: "|".join(order)})


def least(page: Page) -> None:
    """Answer only the required questions."""
    tick(page, "die", "yes")
    tick(page, "bits", "none")
    page.locator("#price--number").fill("12.5")


def test_every_kind_is_answered_reviewed_and_stored(device: Device, collector: Collector) -> None:
    survey = collector.publish(KINDS)
    page = device.visit(collector.page(survey))
    begin(page)
    expect(page.locator('[data-question="order"]')).to_be_hidden()
    least(page)
    tick(page, "had", "ale", "bun")
    expect(page.locator('[data-question="order"]')).to_be_visible()
    tick(page, "often", "3")
    place(page, "order", "cod", "ale", "bun")
    shown = review(page)
    assert shown == {
        "Did you eat here?": "Yes",
        "What did you have?": "Ale, Bun",
        "What was cold?": "Nothing was cold",
        "How often do you come?": "Often",
        "What do you like best?": "1. Cod, 2. Ale, 3. Bun",
        "And the other way round?": "No answer",
        "What did you pay?": "12.5",
        "And on top?": "No answer",
        "Which one would you leave out?": "No answer",
    }
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    reports = json.loads(body)["reports"]
    assert shape(reports) == [
        ("die", "int"),
        ("had", [("cohort", "int"), ("report", "int")]),
        ("bits", "str"),
        ("often", "int"),
        ("order", [("cohort", "int"), ("report", "int")]),
        ("whole", "int"),
        ("price", "int"),
        ("tips", "int"),
        ("hash", [("cohort", "int"), ("report", "int")]),
    ]
    rows = collector.estimates(survey)
    assert {row["n"] for row in rows} == {1}
    assert {row["question"] for row in rows} == set(reports)


def test_answers_do_not_change_the_shape(new_device: MakeDevice, collector: Collector) -> None:
    found = []
    for many in (True, False):
        device = new_device()
        page = device.visit(collector.page(collector.publish(KINDS)))
        begin(page)
        least(page)
        if many:
            tick(page, "had", "bun")
            place(page, "order", "bun", "ale", "cod")
            place(page, "whole", "bun", "ale", "cod")
            tick(page, "hash", "cod")
        review(page)
        press(page)
        expect_state(page, "stored")
        found.append(shape(json.loads(device.posted()[0])))
    assert found[0] == found[1]


def test_none_and_no_answer_exclude_all_others(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(KINDS)))
    begin(page)
    for alone in ("none", "no-answer"):
        tick(page, "had", "ale", alone)
        expect(page.locator("#had--ale")).not_to_be_checked()
        tick(page, "had", "bun")
        expect(page.locator(f"#had--{alone}")).not_to_be_checked()
        page.locator("#had--bun").uncheck()


#: What makes the least answers invalid, and the complaint about it.
INVALID: list[tuple[Callable[[Page], Any], str]] = [
    (lambda page: tick(page, "had", "ale", "bun", "cod"), "Tick at most 2."),
    (lambda page: page.locator("#bits--none").uncheck(), "Please tick at least one."),
    (lambda page: place(page, "whole", "ale", "bun"), "Please put all of them in order, or none."),
    (lambda page: page.locator("#price--number").fill(""), "Please answer."),
    (
        lambda page: page.locator("#price--number").fill("101"),
        "Please give a number from 0 to 100.",
    ),
]


def test_invalid_answers_are_reported_before_the_review(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(KINDS)))
    for act, message in INVALID:
        begin(page)
        least(page)
        act(page)
        turn_page(page)
        expect(page.locator("#review")).to_be_hidden()
        expect(page.locator(".complaint:visible")).to_have_text([message])
        expect(page.locator(".question:has(.complaint:visible):focus-within")).to_have_count(1)
        page.reload()
        expect_state(page, "ready")
    assert device.posted() == []


def test_places_close_up_and_items_move_up(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(KINDS)))
    begin(page)
    order = page.locator('[data-question="whole"] [data-order]')
    place(page, "whole", "ale", "bun", "cod")
    expect(order).to_have_text("1. Ale, 2. Bun, 3. Cod")
    page.locator("#whole--bun").click()
    expect(order).to_have_text("1. Ale, 2. Cod")
    up = page.get_by_role("button", name="Move up: Cod")
    up.focus()
    page.keyboard.press("Enter")
    expect(order).to_have_text("1. Cod, 2. Ale")
    # The first item cannot move up, so its button is gone, and the focus stays on the item.
    expect(up).to_be_hidden()
    expect(page.locator("#whole--cod")).to_be_focused()
    expect(page.locator("#whole--bun")).to_have_attribute("aria-pressed", "false")


PAGES = """
title = "Pages"
id = "pages"
[[questions]]
id = "came"
kind = "yes-no"
text = "Did you come?"
epsilon = 1
[[questions]]
id = "thanks"
kind = "note"
text = "Thank you for coming."
shows_if = "came = 'yes'"
new_page = true
[[questions]]
id = "food"
kind = "scale"
matrix = "How good was …"
text = "the food?"
points = ["Bad", "Good"]
epsilon = 1
shows_if = "came = 'yes'"
[[questions]]
id = "wine"
kind = "scale"
matrix = "How good was …"
text = "the wine?"
points = ["Bad", "Good"]
epsilon = 1
shows_if = "came = 'yes'"
[[questions]]
id = "hours"
kind = "number"
text = "How long?"
min = 0
max = 10
slider = true
epsilon = 1
new_page = true
"""


def test_page_that_conditions_hide_is_skipped_both_ways(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(PAGES)))
    fill_in(page, {"came": "no"})
    turn_page(page)
    expect(page.locator("#hours--number")).to_be_visible()
    expect(page.locator("h2:focus")).to_have_accessible_description("Page 3 of 3")
    page.get_by_role("button", name="Back").click()
    fill_in(page, {"came": "yes", "food": "2", "wine": "1"})
    expect(page.get_by_text("Thank you for coming.")).to_be_visible()
    shown = review(page)
    assert shown == {
        "Did you come?": "Yes",
        "How good was … – the food?": "Good",
        "How good was … – the wine?": "Bad",
        "How long?": "No answer",
    }
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    assert list(json.loads(body)["reports"]) == ["came", "food", "wine", "hours"]


def test_slider_writes_the_number_and_is_untouched_without_one(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(PAGES)))
    fill_in(page, {"came": "no"})
    turn_page(page)
    slider, number = page.locator("#hours--slider"), page.locator("#hours--number")
    expect(slider).to_have_class("untouched")
    expect(number).to_have_value("")
    # A press at its present place counts.
    slider.click()
    expect(number).to_have_value("5")
    slider.press("ArrowRight")
    expect(number).to_have_value("5.1")
    expect(slider).not_to_have_class("untouched")
    number.fill("7")
    expect(slider).to_have_value("7")
    number.fill("")
    expect(slider).to_have_class("untouched")
    assert review(page)["How long?"] == "No answer"


def test_every_kind_is_accessible_on_a_phone(new_device: MakeDevice, collector: Collector) -> None:
    device = new_device(viewport=PHONE, bypass_csp=True)
    page = device.visit(collector.page(collector.publish(KINDS)))
    begin(page)
    tick(page, "had", "bun")
    check_accessible(page)


def test_rows_of_a_ranking_move_to_their_places(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(KINDS)))
    begin(page)
    rows = page.locator('[data-question="whole"] [data-item]')

    def order() -> list[str | None]:
        return [row.get_attribute("data-item") for row in rows.all()]

    first = order()
    page.locator(f"#whole--{first[2]}").click()
    expect(page.locator(f"#whole--{first[2]}")).to_be_focused()
    page.locator(f"#whole--{first[1]}").click()
    assert order() == [first[2], first[1], first[0]]
    rows.nth(1).locator(".earlier").click()
    assert order() == [first[1], first[2], first[0]]
    page.locator(f"#whole--{first[1]}").click()
    page.locator(f"#whole--{first[2]}").click()
    assert order() == first


def test_the_places_of_a_ranking_are_its_answer_wherever_its_rows_stand(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(KINDS)))
    begin(page)
    least(page)
    place(page, "whole", "cod", "ale", "bun")
    # Rows move only for the eye: the numbers beside them are what a person chose.
    rows = page.locator('[data-question="whole"] .ranking')
    rows.evaluate("list => list.append(list.firstElementChild)")
    assert rows.locator(".place").all_inner_texts() == ["2", "3", "1"]
    assert review(page)["And the other way round?"] == "1. Cod, 2. Ale, 3. Bun"
