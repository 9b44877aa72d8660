"""A password is chosen when a link sets up an account, can be changed, and is slow to guess."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS, SECRET, basic, log_in
from test_mistakes import HTML, check_told, sent
from werkzeug.security import check_password_hash, generate_password_hash

from server import passwords
from server.second_factor import new_secret
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


#: What is stored of the chosen password; it takes a hundredth of the usual time to check.
QUICK = f":{generate_password_hash(CHOSEN, 'scrypt:256:8:1')}"


def account(store: Store) -> Researcher:
    found, _ = store.researchers.find("dora") or pytest.fail("no account")
    return found


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Let something happen while the next password is checked."""
    left = [change]

    def compute(stored: str, given: str) -> bool:
        for one in left[:]:
            left.clear()
            one()
        return check_password_hash(stored, given)

    monkeypatch.setattr(passwords, "check_password_hash", compute)


def give_another_link(store: Store) -> None:
    store.access.add_setup("code", Researcher("dora", "analyst"), 2e9)
    assert store.researchers.set_up("code", QUICK, 0) is not None


def make_anew(store: Store) -> None:
    store.researchers.remove("dora")
    store.researchers.put(Researcher("dora", "analyst"), QUICK)


CHANGES: dict[str, Callable[[Store], Any]] = {
    "another password": lambda store: store.researchers.change_secret(account(store), QUICK),
    "a second factor": lambda store: store.factors.add(account(store), new_secret(), 0, ["x"]),
    "signing out everywhere": lambda store: store.access.end_sessions_of("dora"),
    "another link": give_another_link,
    "an account by the command": lambda store: store.researchers.put(account(store), QUICK),
    "its removal": lambda store: store.researchers.remove("dora"),
    "its removal and another one": make_anew,
}


@pytest.mark.both
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_an_account_ends_a_sign_in_that_is_under_way(
    app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    store.researchers.put(Researcher("dora", "owner"), QUICK)
    browser = app.test_client()
    meanwhile(monkeypatch, lambda: CHANGES[change](store))
    answer = log_in(browser, "dora", CHOSEN)
    assert (answer.status_code, "is not known here" in answer.text) == (401, True)
    assert "Set-Cookie" not in answer.headers
    tables = store.database.tables()
    assert (tables["session"][1], tables["browser"][1]) == (0, 0)


def test_the_printed_token_begins_no_session_once_it_is_forgotten(
    app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.access.add_token("printed")
    knows, told = type(store.access).knows_token, list[bool]()

    def know_once(given: object, token: str) -> bool:
        told.append(knows(store.access, token))
        if len(told) == 1:
            store.access.remove_token("printed")
        return told[-1]

    monkeypatch.setattr(type(store.access), "knows_token", know_once)
    assert log_in(app.test_client(), "", "printed").status_code == 401
    assert told[0]
    assert store.database.tables()["session"][1] == 0


@pytest.mark.both
@pytest.mark.parametrize("change", CHANGES)
def test_an_account_that_changed_meanwhile_gets_no_other_password(
    app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    store.researchers.put(Researcher("dora", "owner"), QUICK)
    browser = app.test_client()
    assert log_in(browser, "dora", CHOSEN).status_code == 303
    then = []

    def happen() -> None:
        CHANGES[change](store)
        then.append(store.researchers.find("dora"))

    meanwhile(monkeypatch, happen)
    form = {"old": CHOSEN, **twice("another password")}
    assert post(browser, "/account", **form).status_code == 409
    # A removed account does not come back, nor an earlier role.
    assert [store.researchers.find("dora")] == then
    assert store.database.tables()["session"][1] == 0


def test_a_link_sets_up_nothing_if_it_was_taken_back_meanwhile(
    app: Flask, store: Store, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hash_slowly(_: str) -> str:
        store.researchers.remove("dora")
        return QUICK

    monkeypatch.setattr(passwords, "hashed_choice", hash_slowly)
    assert app.test_client().post(path, data=twice(CHOSEN), **HTTPS).status_code == 404
    assert store.researchers.find("dora") is None
