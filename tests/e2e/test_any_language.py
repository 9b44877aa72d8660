"""A survey in a language without words of the product, as its respondents see it."""

from collections.abc import Callable

import pytest
from collector import Collector
from device import Device, begin, expect_state, fill_in, press, review
from playwright.sync_api import Page, expect

from server.page_texts import LANGUAGES, Phrase, languages_of, numeral, told

TAGS = ["en", "fa", "hi", "mai", "sv", "ps", "de-CH", "es-MX", "fr", "ar", "dv", "ku-Arab"]
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


@pytest.mark.parametrize("tag", ["dv", "ku-Arab", "mai"])
def test_a_page_begins_in_the_direction_of_its_reader(
    new_device: Callable[..., Device], collector: Collector, tag: str
) -> None:
    page = new_device(locale=tag).visit(collector.page(collector.publish(SURVEY)))
    expect_state(page, "ready")
    _is_laid_out(page, tag, "ltr" if tag == "mai" else "rtl")
    # What has no translation is English, from the left, in a page from the right.
    words = page.locator(f'#begin [data-language="{tag}"]')
    (language,) = languages_of({"languages": [tag]})
    expect(words).to_have_text(language.words["page.begin"])
    direction = "(one) => getComputedStyle(one).direction"
    assert words.evaluate(direction) == "ltr"
    # Sentences follow each other from the left; where the picker and buttons stand does not change.
    promise = page.locator("p").filter(has_text="Of 100 people")
    assert promise.first.evaluate(direction) == "ltr"
    for other in ("#begin", "#language"):
        expected = "ltr" if tag == "mai" else "rtl"
        assert page.locator(other).evaluate(direction) == expected, other
    fill_in(page, {"q": "123456"})
    (answer,) = review(page).values()
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


BROUGHT = """
id = "s"
title = {dv = "یک پرسش", en = "One question"}
languages = ["dv", "en"]
[[questions]]
id = "q"
kind = "yes-no"
text = {dv = "آیا؟", en = "Is it?"}
epsilon = 1

[words.dv]
page.begin = "شروع"
page.next = "بعدی"
review.button = "پاسخ‌های من"
question.no-answer = "بی‌پاسخ"
"""


def test_words_that_a_survey_brings_are_shown_and_said_to_be_its_own(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    page = new_device(locale="dv").visit(collector.page(collector.publish(BROUGHT)))
    expect_state(page, "ready")
    expect(page.locator("#begin")).to_have_text("شروع", use_inner_text=True)
    note = page.locator("details.translated")
    expect(note).to_be_visible()
    note.locator("summary").click()
    expect(note).to_contain_text("Only you see your true answers.")
    page.locator("#language").select_option("en")
    expect(note).to_be_hidden()
    page.locator("#language").select_option("dv")
    begin(page)
    assert review(page) == {"آیا؟": "بی‌پاسخ"}
    press(page)
    expect_state(page, "stored")


COUNTED = f"""
id = "s"
title = "S"
languages = {[*LANGUAGES, "be"]}
[[questions]]
id = "q"
kind = "text"
text = "?"
epsilon = 1

[words.be]
question.too-long = {{one = "1–{{n}} буква", few = "1–{{n}} буквы", other = "1–{{n}} букв"}}
"""
_SAID = """async (numbers) => {
  const { word } = await import('/client/page/dom.js');
  return numbers.map((n) => word('question.too-long', { n }));
}"""


def test_what_the_program_counts_has_the_plurals_that_the_server_has(
    device: Device, collector: Collector
) -> None:
    survey = collector.publish(COUNTED)
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    for language in languages_of(collector.frozen(survey)["survey"]):
        page.locator("#language").select_option(language.tag)
        numbers = [1, 2, 3, 5, 11, 21, 22, 100, 111, 12_345]
        phrases = [Phrase.of("question.too-long", n=n) for n in numbers]
        assert page.evaluate(_SAID, numbers) == [told(one, language) for one in phrases]
    assert told(Phrase.of("question.too-long", n=22), language) == "1–22 буквы"
