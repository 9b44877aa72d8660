"""Drafts in the console begin, have a history, and are published as they were read."""

import io
import json
import re
from html import unescape
from pathlib import Path

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, seen, toml, upload
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS

from analysis.survey.survey_file import read_survey
from server.editing.reading import read_draft
from server.editing.spending import up
from server.forms import WRITTEN, read_form
from server.store import Store, StoreError
from server.store.drafts import KEPT, Outdated
from server.studies import templates
from server.work.trial import PILOT_END, trial_id

pytestmark = pytest.mark.both

__all__ = ["app", "signed_in", "survey_file"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "well-being.toml"


def test_of_two_changes_at_the_same_time_one_is_stored(store: Store) -> None:
    store.drafts.begin("race", IDEA, "ada", "began it")
    before = store.drafts.get("race")
    assert before is not None
    store.drafts.change(before, "a", "ada", "x")
    with pytest.raises(Outdated):
        store.drafts.change(before, "b", "bob", "x")
    assert toml(store, "race") == "a"


def test_history_is_bounded_and_joins_one_persons_changes_at_a_place(store: Store) -> None:
    store.drafts.begin("long", IDEA, "ada", "began it")
    draft = store.drafts.get("long")
    assert draft is not None
    for number in range(KEPT + 20):
        draft = store.drafts.change(draft, f"{number}", "ada", f"changed {number}")
    assert len(store.drafts.history("long")) == KEPT
    for number in range(5):
        draft = store.drafts.change(draft, f"again {number}", "ada", "changed again")
    assert [one.toml for one in store.drafts.history("long")][:2] == ["again 4", f"{KEPT + 19}"]


def test_an_earlier_version_comes_back(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    post(browser, EDIT, do="save", **(fields(browser, "question/one") | {"text": "Else?"}))
    assert browser.get("/surveys/idea/file?number=1", **HTTPS).text == IDEA
    assert post(browser, "/surveys/idea/history", number="1").status_code == 303
    assert toml(store) == IDEA
    assert "brought version 1 back" in browser.get("/surveys/idea/history", **HTTPS).text


def test_translations_are_side_by_side_and_must_be_complete(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("ada")
    spoken = fields(browser, "study") | {"languages": "en, fr", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    where = "/surveys/idea/translations"
    part = {"part": "question/one", "seen": seen(browser, "question/one")}
    texts = {"text.en": "One?", "text.fr": "Un ?"}
    assert post(browser, where, **part, **texts).status_code == 303
    assert 'text = {en = "One?", fr = "Un ?"}' in toml(store)
    spoken = fields(browser, "study") | {"languages": "en, fr, de", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    page = browser.get(where, **HTTPS).text
    assert "1 translation missing" in page
    assert "lacks de" in page
    published = post(browser, "/surveys/idea/publish", version=_version(browser))
    assert (published.status_code, "not translated into de" in published.text) == (422, True)
    for told, expected in (
        ("English, Elvish", "or codes such as en, es or pt-BR, got 'Elvish'"),
        ("English, de", "1 texts in fr would be lost"),
        ("fr", "1 texts in en would be lost"),
    ):
        spoken = fields(browser, "study") | {"languages": told, "do": "save"}
        refused = post(browser, EDIT, **spoken)
        assert (refused.status_code, expected in unescape(refused.text)) == (422, True)
    spoken = fields(browser, "study") | {"languages": "", "forget": "yes", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    assert toml(store) == IDEA


def test_equal_texts_in_two_languages_give_a_remark_and_no_error(
    signed_in: Browsers,
) -> None:
    browser, where = signed_in("ada"), "/surveys/idea/translations"
    post(browser, EDIT, **(fields(browser, "study") | {"languages": "en, fr", "do": "save"}))
    for part, texts in (
        ("question/one", {"text.en": "One?", "text.fr": "Un ?"}),
        ("question/two", {"text.en": "Two?", "text.fr": "Two?"}),
    ):
        post(browser, where, part=part, seen=seen(browser, part), **texts)
    page = browser.get(where, **HTTPS).text
    told = "in fr the same as in en: not translated?"
    # The title is the same in all languages.
    for part, remarks in (("study", 1), ("question/one", 0), ("question/two", 1)):
        assert page.partition(f'id="{part}"')[2].partition("</section>")[0].count(told) == remarks
    assert "2 texts are the same in two languages or more" in page
    assert "missing:" not in page
    published = post(browser, "/surveys/idea/publish", version=_version(browser))
    assert published.status_code == 303
    # Numbers have no words to translate.
    sent = {"text": "3?", "kind": "note", "id": "digits", "part": "question/two", "seen": ""}
    post(browser, EDIT, do="add", **sent)
    assert browser.get(where, **HTTPS).text.count(told) == 2


def test_a_mistake_in_a_translation_holds_up_no_other_and_is_kept(
    signed_in: Browsers, store: Store
) -> None:
    browser, where = signed_in("ada"), "/surveys/idea/translations"
    post(browser, EDIT, **(fields(browser, "study") | {"languages": "en, fr", "do": "save"}))
    post(browser, EDIT, **(fields(browser, "question/two") | {"help.en": "Say.", "do": "save"}))
    sent = {"part": "question/two", "seen": seen(browser, "question/two"), "text.en": "Two?"}
    sent |= {"text.fr": "Deux {answer.nobody} ?", "help.en": "Say.", "help.fr": "Dites."}
    answer = post(browser, where, **sent)
    assert (answer.status_code, "This is not saved yet" in answer.text) == (422, True)
    assert "Deux {answer.nobody} ?" in answer.text
    assert 'help = {en = "Say.", fr = "Dites."}' in toml(store)
    assert "nobody" not in toml(store)
    # Changes that somebody else made meanwhile are not overwritten, and the typed text stays.
    sent |= {"text.fr": "Deux ?", "seen": seen(browser, "question/two")}
    post(browser, EDIT, **(fields(browser, "question/two") | {"text.en": "Second?", "do": "save"}))
    answer = post(browser, where, **sent)
    assert (answer.status_code, "Deux ?" in answer.text) == (409, True)
    assert "Second?" in toml(store)
    assert "Deux ?" not in toml(store)
    answer = post(browser, where, **sent | {"part": "question/gone"})
    assert (answer.status_code, "not saved" in answer.text) == (409, True)


def _version(browser: FlaskClient, survey: str = "idea") -> str:
    page = browser.get(f"/surveys/{survey}/preview", **HTTPS).text
    data = page.partition('id="survey-data">')[2].partition("</script>")[0]
    return str(json.loads(data)["version"])


def test_the_last_day_of_answering_is_said_to_end_by_utc(signed_in: Browsers) -> None:
    browser = signed_in("ada")
    changed = fields(browser, "study") | {"closes": "2100-12-31", "do": "save"}
    assert post(browser, EDIT, **changed).status_code == 303
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert "No answers are taken after 2100-12-31, which ends at midnight UTC." in page
    form = browser.get(f"{EDIT}?part=study", **HTTPS).text
    assert 'id="help-closes">It ends at midnight UTC.' in form


def test_after_publishing_the_page_says_what_has_been_frozen(signed_in: Browsers) -> None:
    browser, where = signed_in("ada"), "/surveys/idea/publish"
    assert "What will be frozen" in browser.get(where, **HTTPS).text
    assert post(browser, where, version=_version(browser)).status_code == 303
    page = browser.get(where, **HTTPS).text
    assert ("What has been frozen" in page, "will be frozen" in page) == (True, False)
    changed = fields(browser, "question/one") | {"text": "Another one?", "do": "save"}
    assert post(browser, EDIT, **changed).status_code == 303
    page = browser.get(where, **HTTPS).text
    assert ("has been frozen" in page, "What will be frozen" in page) == (False, True)


@pytest.mark.parametrize("page", ["edit", "publish", "plan"])
def test_pages_explain_technical_terms(signed_in: Browsers, store: Store, page: str) -> None:
    draft = store.drafts.get("idea")
    assert draft is not None
    capped = IDEA.replace("epsilon = 1.0", "epsilon = 9.0").replace(
        "\n[[", "\n[privacy]\ncap = 90\n\n[[", 1
    )
    store.drafts.change(draft, capped, "ada", "made it dear")
    text = signed_in("ada").get(f"/surveys/idea/{page}", **HTTPS).text
    assert "10^" not in text
    assert "Mechanism:" not in text
    if page != "plan":
        assert "odds of up to more than a billion to 1" in text
        assert "likelier to send the true answer" in text
        # The technical term is in small print.
        small = re.findall(r"<small[^>]*>([^<]*)</small>", text)
        assert any("In a methods section: mechanism krr, channel window" in one for one in small)


def test_a_cap_that_is_too_low_is_a_problem_and_no_error(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    capped = fields(browser, "study") | {"privacy.cap": "2", "do": "save"}
    assert post(browser, EDIT, **capped).status_code == 303
    sent = {"text": "Three?", "kind": "yes-no", "id": "three", "part": "question/two", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert "the cap of 2 is too low: one wave costs ε = 3" in page
    assert "Freeze and publish" not in page


def test_a_draft_is_told_which_published_survey_asks_the_same(
    signed_in: Browsers, survey_file: Path
) -> None:
    browser = signed_in("bob")
    other = survey_file.read_text().replace('id = "canteen"', 'id = "next"', 1)
    address = upload(browser, ("next.toml", other.encode())).headers["Location"]
    page = browser.get(f"/surveys/{address.split('/')[2]}/publish", **HTTPS).text
    assert "survey canteen of this collector asks already: meat, dish, price. A cap" in page


def test_a_survey_is_uploaded_published_as_read_and_hidden_until_it_is_opened(
    signed_in: Browsers, app: Flask, store: Store
) -> None:
    browser = signed_in("ada")
    images = [(path.name, path.read_bytes()) for path in EXAMPLE.parent.glob("*.png")]
    name = upload(browser, (EXAMPLE.name, EXAMPLE.read_bytes()), *images).headers["Location"]
    name = name.split("/")[2]
    assert store.surveys.ids() == ["canteen"]
    address = f"/surveys/{name}/publish"
    page = browser.get(address, **HTTPS).text
    version = page.partition('name="version" value="')[2].partition('"')[0]
    assert version == read_survey(EXAMPLE).version
    preview = browser.get(f"/surveys/{name}/preview", **HTTPS)
    assert post(browser, address, version=version[:-1]).status_code == 409
    assert post(signed_in("bob"), address, version=version).status_code == 403
    assert post(browser, address, version=version).status_code == 303
    assert "It is published" in browser.get(address, **HTTPS).text
    public = app.test_client()
    assert public.get(f"/s/{name}", **HTTPS).status_code == 404
    post(browser, f"/surveys/{name}/open")
    served = public.get(f"/s/{name}", **HTTPS)
    # The same page, but for the module that keeps nothing, and the hashes of the modules.
    assert b"/client/optional/trial.js" in preview.data
    assert b"/client/optional/trial.js" not in served.data
    pages = [
        one.data.partition(b"<body")[2].partition(b'<details id="program">')
        for one in (served, preview)
    ]
    assert pages[0][0] == pages[1][0]
    assert (
        pages[0][2].partition(b'<div id="words"')[2] == pages[1][2].partition(b'<div id="words"')[2]
    )
    names = {*served.headers.keys(), *preview.headers.keys()}
    differ = {name for name in names if served.headers.get(name) != preview.headers.get(name)}
    # Caches learn that the preview depends on who is signed in.
    expected = {"Content-Security-Policy", "Content-Length", "X-Frame-Options", "Vary"}
    assert differ == expected
    first, second = (
        one.headers["Content-Security-Policy"].split("; ") for one in (served, preview)
    )
    changed = {(a, b) for a, b in zip(first, second, strict=True) if a != b}
    # Each allows the inline import map of its own modules.
    (scripts,) = [rules for rules in changed if rules[0].startswith("script-src 'self' 'sha256-")]
    assert changed - {scripts} == {
        ("connect-src 'self'", "connect-src 'none'"),
        ("frame-ancestors 'none'", "frame-ancestors 'self'"),
    }
    assert preview.headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([], "Title: expected a text, got nothing"),
        ([("a.txt", b"x")], "expected one survey file whose name ends in .toml, got none"),
        ([("a.toml", b""), ("b.toml", b"")], "got 2 of them"),
        ([("a.toml", b"title = 1")], "survey.toml: "),
        ([("a.toml", b"\xff\xfe")], "a.toml: expected a text file in UTF-8"),
        ([("../../a.toml", b'id = "a"\ntitle = "<script>"')], "questions must be"),
        ([("a.toml", b""), ("..", b"x")], "expected a file name"),
        ([("a.toml", b'questions = [{id = "a"}]\ntitle = "t"\nid = "a"')], "kind must be"),
        ([("a.toml", IDEA.replace('"idea"', '"canteen-trial"').encode())], ""),
    ],
)
def test_files_without_a_survey_are_refused(
    signed_in: Browsers, files: list[tuple[str, bytes]], told: str
) -> None:
    answer = upload(signed_in("ada"), *files)
    assert answer.status_code == (422 if told else 303)
    assert told in answer.text
    assert "<script>" not in answer.text
    assert "/tmp" not in answer.text


def test_a_draft_is_deleted_with_its_history_alone(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    assert post(browser, "/surveys/idea/history", do="delete", sure="ideas").status_code == 422
    assert post(browser, "/surveys/idea/history", do="delete", sure="idea").status_code == 303
    assert store.drafts.get("idea") is None
    assert browser.get(EDIT, **HTTPS).status_code == 404
    for table in ("draft", "draft_version", "draft_file"):
        assert store.database.query(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_an_upload_never_replaces_an_unseen_change(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    files = {"files": [(io.BytesIO(IDEA.replace("One?", "Uno?").encode()), "idea.toml")]}
    answer = post(browser, "/surveys/new", how="file", **files)
    assert (answer.status_code, "which ada changed last" in answer.text) == (422, True)
    files = {"files": [(io.BytesIO(IDEA.replace("One?", "Uno?").encode()), "idea.toml")]}
    assert post(browser, "/surveys/new", how="file", number="1", **files).status_code == 303
    assert "Uno?" in toml(store)


def test_a_template_is_copied_whole(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("bob")
    sent = {"how": "template", "template": "whistle-blowing", "id": "our-copy"}
    assert post(browser, "/surveys/new", **sent).status_code == 303
    text = templates()["whistle-blowing"].text
    assert toml(store, "our-copy") == text.replace('id = "whistle-blowing"', 'id = "our-copy"', 1)
    assert "not taken" in post(browser, "/surveys/new", **sent).text
    assert "expected one of" in post(browser, "/surveys/new", how="template", id="x").text


@pytest.mark.parametrize("path", sorted(EXAMPLE.parent.glob("*.toml")), ids=lambda path: path.stem)
def test_a_published_survey_becomes_a_draft_of_the_same_version(
    signed_in: Browsers, store: Store, path: Path
) -> None:
    survey = read_survey(path)
    store.surveys.publish(survey)
    browser = signed_in("bob")
    assert "Make a draft of it" in browser.get(f"/surveys/{survey.id}/edit", **HTTPS).text
    assert post(browser, f"/surveys/{survey.id}/draft").status_code == 303
    assert _version(browser, survey.id) == survey.version
    assert "published as it is" in browser.get(f"/surveys/{survey.id}/edit", **HTTPS).text


def test_the_id_of_a_pilot_never_becomes_that_of_a_survey(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("ada")
    assert post(browser, "/surveys/idea/pilot", do="open").status_code == 303
    taken = IDEA.replace('"idea"', '"idea-pilot"', 1).encode()
    answer = upload(browser, ("taken.toml", taken))
    assert (answer.status_code, "idea-pilot is a pilot" in answer.text) == (422, True)
    real = read_draft(taken.decode(), {}).survey
    with pytest.raises(StoreError, match="expected a pilot, whose answers are made up"):
        store.surveys.publish(real)
    # Nor is a survey ever taken for a pilot, whatever its id is.
    other = read_draft(IDEA.replace('"idea"', '"real-pilot"', 1), {}).survey
    store.surveys.publish(other)
    store.surveys.open_wave("real-pilot")
    store.drafts.begin("real", IDEA.replace('"idea"', '"real"', 1), "ada", "began it")
    for do in ("close", "open"):
        assert post(signed_in("bob"), "/surveys/real/pilot", do=do).status_code == 409
    assert store.surveys.open_waves("real-pilot") == [1]


def test_long_ids_that_begin_alike_have_copies_of_their_own() -> None:
    ids = ["l" * 60 + end for end in "ab"] + ["short"]
    assert len({trial_id(one, PILOT_END) for one in ids}) == 3
    assert all(len(trial_id(one, PILOT_END)) <= 64 for one in ids)
    assert trial_id("short", PILOT_END) == "short-pilot"


def test_pages_never_understate_what_is_spent(signed_in: Browsers, store: Store) -> None:
    draft = store.drafts.get("idea")
    assert draft is not None
    precise = IDEA.replace("epsilon = 1.0", "epsilon = 1.00041")
    store.drafts.change(draft, precise, "ada", "made it precise")
    for page in ("edit", "plan", "publish"):
        text = signed_in("ada").get(f"/surveys/idea/{page}", **HTTPS).text
        # Twice the shown cost of each, which is rounded up.
        assert re.search(r"ε = 2\.001\b", text), page
    assert [up(one) for one in (1.23449, 1.0049, 0.99999, 1.999999997, 10.049, 3, 0.001)] == [
        "1.2345", "1.0049", "0.99999", "2", "10.049", "3", "0.001",
    ]  # fmt: skip


def test_an_analyst_deletes_no_draft_of_others_and_sets_no_plan_of_a_published_study(
    signed_in: Browsers, store: Store
) -> None:
    bob = signed_in("bob")
    assert post(bob, "/surveys/idea/history", do="delete", sure="idea").status_code == 409
    store.surveys.publish(read_draft(IDEA, {}).survey)
    before = store.studies.get("idea").planned
    form = {"part": "study", "seen": seen(bob, "study"), "number": "1", "respondents": "900"}
    assert post(bob, EDIT, do="scale", **form).status_code == 303
    assert store.studies.get("idea").planned == before
    store.drafts.begin("own", IDEA.replace('"idea"', '"own"', 1), "bob", "began it")
    # Others may have written what a full history does not have any more.
    for number in range(KEPT):
        draft = store.drafts.get("own")
        assert draft is not None
        store.drafts.change(draft, draft.toml + f"# {number}\n", "bob", f"step {number}")
    assert post(bob, "/surveys/own/history", do="delete", sure="own").status_code == 409
    assert (
        post(signed_in("ada"), "/surveys/own/history", do="delete", sure="own").status_code == 303
    )


@pytest.mark.parametrize("tool", ["xlsform", "surveyjs"])
def test_a_draft_is_taken_to_another_tool(signed_in: Browsers, store: Store, tool: str) -> None:
    browser = signed_in("bob")
    answer = browser.get(f"/surveys/idea/file?to={tool}", **HTTPS)
    assert answer.status_code == 200
    assert read_form(answer.data, f"idea{WRITTEN[tool][0]}").questions == 2
    table = browser.get(f"/surveys/idea/file?to={tool}&report", **HTTPS).text
    assert "it collects true answers" in table
    assert browser.get("/surveys/idea/file?to=poem", **HTTPS).status_code == 404
