"""After each person at a shared device, nothing of that person is left."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from collector import Collector
from device import READ_MEMO, expect_state, fill_in, press, wait_for
from everything import EVERYTHING, MARKERS, hasty_person, person, with_page
from limits import MOMENT
from playwright.sync_api import Browser, Page, expect
from stage import KIOSK, PAGES
from watchers import Profile, check_device, check_document, check_places

pytestmark = pytest.mark.more

REPORTS = "**/api/surveys/*/reports"
#: Other texts that occur only in the answers of the person, and not in the survey.
SHOWN = ["73914682 EUR", "40417617 grains", "3. Grebnix"]


@pytest.fixture(scope="module")
def shared(collector: Collector) -> str:
    """Return the id of a survey of everything, for a device that many people use."""
    return collector.publish(with_page("kiosk", survey=EVERYTHING))


@pytest.fixture
def device(browser: Browser, tmp_path: Path) -> Profile:
    """Return a device whose profile can be read once it is closed, which each test does."""
    return Profile(browser, tmp_path / "profile")


def next_person(page: Page) -> None:
    """Press the button for the next person."""
    page.locator("#next-person").click()
    expect_state(page, "ready")
    expect(page.locator("#explanation")).to_be_visible()


def in_memory(page: Page) -> bytes:
    """Return all that the page's program can still reach, as the browser's debugger sees it."""
    # When Playwright reads texts, `RegExp.input` is the last one that matched; now it is this.
    expect(page.locator("#status")).to_contain_text("No answer has left this page yet.")
    debugger = page.context.new_cdp_session(page)
    parts: list[str] = []
    debugger.on("HeapProfiler.addHeapSnapshotChunk", lambda one: parts.append(one["chunk"]))
    debugger.send("HeapProfiler.enable")
    debugger.send("HeapProfiler.collectGarbage")
    debugger.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    debugger.detach()
    strings: list[str] = json.loads("".join(parts))["strings"]
    return "\n".join(strings).encode()


def check_clean(page: Page, device: Profile, survey: str, patience: float = MOMENT) -> None:
    """Check that the document, memory and storage have nothing of the person before.

    The form may take so many seconds to be empty.
    """
    wait = 1000 * patience
    check_document(page, MARKERS + SHOWN)
    check_device(page, device, survey, MARKERS + SHOWN)
    check_places({"memory": in_memory(page)}, MARKERS + SHOWN)
    for control in page.locator("#answers :is(input[type=radio], input[type=checkbox])").all():
        expect(control).not_to_be_checked(timeout=wait)
    for selector in ("#review dd", "#sent td", "#answers [aria-pressed=true]", "details[open]"):
        expect(page.locator(selector)).to_have_count(0, timeout=wait)


def test_next_person_finds_nothing_of_the_last(
    device: Profile, collector: Collector, shared: str
) -> None:
    page = device.visit(collector.page(shared))
    person(page)
    # While somebody answers, the answers are in memory: the watcher sees them there.
    with pytest.raises(AssertionError, match="memory: "):
        check_places({"memory": in_memory(page)}, MARKERS)
    press(page)
    expect_state(page, "stored")
    # The sent reports and answers are not offered, since the next person could open them.
    expect(page.locator("#sent")).to_have_count(0)
    first = page.evaluate(READ_MEMO)["secret"]
    next_person(page)
    check_clean(page, device, shared)
    kept = page.evaluate(READ_MEMO)
    assert list(kept) == ["secret"]
    assert kept["secret"] != first
    device.context.close()
    check_places(device.files(), MARKERS)


@pytest.mark.parametrize("by", ["the page", "the browser"])
def test_the_first_screen_has_nothing_of_whoever_went_back_to_it(
    device: Profile, collector: Collector, by: str
) -> None:
    page = device.visit(collector.page(collector.publish(KIOSK)))
    fill_in(page, PAGES[0] | PAGES[1])
    secret = page.evaluate(READ_MEMO)["secret"]
    first = page.locator("#explanation")
    for _ in range(3):
        if not first.is_visible():
            if by == "the page":
                page.locator('[data-turn="back"]:visible').click()
            else:
                page.go_back()
    expect(first).to_be_visible()
    expect_state(page, "ready")
    assert page.locator("#age--number").input_value() == ""
    assert page.locator("#answers input:checked").count() == 0
    wait_for(page, lambda: page.evaluate(READ_MEMO).get("secret") not in (None, secret))
    device.context.close()


@pytest.mark.parametrize("at", ["questions", "review"])
def test_person_who_leaves_before_the_end_leaves_nothing(
    device: Profile, collector: Collector, shared: str, at: str
) -> None:
    page = device.visit(collector.page(shared))
    (hasty_person if at == "questions" else person)(page)
    if at == "questions":
        page.locator("#review dd .link").first.click()
    next_person(page)
    check_clean(page, device, shared)
    assert device.posted() == []
    device.context.close()
    check_places(device.files(), MARKERS)


def test_reports_that_wait_are_all_that_is_left_and_go_once_they_are_sent(
    device: Profile, collector: Collector
) -> None:
    survey = collector.publish(with_page("kiosk", survey=EVERYTHING))
    device.context.route(REPORTS, lambda route: route.abort())
    page = device.visit(collector.page(survey))
    frozen: list[str] = []
    for number, answers in enumerate((person, hasty_person), 1):
        answers(page)
        press(page)
        expect_state(page, "waiting")
        expect(page.locator("#kiosk-waits")).to_be_visible()
        next_person(page)
        expect(page.locator("#earlier-wait")).to_contain_text(str(number))
        check_clean(page, device, survey)
        memo = page.evaluate(READ_MEMO)[f"survey/{survey}"]
        frozen = memo.pop("pending")
        assert len(frozen) == number
        assert (memo["waves"], memo["times"], memo["spent"]) == ({}, {}, 0)
    device.context.unroute(REPORTS)
    page.reload()
    expect(page.locator("#earlier-wait")).to_be_hidden()
    wait_for(page, lambda: list(page.evaluate(READ_MEMO)) == ["secret"])
    bodies = {body.decode() for body in device.posted()}
    assert bodies == set(frozen)
    assert len({json.loads(body)["respondent"] for body in bodies}) == 2
    assert collector.stored(survey) == 2
    assert [row["waves"] for row in collector.ledger(survey)] == ["1", "1"]
    device.context.close()


def test_shared_device_offers_no_page_of_what_it_sent(
    device: Profile, collector: Collector, shared: str
) -> None:
    page = device.visit(collector.page(shared))
    expect_state(page, "ready")
    expect(page.locator('a[href="/me"]')).to_have_count(0)
    device.context.close()


@pytest.mark.parametrize("leak", ["report", "form", "secret"])
def test_watchers_catch_a_device_that_keeps_an_answer(
    device: Profile, serve_client: Callable[..., Collector], leak: str
) -> None:
    page_file = "page/survey.js"
    changes = {
        "report": [
            (page_file, "  remember(null);\n  putBack({});", "  putBack({});"),
            ("page/review.js", "drawn = sent && found;", "drawn = found;"),
        ],
        "form": [
            (page_file, "  remember(null);\n  putBack({});", "  remember(null);"),
            (page_file, "  putBack(draft ?? {});\n", ""),
        ],
        "secret": [("optional/kiosk.js", "change('secret', () => undefined)", "Promise.resolve()")],
    }
    served = serve_client(*changes[leak])
    survey = served.publish(with_page("kiosk", survey=EVERYTHING))
    page = device.visit(served.page(survey))
    # What was drawn has a marker only if later pages were answered.
    (person if leak == "report" else hasty_person)(page)
    if leak != "form":
        press(page)
        expect_state(page, "stored")
    secret = page.evaluate(READ_MEMO)["secret"]
    next_person(page)
    if leak == "secret":
        assert page.evaluate(READ_MEMO)["secret"] == secret
    else:
        with pytest.raises(AssertionError):
            check_clean(page, device, survey, patience=1)
    device.context.close()


def test_nobody_can_begin_while_the_answers_of_the_last_are_drawn(
    device: Profile, collector: Collector, shared: str
) -> None:
    # Signing delays the draw, as on a slow phone, until the test has looked.
    device.context.add_init_script(
        # An empty page, which comes first, has no such object.
        "const { prototype = {} } = globalThis.SubtleCrypto ?? {}; const { sign } = prototype;"
        "prototype.sign = async function (...given) {"
        " await globalThis.gate; return sign.apply(this, given); };"
    )
    page = device.visit(collector.page(shared))
    hasty_person(page)
    page.evaluate(
        "() => { globalThis.gate = new Promise((done) => { globalThis.open_gate = done; }); }"
    )
    press(page)
    expect(page.locator("#send")).to_be_hidden()
    assert page.locator("#next-person").is_hidden()
    page.evaluate("open_gate()")
    expect_state(page, "stored")
    expect(page.locator("#next-person")).to_be_visible()
    device.context.close()


def test_a_device_that_somebody_left_is_emptied_after_a_warning(
    device: Profile, collector: Collector
) -> None:
    page = device.context.new_page()
    page.clock.install()
    page.goto(collector.page(collector.publish(KIOSK)))
    expect_state(page, "ready")
    warning = page.locator("#still-there")
    # Nobody has been here yet.
    page.clock.run_for(200_000)
    expect(warning).to_be_hidden()
    page.locator("#language").select_option("de")
    fill_in(page, PAGES[0] | PAGES[1])
    secret = page.evaluate(READ_MEMO)["secret"]
    page.clock.run_for(74_000)
    expect(warning).to_be_hidden()
    page.clock.run_for(2_000)
    expect(warning).to_contain_text("Sind Sie noch da?")
    expect(warning.get_by_role("button")).to_be_focused()
    # Whoever touches something else may be the next person already.
    page.locator("h2:visible").first.click()
    expect(warning).to_be_visible()
    warning.get_by_role("button").click()
    expect(warning).to_be_hidden()
    page.clock.run_for(80_000)
    expect(warning).to_be_visible()
    page.clock.run_for(16_000)
    expect(warning).to_be_hidden()
    expect(page.locator("#explanation")).to_be_visible()
    expect(page.locator("h1")).to_have_text("Well-being 2026", use_inner_text=True)
    assert page.locator("#age--number").input_value() == ""
    assert page.locator("#answers input:checked").count() == 0
    wait_for(page, lambda: page.evaluate(READ_MEMO).get("secret") not in (None, secret))
    # Once is enough, since nobody has come since.
    fresh = page.evaluate(READ_MEMO)["secret"]
    page.clock.run_for(200_000)
    assert page.evaluate(READ_MEMO)["secret"] == fresh
    # Whoever ends while the page asks does not have the next person's page emptied.
    fill_in(page, PAGES[0])
    page.clock.run_for(76_000)
    expect(warning).to_be_visible()
    page.locator("#next-person").click()
    expect_state(page, "ready")
    expect(warning).to_be_hidden()
