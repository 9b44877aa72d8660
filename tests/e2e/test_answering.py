"""A survey answered in a real page, from the first question to the estimates."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import COST, SURVEY, Device, answer, expect_state, fill_in, press, review
from playwright.sync_api import Page, expect

ANSWERS = {"smoked": "yes", "pet": "dog", "team": "office", "debts": "1234"}
SHOWN = {
    "Did you smoke?": "Yes",
    "Which animal?": "Dog",
    "Where do you work?": "Office",
    "How much do you owe?": "1234 EUR",
}
LANGUAGES = """
title = {en = "Canteen", fr = "Cantine"}
id = "canteen"
languages = ["en", "fr"]
[[questions]]
id = "pet"
kind = "choice"
text = {en = "Which animal?", fr = "Quel animal ?"}
options = [
  {id = "cat", text = {en = "Cat", fr = "Chat"}},
  {id = "dog", text = {en = "Dog", fr = "Chien"}},
]
epsilon = 1
"""


def test_review_shows_each_answer_before_anything_leaves(page: Page, device: Device) -> None:
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    assert review(page) == SHOWN
    expect(page.get_by_text("Nothing has left this device yet")).to_be_visible()
    assert device.posted() == []


def test_pressing_stores_one_report_of_every_question(
    page: Page, device: Device, collector: Collector, survey: str
) -> None:
    answer(page, ANSWERS)
    assert collector.stored(survey) == 1
    assert len(device.posted()) == 1


def test_ledger_shows_what_the_device_says_it_spent(
    page: Page, collector: Collector, survey: str
) -> None:
    answer(page, ANSWERS)
    (row,) = collector.ledger(survey)
    assert row["epsilon_sum"] == row["epsilon"] == COST
    expect(page.locator("#receipt-spent")).to_have_text(COST)
    expect(page.locator("#receipt-cap")).to_have_text(row["cap"])


def test_receipt_shows_the_bytes_that_were_sent(page: Page, device: Device) -> None:
    answer(page, ANSWERS)
    (body,) = device.posted()
    assert page.locator("#receipt-bytes").text_content() == body.decode()


def test_hidden_question_sends_a_report_too(page: Page, collector: Collector, survey: str) -> None:
    expect_state(page, "ready")
    expect(page.locator('[data-question="pet"]')).to_be_hidden()
    answer(page, {"smoked": "no", "team": "lab"})
    assert collector.stored(survey) == 1


def test_answer_to_a_question_that_is_hidden_again_is_not_in_the_review(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    fill_in(page, {"smoked": "no"})
    assert "Which animal?" not in review(page)


def test_skipped_question_is_reviewed_as_no_answer(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, {"smoked": "no-answer", "team": "lab"})
    shown = review(page)
    assert shown["Did you smoke?"] == shown["How much do you owe?"] == "No answer"


def test_answers_can_be_changed_until_the_press(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    page.get_by_role("button", name="Change my answers").click()
    fill_in(page, {"pet": "cat"})
    assert review(page)["Which animal?"] == "Cat"


def test_survey_is_answered_with_the_keyboard_alone(
    page: Page, collector: Collector, survey: str
) -> None:
    expect_state(page, "ready")
    page.locator("#smoked--yes").focus()
    for key in ("Space", "Tab", "Tab", "ArrowDown", "Tab", "Tab", "ArrowDown", "Tab", "Tab"):
        page.keyboard.press(key)
    page.keyboard.type("1234")
    page.keyboard.press("Enter")
    expect(page.locator("#review h2")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_state(page, "stored")
    assert collector.stored(survey) == 1


@pytest.mark.parametrize(
    "answers",
    [
        {"smoked": "yes"},
        {"team": "lab", "debts": "100000001"},
        {"team": "lab", "debts": "0.5"},
    ],
    ids=["required question is empty", "number out of range", "number between steps"],
)
def test_review_waits_for_valid_answers(page: Page, answers: dict[str, str]) -> None:
    expect_state(page, "ready")
    fill_in(page, answers)
    page.get_by_role("button", name="Review my answers").click()
    expect(page.locator(":invalid:focus")).to_have_count(1)
    expect(page.locator("#review")).to_be_hidden()


@pytest.mark.parametrize(
    ("locale", "text"),
    [("fr-CA", "Quel animal ?"), ("en-US", "Which animal?"), ("de", "Which animal?")],
)
def test_page_speaks_the_first_language_of_the_device_that_it_has(
    new_device: Callable[..., Device], collector: Collector, locale: str, text: str
) -> None:
    page = new_device(locale=locale).visit(collector.page(collector.publish(LANGUAGES)))
    expect_state(page, "ready")
    expect(page.locator("legend")).to_have_text(text, use_inner_text=True)


def test_language_is_switched_on_the_device_and_told_to_nobody(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(LANGUAGES)))
    expect_state(page, "ready")
    before = len(device.requests)
    page.get_by_label("Language").select_option("fr")
    fill_in(page, {"pet": "dog"})
    assert review(page) == {"Quel animal ?": "Chien"}
    press(page)
    expect_state(page, "stored")
    (report,) = device.requests[before:]
    assert '"fr"' not in (report.post_data or "")
    assert "fr" not in report.url.rsplit("/surveys/", 1)[1]
    assert "fr" not in report.headers.get("accept-language", "")


def test_closed_survey_asks_nothing(device: Device, collector: Collector) -> None:
    closed = SURVEY.replace("[privacy]", "closes = 2020-01-01\n[privacy]", 1)
    page = device.visit(collector.page(collector.publish(closed)))
    expect(page.get_by_text("This survey is closed")).to_be_visible()
    assert page.locator("input").count() == 0
