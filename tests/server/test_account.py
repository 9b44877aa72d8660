"""A password is chosen when a link sets up an account, can be changed, and is slow to guess."""

import unicodedata

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS, SECRET, basic, log_in
from test_mistakes import HTML, check_told, sent

from server import passwords
from server.store import Store
from server.store.researchers import Researcher

__all__ = ["app", "signed_in", "survey_file"]
CHOSEN = "mühle under nine clouds"


def twice(password: str, **more: str) -> dict[str, str]:
    return {"password": password, "again": password, **more}


@pytest.fixture
def path(signed_in: Browsers) -> str:
    """Return the address at which dora sets up an account, as the page of people links to it."""
    page = post(signed_in("ada"), "/people", name="dora", role="analyst").text
    return str(page.partition('href="https://localhost')[2].partition('"')[0])


def test_whoever_has_a_link_chooses_a_password_and_is_signed_in(
    app: Flask, store: Store, path: str
) -> None:
    browser = app.test_client()
    assert 'autocomplete="new-password"' in browser.get(path, **HTTPS).text
    for form, field, told in (
        (twice("too short"), "password", "expected 12 to 256 characters, got 9"),
        (twice("x" * 257), "password", "got 257"),
        (twice("ababababababab"), "password", "5 different characters"),
        (twice("My name is DORA!"), "password", "without your name"),
        (twice(CHOSEN) | {"again": "another"}, "again", "got a different one"),
    ):
        answer = browser.post(path, data=form, headers={"Accept": HTML}, **HTTPS)
        assert answer.status_code == 422
        check_told(answer.text, field, told)
        assert form["password"] not in answer.text
    assert store.researchers.find("dora") is None
    assert browser.post(path, data=twice(CHOSEN), **HTTPS).location == "/surveys"
    assert "dora (analyst)" in browser.get("/surveys", **HTTPS).text
    assert browser.get(path, **HTTPS).status_code == 404
    kept = store.researchers.find("dora")
    assert kept is not None
    # Nothing that is fast to try is stored beside the scrypt hash.
    assert kept[1].startswith(":scrypt:32768:8:1$")
    for form_of in ("NFC", "NFD"):
        typed = unicodedata.normalize(form_of, CHOSEN)
        assert log_in(app.test_client(), "dora", typed).status_code == 303
    assert log_in(app.test_client(), "dora", CHOSEN.upper()).status_code == 401


@pytest.mark.more
def test_a_chosen_password_is_tried_at_most_once_a_minute(
    app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.store.researchers.FREE_ATTEMPTS", 1)
    store.researchers.put(Researcher("dora", "analyst"), passwords.hashed_choice(CHOSEN))
    guesser = app.test_client()
    told = [log_in(guesser, "dora", "guess").status_code for _ in range(3)]
    assert told == [401, 401, 429]
    # Even the right password waits, so that nothing is revealed about a guess; a made one does not
    # wait.
    assert log_in(guesser, "dora", CHOSEN).status_code == 429
    assert guesser.get("/surveys", headers=basic("dora", CHOSEN), **HTTPS).status_code == 429
    assert log_in(guesser, "ada", SECRET).status_code == 303


def change(browser: FlaskClient, old: str = SECRET, **form: str) -> str:
    return sent(browser, "/account", old=old, **(twice(CHOSEN) | form))


def test_a_password_is_changed_by_somebody_who_knows_it(signed_in: Browsers, app: Flask) -> None:
    browser, other = signed_in("cleo"), signed_in("cleo")
    assert 'href="/account"' in browser.get("/surveys", **HTTPS).text
    check_told(change(browser, old="guess"), "old", "expected your password")
    check_told(change(browser, again="no"), "again", "the same password")
    assert post(browser, "/account", **twice(CHOSEN)).status_code == 422
    done = post(browser, "/account", old=SECRET, **twice(CHOSEN))
    assert (done.status_code, "Your password was changed" in done.text) == (200, True)
    assert browser.get("/account", **HTTPS).status_code == 200
    assert other.get("/account", **HTTPS).status_code == 401
    assert log_in(app.test_client(), "cleo", SECRET).status_code == 401
    assert log_in(app.test_client(), "cleo", CHOSEN).status_code == 303


def test_the_printed_token_has_no_password_to_change(app: Flask, store: Store) -> None:
    store.access.add_token("printed")
    browser = app.test_client()
    log_in(browser, "", "printed")
    page = browser.get("/account", **HTTPS).text
    assert "Make an account of your own" in page
    assert 'name="old"' not in page
    assert post(browser, "/account", old="printed", **twice(CHOSEN)).status_code == 409
