"""The end of the page shows at a glance what became of answers, and no receipt holds them."""

import re
from collections.abc import Callable
from pathlib import Path

from collector import Collector
from device import (
    CANARIES,
    NUMBER,
    OPTION,
    SURVEY,
    Device,
    answer,
    expect_state,
    fill_in,
    press,
    review,
    what_was_sent,
)
from everything import with_page
from javascript import Run
from playwright.sync_api import Page, expect
from watchers import check_places

from analysis.core.epsilon import MICRO
from analysis.privacy.meaning import rounded_up
from server.store import Store

REPORTS = "**/api/surveys/*/reports"
_MARK = "one => getComputedStyle(one, '::before').content"


def ended(page: Page, state: str) -> tuple[str, str]:
    """Return the title of the state in which a page ends, and its mark."""
    expect_state(page, state)
    end = page.locator(f'[data-state="{state}"]')
    return end.locator("strong").inner_text(), end.evaluate(_MARK).partition(" / ")[0]


def test_ends_differ_at_a_glance_and_say_what_to_do(
    page: Page, new_device: Callable[..., Device], collector: Collector, survey: str
) -> None:
    page.context.route(REPORTS, lambda route: route.abort())
    answer(page, {"team": "lab"}, "waiting")
    assert ended(page, "waiting") == ("Not sent yet", '"…"')
    expect(page.locator('[data-state="waiting"]')).to_contain_text("keep it open")
    page.context.unroute(REPORTS)
    page.reload()
    assert ended(page, "stored") == ("Sent. Thank you!", '"✓"')
    page.reload()
    assert ended(page, "answered") == ("Already answered", '"✓"')
    other = new_device()
    problem = {"type": "urn:deniable:problem:over", "detail": "It ended yesterday."}
    other.context.route(REPORTS, lambda route: route.fulfill(status=403, json=problem))
    page = other.visit(collector.page(survey))
    answer(page, {"team": "lab"}, "refused")
    assert ended(page, "refused") == ("Your answers were not taken", '"!"')
    expect(page.locator('[data-state="refused"]')).to_contain_text("The survey has ended.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    saved = download.value.path().read_text()
    assert saved.startswith("Canteen\n\nYour answers were not taken\n")
    page.emulate_media(media="print")
    expect(page.locator('[data-state="refused"]')).to_be_visible()


def test_a_closed_survey_looks_closed(page: Page, collector: Collector, survey: str) -> None:
    store = Store(collector.database, create=True)
    store.surveys.close_waves(survey)
    store.close()
    page.reload()
    closed = page.locator(".end.closed").first
    assert closed.evaluate(_MARK).partition(" / ")[0] == '"–"'
    expect(closed).to_contain_text("There is nothing more to do.")


def test_receipt_is_saved_without_answers(page: Page, tmp_path: Path) -> None:
    answer(page, CANARIES)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    download.value.save_as(tmp_path / "receipt.txt")
    text = (tmp_path / "receipt.txt").read_text()
    rid = page.locator("#receipt-rid").text_content() or ""
    assert download.value.suggested_filename == f"receipt-{page.url.rpartition('/')[2]}.txt"
    assert text.startswith("Canteen\n\nSent. Thank you!\n")
    assert len(rid) == 32
    assert rid not in text
    assert "ε = 5 of at most 12" in text
    check_places({"receipt": text.encode()}, [OPTION, NUMBER, "Zebra", "73,914,682", "Laboratory"])
    for report in what_was_sent(page)[0]:
        assert report[0] not in text


def test_receipt_is_printed_without_answers(page: Page) -> None:
    answer(page, CANARIES)
    what_was_sent(page)
    page.locator("#receipt").get_by_text("Privacy used, in numbers").click()
    page.evaluate("window.print = () => { window.printed = true; }")
    page.get_by_role("button", name="Print it").click()
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")
    expect(page.locator("#receipt")).to_be_visible()
    expect(page.locator('[data-state="stored"]')).to_be_visible()
    for part in ("#sent", "#save-receipt", "footer", "#receipt-bytes", "#receipt-rid"):
        expect(page.locator(part)).to_be_hidden()


def test_a_shared_device_saves_and_prints_nothing(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(with_page("kiosk", survey=SURVEY))))
    answer(page, {"team": "lab"})
    expect(page.locator("#receipt")).to_be_visible()
    expect(page.locator("#save-receipt, #print-receipt")).to_have_count(0)


def test_sent_reports_are_described_in_words_before_their_bytes_are_shown(page: Page) -> None:
    fill_in(page, CANARIES)
    review(page)
    press(page)
    expect_state(page, "stored")
    rows, _ = what_was_sent(page)
    assert [row[0] for row in rows] == [
        "Did you smoke?",
        "Which animal?",
        "Where do you work?",
        "How much do you owe?",
    ]
    for _, mine, sent in rows[:3]:
        assert sent == f"{mine}: the same as this answer" or sent.endswith(
            ": swapped by chance, not by you"
        )
    assert rows[3][2] in (
        "Speaks for a high number",
        "Speaks for a low number",
        "No answer: swapped by chance, not by you",
    ) or rows[3][2].startswith("Speaks for about ")
    expect(page.locator("#receipt-bytes")).to_be_hidden()
    page.get_by_text("Exactly what was sent").click()
    expect(page.locator("#receipt-bytes")).to_be_visible()


def test_what_was_sent_of_a_number_is_said_in_few_digits(
    device: Device, collector: Collector
) -> None:
    # Of the numbers that a report can speak for, none but 0 has less than three decimals.
    number = 'id = "hours"\nkind = "number"\ntext = "Hours?"\nmin = 0\nmax = 7.001\nepsilon = 8\n'
    survey = collector.publish(
        f'title = "Work"\nid = "work"\n[[questions]]\n{number}required = true'
    )
    page = device.visit(collector.page(survey))
    answer(page, {"hours": "3"})
    ((_, _, sent),), _ = what_was_sent(page)
    assert re.fullmatch(r"Speaks for about \d(\.\d{1,2})?", sent), sent


def test_the_contact_is_at_the_end_and_in_the_receipt(
    new_device: Callable[..., Device], collector: Collector
) -> None:
    survey = collector.publish('contact = "Ask Ada Example."\n' + SURVEY)
    visited = new_device()
    page = visited.visit(collector.page(survey))
    expect(page.locator("#ask")).to_be_hidden()
    answer(page, {"team": "lab"}, "stored")
    expect(page.locator("#ask")).to_contain_text("Ask Ada Example.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    assert "\n\nAsk Ada Example.\n" in download.value.path().read_text()
    other = new_device()
    problem = {"type": "urn:deniable:problem:over", "detail": "It ended yesterday."}
    other.context.route(REPORTS, lambda route: route.fulfill(status=403, json=problem))
    page = other.visit(collector.page(survey))
    answer(page, {"team": "lab"}, "refused")
    expect(page.locator("#ask")).to_contain_text("Ask Ada Example.")


def test_spent_epsilon_is_rounded_up_as_the_server_rounds_it(run: Run) -> None:
    spent = [0, 1, 999, 1_000, 42_194, 1_000_000, 1_333_334, 11_109_438, 99_999_999]
    shown = run("page/dom.js", "return v.map(m.inEpsilon);", spent)
    assert shown == [float(rounded_up(one / MICRO, 4)) for one in spent]
    assert all(one <= round(above * MICRO) for one, above in zip(spent, shown, strict=True))
