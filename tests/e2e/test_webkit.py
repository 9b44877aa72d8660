"""The most important tests in WebKit: each kind of question, once only, waves, retry, drafts."""

from collections.abc import Callable, Iterator

import pytest
from collector import Collector, Relay
from device import READ_MEMO, SURVEY
from everything import ANSWERS, CHOSEN, EVERYTHING, MARKERS, REGRET, with_page
from limits import wait_until
from stage import PAGES, WELL_BEING
from watchers import check_places, check_wire
from webkit import WebKit, webkit

pytestmark = pytest.mark.more

Start = Callable[[], WebKit]
#: The network is away until the page is loaded again.
_CUT = "async () => { globalThis.fetch = () => Promise.reject(new TypeError('cut')); }"
#: Everything that WebKit could keep for a page, and the document.
_KEPT = (
    """async () => JSON.stringify({
  memo: await (READ_MEMO)(), local: {...localStorage}, session: {...sessionStorage},
  name: window.name, state: history.state, url: location.href, title: document.title,
  cookie: document.cookie, document: document.documentElement.outerHTML,
})"""
).replace("READ_MEMO", READ_MEMO)
TEAM = {"team": "lab"}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start browsers that have never been anywhere."""
    with webkit(tmp_path_factory.mktemp("webkit")) as start:
        yield start


def send(browser: WebKit, state: str = "stored") -> None:
    """Go from the questions of one page to the state after sending."""
    browser.turn()
    browser.one("#review")
    browser.press("#send")
    browser.expect_state(state)


def test_every_kind_is_answered_reviewed_and_stored(start: Start, collector: Collector) -> None:
    survey, browser = collector.publish(WELL_BEING), start()
    browser.visit(collector.page(survey))
    browser.begin()
    for answers in PAGES:
        browser.fill_in(answers)
        browser.turn()
    shown = browser.review()
    assert shown["How old are you?"] == "34 years"
    assert shown["In the last two weeks, how often did you feel … – cheerful"] == "Sometimes"
    assert shown["What does you good? Put the best first."].startswith("1. Peace and quiet, 2. ")
    assert shown["Which app takes most of your time?"] == "TikTok"
    browser.press("#send")
    browser.expect_state("stored")
    assert collector.stored(survey) == 1
    browser.visit(collector.page(survey))
    browser.expect_state("answered")


def test_one_of_two_tabs_sends(start: Start, collector: Collector) -> None:
    survey, browser = collector.publish(SURVEY), start()
    browser.visit(collector.page(survey))
    browser.begin()
    browser.fill_in(TEAM)
    first = browser.new_tab()
    browser.visit(collector.page(survey))
    browser.begin()
    browser.fill_in({"team": "office"})
    send(browser)
    browser.to_tab(first)
    send(browser, "answered")
    assert collector.stored(survey) == 1


def test_report_that_could_not_be_sent_is_sent_after_a_reload(
    start: Start, collector: Collector, relay: Callable[[Collector], Relay]
) -> None:
    survey, browser, wire = collector.publish(SURVEY), start(), relay(collector)
    browser.visit(f"{wire.url}/s/{survey}")
    browser.begin()
    browser.fill_in(TEAM)
    browser.evaluate(_CUT)
    send(browser, "waiting")
    kept = browser.evaluate(READ_MEMO)[f"survey/{survey}"]["pending"]
    browser.driver.refresh()
    browser.expect_state("stored")
    assert kept[0].encode() in bytes(wire.sent)
    assert collector.stored(survey) == 1


def test_waves_start_from_one_draw_and_are_counted(start: Start, collector: Collector) -> None:
    remembers = SURVEY.replace("epsilon = 1\n", "epsilon = 1\nepsilon_forever = 2\n", 1)
    survey, browser = collector.publish(remembers), start()
    keys = []
    for wave in (1, 2):
        collector.open_wave(survey, wave)
        browser.visit(collector.page(survey))
        browser.begin()
        browser.fill_in(TEAM)
        send(browser)
        keys.append(browser.evaluate(READ_MEMO)["secret"])
    memo = browser.evaluate(READ_MEMO)[f"survey/{survey}"]
    assert keys[0] == keys[1]
    assert sorted(memo["waves"]) == ["1", "2"]
    assert {times for key, times in memo["times"].items() if "/" not in key} == {2}
    assert [collector.stored(survey, wave) for wave in (1, 2)] == [1, 1]


def test_reload_keeps_a_draft_and_back_turns_the_page(start: Start, collector: Collector) -> None:
    survey, browser = collector.publish(with_page("resume")), start()
    browser.visit(collector.page(survey))
    browser.begin()
    browser.fill_in({"visited": "yes", "animal": ANSWERS["animal"]})
    browser.turn()
    browser.fill_in({"mood": ANSWERS["mood"]})
    browser.driver.back()
    wait_until(lambda: bool(browser.all('[data-question="animal"]')))
    browser.turn()
    assert browser.one("#mood--midjan").is_selected()
    browser.driver.refresh()
    browser.expect_state("drafted")
    browser.press("#go-on")
    browser.begin("resumed")
    assert browser.one("#animal--zebra-canary").is_selected()


def test_no_answer_is_sent_or_kept(
    start: Start, collector: Collector, relay: Callable[[Collector], Relay]
) -> None:
    survey, browser, wire = collector.publish(EVERYTHING), start(), relay(collector)
    browser.visit(f"{wire.url}/s/{survey}")
    browser.begin()
    browser.fill_in({"visited": "no", "regret": REGRET})
    pages = [["visited", "animal", "foods"], ["calm", "alert", "mood", "debts", "weight"]]
    pages += [["town", "word", "order"], ["herb", "which", "again"]]
    for page in pages:
        browser.fill_in({name: ANSWERS[name] for name in page})
        browser.turn()
    assert "vexmarl 8841" in browser.review().values()
    browser.press("#send")
    browser.expect_state("stored")
    check_wire(wire, survey, MARKERS + CHOSEN)
    kept = browser.evaluate(_KEPT)
    check_places({"page": kept.encode()}, MARKERS)
    assert collector.stored(survey) == 1
