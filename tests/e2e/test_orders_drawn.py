"""Options and questions are in an order that each device draws, if the author asks for it."""

from collections import Counter
from itertools import permutations

import pytest
from collector import Collector
from device import Device, begin, expect_state, fill_in, review
from playwright.sync_api import Page, expect
from scipy.stats import chisquare

#: The largest probability that a test fails by chance.
CHANCE = 1e-6
OPTIONS = (
    '[{id = "a", text = "A"}, {id = "b", text = "B"}, {id = "other", text = "O"}, '
    '{id = "c", text = "C"}]'
)
SURVEY = f"""title = "T"
id = "t"
[page]
random_order = true
[privacy]
cap = 99
[[questions]]
id = "first"
kind = "choice"
text = "First?"
options = {OPTIONS}
random_order = true
epsilon = 1
[[questions]]
id = "which"
kind = "text"
text = "Namely"
namely = "other"
epsilon = 1
[[questions]]
id = "second"
kind = "choices"
text = "Second?"
options = {OPTIONS}
random_order = true
required = true
epsilon = 1
[[questions]]
id = "line"
kind = "note"
text = "And now"
[[questions]]
id = "third"
kind = "rank"
text = "Third?"
items = {OPTIONS}
random_order = true
epsilon = 1
[[questions]]
id = "row-1"
kind = "scale"
text = "Row 1"
matrix = "How often?"
points = ["no", "so"]
required = true
epsilon = 1
[[questions]]
id = "row-2"
kind = "scale"
text = "Row 2"
matrix = "How often?"
points = ["no", "so"]
required = true
epsilon = 1
"""
#: Shuffles this often, and returns each time the ids of matching elements, in their order.
_SHUFFLE = """async ([selector, times]) => {
  const { extras } = await import('/client/page/questions.js');
  const seen = [];
  while (seen.length < times) {
    extras.shuffle();
    seen.push([...document.querySelectorAll(selector)]
      .map(({ dataset, value }) => dataset.item ?? dataset.question ?? dataset.note ?? value));
  }
  return seen;
}"""


@pytest.fixture
def page(device: Device, collector: Collector) -> Page:
    """Return the page of the survey, at its questions."""
    page = device.visit(collector.page(collector.publish(SURVEY)))
    begin(page)
    return page


def orders(page: Page, selector: str, times: int = 600) -> Counter[tuple[str, ...]]:
    """Return how often each order was drawn."""
    return Counter(map(tuple, page.evaluate(_SHUFFLE, [selector, times])))


@pytest.mark.parametrize(
    ("selector", "moving", "whole"),
    [
        ('[name="first--answer"]', "abc", ["*", "*", "other", "*", "no-answer"]),
        ('[name="second--answer"]', ["a", "b", "c", "other"], ["*", "*", "*", "*", "none"]),
        ("[data-item]", ["a", "b", "c", "other"], ["*", "*", "*", "*"]),
        ('[data-question^="row-"]', ["row-1", "row-2"], ["*", "*"]),
    ],
    ids=["choice", "choices", "rank", "matrix"],
)
def test_each_order_is_equally_likely_and_some_options_stay(
    page: Page, selector: str, moving: list[str], whole: list[str]
) -> None:
    drawn = orders(page, selector)
    for order in drawn:
        assert ["*" if one in moving else one for one in order] == whole
    moved = Counter[tuple[str, ...]]()
    for order, times in drawn.items():
        moved[tuple(one for one in order if one in moving)] += times
    assert set(moved) <= set(permutations(moving))
    counts = [moved[order] for order in permutations(moving)]
    assert chisquare(counts).pvalue > CHANCE, counts


def test_questions_move_between_notes_with_all_their_parts(page: Page) -> None:
    drawn = orders(page, "[data-question], [data-note]", 60)
    rows = [("row-1", "row-2"), ("row-2", "row-1")]
    firsts = [("first", "which", "second"), ("second", "first", "which")]
    seconds = [("third", *row) for row in rows] + [(*row, "third") for row in rows]
    expected = {(*first, "line", *second) for first in firsts for second in seconds}
    assert set(drawn) == expected


def test_mistakes_are_listed_in_the_shown_order(page: Page) -> None:
    for _ in range(4):
        page.reload()
        begin(page)
        page.get_by_role("button", name="Review my answers").click()
        listed = page.locator(".complaints button").all_inner_texts()
        seen = page.locator("[data-question]:has(.complaint:visible)").all()
        names = [one.get_attribute("data-question") for one in seen]
        wordings = {
            "second": "Second?",
            "row-1": "How often? – Row 1",
            "row-2": "How often? – Row 2",
        }
        assert listed == [wordings[name or ""] for name in names]
        assert len(listed) == 3


def test_answers_do_not_depend_on_their_place(page: Page) -> None:
    fill_in(page, {"first": "b", "second": "a|other", "third": "c|a|other|b"})
    fill_in(page, {"row-1": "so", "row-2": "no"})
    shown = review(page)
    assert shown == {
        "First?": "B",
        "Second?": "A, O" if "A, O" in shown["Second?"] else "O, A",
        "Third?": "1. C, 2. A, 3. O, 4. B",
        "How often? – Row 1": "so",
        "How often? – Row 2": "no",
    }


def test_rows_of_a_ranking_that_have_no_place_stay_in_the_drawn_order(page: Page) -> None:
    items = page.locator("[data-item]")
    before = [one.get_attribute("data-item") for one in items.all()]
    page.locator(f"#third--{before[2]}").click()
    after = [one.get_attribute("data-item") for one in items.all()]
    assert after == [before[2], *before[:2], before[3]]
    page.locator(f"#third--{before[2]}").click()
    assert [one.get_attribute("data-item") for one in items.all()] == before


def test_pages_without_random_order_are_as_written(device: Device, collector: Collector) -> None:
    survey = SURVEY.replace("random_order = true\n", "").replace("[page]\n", "")
    page = device.visit(collector.page(collector.publish(survey)))
    expect_state(page, "ready")
    assert not page.evaluate("document.documentElement.outerHTML.includes('optional/varied')")
    begin(page)
    names = [one.get_attribute("data-question") for one in page.locator("[data-question]").all()]
    assert names == ["first", "which", "second", "third", "row-1", "row-2"]
    expect(page.locator("[data-shuffle]")).to_have_count(0)
