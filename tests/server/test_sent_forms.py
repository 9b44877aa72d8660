"""A form of the console acts once, however often it is sent; the list of all forms is here."""

import io
import re
import struct
import threading
import time
import zlib
from base64 import urlsafe_b64encode
from html import unescape
from typing import Any

import pytest
from console_pages import IDEA, Browsers, app, signed_in, survey_file
from flask import Flask, Response
from flask.testing import FlaskClient
from forms import without_tokens
from test_access import HTTPS, SECRET
from test_mistakes import HTML

from server.console import kept_answers, kept_form, sent_forms
from server.pages.browser_files import CLIENT
from server.store import Store
from server.store.sent_forms import UNDER_WAY

__all__ = ["app", "signed_in", "survey_file"]
pytestmark = pytest.mark.usefixtures("answered")


@pytest.fixture(autouse=True)
def forgotten() -> None:
    sent_forms._ANSWERS.clear()


#: Where each form stands, where it is sent, and what is typed or pressed.
FORMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "invite somebody": ("/people", "/people", {"name": "dora", "role": "analyst"}),
    "rules": ("/people", "/people/rules", {}),
    "remove somebody": ("/people", "/people/bob/remove", {}),
    "a new draft": (
        "/surveys/new",
        "/surveys/new",
        {"how": "nothing", "title": "A", "id": "a", "text": "B?", "kind": "yes-no"},
    ),
    "another question": (
        "/surveys/idea/edit",
        "/surveys/idea/edit",
        {"do": "add", "text": "Else?", "kind": "yes-no", "id": ""},
    ),
    "a copy": ("/surveys/idea/edit", "/surveys/idea/edit", {"do": "copy"}),
    "a move": ("/surveys/idea/edit", "/surveys/idea/edit", {"do": "down"}),
    "several together": (
        "/surveys/idea/edit",
        "/surveys/idea/edit",
        {"do": "together", "questions": ["one", "two"]},
    ),
    "a deleted question": ("/surveys/idea/edit", "/surveys/idea/edit", {"do": "delete"}),
    "made-up respondents": ("/surveys/idea/pilot", "/surveys/idea/trial", {"respondents": "5"}),
    "a pilot": ("/surveys/idea/pilot", "/surveys/idea/pilot", {"do": "open"}),
    "an earlier version": ("/surveys/idea/history", "/surveys/idea/history", {"number": "1"}),
    "publishing": ("/surveys/idea/publish", "/surveys/idea/publish", {}),
    "the next version": ("/surveys/canteen/edit", "/surveys/canteen/draft", {}),
    "the next wave": ("/surveys/canteen", "/surveys/canteen/open", {"wave": "next", "sure": "2"}),
    "planned": ("/surveys/canteen", "/surveys/canteen/planned", {"respondents": "500"}),
    "archived": ("/surveys/canteen", "/surveys/canteen/archive", {}),
    "an audit": ("/surveys/canteen/privacy", "/surveys/canteen/audit", {}),
}


#: Forms without a token, and why.
WITHOUT = {
    "fieldwork.html": "links follow from the session, and are made once",
}


def hidden(page: str, action: str, place: int = -1) -> dict[str, str]:
    """Return the hidden fields of a form of a page, by default of the last to an address."""
    forms = re.findall(r"<form\b.*?</form>", page, re.S)
    form = [form for form in forms if re.search(f'action="{action}(#.*?)?"', form)][place]
    inputs = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in inputs}


def content(store: Store) -> list[str]:
    """Return all that the database has, but for which forms were sent."""
    with store.copied_in_memory() as copy:
        return [line for line in copy.iterdump() if '"sent_form"' not in line]


