"""Ids that are also names in the browser are ids like any other."""

import json

from collector import Collector
from device import Device, answer, what_was_sent
from playwright.sync_api import expect

#: Names that every object has, names that a form has, and names of the page's own parts.
IDS = ["constructor", "reset", "hidden", "elements", "submit", "prototype"]
OPTIONS = ["constructor", "text", "help", "complaint", "trial", "reset"]
TAKEN = 'title = "Names"\nid = "constructor"\n' + "".join(
    f'[[questions]]\nid = "{name}"\nkind = "{kind}"\ntext = "{name}?"\nepsilon = 0.5\noptions = ['
    + ", ".join(f'{{id = "{one}", text = "Option {one}"}}' for one in OPTIONS)
    + "]\n"
    for name, kind in zip(IDS, ["choice", "choices"] * 3, strict=True)
)


def test_a_survey_of_such_ids_is_answered_and_sent(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(TAKEN)))
    answer(page, dict(zip(IDS, OPTIONS, strict=True)))
    rows, _ = what_was_sent(page)
    assert [row[:2] for row in rows] == [
        [f"{name}?", f"Option {option}"] for name, option in zip(IDS, OPTIONS, strict=True)
    ]
    (sent,) = device.posted()
    assert sorted(json.loads(sent)["reports"]) == sorted(IDS)


def test_labels_tick_their_own_options(device: Device, collector: Collector) -> None:
    page = device.visit(collector.page(collector.publish(TAKEN)))
    page.locator("#explanation [data-turn='next']").last.click()
    for name in IDS:
        for option in OPTIONS:
            page.locator(f'[data-question="{name}"] label', has_text=f"Option {option}").click()
            box = page.locator(f'[data-question="{name}"] input[value="{option}"]')
            expect(box).to_be_checked()
