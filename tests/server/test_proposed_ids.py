"""Ids are proposed from texts: of surveys with their year, of options until one is typed."""

from typing import Any

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from drafting import fields, toml
from forms import post
from test_access import HTTPS

from analysis.survey.survey_file import read_survey
from server.editing.draft_file import id_of
from server.editing.draft_view import DraftView
from server.store import Store

__all__ = ["app", "signed_in", "survey_file"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Working conditions 2026", "working-conditions-2026"),
        ("Working conditions in care 2026", "working-conditions-2026"),
        ("Harassment at work in hospitals, 2026 (wave 2)", "harassment-at-work-2026"),
        ("2026: how are you at your workplace?", "2026-how-are-you-at-your"),
        ("Arbeitsbedingungen in der Pflege 2026", "arbeitsbedingungen-2026"),
        ("Donaudampfschifffahrtsgesellschaft 2026", "donaudampfschifffah-2026"),
        ("Were you harassed in the last 12 months?", "were-you-harassed-in-the"),
        ("Item 12345678 of a list that is long", "item-12345678-of-a-list"),
        ("¿Cómo está?", "como-esta"),
        ("你好", "x"),
    ],
)
def test_an_id_has_the_first_words_and_the_year(text: str, name: str) -> None:
    assert id_of(text) == name
    assert len(name) <= 24


def options(store: Store, part: str) -> list[tuple[str, str]]:
    return [(one["id"], one["text"]) for one in DraftView(toml(store)).data(part)["options"]]


def test_ids_of_options_follow_their_texts_until_somebody_types_one(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("bob")

    def save(part: str, **changed: str) -> None:
        form: dict[str, Any] = fields(browser, part) | changed
        assert post(browser, "/surveys/idea/edit", do="save", **form).status_code == 303

    post(
        browser, "/surveys/idea/edit", do="add", part="study", text="Where?", kind="choice", id="w"
    )
    part = "question/w"
    assert options(store, part) == [("option-1", "Option 1"), ("option-2", "Option 2")]
    save(part, **{"options.0.text": "Laboratory", "options.2.text": "Office"})
    assert options(store, part) == [
        ("laboratory", "Laboratory"),
        ("option-2", "Option 2"),
        ("office", "Office"),
    ]
    # Two options with the same text have two ids, and a typed id stays.
    save(part, **{"options.1.text": "Office", "options.0.id": "lab"})
    assert [name for name, _ in options(store, part)] == ["lab", "office-2", "office"]
    save(part, **{"options.0.text": "In a laboratory", "options.1.text": "Ward"})
    assert [name for name, _ in options(store, part)] == ["lab", "ward", "office"]
    # A condition names the id of one option, which then stays.
    post(browser, "/surveys/idea/edit", do="add", part=part, text="Why?", kind="yes-no", id="why")
    save("question/why", **{"shows_if.0.question": "w", "shows_if.0.choice": "w = 'lab'"})
    save("question/why", **{"shows_if.0.question": "w", "shows_if.0.choice": "w = 'ward'"})
    save(part, **{"options.1.text": "A ward", "options.2.text": "Desk"})
    assert [name for name, _ in options(store, part)] == ["lab", "ward", "desk"]


def test_ids_that_data_may_contain_stay(
    signed_in: Browsers, store: Store, survey_file: Any
) -> None:
    browser = signed_in("bob")
    assert "published as" not in browser.get("/surveys", **HTTPS).text
    post(browser, "/surveys/canteen/draft")
    survey = read_survey(survey_file)
    (dish,) = (one for one in survey.questions if one.id == "dish")
    address, part = "/surveys/canteen/edit", "question/dish"
    form = fields(browser, part, address) | {"options.0.text": "Something else"}
    assert post(browser, address, do="save", **form).status_code == 303
    after = DraftView(toml(store, "canteen")).data(part)["options"]
    assert [one["id"] for one in after] == [one["id"] for one in dish.spec["options"]]
    assert after[0]["text"] == "Something else"
    listed = browser.get("/surveys", **HTTPS).text
    assert listed.count('published as <a href="/surveys/canteen">canteen</a>') == 1
    assert listed.index("/surveys/idea/edit") < listed.index("/surveys/canteen/edit")


def test_questions_that_will_say_little_are_marked(signed_in: Browsers) -> None:
    browser = signed_in("bob")
    few = browser.get("/surveys/idea/edit?respondents=50", **HTTPS).text
    assert few.count("says little") == 3  # each question, and what helps
    many = browser.get("/surveys/idea/edit?respondents=5000", **HTTPS).text
    assert "says little" not in many


def test_few_letters_of_a_text_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # Unicode sorts marks over a letter in a time that grows with the square of their number.
    brought: list[int] = []

    def normal(form: str, text: str) -> str:
        brought.append(len(text))
        return text

    monkeypatch.setattr("server.editing.draft_file.unicodedata.normalize", normal)
    assert id_of("Meat " + "\u0344" * 30_000) == "meat"
    assert max(brought) <= 1000


def test_a_survey_begins_in_the_language_that_is_named(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    for number, language in enumerate(["", "Deutsch", "German", "de"]):
        form = {"how": "nothing", "title": "Unfälle über 18", "id": f"a{number}", "kind": "scale"}
        post(browser, "/surveys/new", **form, text="Wie oft?", language=language)
        file = DraftView(toml(store, f"a{number}"))
        assert file.languages == (["de"] if language else [])
        question = file.data("question/wie-oft")
        assert question["text"] == ({"de": "Wie oft?"} if language else "Wie oft?")
        assert question["points"][0] == ({"de": "never"} if language else "never")