def send(browser: FlaskClient, path: str, form: dict[str, Any]) -> Any:
    return browser.post(path, data=form, headers={"Accept": HTML}, **HTTPS)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_is_sent_twice_acts_once(
    signed_in: Browsers, store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Work that a form asks for is done by another process, at any time.
    monkeypatch.setattr("server.work.begin", lambda _: None)
    browser = signed_in("ada")
    where, path, typed = FORMS[name]
    form: dict[str, Any] = hidden(browser.get(where, **HTTPS).text, path) | typed
    assert len(form[sent_forms.TOKEN]) == 32
    first = send(browser, path, form)
    assert first.status_code in (200, 303), first.text
    then = content(store)
    second = send(browser, path, form)
    assert content(store) == then
    # The first answer may have begun a session, which this one must not replace.
    assert "Set-Cookie" not in second.headers
    # Somebody who pressed twice sees what the first press showed, which may be shown only once.
    assert (second.status_code, second.location) == (first.status_code, first.location)
    assert without_tokens(second.text) == without_tokens(first.text)
    monkeypatch.setattr(kept_answers, "KEPT_FOR", 0.0)
    if first.status_code == 200:
        later = send(browser, path, form)
        assert (later.status_code, "was done then" in later.text) == (409, True)
    assert content(store) == then


def test_a_form_of_the_session_before_acts_once_too(
    signed_in: Browsers, store: Store, app: Flask
) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    assert send(browser, path, form).status_code == 200
    then = [line for line in content(store) if '"setup"' in line]
    other = signed_in("ada")
    fresh = form | {"csrf": hidden(other.get(path, **HTTPS).text, path)["csrf"]}
    assert send(other, path, fresh).status_code == 200
    assert [line for line in content(store) if '"setup"' in line] == then


def test_a_refused_form_and_one_with_another_content_act(signed_in: Browsers, store: Store) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "a b", "role": "analyst"}
    for _ in range(2):
        assert send(browser, path, form).status_code == 422
    for name in ("dora", "eve"):
        assert send(browser, path, form | {"name": name}).status_code == 200


def test_another_second_file_is_another_content(signed_in: Browsers, store: Store) -> None:
    toml = IDEA.replace('"idea"', '"files"').replace('"Idea"', '"Idea"\nlogo = "logo.png"')
    logo = (CLIENT.parent / "examples/well-being.png").read_bytes()
    # The same picture with a comment, before its last chunk.
    chunk = b"tEXtComment\0corrected"
    comment = struct.pack("!I", len(chunk) - 4) + chunk + struct.pack("!I", zlib.crc32(chunk))
    corrected = logo[:-12] + comment + logo[-12:]
    browser, path = signed_in("bob"), "/surveys/new"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"how": "file"}

    def send_with(picture: bytes) -> Any:
        files = [(io.BytesIO(toml.encode()), "files.toml"), (io.BytesIO(picture), "logo.png")]
        return send(browser, path, form | {"files": files})

    assert [send_with(logo).location for _ in range(2)] == ["/surveys/files/edit"] * 2
    told = send_with(corrected)
    assert (told.status_code, "there is a draft with this id" in told.text) == (422, True)
    assert store.drafts.files("files") == {"logo.png": logo}


def test_every_form_of_the_console_has_a_token() -> None:
    for path in sorted((CLIENT.parent / "server/templates").rglob("*.html")):
        text = path.read_text()
        forms = re.findall(r'<form\b[^>]*method="post".*?</form>', text, re.S)
        without = [
            form for form in forms if not re.search(r"proof\(|hidden\(|common\(|begun\(", form)
        ]
        assert bool(without) == (path.name in WITHOUT), path
        assert len(without) <= 2


def test_what_was_typed_survives_a_new_sign_in(app: Flask, store: Store) -> None:
    browser, path = app.test_client(), "/surveys/new"
    typed = {
        "how": "nothing",
        "title": "Ünfall & <b>",
        "id": "a",
        "text": "B?\nC",
        "kind": "yes-no",
    }
    ours = {"Accept": HTML, "Sec-Fetch-Site": "same-origin"}
    answer = browser.post(path, data=typed | {"password": "x"}, headers=ours, **HTTPS)
    assert (answer.status_code, "What you typed is kept" in answer.text) == (401, True)
    form = hidden(answer.text, "/login")
    with app.app_context():
        kept = kept_form.Kept.of(form["kept"])
    assert kept is not None
    assert (kept.path, dict(kept.typed)) == (path, typed)
    wrong = browser.post("/login", data=form | {"name": "ada", "password": "no"}, **HTTPS)
    assert hidden(wrong.text, "/login")["kept"] == form["kept"]
    back = browser.post("/login", data=form | {"name": "ada", "password": SECRET}, **HTTPS)
    assert "Send it now?" in back.text
    again = hidden(back.text, path)
    assert {name: again[name] for name in typed} == typed
    assert send(browser, path, again).location == "/surveys/a/edit"
    # It goes where it was sent, even if that has no page.
    answer = app.test_client().post("/people/rules", data={"rule": "odd"}, headers=ours, **HTTPS)
    form = hidden(answer.text, "/login") | {"name": "ada", "password": SECRET}
    back = app.test_client().post("/login", data=form, **HTTPS)
    assert 'action="/people/rules"' in back.text
    # 40 kB of text fit, and of more than that the page says that it is lost.
    for letters, is_kept in ((10_000, True), (30_000, False)):
        long = typed | {"text": "Щ" * letters}
        answer = app.test_client().post(path, data=long, headers=ours, **HTTPS)
        told = "kept in this page" if is_kept else "too long to be kept"
        assert (told in answer.text, 'name="kept"' in answer.text) == (True, is_kept)
    paths = ("/nowhere", "//people/rules", "people/rules", "/\\people")
    odds = [kept_form.Kept(path, [("a", "b")]).text for path in paths]
    odds.append(urlsafe_b64encode(b"[" * 20_000).decode())
    for odd in ("", "x", "W10=", *odds):
        assert sent_to_login(app, odd).location == "/surveys"
    # Another site cannot have somebody send what it likes after signing in.
    for site in ("cross-site", "same-site"):
        theirs = {"Accept": HTML, "Sec-Fetch-Site": site}
        answer = app.test_client().post(path, data=typed, headers=theirs, **HTTPS)
        assert (answer.status_code, 'name="kept"' in answer.text) == (401, False)


