"""Drafts in the console: they begin, have a history, and are published as they were read."""

import io
import json
from pathlib import Path

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from drafting import EDIT, fields, seen, toml, upload
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS

from analysis.survey.survey_file import read_survey
from server.store import Store
from server.store.drafts import KEPT, Outdated
from server.studies import templates

__all__ = ["app", "signed_in", "survey_file"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "well-being.toml"


def test_the_last_moment_belongs_to_one_of_two(store: Store) -> None:
    store.drafts.begin("race", IDEA, "ada", "began it")
    before = store.drafts.get("race")
    assert before is not None
    store.drafts.change(before, "a", "ada", "x")
    with pytest.raises(Outdated):
        store.drafts.change(before, "b", "bob", "x")
    assert toml(store, "race") == "a"


def test_history_is_bounded_and_one_persons_changes_at_a_place_are_one(store: Store) -> None:
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


def test_translations_stand_side_by_side_and_must_be_whole(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("ada")
    spoken = fields(browser, "study") | {"languages": "en, fr", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    where = "/surveys/idea/translations"
    part = {"part": "question/one", "seen": seen(browser, "question/one")}
    assert post(browser, where, **part, **{"text.en": "One?", "text.fr": "Un ?"}).status_code == 303
    assert 'text = {en = "One?", fr = "Un ?"}' in toml(store)
    spoken = fields(browser, "study") | {"languages": "en, fr, de", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    page = browser.get(where, **HTTPS).text
    assert "1 translation missing" in page
    assert "lacks de" in page
    published = post(browser, "/surveys/idea/publish", version=_version(browser))
    assert (published.status_code, "not translated into de" in published.text) == (422, True)
    spoken = fields(browser, "study") | {"languages": "", "do": "save"}
    assert post(browser, EDIT, **spoken).status_code == 303
    assert toml(store) == IDEA


def _version(browser: FlaskClient, survey: str = "idea") -> str:
    page = browser.get(f"/surveys/{survey}/preview", **HTTPS).text
    data = page.partition('id="survey-data">')[2].partition("</script>")[0]
    return str(json.loads(data)["version"])


def test_a_cap_that_is_too_low_is_a_problem_and_no_mistake(
    signed_in: Browsers, store: Store
) -> None:
    browser = signed_in("ada")
    capped = fields(browser, "study") | {"privacy.cap": "2", "do": "save"}
    assert post(browser, EDIT, **capped).status_code == 303
    sent = {"text": "Three?", "kind": "yes-no", "id": "three", "part": "question/two", "seen": ""}
    assert post(browser, EDIT, do="add", **sent).status_code == 303
    page = browser.get("/surveys/idea/publish", **HTTPS).text
    assert "the cap of 2 is too low: one wave costs ε = 3" in page
    assert "Freeze and publish" not in page


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
    assert served.data == preview.data
    names = {*served.headers.keys(), *preview.headers.keys()}
    differ = {name for name in names if served.headers.get(name) != preview.headers.get(name)}
    # Caches are told, too, that the preview depends on who is signed in.
    assert differ == {"Content-Security-Policy", "X-Frame-Options", "Vary"}
    first, second = (
        one.headers["Content-Security-Policy"].split("; ") for one in (served, preview)
    )
    changed = {(a, b) for a, b in zip(first, second, strict=True) if a != b}
    assert changed == {
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
def test_files_that_are_no_survey_are_told(
    signed_in: Browsers, files: list[tuple[str, bytes]], told: str
) -> None:
    answer = upload(signed_in("ada"), *files)
    assert answer.status_code == (422 if told else 303)
    assert told in answer.text
    assert "<script" not in answer.text
    assert "/tmp" not in answer.text


def test_a_draft_is_deleted_with_its_history_alone(signed_in: Browsers, store: Store) -> None:
    browser = signed_in("ada")
    assert post(browser, "/surveys/idea/history", do="delete", sure="ideas").status_code == 422
    assert post(browser, "/surveys/idea/history", do="delete", sure="idea").status_code == 303
    assert store.drafts.get("idea") is None
    assert browser.get(EDIT, **HTTPS).status_code == 404
    for table in ("draft", "draft_version", "draft_file"):
        assert store.file.query(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_an_upload_never_replaces_what_was_not_seen(signed_in: Browsers, store: Store) -> None:
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
