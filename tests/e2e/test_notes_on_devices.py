"""Notes are shown where their conditions hold, and neither answered, drawn nor sent."""

from typing import Any

import pytest
from collector import Collector
from device import Device
from javascript import beside_modules
from playwright.sync_api import Page
from test_vectors import ASKED, FREE

NOTE = {"id": "n", "kind": "note", "text": "Read this."}


def noted(*entries: dict[str, Any], more: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a survey whose second entry is a note, before some questions."""
    questions = [ASKED | {"id": "p"}, *entries]
    return {"id": "s", "questions": questions, "randomizers": {"p": FREE, **(more or {})}}


@pytest.fixture
def page(device: Device, collector: Collector) -> Page:
    """Return a page beside the modules, which runs nothing by itself."""
    return beside_modules(device, collector)


def test_notes_are_shown_and_neither_answered_drawn_nor_charged(page: Page) -> None:
    question = ASKED | {"shows_if": ["=", "p", "b"]}
    survey = noted(NOTE | {"shows_if": ["=", "p", "a"]}, question, more={"q": FREE})
    body = """async (v) => {
      const m = await import('/client/report.js');
      m.check(v, v.randomizers);
      const {visible, shown} = await import('/client/logic.js');
      const given = (p) => ({ p, q: 'a', n: 'x' });
      const open = { version: 'x', wave: 1, survey: v, randomizers: v.randomizers };
      const words = { next: () => 0 };
      const report = m.draw(open, await m.prepare(open, given('a'), null, words), {}, words);
      return [
        [...visible(v, given('a'))], [...visible(v, given('b'))], shown(v, given('a')),
        Object.keys(report.content.reports), (await m.priceOf(v, v.randomizers))({}),
      ]; }"""
    first, second, counted, reports, price = page.evaluate(body, survey)
    assert (first, second) == (["p", "n"], ["p", "q"])
    assert counted == {"p": "a", "q": ""}
    assert reports == ["p", "q"]
    assert price == {"cost": 2 * 996949, "constant": 2 * 996949, "times": {}}


@pytest.mark.parametrize(
    "survey",
    [
        noted(NOTE, more={"n": FREE}),
        noted(NOTE | {"id": "p"}),
        noted(NOTE | {"id": "N"}),
        noted(NOTE, NOTE),
        noted(NOTE | {"shows_if": ["=", "n", "a"]}),
        noted(NOTE | {"shows_if": ["~", "p", "a"]}),
        noted(NOTE, ASKED | {"shows_if": ["=", "n", "a"]}, more={"q": FREE}),
        noted(ASKED),
        noted(ASKED | {"kind": "Note"}, more={"q": FREE}),
    ],
    ids=["drawn", "of another", "id", "twice", "own", "odd", "on a note", "not drawn", "kind"],
)
def test_unsound_note_is_refused(page: Page, survey: dict[str, Any]) -> None:
    body = """async (v) => {
      const { check } = await import('/client/report.js');
      try { check(v, v.randomizers); return 'accepted'; } catch (error) { return error.name; } }"""
    assert page.evaluate(body, noted(NOTE)) == "accepted"
    assert page.evaluate(body, survey) == "RangeError"
