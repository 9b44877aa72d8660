"""A survey in a language without words of the product, as its respondents see it."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import Device, begin, expect_state, fill_in, review
from playwright.sync_api import Page, expect

from server.page_texts import languages_of, numeral

TAGS = ["en", "fa", "hi", "sv", "ps", "de-CH", "es-MX", "fr", "ar", "dv", "ku-Arab"]
#: A survey in these languages; its texts are the same in each.
SURVEY = f"""
id = "s"
title = {{{", ".join(f'{tag} = "{tag}"' for tag in TAGS)}}}
languages = {TAGS}
[[questions]]
id = "q"
kind = "number"
min = 0
max = 1000000
epsilon = 1
text = {{{", ".join(f'{tag} = "?"' for tag in TAGS)}}}
"""
NUMBERS = [0, 7, 2026, 9999, 10_000, 123_456, 12_345_678, -5, -1_234_567.8, 0.25, 1e-7, 30.3]
_NUMERALS = """async (numbers) => {
  const { numeral } = await import('/client/page/dom.js');
  return numbers.map((number) => numeral(number));
}"""


def _is_laid_out(page: Page, tag: str, direction: str) -> None:
    root = page.locator("html")
    expect(root).to_have_attribute("lang", tag)
    expect(root).to_have_attribute("dir", direction)


@pytest.mark.parametrize("tag", ["fa", "dv", "ku-Arab", "hi"])
def test_a_page_begins_in_the_direction_of_its_reader(
    new_device: Callable[..., Device], collector: Collector, tag: str
) -> None:
    page = new_device(locale=tag).visit(collector.page(collector.publish(SURVEY)))
    expect_state(page, "ready")
    _is_laid_out(page, tag, "ltr" if tag == "hi" else "rtl")
    # What has no translation is English, from the left, in a page from the right.
    words = page.locator(f'#begin [data-language="{tag}"]')
    expect(words).to_have_text("Begin")
    assert words.evaluate("(one) => getComputedStyle(one).direction") == "ltr"
    fill_in(page, {"q": "123456"})
    (answer,) = review(page).values()
    (language,) = languages_of({"languages": [tag]})
    assert answer == numeral(123456, language)


def test_a_page_is_turned_when_another_language_is_picked(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(SURVEY)))
    expect_state(page, "ready")
    names = page.locator("#language option").all_inner_texts()
    assert names == [language.name for language in languages_of({"languages": TAGS})]
    for language in languages_of({"languages": TAGS}):
        page.locator("#language").select_option(language.tag)
        _is_laid_out(page, language.tag, language.direction)
        told = page.evaluate(_NUMERALS, NUMBERS)
        assert told == [numeral(number, language) for number in NUMBERS], language.tag


def test_a_page_in_one_language_writes_its_numbers(device: Device, collector: Collector) -> None:
    text = SURVEY.replace(str(TAGS), '["hi"]')
    for tag in TAGS:
        text = text.replace(f'{tag} = "{tag}"', "").replace(f'{tag} = "?"', "")
    text = text.replace("title = {", 'title = {hi = "S"').replace("text = {", 'text = {hi = "?"')
    page = device.visit(collector.page(collector.publish(text.replace(", ", ""))))
    begin(page)
    assert page.evaluate(_NUMERALS, [123456]) == ["1,23,456"]
