"""Each language shows only its own words, and only the device learns which was chosen."""

import json
import re
import tomllib
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from collector import Collector, Relay
from device import Device, begin, expect_state, fill_in, press, review, turn_page
from playwright.sync_api import Page, expect
from scenes import my_privacy, questions
from stage import ANSWERS, REPORTS, WELL_BEING, Stage, open_details
from test_one_shape import shape
from watchers import check_device, kept_places

from server.page_texts import LANGUAGES

pytestmark = pytest.mark.more

#: The languages of the survey, which may be fewer than those of the product.
TAGS = tomllib.loads(WELL_BEING)["languages"]
#: Texts as people see them, one for each element with a text, without the browser's additions.
_SHOWN = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { parentElement: parent, textContent } = walker.currentNode;
    const isShown = parent.checkVisibility() && !parent.matches('script, option, .number, code');
    if (isShown && textContent.trim()) found.push(textContent.trim());
  }
  return found;
}"""
#: The languages of all visible texts.
_SPOKEN = """() => [...document.querySelectorAll('[data-language]')]
  .filter((one) => one.checkVisibility()).map(({ dataset }) => dataset.language)"""
#: Headers that differ between any two requests, and what is only in this tab.
_OTHER = (b"Host", b"Origin", b"Content-Length")
_SHOWN_HERE = ("memo", "url", "title")
_PLACE = re.compile(r"\\\{\w+\\\}")


@cache
def patterns(tag: str) -> dict[str, re.Pattern[str]]:
    """Return patterns that match a language's texts with their places filled."""
    words = {key: re.escape(text) for key, text in LANGUAGES[tag].words.items()}
    told = {key: text for key, text in words.items() if len(_PLACE.sub("", text)) > 3}
    return {key: re.compile(_PLACE.sub(".+", text)) for key, text in told.items()}


def check_speaks(page: Page, tag: str) -> None:
    """Check that all visible texts belong to this language, and none only to another."""
    language = LANGUAGES[tag]
    root = page.locator("html")
    expect(root).to_have_attribute("lang", tag)
    expect(root).to_have_attribute("dir", language.direction)
    shown = page.evaluate(_SHOWN)
    assert shown
    for text in shown:
        if any(one.fullmatch(text) for one in patterns(tag).values()):
            continue
        for other in set(TAGS) - {tag}:
            said = [key for key, one in patterns(other).items() if one.fullmatch(text)]
            assert not said, f"{tag}: {text!r} is {other}: {said}"
    assert set(page.evaluate(_SPOKEN)) <= {tag}


@pytest.mark.parametrize("tag", TAGS)
def test_each_language_speaks_for_itself_alone(
    new_device: Callable[..., Device], collector: Collector, tag: str
) -> None:
    stage = Stage(collector, lambda: new_device(locale=tag))
    title = re.search(rf'^title\.{tag} = "(.*)"', WELL_BEING, re.M)
    assert title is not None
    for scene in (questions, my_privacy):
        for _, page in scene(stage):
            check_speaks(page, tag)
            assert page.title() in (title[1], LANGUAGES[tag].words["me.title"])


def test_words_of_another_language_are_found(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    check_speaks(page, "en")
    german = LANGUAGES["de"].words["page.begin"]
    page.get_by_text("Begin", exact=True).first.evaluate(
        "(one, text) => { one.textContent = text; }", german
    )
    with pytest.raises(AssertionError, match=r"is de: \['page.begin'\]"):
        check_speaks(page, "en")


@pytest.mark.parametrize("tag", TAGS)
def test_states_and_complaints_follow_a_language_that_is_chosen(
    device: Device, collector: Collector, tag: str
) -> None:
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(collector.publish(WELL_BEING)))
    expect_state(page, "ready")
    page.locator("#language").select_option(tag)
    words = LANGUAGES[tag].words
    fill_in(page, {"age": "7"})
    turn_page(page)
    complaint = words["question.not-between"].replace("{min}", "16").replace("{max}", "100")
    expect(page.locator("#age_complaint")).to_have_text(complaint)
    # A visible state is announced again in the new language.
    page.locator("#language").select_option(TAGS[TAGS.index(tag) - 1])
    expect(page.locator("#age_complaint")).not_to_have_text(complaint)
    page.locator("#language").select_option(tag)
    expect(page.locator("#age_complaint")).to_have_text(complaint)
    fill_in(page, ANSWERS)
    review(page)
    press(page)
    expect_state(page, "waiting")
    waiting = words["state.waiting"].replace("{reason}", words["state.no-connection"])
    expect(page.locator('[data-state="waiting"] > span')).to_have_text(waiting, use_inner_text=True)


def test_language_is_reported_to_nobody(
    new_device: Callable[..., Device],
    collector: Collector,
    relay: Callable[[Collector], Relay],
) -> None:
    survey = collector.publish(WELL_BEING)
    seen: dict[str, dict[str, Any]] = {}
    for tag in ("en", "ar"):
        # The browser's own preference, which it sends by itself, is the same.
        wire, device = relay(collector), new_device(locale="fr")
        page = device.visit(f"{wire.url}/s/{survey}")
        expect_state(page, "ready")
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        page.locator("#language").select_option(tag)
        begin(page)
        fill_in(page, ANSWERS)
        open_details(page)
        review(page)
        press(page)
        expect_state(page, "stored")
        (body,) = device.posted()
        assert list(json.loads(body)) == ["version", "wave", "rid", "respondent", "reports"]
        # The kept records have no place for it either.
        check_device(page, device, survey, [])
        kept = {place: json.loads(one) for place, one in kept_places(page, device).items()}
        lines = set(re.findall(rb"\r\n(\w[\w-]*: [^\r]*)", wire.sent))
        seen[tag] = {
            "body": shape(json.loads(body)),
            "targets": sorted(wire.targets()),
            "headers": {line for line in lines if not line.startswith(_OTHER)},
            "kept": {name: value for name, value in kept.items() if name not in _SHOWN_HERE},
            "memo": shape(kept["memo"]),
        }
        assert page.url == f"{wire.url}/s/{survey}"
    assert seen["en"] == seen["ar"]


def test_answers_in_latin_letters_stay_apart_from_numbers_after_them(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    """Otherwise "YouTube" would pull the 20 of "tried 20 times" into its quotation marks."""
    texts = '{en = "Which app?", ar = "أي تطبيق؟"}'
    survey = 'title = "Apps"\nid = "apps"\nlanguages = ["en", "ar"]\n[[questions]]\nid = "app"\n'
    survey += f'kind = "choice"\ntext = {texts}\nepsilon = 1\noptions = ['
    survey += '{id = "a", text = {en = "YouTube", ar = "YouTube"}}, '
    survey += '{id = "b", text = {en = "None", ar = "لا شيء"}}]\n'
    for tag, expected in (("en", "“YouTube”, tried"), ("ar", "«\u2068YouTube\u2069»")):
        page = new_device(locale=tag).visit(collector.page(collector.publish(survey)))
        begin(page)
        open_details(page)
        page.locator("[data-draw]").click()
        expect(page.locator(".draws p")).to_contain_text(expected)
