"""Texts are hashed and randomized on the device, and leave it in no form."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from collector import Collector, Relay, command
from device import Device, begin, expect_state, press, review, turn_page, wait_for
from playwright.sync_api import Page, expect
from watchers import check_bytes, check_device, found_in

TEXTS = """
title = "Texts"
id = "texts"
[[questions]]
id = "boss"
kind = "text"
text = "Whom do you fear?"
candidates = ["Anna", "Bert"]
longest = 24
epsilon = 1
[[questions]]
id = "word"
kind = "text"
text = "In one word?"
required = true
epsilon = 2
"""
#: The text occurs nowhere else; these are the forms that it has on its way.
TYPED, FOLDED = " Quetzal-CANARY ", "quetzal-canary"
CANARIES = [TYPED.strip(), FOLDED, "quetzal"]


def fill(page: Page, boss: str, word: str) -> None:
    begin(page)
    page.locator("#boss--text-input").fill(boss)
    page.locator("#word--text-input").fill(word)


def answer_texts(page: Page) -> None:
    expect_state(page, "ready")
    fill(page, TYPED, TYPED)
    review(page)
    press(page)
    expect_state(page, "stored")


def test_text_leaves_the_device_in_no_form(
    device: Device, tmp_path: Path, relay: Callable[[Collector], Relay]
) -> None:
    with command(tmp_path, TEXTS) as served:
        wire = relay(served)
        page = device.visit(f"{wire.url}/s/texts")
        answer_texts(page)
        check_device(page, device, "texts", CANARIES)
        check_bytes(bytes(wire.sent), CANARIES)
        (body,) = device.posted()
        for report in json.loads(body)["reports"].values():
            assert set(report) == {"cohort", "report"}
            assert all(type(one) is int for one in report.values())
    for path in tmp_path.iterdir():
        if path.is_file():
            check_bytes(path.read_bytes(), CANARIES)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report.js", "reports[question.id] = made[part];",
         "reports[`${question.id}-${prepared[question.id].value}`] = made[part];"),
        ("report.js", "version, wave, ...who,", "version, wave, x: prepared.boss.value, ...who,"),
        ("page/review.js", "  const list = one('#review dl');",
         "  fetch('/healthz?' + encodeURIComponent(answers.boss)).catch(() => 0);\n"
         "  const list = one('#review dl');"),
    ],
    ids=["key", "note", "query"],
)  # fmt: skip
def test_watcher_of_texts_catches_a_leak(
    device: Device,
    serve_client: Callable[..., Collector],
    relay: Callable[[Collector], Relay],
    name: str,
    old: str,
    new: str,
) -> None:
    served = serve_client((name, old, new))
    wire = relay(served)
    page = device.visit(f"{wire.url}/s/{served.publish(TEXTS)}")
    expect_state(page, "ready")
    fill(page, TYPED, TYPED)
    review(page)
    press(page)
    # The report has come, and all earlier requests.
    wait_for(page, lambda: b"POST /api/" in wire.sent)
    wait_for(page, lambda: found_in({"wire": bytes(wire.sent)}, CANARIES))
    with pytest.raises(AssertionError, match="is in it"):
        check_bytes(bytes(wire.sent), CANARIES)


def test_spelling_is_checked_on_no_other_computer(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(TEXTS)))
    field = page.locator("#boss--text-input")
    for attribute, value in {"spellcheck": "false", "autocomplete": "off"}.items():
        expect(field).to_have_attribute(attribute, value)


def test_candidates_that_contain_what_is_typed_are_suggested_without_a_request(
    device: Device, collector: Collector
) -> None:
    many = ", ".join(f'"Anna {number}"' for number in range(12))
    survey = TEXTS.replace('["Anna", "Bert"]', f'[{many}, "Bert"]')
    page = device.visit(collector.page(collector.publish(survey)))
    begin(page)
    before, options = len(device.requests), page.locator("#boss--suggestions option")
    page.locator("#boss--text-input").fill("ann")
    # Twelve contain it, and the page suggests the first ten of them.
    shown = [f"Anna {number}" for number in range(10)]
    assert options.evaluate_all("all => all.map((one) => one.value)") == shown
    page.locator("#boss--text-input").fill(" BE")
    assert options.evaluate_all("all => all.map((one) => one.value)") == ["Bert"]
    assert len(device.requests) == before


@pytest.mark.parametrize(
    ("boss", "word", "wrong"),
    [
        ("x" * 25, "a", "boss"),
        ("", "", "word"),
        ("", "  ", "word"),
        # A single letter becomes 18 when it is normalized.
        ("ﷺﷺ", "a", "boss"),
    ],
    ids=["long", "missing", "blank", "expands"],
)
def test_invalid_texts_are_reported_before_the_review(
    device: Device, collector: Collector, boss: str, word: str, wrong: str
) -> None:
    page = device.visit(collector.page(collector.publish(TEXTS)))
    expect_state(page, "ready")
    fill(page, boss, word)
    turn_page(page)
    expect(page.locator("#review")).to_be_hidden()
    says = {"boss": "Please give 1 to 24 letters.", "word": "Please give 1 to 32 letters."}
    expect(page.locator(".complaint:visible")).to_have_text([says[wrong]])
    for name in ("boss", "word"):
        odd = page.locator(f"#{name}--text-input").evaluate("one => !one.checkValidity()")
        assert odd == (name == wrong)
    assert device.posted() == []
