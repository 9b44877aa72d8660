"""Text that somebody types into a page of the console is not lost at a click."""

import re
from pathlib import Path

import pytest
from collector import Collector
from device import Device, wait_for
from playwright.sync_api import Dialog, Page, Route, expect

from server.store import Store

TEMPLATES = Path(__file__).parents[2] / "server" / "templates"
DRAFT = """
title = {en = "Canteen", fr = "Cantine"}
id = "ID"
languages = ["en", "fr"]
[privacy]
cap = 12
[[questions]]
id = "meat"
kind = "yes-no"
text = {en = "Do you eat meat?", fr = ""}
epsilon = 1
"""
#: The field of a translation.
FRENCH = '[id="question/meat:text.fr"]'
#: Pages with a form that takes long to fill in, and a field there.
FORMS = {
    "/surveys/new": "#title",
    "/surveys/ID/edit": "#new-text",
    "/surveys/ID/pilot": "#made-up-number",
}


def toml(collector: Collector, name: str) -> str:
    store = Store(collector.database)
    draft = store.drafts.get(name)
    store.close()
    assert draft is not None
    return draft.toml


@pytest.fixture
def draft(collector: Collector, survey: str) -> str:
    """Return the id of a draft in two languages."""
    store, name = Store(collector.database), f"draft-{survey}"
    store.drafts.begin(name, DRAFT.replace("ID", name), "ada", "began it")
    store.close()
    return name


