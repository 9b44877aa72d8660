"""A respondent's device: a new browser context, its requests, and what a person does."""

import json
import re
from collections.abc import Callable
from typing import Any

from limits import MOMENT
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

#: Returns all that client/memo.js keeps, by its keys; its database has nothing else.
READ_MEMO = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open('deniable', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('memo');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const tables = [...request.result.objectStoreNames].join();
    if (tables !== 'memo') reject(new Error(`more than the memo: ${tables}`));
    const table = request.result.transaction('memo').objectStore('memo');
    const [keys, values] = [table.getAllKeys(), table.getAll()];
    table.transaction.oncomplete = () => {
      request.result.close();
      resolve(Object.fromEntries(keys.result.map((key, place) => [key, values.result[place]])));
    };
  };
})"""
#: Writes one value there; null deletes it.
WRITE_MEMO = """([key, value]) => new Promise((resolve) => {
  const request = indexedDB.open('deniable', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('memo');
  request.onsuccess = () => {
    const table = request.result.transaction('memo', 'readwrite').objectStore('memo');
    if (value === null) table.delete(key);
    else table.put(value, key);
    table.transaction.oncomplete = () => resolve(request.result.close());
  };
})"""
#: The survey that most tests ask: a condition, no-answer, a required question and a number.
SURVEY = """
title = "Canteen"
id = "canteen"
[privacy]
cap = 12
[[questions]]
id = "smoked"
kind = "yes-no"
text = "Did you smoke?"
epsilon = 1
[[questions]]
id = "pet"
kind = "choice"
text = "Which animal?"
options = [
  {id = "cat", text = "Cat"},
  {id = "zebra-canary", text = "Zebra with a canary"},
  {id = "dog", text = "Dog"},
]
shows_if = "smoked = 'yes'"
epsilon = 1
[[questions]]
id = "team"
kind = "choice"
text = "Where do you work?"
options = [{id = "lab", text = "Laboratory"}, {id = "office", text = "Office"}]
required = true
epsilon = 1
[[questions]]
id = "debts"
kind = "number"
text = "How much do you owe?"
min = 0
max = 100000000
step = 1
unit = "EUR"
epsilon = 2
"""
QUESTIONS = ["smoked", "pet", "team", "debts"]
#: The cost of one wave of it, in ε.
COST = "5"
#: Answers that occur only in the survey (the id), or nowhere at all (the number).
OPTION, NUMBER = "zebra-canary", "73914682"


#: Over BiDi, Firefox does not report the bodies of requests, so the page reports them as it sends.
_TELL_BODIES = """(() => {
  const send = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    const request = new Request(...given);
    if (request.method === 'POST') await globalThis.tellBody(await request.clone().text());
    return send(request);
  };
})()"""


class Device:
    """One context of the browser, with the requests and the console lines of all its pages."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(1000 * MOMENT)
        self.requests: list[Request] = []
        self.console: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request))
        self.context.on("console", lambda line: self.console.append(f"{line.type}: {line.text}"))
        self.context.on("weberror", lambda error: self.console.append(f"error: {error.error}"))
        self._told: list[bytes] | None = None
        if browser.browser_type.name == "firefox":
            told = self._told = []
            self.context.expose_function("tellBody", lambda body: told.append(body.encode()))
            self.context.add_init_script(_TELL_BODIES)

    def visit(self, url: str) -> Page:
        """Open a new page at an address."""
        page = self.context.new_page()
        page.goto(url)
        return page

    def posted(self) -> list[bytes]:
        """Return the bodies of all POST requests that its pages made."""
        if self._told is not None:
            return [*self._told]
        return [one.post_data_buffer or b"" for one in self.requests if one.method == "POST"]


def begin(page: Page) -> None:
    """Turn from the explanation to the questions, unless that was done."""
    expect(page.locator("#controls")).to_be_enabled()
    if page.locator("#explanation").is_visible():
        page.locator("#begin").click()
        # An invited person's page first asks whether the link can be used.
        expect(page.locator("#explanation")).to_be_hidden()
        agree(page)


def agree(page: Page) -> None:
    """Agree to everything that must be agreed to, and turn to the questions."""
    if page.locator("#agreement").is_visible():
        for box in page.locator("#consent, #quiz--either").all():
            box.check()
        page.locator("#agreement [type=submit]").click()


def turn_page(page: Page) -> None:
    """Turn to the next page, or to the review, if the answers on this page are valid."""
    page.locator('#answers [type="submit"]:visible').click()


def fill_in(page: Page, answers: dict[str, str]) -> None:
    """Give answers, turning pages as needed: typed texts or option ids, several joined by '|'."""
    begin(page)
    for question, answer in answers.items():
        field = page.locator(f'[data-question="{question}"]')
        while page.locator("[data-page]:visible").locator(field).count() == 0:
            turn_page(page)
        kind = field.get_attribute("data-kind")
        if kind in ("number", "text"):
            page.locator(f"#{question}--{'number' if kind == 'number' else 'text-input'}").fill(
                answer
            )
            continue
        for option in answer.split("|"):
            control = page.locator(f"#{question}--{option}")
            if kind == "rank":
                control.click()
            else:
                control.check()


def review(page: Page) -> dict[str, str]:
    """Ask for the review; return what it shows."""
    begin(page)
    shown = page.locator("#review")
    for _ in page.locator("[data-page]").all():
        if not shown.is_visible():
            turn_page(page)
    expect(shown).to_be_visible()
    terms, details = page.locator("#review dt"), page.locator("#review dd:not(:has(.link))")
    return dict(zip(terms.all_inner_texts(), details.all_inner_texts(), strict=True))


def press(page: Page) -> None:
    """Randomize and send."""
    page.locator("#send").click()


def what_was_sent(page: Page) -> tuple[list[list[str]], str]:
    """Return what the opened receipt shows: rows of a table, and the bytes."""
    page.locator("#sent > summary").click()
    expect(page.locator("#receipt-bytes")).not_to_be_empty()
    rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#sent tr").all()]
    return rows[1:], page.locator("#receipt-bytes").text_content() or ""


def expect_state(page: Page, state: str) -> None:
    """Wait until the page says that it is in a state, and in no other."""
    expect(page.locator(f'[data-state="{state}"]')).to_be_visible()
    expect(page.locator("[data-state]:visible")).to_have_count(1)


def wait_for(page: Page, holds: Callable[[], object]) -> None:
    """Wait until something holds, while the browser goes on."""
    end = page.evaluate("performance.now()") + 1000 * MOMENT
    while not holds():
        assert page.evaluate("performance.now()") < end, "it does not come to hold"
        page.wait_for_timeout(20)


def answer(page: Page, answers: dict[str, str], state: str = "stored") -> None:
    """Go all of a respondent's way, to the state in which it ends."""
    expect_state(page, "ready")
    fill_in(page, answers)
    review(page)
    press(page)
    expect_state(page, state)


#: Answers with both canaries.
CANARIES = {"smoked": "yes", "pet": OPTION, "team": "lab", "debts": NUMBER}


def expect_closed(page: Page, state: str) -> None:
    """Check that the page is in a state in which nothing can be answered."""
    expect_state(page, state)
    expect(page.locator("#controls")).to_have_js_property("disabled", True)
    for control in page.locator("#answers :is(input, button, select)").all():
        assert control.is_disabled() or not control.is_visible()


def survey_data(html: str) -> tuple[str, dict[str, Any]]:
    """Return the survey that a page carries: its text there, and its data."""
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.S)
    assert found is not None
    return found[1], json.loads(found[1])
