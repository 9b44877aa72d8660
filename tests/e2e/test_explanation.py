"""The explanation's trials and quiz change, send and read nothing."""

import json
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from collector import Collector
from device import READ_MEMO, Device, begin, expect_state, turn_page
from everything import ASKED, EVERYTHING, answer_first_page
from playwright.sync_api import Page, expect
from scipy.stats import chisquare
from stage import WELL_BEING

#: How often "Try it 20 times" is pressed, for each of two made-up answers.
PRESSES = 20
#: The probability that a test of the draws fails by chance.
CHANCE = 1e-6
#: A yes-no question whose channel is known by hand: at ε = 1, w = 1 of three.
COIN = """
title = "Coin"
id = "coin"
[[questions]]
id = "coin"
kind = "yes-no"
text = "Heads?"
epsilon = 1
"""


def draw(page: Page, question: str, answer: str) -> dict[str, int]:
    """Try a made-up answer 20 times; return the sentences, and how often each occurred."""
    field = page.locator(".trial").filter(has=page.locator(f'[data-trial="{question}"]'))
    field.locator("select").select_option(answer)
    field.locator(".draws").evaluate("one => one.replaceChildren()")
    field.locator("[data-draw]").click()
    lines = field.locator(".draws li")
    expect(lines.first).to_be_visible()
    found = {}
    for line in lines.all():
        says, dots, times = line.locator("> span").all_inner_texts()
        n = int(re.sub(r"\D", "", times.replace("of 20", "")))
        assert dots == "●" * n + "○" * (20 - n)
        found[says] = n
    assert sum(found.values()) == 20
    numbers = [float(n) for one in found for n in re.findall(r"^Speaks for about ([\d.]+)", one)]
    if numbers:
        assert numbers == sorted(numbers)
    else:
        assert list(found.values()) == sorted(found.values(), reverse=True)
    return found


def channel_of(collector: Collector, survey: str, question: str) -> list[list[Fraction]]:
    """Return the probability of each output for each input, from the weights on the page."""
    channel = collector.frozen(survey)["randomizers"][question]["channel"]
    assert channel["name"] == "window"
    total = channel["near"] + channel["far"] * (channel["inputs"] - 1)
    return [
        [Fraction(channel["near" if x == y else "far"], total) for y in range(channel["inputs"])]
        for x in range(channel["inputs"])
    ]


def test_every_kind_can_be_tried_and_nothing_is_sent_read_or_kept(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(EVERYTHING)))
    expect_state(page, "ready")
    begin(page)
    answer_first_page(page)
    kept, requests = page.evaluate(READ_MEMO), len(device.requests)
    answers = "[...document.querySelectorAll('#answers .question input')].map((one) => " + (
        "[one.id, one.value, one.checked])"
    )
    tried = []
    while not page.locator("#review").is_visible():
        before = page.evaluate(answers)
        page.locator(".protection:visible > summary").click()
        for same in page.locator(".same:visible").all():
            abouts = same.locator("[data-about]").all()
            names = [one.get_attribute("data-about") or "" for one in abouts]
            name = same.locator("select").get_attribute("data-trial") or ""
            options = same.locator("select option")
            for option in (options.first, options.last):
                draw(page, name, option.get_attribute("value") or "")
            tried += names
        assert page.evaluate(answers) == before
        turn_page(page)
        if page.locator(".complaint:visible").count():
            pytest.fail("what was tried must not be taken for an answer")
    # Rows of a matrix are protected alike and are tried once; hidden questions are not shown.
    assert tried == [name for name in ASKED if name not in ("regret", "which")]
    expect(page.locator('[data-trial="alert"]')).to_have_count(0)
    assert len(device.requests) == requests
    assert page.evaluate(READ_MEMO) == kept


def test_trials_do_not_depend_on_what_is_answered(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    survey = collector.publish(COIN)
    found = []
    for answered in ("yes", "no"):
        device = new_device()
        # From here on each device draws from the same words.
        page = device.visit(collector.page(survey))
        begin(page)
        page.locator(f"#coin--{answered}").check()
        page.locator(".protection > summary").click()
        page.evaluate("""() => { let word = 7;
          Crypto.prototype.getRandomValues = (array) => array.fill(0).map((_, at) =>
            (array[at] = word = (Math.imul(word, 1664525) + 1013904223) >>> 0)); }""")
        found.append([draw(page, "coin", "yes") for _ in range(5)])
    assert found[0] == found[1]


def test_trials_are_drawn_by_the_channel_and_pictures_and_sentences_say_it(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(COIN)
    page = device.visit(collector.page(survey))
    begin(page)
    page.locator(".protection > summary").click()
    chances = channel_of(collector, survey, "coin")
    for row, answer in enumerate(("yes", "no")):
        drawn = sum((Counter(draw(page, "coin", answer)) for _ in range(PRESSES)), Counter())
        names = [
            f"{name}: {'the same as this answer' if at == row else 'swapped by chance, not by you'}"
            for at, name in enumerate(("Yes", "No", "No answer"))
        ]
        assert set(drawn) == set(names)
        observed = [drawn[name] for name in names]
        expected = [float(20 * PRESSES * chance) for chance in chances[row]]
        assert chisquare(observed, expected, sum_check=False).pvalue > CHANCE / 2, observed
    check_pictures(page, [chances[0][0], chances[1][0]])


def check_pictures(page: Page, chances: list[Fraction]) -> None:
    """Check that each sentence and the people above it give the same number of 100."""
    figures = page.locator(".people figure:visible").all()
    assert len(figures) == len(chances)
    for figure, chance in zip(figures, chances, strict=True):
        n = round(100 * chance)
        said = re.findall(r"\d+", figure.locator("figcaption").inner_text())
        assert said == ["100", str(n)]
        path = figure.locator("path").first.get_attribute("d") or ""
        # The area that is filled with people, in rows of ten.
        tens, ones = divmod(n, 10)
        assert path == f"M0 0H160V{16 * tens}H{16 * ones}v16H0z"


def test_page_names_the_price_of_each_question_and_of_all(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(WELL_BEING)
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    page.locator("#explanation summary:visible").last.click()
    frozen: dict[str, Any] = json.loads(page.locator("#survey-data").text_content() or "")
    asked = [one for one in frozen["survey"]["questions"] if one["kind"] != "note"]
    total = sum(float(one["epsilon"]) for one in asked)
    parts = " + ".join(f"{float(one['epsilon']):g}" for one in asked)
    says = (
        f"ε = {total:g} of privacy each time you answer it. Its questions add up to that: {parts}."
    )
    expect(page.locator("#explanation")).to_contain_text(says)
