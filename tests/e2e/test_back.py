"""The browser's "back" and "forward" turn pages, and reveal to nobody which ones were shown."""

import pytest
from collector import Collector
from device import Device, agree, expect_state, fill_in, press, review, turn_page, wait_for
from playwright.sync_api import Page, expect
from stage import ANSWERS, PAGES, WELL_BEING

#: Three pages, of which the second is shown only after a yes.
SKIPPING = """
title = "T"
id = "t"
""" + "".join(
    f'''[[questions]]
id = "{name}"
kind = "yes-no"
text = "{name}?"
new_page = true
epsilon = 1
{more}
'''
    for name, more in (("a", ""), ("b", "shows_if = \"a = 'yes'\""), ("c", ""))
)

STEPS = {"explanation": 0, "a": 1, "b": 2, "c": 3}


def shown(page: Page) -> str:
    """Return the visible heading and the first visible question."""
    return str(
        page.evaluate("""() => [...document.querySelectorAll('[data-page], #review')]
          .filter((one) => one.checkVisibility())
          .map((one) => one.querySelector('.question:not([hidden])')?.dataset.question ?? one.id)
          .join()""")
    )


def expect_shown(page: Page, expected: str) -> None:
    """Wait until a page of the survey, or the review, is shown."""
    wait_for(page, lambda: shown(page) == expected)


def wait_for_step(page: Page, step: int) -> None:
    """Wait until an entry of the history is shown."""
    wait_for(page, lambda: page.evaluate("history.state?.step ?? 0") == step)


def test_back_and_forward_go_through_the_pages_with_their_answers(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    review(page)
    expect_shown(page, "review")
    for expected in ("hopeless", "cheerful", "age", "agreement", "explanation"):
        page.go_back()
        expect_shown(page, expected)
    for expected in ("agreement", "age", "cheerful", "hopeless", "review"):
        page.go_forward()
        expect_shown(page, expected)
    assert page.locator("#age--number").input_value() == PAGES[0]["age"]
    # The buttons of the page lead through the same entries.
    page.locator("#review dd .link").first.click()
    expect_shown(page, "age")
    page.go_back()
    expect_shown(page, "agreement")
    assert len(device.posted()) == 0


def test_forward_goes_no_further_than_answers_can_be_taken(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    page.locator("#begin").click()
    agree(page)
    fill_in(page, PAGES[0])
    turn_page(page)
    page.go_back()
    page.locator("#age--number").fill("7")
    page.go_forward()
    expect_shown(page, "age")
    expect(page.locator("#age_complaint")).to_be_visible()
    page.go_back()
    page.locator("#consent").uncheck()
    page.go_forward()
    expect_shown(page, "agreement")


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_the_history_does_not_reveal_which_pages_were_shown(
    device: Device, collector: Collector, answer: str
) -> None:
    page = device.visit(collector.page(collector.publish(SKIPPING)))
    expect_state(page, "ready")
    page.locator("#begin").click()
    before = page.evaluate("history.length")
    page.locator(f"#a--{answer}").check()
    turn_page(page)
    if answer == "yes":
        expect_shown(page, "b")
        turn_page(page)
    expect_shown(page, "c")
    # There is an entry for each page, whether it was skipped or not; each holds only its number.
    assert page.evaluate("history.length") - before == 2
    assert page.evaluate("history.state") == {"step": 3}
    for expected in (*["b"] * (answer == "yes"), "a", "explanation"):
        page.go_back()
        expect_shown(page, expected)
        # Skipped pages are passed in the history, too.
        wait_for_step(page, STEPS[expected])


def test_after_sending_back_leaves_the_survey(device: Device, collector: Collector) -> None:
    survey = collector.publish(SKIPPING)
    page = device.visit(f"{collector.url}/me")
    page.goto(collector.page(survey))
    fill_in(page, {"a": "no", "c": "yes"})
    review(page)
    press(page)
    expect_state(page, "stored")
    page.go_back()
    expect(page).to_have_url(f"{collector.url}/me")
    page.go_forward()
    expect_state(page, "answered")
    assert len(device.posted()) == 1


def test_a_reload_begins_with_the_first_page_and_its_entry(
    device: Device, collector: Collector
) -> None:
    page = device.visit(f"{collector.url}/me")
    page.goto(collector.page(collector.publish(SKIPPING)))
    page.locator("#begin").click()
    turn_page(page)
    page.reload()
    expect_state(page, "ready")
    wait_for_step(page, 0)
    expect_shown(page, "explanation")
    page.go_back()
    expect(page).to_have_url(f"{collector.url}/me")


def test_one_answer_is_changed_from_the_review_which_comes_back(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    fill_in(page, ANSWERS)
    answers = review(page)
    (place,) = (at for at, text in enumerate(answers.values()) if text.startswith(PAGES[0]["age"]))
    (other,) = (at for at, text in enumerate(answers.values()) if text.startswith("6.5"))
    submit = page.locator('[data-page]:visible [type="submit"]')
    for at in (other, place):
        page.locator("#review dd .link").nth(at).click()
        # It says where it leads, on each page.
        expect(submit).to_have_text("Review my answers", use_inner_text=True)
        if at == other:
            submit.click()
    expect(page.locator("#age--number")).to_be_focused()
    page.locator("#age--number").fill("1000")
    page.locator('[data-page]:visible [type="submit"]').click()
    # What cannot be taken is named before the review.
    expect_shown(page, "age")
    page.locator("#age--number").fill("41")
    page.locator('[data-page]:visible [type="submit"]').click()
    expect_shown(page, "review")
    page.go_back()
    page.go_back()
    expect(submit).to_have_text("Next", use_inner_text=True)
    again = list(review(page).values())
    assert again[place].startswith("41")
    assert again[:place] + again[place + 1 :] == [
        text for at, text in enumerate(answers.values()) if at != place
    ]
