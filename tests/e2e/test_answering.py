"""A survey answered in a real page, from the first question to the estimates."""

import json
from collections.abc import Callable

import pytest
from collector import Collector
from device import (
    COST,
    SURVEY,
    Device,
    answer,
    begin,
    expect_state,
    fill_in,
    press,
    review,
    turn_page,
    what_was_sent,
)
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
    expect(page.get_by_text("No answer has left this page yet")).to_be_visible()
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
    says = f"ε = {COST} of at most {row['cap']}; {row['remaining']} are left."
    expect(page.locator('[data-filled="receipt.spent"]')).to_contain_text(says)


def test_receipt_shows_the_bytes_that_were_sent_beside_the_answers_while_it_is_open(
    page: Page, device: Device
) -> None:
    answer(page, ANSWERS)
    (body,) = device.posted()
    content = page.locator("#sent")
    assert "1234" not in (content.text_content() or "")
    rows, shown = what_was_sent(page)
    assert shown == body.decode()
    reports = json.loads(body)["reports"].values()
    assert [row[:2] for row in rows] == [[*pair] for pair in SHOWN.items()]
    assert [row[2].partition(":")[0] for row in rows if row[1] in ("Yes", "No")] == [
        {0: "Yes", 1: "No", 2: "No answer"}[report]
        for row, report in zip(rows, reports, strict=True)
        if row[1] in ("Yes", "No")
    ]
    page.locator("#sent > summary").click()
    expect(page.locator("#receipt-bytes")).to_be_empty()
    assert "1234" not in (content.text_content() or "")


def test_receipt_shows_no_answer_after_a_reload(page: Page) -> None:
    answer(page, ANSWERS)
    page.reload()
    expect_state(page, "answered")
    expect(page.locator("#receipt")).to_be_visible()
    expect(page.locator("#sent")).to_be_hidden()


def test_hidden_question_sends_a_report_too(page: Page, collector: Collector, survey: str) -> None:
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
    page.locator("#review").get_by_role("button", name="Back").click()
    fill_in(page, {"pet": "cat"})
    assert review(page)["Which animal?"] == "Cat"


def test_survey_is_answered_with_the_keyboard_alone(
    page: Page, collector: Collector, survey: str
) -> None:
    expect_state(page, "ready")
    page.locator("h1").focus()
    while page.locator("#explanation").is_visible():
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-turn]')"):
            page.keyboard.press("Enter")
    expect(page.locator("h2:focus")).to_have_text("Questions")
    for key in ("Tab", "Space", "Tab", "Tab", "ArrowDown", "Tab", "Tab", "ArrowDown", "Tab", "Tab"):
        page.keyboard.press(key)
    page.keyboard.type("1234")
    page.keyboard.press("Enter")
    expect(page.locator("#review h2")).to_be_focused()
    # Each answer has a link to change it before the button that sends.
    while not page.evaluate("document.activeElement.matches('#send')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_state(page, "stored")
    assert collector.stored(survey) == 1


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"smoked": "yes"}, "Please answer."),
        ({"team": "lab", "debts": "100000001"}, "Please give a number from 0 to 100,000,000."),
    ],
    ids=["required question is empty", "number out of range"],
)
def test_review_waits_for_valid_answers_and_says_what_is_wrong(
    page: Page, answers: dict[str, str], message: str
) -> None:
    expect_state(page, "ready")
    fill_in(page, answers)
    turn_page(page)
    wrong = page.locator(".question:has(:invalid:focus)")
    expect(wrong.locator(".complaint")).to_have_text(message)
    expect(page.locator("[aria-invalid]:focus")).to_have_count(1)
    expect(page.locator("#review")).to_be_hidden()
    mended = {"team": "lab", "debts": "1"}
    fill_in(page, mended)
    expect(page.locator(".complaint:visible, [aria-invalid]")).to_have_count(0)
    review(page)


def test_money_is_taken_as_people_write_it(page: Page) -> None:
    expect_state(page, "ready")
    fill_in(page, {"team": "lab"})
    for typed in ("3000 EUR", "€3 000", "3000€", "2999.6"):
        fill_in(page, {"debts": typed})
        expect(page.locator(".understood")).to_have_text("Taken as: 3000 EUR.")
        assert review(page)["How much do you owe?"] == "3000 EUR"
        page.locator("#review dd .link").last.click()
        page.locator("#debts--number").fill("")


@pytest.mark.parametrize(
    ("locale", "text"),
    [("fr-CA", "Quel animal ?"), ("en-US", "Which animal?"), ("de", "Which animal?")],
)
def test_page_speaks_the_first_language_of_the_device_that_it_has(
    new_device: Callable[..., Device], collector: Collector, locale: str, text: str
) -> None:
    page = new_device(locale=locale).visit(collector.page(collector.publish(LANGUAGES)))
    expect_state(page, "ready")
    begin(page)
    expect(page.locator(".question legend")).to_have_text(text, use_inner_text=True)
    assert page.title() == ("Cantine" if locale == "fr-CA" else "Canteen")
    assert page.evaluate("document.documentElement.lang") == ("fr" if locale == "fr-CA" else "en")


def test_language_is_switched_on_the_device_and_told_to_nobody(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(LANGUAGES)))
    expect_state(page, "ready")
    before = len(device.requests)
    page.locator("#language").select_option("fr")
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
