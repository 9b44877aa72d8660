"""Earlier answers in later texts are inserted by the device, as text and nothing else."""

import pytest
from collector import Collector
from device import Device, begin, turn_page
from playwright.sync_api import Page, expect

MARKUP = "<b>x</b> & {answer.age}"
SURVEY = """title = {en = "T", de = "T"}
id = "t"
languages = ["en", "de"]
[privacy]
cap = 99
[[questions]]
id = "word"
kind = "text"
text = {en = "Which word?", de = "Welches Wort?"}
longest = 40
epsilon = 1
[[questions]]
id = "home"
kind = "choice"
text = {en = "Where?", de = "Wo?"}
options = [
  {id = "a", text = {en = "At the sea", de = "Am Meer"}},
  {id = "b", text = {en = "Inland", de = "Im Land"}},
]
epsilon = 1
[[questions]]
id = "age"
kind = "number"
text = {en = "Your age?", de = "Ihr Alter?"}
min = 10
max = 100000
shows_if = "home = 'a'"
epsilon = 1
[[questions]]
id = "last"
kind = "yes-no"
new_page = true
epsilon = 1
[questions.text]
en = "{answer.word|no word}, {answer.home|nowhere}, {answer.age|no age}?"
de = "{answer.word|kein Wort}, {answer.home|nirgends}, {answer.age|kein Alter}?"
"""


@pytest.fixture
def page(device: Device, collector: Collector) -> Page:
    """Return the page of the survey, at its questions."""
    page = device.visit(collector.page(collector.publish(SURVEY)))
    begin(page)
    return page


def told(page: Page) -> str:
    """Return the text of the last question, in the language that is shown."""
    text = page.locator('[data-question="last"] legend > :visible')
    return " ".join(text.first.inner_text().split())


def test_an_answer_is_text_and_nothing_else(page: Page) -> None:
    page.locator("#word--text-input").fill(MARKUP)
    turn_page(page)
    assert told(page) == f"{MARKUP}, nowhere, no age?"
    expect(page.locator('[data-question="last"] b')).to_have_count(0)


def test_words_replace_skipped_or_hidden_answers(page: Page) -> None:
    page.locator("#home--a").check()
    page.locator("#age--number").fill("12000")
    page.locator("#home--b").check()
    turn_page(page)
    assert told(page) == "no word, Inland, no age?"
    page.get_by_role("button", name="Back").locator("visible=true").click()
    page.locator("#home--a").check()
    turn_page(page)
    assert told(page) == "no word, At the sea, 12,000?"
    page.get_by_role("button", name="Back").locator("visible=true").click()
    page.locator("#home--no-answer").check()
    turn_page(page)
    assert told(page) == "no word, nowhere, no age?"


def test_an_invalid_answer_is_not_quoted(page: Page) -> None:
    page.locator("#home--a").check()
    page.locator("#age--number").fill("9")
    text = page.locator('[data-question="last"] legend').text_content() or ""
    assert "no age" in text
    assert "9" not in text


def test_answers_are_quoted_in_the_chosen_language(page: Page) -> None:
    page.locator("#home--a").check()
    page.locator("#age--number").fill("12000")
    turn_page(page)
    page.locator("#language").select_option("de")
    assert told(page) == "kein Wort, Am Meer, 12.000?"
