"""The first screens: who asks, what people agree to, and how little comes before "Begin"."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from collector import Collector
from device import READ_MEMO, Device, begin, expect_state, fill_in, press, review, turn_page
from playwright.sync_api import Page, expect
from stage import ANSWERS, EXAMPLES, WELL_BEING

from analysis.survey.survey_file import read_survey
from server.explanation.first_screen import heights, too_long
from server.page_texts import LANGUAGES, languages_of

ROOT = Path(__file__).parents[2]
PHONE = {"width": 390, "height": 844}
PHONES = [{"width": 360, "height": 640}, {"width": 390, "height": 664}, PHONE]
#: The examples, and the templates of studies, for everybody who has the address.
FILES = [*EXAMPLES.glob("*.toml"), *(ROOT / "server/studies").glob("*.toml")]
OPEN = {path.stem: re.sub("(?m)^access = .*", "", path.read_text()) for path in sorted(FILES)}
#: All visible words of ours before the button, in the order of the page, options of a field
#: included: not those of the author, no numbers, and no answer as an example.
_BEFORE = """() => {
  const button = document.querySelector('#begin');
  const seen = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (button.contains(text)) break;
    const { parentElement: part } = text;
    if (part.closest('h1, .who, .first > [data-language]')) continue;
    const isSeen = part.checkVisibility() && part.closest('p')?.offsetWidth !== 1;
    if (isSeen || part.matches('option')) seen.push(text.textContent);
  }
  const words = seen.join(' ').replace(/[“„«][^”“»]*[”“»]/g, '').split(/\\s+/);
  return words.filter((word) => /\\p{L}/u.test(word));
}"""
#: This survey also has the line on all answers together.
MOST_WORDS = 60


@pytest.mark.parametrize("tag", LANGUAGES)
def test_few_words_come_before_begin(
    new_device: Callable[..., Device], collector: Collector, tag: str
) -> None:
    survey = collector.publish(WELL_BEING)
    page = new_device(viewport=PHONE, locale=tag).visit(collector.page(survey))
    expect_state(page, "ready")
    words = page.evaluate(_BEFORE)
    assert 20 < len(words) <= MOST_WORDS, words
    # Title, language and banner are not on the later pages.
    begin(page)
    heading = page.locator("[data-page]:visible h2").bounding_box()
    assert heading is not None
    assert heading["y"] <= PHONE["height"] / 6


def end_of_begin(page: Page) -> float:
    """Return where the button ends, in pixels from the top."""
    expect_state(page, "ready")
    box = page.locator("#begin").bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@pytest.mark.parametrize("name", OPEN)
def test_begin_is_on_the_first_screen_of_small_phones(
    new_device: Callable[..., Device], collector: Collector, tmp_path: Path, name: str
) -> None:
    shutil.copy(EXAMPLES / "well-being.png", tmp_path)
    (tmp_path / "s.toml").write_text(OPEN[name])
    survey = read_survey(tmp_path / "s.toml")
    assert list(too_long(survey)) == []
    address = collector.page(collector.publish(OPEN[name]))
    for language in languages_of(survey.spec):
        ends = [
            end_of_begin(new_device(viewport=phone, locale=language.tag).visit(address))
            for phone in PHONES
        ]
        for end, phone in zip(ends, PHONES, strict=True):
            assert end <= phone["height"], (language.tag, phone)
        # The estimate of `check` is about the smallest.
        assert abs(ends[0] - sum(heights(survey, language).values())) <= 4 * 21, language.tag


LONG = "A study of what people think and know about a matter that concerns all of us. "


@pytest.mark.parametrize(
    ("title", "organisation", "introduction", "named"),
    [
        ("Short", "", "", None),
        ("Short", "An institute", LONG * 9, None),
        (LONG * 4, "An institute", LONG * 9, "title"),
        ("Short", LONG * 6, LONG * 9, "organisation"),
        (LONG * 3, LONG * 3, "", "title and organisation"),
    ],
)
def test_check_names_the_texts_that_push_begin_off_the_first_screen(
    new_device: Callable[..., Device],
    collector: Collector,
    tmp_path: Path,
    title: str,
    organisation: str,
    introduction: str,
    named: str | None,
) -> None:
    text = f'title = "{title.strip()}"\nid = "long"\n'
    text += f'organisation = "{organisation}"\n' if organisation else ""
    text += f'introduction = "{introduction}"\n' if introduction else ""
    for name in ("one", "two"):
        text += f'[[questions]]\nid = "{name}"\nkind = "yes-no"\ntext = "?"\nepsilon = 1\n'
    (tmp_path / "s.toml").write_text(text)
    told = list(too_long(read_survey(tmp_path / "s.toml")))
    page = new_device(viewport=PHONES[0]).visit(collector.page(collector.publish(text)))
    assert (end_of_begin(page) > PHONES[0]["height"]) == bool(told) == (named is not None)
    assert all(f"a shorter {named} would help" in one for one in told)


def test_an_introduction_goes_on_below_begin(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    rest = page.locator("#explanation").get_by_text("You can stop at any time, and skip any")
    expect(rest).to_be_visible()
    box, button = rest.bounding_box(), page.locator("#begin").bounding_box()
    assert box is not None
    assert button is not None
    assert box["y"] > button["y"] + button["height"]


def at_agreement(device: Device, collector: Collector, text: str = WELL_BEING) -> Page:
    page = device.visit(collector.page(collector.publish(text)))
    expect_state(page, "ready")
    page.locator("#begin").click()
    expect(page.locator("#agreement")).to_be_visible()
    return page


def test_nobody_passes_without_agreeing_and_the_right_reply(
    device: Device, collector: Collector
) -> None:
    page = at_agreement(device, collector)
    kept, requests = page.evaluate(READ_MEMO), len(device.requests)
    consent, quiz = page.locator("#consent_complaint"), page.locator("#quiz_complaint")
    turn_page(page)
    expect(consent).to_be_visible()
    expect(quiz).to_be_visible()
    expect(page.locator("#consent")).to_be_focused()
    page.locator("#consent").check()
    expect(consent).to_be_hidden()
    expect(quiz).to_be_visible()
    page.locator("#quiz--no").check()
    expect(page.locator('[data-reply="other"]')).to_be_visible()
    turn_page(page)
    expect(consent).to_be_hidden()
    expect(quiz).to_be_visible()
    page.locator("#quiz--either").check()
    expect(page.locator('[data-reply="right"]')).to_be_visible()
    expect(quiz).to_be_hidden()
    page.locator("#consent").uncheck()
    turn_page(page)
    expect(consent).to_be_visible()
    page.locator("#consent").check()
    turn_page(page)
    expect(page.locator('[data-question="age"]')).to_be_visible()
    # The ticks here are kept nowhere, and sent to nobody.
    assert page.evaluate(READ_MEMO) == kept
    assert len(device.requests) == requests
    assert page.evaluate("() => ({...sessionStorage})") == {}


def test_people_who_withdraw_consent_send_nothing(device: Device, collector: Collector) -> None:
    page = at_agreement(device, collector)
    begin_again = page.locator("#consent, #quiz--either")
    for box in begin_again.all():
        box.check()
    turn_page(page)
    fill_in(page, ANSWERS)
    review(page)
    # Whatever changes the box, the press checks it once more.
    page.evaluate("document.querySelector('#consent').checked = false")
    page.locator("#send").click()
    expect(page.locator("#agreement")).to_be_visible()
    expect(page.locator("#consent_complaint")).to_be_visible()
    assert device.posted() == []
    page.locator("#consent").check()
    turn_page(page)
    review(page)
    press(page)
    expect_state(page, "stored")
    (body,) = device.posted()
    assert set(json.loads(body)) == {"version", "wave", "rid", "respondent", "reports"}


def test_the_end_thanks_and_leads_on_with_nothing_of_the_respondent(
    device: Device, collector: Collector
) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    fill_in(page, ANSWERS)
    expect(page.locator("#thanks")).to_be_hidden()
    review(page)
    press(page)
    expect_state(page, "stored")
    expect(page.locator("#thanks")).to_contain_text("Thank you for your time.")
    link = page.locator("#thanks a")
    assert link.get_attribute("href") == "https://example.org/well-being"
    assert link.get_attribute("rel") == "noopener noreferrer"
    page.reload()
    expect_state(page, "answered")
    expect(page.locator("#thanks")).to_be_visible()


def test_a_survey_that_says_nothing_of_itself_has_no_second_screen(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    expect_state(page, "ready")
    page.locator("#begin").click()
    expect(page.locator('[data-question="smoked"]')).to_be_visible()
    assert page.locator("#agreement, #thanks, .who").count() == 0


def test_a_kiosk_asks_the_next_person_anew(device: Device, collector: Collector) -> None:
    text = WELL_BEING.replace("comprehension = true", "comprehension = true\nkiosk = true")
    page = device.visit(collector.page(collector.publish(text)))
    fill_in(page, ANSWERS)
    page.locator("#next-person").click()
    expect_state(page, "ready")
    page.locator("#begin").click()
    expect(page.locator("#agreement")).to_be_visible()
    expect(page.locator("#consent")).not_to_be_checked()
    expect(page.locator("#quiz--either")).not_to_be_checked()


def test_images_are_shown_and_nothing_is_fetched_for_them(
    device: Device, collector: Collector
) -> None:
    text = WELL_BEING.replace(
        'id = "talk"', 'id = "talk"\nimage = "well-being.png"\nimage_text = "A plant"'
    )
    page = device.visit(collector.page(collector.publish(text)))
    expect_state(page, "ready")
    widths = page.evaluate(
        "[...document.images].map((one) => one.decode().then(() => one.naturalWidth))"
        ".reduce(async (all, one) => [...await all, await one], [])"
    )
    assert widths == [128, 128]
    requests = len(device.requests)
    fill_in(page, ANSWERS)
    # The image belongs to a note that is shown only after one answer.
    expect(page.get_by_role("img", name="A plant")).to_be_visible()
    fetched = [one for one in device.requests[requests:] if not one.url.startswith("data:")]
    assert fetched == []
    names = {one.url.rpartition("/")[2] for one in device.requests if one.url.startswith("http")}
    assert not [name for name in names if name.endswith(".png")]
