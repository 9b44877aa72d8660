"""A study is written, tried and published in a browser, without a file or a terminal."""

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from collector import EXAMPLES, Collector, in_process
from device import CANARIES, SURVEY, Device, answer, expect_state, fill_in, press, review
from page_errors import POLICY
from playwright.sync_api import Browser, Frame, Page, Request, expect
from test_looks import check_accessible as seen

from analysis.survey.survey_file import read_survey
from server.pages.browser_files import CLIENT
from server.store import Store

#: What a form writes that begins a draft with one question.
FIRST = """format = 2
title = "Working conditions 2026"
id = "ID"

[[questions]]
id = "harassed"
kind = "yes-no"
text = "In the last 12 months, were you harassed at work?"
epsilon = 1.0
"""
_NUMBERS = count(1)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Serve a survey from this process; return the server with its token."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "survey.toml").write_text(SURVEY)
    store, survey = Store(folder / "deniable.db", create=True), read_survey(folder / "survey.toml")
    store.surveys.publish(survey)
    store.surveys.open_wave(survey.id)
    store.close()
    with in_process(folder, CLIENT) as collector:
        yield collector


@pytest.fixture(scope="module")
def signed_in(served: Collector, browser: Browser) -> Any:
    """Return what a browser keeps of somebody who has signed in."""
    page = browser.new_page()
    page.goto(f"{served.url}/login")
    page.get_by_label("Password or token").fill(served.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Surveys", level=1)).to_be_visible()
    kept = page.context.storage_state()
    page.close()
    return kept


@pytest.fixture
def sign_in(
    served: Collector, signed_in: Any, new_device: Callable[..., Device]
) -> Callable[..., Page]:
    """Open the console in a browser of its own."""

    def call(**options: object) -> Page:
        page = new_device(storage_state=signed_in, **options).context.new_page()
        page.goto(f"{served.url}/surveys")
        expect(page.get_by_role("heading", name="Surveys", level=1)).to_be_visible()
        return page

    return call


@pytest.fixture
def begun(served: Collector) -> Callable[[Page], None]:
    """Let a page show the first question of a draft that nobody has changed."""

    def open_draft(page: Page) -> None:
        store, name = Store(served.database), f"work-{next(_NUMBERS)}"
        store.drafts.begin(name, FIRST.replace("ID", name), "ada", "began it")
        store.close()
        page.goto(f"{served.url}/surveys/{name}/edit?part=question/harassed")

    return open_draft


SHOWN = re.compile(r"/edit\?part=")  # shown once a change is stored


def write(page: Page, label: str, text: str) -> None:
    """Fill in a field and leave it; wait until it is stored and the page has the new fields."""
    field = page.locator("#form").get_by_label(label, exact=True)
    field.fill(text)
    with page.expect_response(SHOWN):
        field.press("Tab")
    expect(page.locator("#saving")).to_have_text(re.compile("^(Saved|Not saved)$"))


def add(page: Page, text: str, kind: str, name: str) -> None:
    page.get_by_label("Its text").fill(text)
    page.get_by_label("Its kind").select_option(kind)
    page.get_by_label("Its id in data files").fill(name)
    page.get_by_role("button", name="Add it").click()
    expect(page.locator("#form").get_by_label("Id in data files")).to_have_value(name)


def write_options(page: Page, options: dict[str, str]) -> None:
    for place, (name, text) in enumerate(options.items(), 1):
        is_new = page.locator("#form").get_by_label(f"Text {place}", exact=True).count() == 0
        write(page, "New one" if is_new else f"Text {place}", text)
        # The id is made from the text, and is often right.
        if page.locator("#form").get_by_label(f"Id of {place}").input_value() != name:
            write(page, f"Id of {place}", name)


def begin(page: Page) -> None:
    page.get_by_role("link", name="A new survey").click()
    page.get_by_label("Title").fill("Working conditions 2026")
    page.get_by_label("Id, in its address").first.fill("work-2026")
    page.get_by_label("First question").fill("In the last 12 months, were you harassed at work?")
    page.get_by_label("Its kind").select_option("Yes or no")
    page.get_by_role("button", name="Begin").click()
    write(page, "Id in data files", "harassed")


def test_the_example_is_written_tried_and_published_by_hand(
    sign_in: Callable[..., Page], served: Collector
) -> None:
    page = sign_in()
    begin(page)
    write(page, "Help below it", "By anyone: superiors, colleagues, customers.")
    add(page, "Whom did you tell first?", "One of several options", "told")
    people = {"nobody": "Nobody", "superior": "A superior", "council": "The works council"}
    write_options(page, people)
    page.get_by_text("Whom it is asked").click()
    with page.expect_response(SHOWN):
        page.get_by_label("Condition 1: question").select_option("harassed")
    expect(page.get_by_label("Condition 1: answer")).to_have_value("harassed = 'yes'")
    seen(page)
    add(page, "Where do you work?", "One of several options", "team")
    write_options(page, {"lab": "Laboratory", "office": "Office"})
    with page.expect_response(SHOWN):
        page.get_by_label("It must be answered").check()
    add(page, "Income per month?", "A number", "income")
    for label, text in {"Highest": "10000", "Step": "10", "Unit": "EUR"}.items():
        write(page, label, text)
    write(page, "ε, the most that a report reveals", "2")
    page.get_by_role("link", name="The study").click()
    page.get_by_text("Privacy and results").click()
    write(page, "Most ε of a respondent, over all waves", "12")
    expect(page.locator("#totals")).to_contain_text("ε = 5")
    # A new draft keeps answers over a reload; the example does not.
    page.get_by_text("How the page behaves").click()
    with page.expect_response(SHOWN):
        page.get_by_label("Keep answers in the tab").uncheck()
    seen(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="File and history").click()
        page.get_by_role("link", name="Download work-2026.toml").click()
    example = read_survey(EXAMPLES / "working-conditions.toml")
    assert read_survey(download.value.path()).version == example.version
    # Made-up respondents have the expected shares.
    page.get_by_role("link", name="Try", exact=True).click()
    page.get_by_label("Made-up respondents").fill("1500")
    page.get_by_text("What you expect them to answer").click()
    page.get_by_role("group", name="In the last 12 months").get_by_label("Yes").fill("40")
    page.get_by_role("button", name="Fill a trial copy").click()
    page.get_by_role("link", name="Look at its results").click()
    expect(page.get_by_text("1,500 reports are shown")).to_be_visible()
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("link", name="Publish").click()
    page.get_by_role("button", name="Freeze and publish work-2026").click()
    expect(page.get_by_text(example.version)).to_be_visible()
    page.get_by_role("button", name="Open for respondents").click()
    store = Store(served.database)
    assert store.surveys.versions("work-2026") == [example.version]
    store.close()


def _frame(page: Page) -> Frame:
    """Return the page in the editor's frame, once it is there."""
    expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
    (frame,) = (one for one in page.frames if "/preview" in one.url)
    return frame


_REACH = """async () => {
  const tried = {
    storage: () => localStorage.length,
    session: () => sessionStorage.length,
    cookie: () => document.cookie,
    database: () => new Promise((resolve, reject) => {
      const request = indexedDB.open('x');
      request.onsuccess = resolve;
      request.onerror = () => reject(request.error);
    }),
    parent: () => parent.document.title,
    fetch: () => fetch('/api/surveys/canteen'),
  };
  const reached = [];
  for (const [name, act] of Object.entries(tried)) {
    try { await act(); reached.push(name); } catch { /* as it should be */ }
  }
  return reached;
}"""


@pytest.mark.provokes(POLICY)
def test_the_preview_runs_as_the_page_will_and_sends_and_keeps_nothing(
    sign_in: Callable[..., Page], served: Collector
) -> None:
    page = sign_in()
    draft = SURVEY.replace('"canteen"', '"draft"', 1).encode()
    page.goto(f"{served.url}/surveys/new")
    page.get_by_label("Survey file, and").set_input_files(
        {"name": "d.toml", "mimeType": "text/plain", "buffer": draft}
    )
    page.get_by_role("button", name="Upload").click()
    requests: list[Request] = []
    page.context.on("request", lambda one: requests.append(one))
    frame = _frame(page)
    expect_state(frame, "ready")  # type: ignore[arg-type]
    del requests[:]
    fill_in(frame, CANARIES)  # type: ignore[arg-type]
    review(frame)  # type: ignore[arg-type]
    press(frame)  # type: ignore[arg-type]
    expect_state(frame, "tried")  # type: ignore[arg-type]
    expect(frame.locator("#receipt")).to_be_visible()
    assert frame.evaluate(_REACH) == []
    assert requests == []
    assert page.evaluate("indexedDB.databases()") == []
    # In a tab of its own it is the same, although it has our origin there.
    tab = page.context.new_page()
    tab.goto(f"{served.url}/surveys/draft/preview")
    del requests[:]
    answer(tab, CANARIES, "tried")
    assert [one for one in requests if one.method != "GET"] == []
    assert tab.evaluate("indexedDB.databases()") == []
    assert tab.evaluate(_REACH) == ["storage", "session", "cookie", "database", "parent"]


def test_a_pilot_is_answered_again_and_again_and_never_becomes_real(
    sign_in: Callable[..., Page], served: Collector, new_device: Callable[..., Device]
) -> None:
    page = sign_in()
    page.goto(f"{served.url}/surveys/canteen/pilot")
    page.get_by_role("button", name="Open a pilot").click()
    seen(page)
    address = page.get_by_role("link", name="/s/canteen-pilot").inner_text()
    device = new_device()
    for _ in range(3):
        tab = device.visit(address)
        expect(tab.get_by_text("Make up your answers")).to_be_visible()
        answer(tab, {"team": "lab"})
        assert tab.evaluate("indexedDB.databases()") == []
    page.reload()
    expect(page.get_by_text("3 reports came")).to_be_visible()
    page.get_by_role("link", name="Results of the pilot").click()
    expect(page.get_by_text("3 reports are shown")).to_be_visible()
    store = Store(served.database)
    assert sum(store.reports.cells("canteen").values()) == 0
    assert len(device.posted()) == 3
    store.close()
    page.goto(f"{served.url}/surveys/canteen/pilot")
    page.get_by_role("button", name="Close the pilot").click()
    expect(new_device().visit(address).get_by_text("closed")).to_be_visible()


EPSILON = "ε, the most that a report reveals"


def test_it_works_by_keyboard_and_without_the_program(sign_in: Callable[..., Page]) -> None:
    page = sign_in(java_script_enabled=False)
    page.get_by_role("link", name="A new survey").click()
    page.get_by_label("Title").focus()
    for text in ("Plain", "plain", "Is it so?"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#form").get_by_label("Help below it", exact=True).focus()
    page.keyboard.type("Think first.")
    page.keyboard.press("Enter")
    expect(page.locator("#form").get_by_label("Help below it")).to_have_value("Think first.")
    page.get_by_label("Its text").focus()
    page.keyboard.type("And this?")
    page.keyboard.press("Enter")
    expect(page.locator("#form").get_by_label("Question", exact=True)).to_have_value("And this?")
    page.get_by_role("button", name="Move this up").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#list tbody tr").first).to_contain_text("And this?")
    write_nonsense(page)
    expect(page.locator("#mistakes")).to_be_focused()
    follow_to_the_mistake(page)


def write_nonsense(page: Page, key: str = "Enter") -> None:
    """Make a mistake in the ε of a question, and press the key that stores."""
    page.locator("#epsilon").fill("much")
    page.locator("#epsilon").press(key)


def follow_to_the_mistake(page: Page) -> None:
    """Follow the summary's link to the field, which says what was expected."""
    page.get_by_role("link", name="expected a number such as 12").press("Enter")
    expect(page.locator("#epsilon")).to_be_focused()
    expect(page.locator("#epsilon")).to_have_value("much")
    told = "ε, the most that a report reveals: expected a number such as 12 or 0.5, got 'much' "
    expect(page.locator("#epsilon")).to_have_accessible_description(re.compile(re.escape(told)))


def test_a_form_of_another_tool_is_imported_mended_and_published(
    sign_in: Callable[..., Page], served: Collector, tmp_path: Path
) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "survey"
    for row in (
        ["type", "name", "label", "constraint", "relevant"],
        ["select_one yn", "smokes", "Do you smoke?"],
        ["integer", "packs", "How many packs a week?", "", "${smokes} = 'y'"],
        ["integer", "age", "How old are you?", ". >= 18 and . <= 99"],
    ):
        sheet.append(row)
    lists = book.create_sheet("choices")
    for row in (["list_name", "name", "label"], ["yn", "y", "Yes"], ["yn", "n", "No"]):
        lists.append(row)
    book.save(tmp_path / "smoking.xlsx")
    page = sign_in()
    page.get_by_role("link", name="A new survey").click()
    page.get_by_label("Questionnaire").set_input_files(tmp_path / "smoking.xlsx")
    page.get_by_role("button", name="Import it").click()
    seen(page)
    page.get_by_role("button", name="Begin the draft").click()
    expect(page.get_by_role("heading", name="Not in the survey (1)")).to_be_visible()
    refused = page.get_by_role("listitem").filter(has_text="survey!3")
    expect(refused).to_contain_text("add a constraint such as . >= 0 and . <= 120")
    seen(page)
    # A refused question is asked by hand, behind the question that it depends on.
    page.get_by_role("link", name="Write").click()
    page.get_by_role("link", name="Do you smoke?").click()
    add(page, "How many packs a week?", "A number", "packs")
    write(page, "Highest", "30")
    page.get_by_text("Whom it is asked").click()
    with page.expect_response(SHOWN):
        page.get_by_label("Condition 1: question").select_option("smokes")
    expect(page.get_by_label("Condition 1: answer")).to_have_value("smokes = 'yes'")
    page.get_by_role("link", name="Publish").click()
    page.get_by_role("button", name="Freeze and publish smoking").click()
    expect(page.get_by_text("It is published")).to_be_visible()
    store = Store(served.database)
    current = store.surveys.current("smoking")
    assert current is not None
    assert [question.id for question in current.survey.questions] == ["smokes", "packs", "age"]
    assert current.survey.questions[1].spec["shows_if"] == ["=", "smokes", "yes"]
    store.close()