def sent_to_login(app: Flask, kept: str) -> Any:
    form = {"name": "ada", "password": SECRET, "kept": kept}
    return app.test_client().post("/login", data=form, **HTTPS)


def test_a_password_that_was_made_is_shown_to_a_second_press(
    signed_in: Browsers, app: Flask, store: Store
) -> None:
    owner = signed_in("ada")
    form = hidden(owner.get("/people", **HTTPS).text, "/people")
    made = send(owner, "/people", form | {"name": "dora", "role": "analyst"})
    path = made.text.partition('href="https://localhost')[2].partition('"')[0]
    browser = app.test_client()
    token = re.findall('name="form" value="([^"]*)"', browser.get(path, **HTTPS).text)[-1]
    pages = [send(browser, path, {"form": token, "do": "make"}) for _ in range(2)]
    assert [page.status_code for page in pages] == [200, 200]
    (password,) = re.findall("<code>([0-9a-f]{48})</code>", pages[0].text)
    assert password in pages[1].text
    # Whoever does not have a link makes the server store nothing.
    assert send(browser, "/setup/unknown", {"form": "x" * 32}).status_code == 404
    assert store.database.tables()["sent_form"][1] == 2


def test_a_form_whose_process_died_can_be_sent_again(store: Store) -> None:
    key, forms = b"x" * 32, store.sent_forms
    assert forms.begin(key, 1000) is None
    assert forms.begin(key, 1010) == forms.outcome(key, 1010) == UNDER_WAY
    assert forms.outcome(key, 1400) is None
    assert forms.begin(key, 1400) is None
    forms.end(key, "done", 1401)
    assert forms.begin(key, 9000) == forms.outcome(key, 9000) == "done"


def test_nobody_pushes_out_what_another_account_is_shown(app: Flask, signed_in: Browsers) -> None:
    owner = signed_in("ada")
    form = hidden(owner.get("/people", **HTTPS).text, "/people")
    form |= {"name": "dora", "role": "analyst"}
    shown = send(owner, "/people", form)
    with app.test_request_context():
        for number in range(kept_answers.MOST_ANSWERS + 1):
            sent_forms._keep(b"%d" % number, "bob", Response("x"))
    assert without_tokens(send(owner, "/people", form).text) == without_tokens(shown.text)


def test_a_form_waits_for_the_first_one(app: Flask, store: Store, signed_in: Browsers) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    first = send(browser, path, form)
    assert first.status_code == 200
    (key,) = sent_forms._ANSWERS
    # As if the first one were still under way: the second gets its answer once it is there.
    store.sent_forms.end(key, "", time.time())
    timer = threading.Timer(0.5, store.sent_forms.end, (key, "done", time.time()))
    timer.start()
    second = send(browser, path, form)
    timer.join()
    assert without_tokens(second.text) == without_tokens(first.text)
    # As if the first one were refused meanwhile: the second acts.
    store.sent_forms.end(key, "", time.time())
    timer = threading.Timer(0.5, store.sent_forms.forget, (key,))
    timer.start()
    third = send(browser, path, form)
    timer.join()
    assert (third.status_code, without_tokens(third.text) == without_tokens(first.text)) == (
        200,
        False,
    )