def sign_in(page: Page, collector: Collector) -> None:
    page.get_by_label("Password or token").fill(collector.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Surveys", level=1)).to_be_visible()


@pytest.fixture
def console(collector: Collector, device: Device) -> Page:
    """Return a page of somebody who has signed in."""
    page = device.visit(f"{collector.url}/login")
    sign_in(page, collector)
    return page


@pytest.fixture
def asked(console: Page) -> list[str]:
    """Return a list in which each question of the browser is noted; somebody stays on the page."""
    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    console.on("dialog", stay)
    return questions


def leave(page: Page) -> None:
    page.get_by_role("link", name="Surveys", exact=True).click()


@pytest.mark.parametrize("path", FORMS)
def test_browser_asks_before_typed_text_is_left(
    console: Page, collector: Collector, draft: str, asked: list[str], path: str
) -> None:
    address, field = collector.url + path.replace("ID", draft), console.locator(FORMS[path])
    console.goto(address)
    field.fill("Mangez-vous de la viande ?")
    leave(console)
    wait_for(console, lambda: asked == ["beforeunload"])
    assert console.url.startswith(address)
    expect(field).to_have_value("Mangez-vous de la viande ?")
    # Nothing is asked where nothing would be lost.
    field.fill(field.get_attribute("value") or "")
    leave(console)
    expect(console).to_have_url(f"{collector.url}/surveys")
    assert asked == ["beforeunload"]


def test_translations_are_stored_by_themselves_and_refused_ones_stay(
    console: Page, collector: Collector, draft: str, asked: list[str]
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/translations")
    field = console.locator(FRENCH)
    field.fill("Mangez-vous de la viande ?")
    leave(console)
    expect(console).to_have_url(f"{collector.url}/surveys")
    assert "Mangez-vous de la viande ?" in toml(collector, draft)
    console.goto(f"{collector.url}/surveys/{draft}/translations")
    expect(console.get_by_text("All texts are translated")).to_be_visible()
    # If somebody else changed the question, nothing is stored, and the page has what was typed.
    store = Store(collector.database)
    before = store.drafts.get(draft)
    assert before is not None
    changed = before.toml.replace("Do you eat meat?", "Do you like meat?")
    store.drafts.change(before, changed, "bob", "changed it")
    store.close()
    field.fill("Aimez-vous la viande ?")
    field.blur()
    expect(console.locator("#mistakes")).to_contain_text("bob changed this in the meantime")
    expect(console.locator("#saving")).to_have_text("Not all is saved")
    assert asked == []
    leave(console)
    wait_for(console, lambda: asked == ["beforeunload"])
    expect(field).to_have_value("Aimez-vous la viande ?")
    # Whoever saves it again replaces the other text.
    console.locator('[id="question/meat"] button').click()
    expect(console.locator("#saving")).to_have_text("Saved")
    assert "Aimez-vous la viande ?" in toml(collector, draft)


def test_a_mistake_holds_up_no_other_field_and_is_not_left_unasked(
    console: Page, collector: Collector, draft: str, asked: list[str]
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/edit?part=study")
    languages = console.locator("#languages")
    console.get_by_text("Languages", exact=True).first.click()
    languages.fill("English, Elvish")
    console.locator('[name="title.en"]').fill("The canteen")
    console.locator('[name="title.fr"]').fill("La cantine")
    console.locator('[name="title.fr"]').blur()
    expect(console.locator("#saving")).to_have_text("Not all is saved")
    wait_for(console, lambda: "La cantine" in toml(collector, draft))
    assert "The canteen" in toml(collector, draft)
    expect(languages).to_have_attribute("aria-invalid", "true")
    console.locator("#list").get_by_role("link", name="Do you eat meat?").click()
    wait_for(console, lambda: asked == ["confirm"])
    expect(languages).to_have_value("English, Elvish")
    languages.fill("en, fr")
    console.locator("#list").get_by_role("link", name="Do you eat meat?").click()
    expect(console.locator('#form [name="text.en"]')).to_have_value("Do you eat meat?")
    assert asked == ["confirm"]


#: Pages that store what is typed, a field there, and the part of a draft that it is in.
STORING = {"edit?part=question/meat": '#form [name="text.fr"]', "translations": FRENCH}


@pytest.mark.provokes("401")
@pytest.mark.parametrize("path", STORING)
def test_typed_text_survives_a_session_that_ended(
    console: Page, collector: Collector, draft: str, path: str
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/{path}")
    console.context.clear_cookies()
    field = console.locator(STORING[path])
    field.fill("Mangez-vous ?")
    field.blur()
    told = console.locator("#said")
    expect(told).to_contain_text("You are signed out")
    expect(field).to_have_value("Mangez-vous ?")
    with console.expect_popup() as opened:
        told.get_by_role("link").click()
    other = opened.value
    sign_in(other, collector)
    told.get_by_role("button", name="Save it now").click()
    expect(console.locator("#saving")).to_have_text("Saved")
    assert "Mangez-vous ?" in toml(collector, draft)


def test_typed_text_survives_a_new_session_of_the_same_browser(
    console: Page, collector: Collector, draft: str
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/translations")
    other = console.context.new_page()
    other.goto(f"{collector.url}/login")
    sign_in(other, collector)
    field = console.locator(FRENCH)
    field.fill("Mangez-vous ?")
    field.blur()
    expect(console.locator("#said")).to_contain_text("This page is too old")
    console.locator("#said").get_by_role("button", name="Save it now").click()
    expect(console.locator("#saving")).to_have_text("Saved")
    assert "Mangez-vous ?" in toml(collector, draft)


@pytest.mark.provokes("ERR_FAILED")
@pytest.mark.parametrize("path", STORING)
def test_typed_text_survives_a_server_that_does_not_answer(
    console: Page, collector: Collector, draft: str, path: str
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/{path}")
    console.route(re.compile("/(edit|translations)$"), lambda route: route.abort())
    field = console.locator(STORING[path])
    field.fill("Mangez-vous ?")
    field.blur()
    expect(console.locator("#said")).to_contain_text("The server cannot be reached")
    expect(field).to_have_value("Mangez-vous ?")
    console.unroute_all()
    field.press("End")
    field.press("!")
    field.blur()
    expect(console.locator("#saving")).to_have_text("Saved")
    assert "Mangez-vous ?!" in toml(collector, draft)
    console.go_back()
    console.go_forward()
    expect(field).to_have_value("Mangez-vous ?!")


def test_the_editor_is_left_once_all_is_stored(
    console: Page, collector: Collector, draft: str, asked: list[str]
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/edit?part=question/meat")
    held: list[Route] = []
    console.route(re.compile("/edit$"), lambda route: held.append(route))
    console.locator('#form [name="text.en"]').fill("Do you like meat?")
    leave(console)
    wait_for(console, lambda: held)
    held[0].continue_()
    expect(console).to_have_url(f"{collector.url}/surveys")
    assert "Do you like meat?" in toml(collector, draft)
    assert asked == []


def test_every_page_with_such_a_form_loads_the_program_that_asks() -> None:
    included = re.compile(r'{% include "([^"]*)" %}')
    texts = {path: path.read_text() for path in TEMPLATES.rglob("*.html")}
    parts = {TEMPLATES / name for text in texts.values() for name in included.findall(text)}

    def pages_with(words: str) -> set[str]:
        # The parts of a page are in the folder of its name, or included in it.
        def has(path: Path) -> bool:
            within = map(TEMPLATES.joinpath, included.findall(texts[path]))
            return words in texts[path] or any(words in texts[part] for part in within)

        found = (path for path in texts if path not in parts and has(path))
        return {path.relative_to(TEMPLATES).parts[0].removesuffix(".html") for path in found}

    warned = pages_with(" data-warn")
    assert warned == pages_with('program("unsaved.js")')
    assert {"resend", "second-factor"} < warned
    assert len(warned) == 8


def test_a_double_click_copies_a_question_once(
    console: Page, collector: Collector, draft: str
) -> None:
    console.goto(f"{collector.url}/surveys/{draft}/edit?part=question/meat")
    console.get_by_role("button", name="Copy").dblclick()
    expect(console.locator("#id")).to_have_value("meat-2")
    expect(console.locator("#saving")).to_have_text("Saved")
    assert toml(collector, draft).count("[[questions]]") == 2
