"""What is shown once is shown to a second press in the same browser, and to nobody else."""

import re
import threading
import time
from typing import Any

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from limits import wait_until
from test_access import HTTPS, SECRET
from test_kept_forms import forgotten, send
from test_sent_forms import hidden

from server import passwords
from server.console import kept_answers, pressed_twice
from server.second_factor import PERIOD, code_at
from server.signing_in import BROWSER
from server.store import Store
from server.store.researchers import Researcher

__all__ = ["app", "forgotten", "signed_in", "survey_file"]
SESSION = "__Host-deniable"


def codes(page: Any) -> list[str]:
    return re.findall("<code>([0-9a-f-]{19})</code>", page.text)


def turning_on(browser: FlaskClient) -> dict[str, str]:
    """Return the form that turns a second factor on."""
    path = "/account/second-factor"
    form = hidden(browser.get(path, **HTTPS).text, path)
    code = code_at(form["secret"], int(time.time() // PERIOD))
    return form | {"code": code, "old": SECRET, "do": "on"}


def cookie(browser: FlaskClient, name: str = SESSION) -> str:
    found = browser.get_cookie(name, domain="localhost")
    assert found is not None
    return str(found.value)


def with_cookie(app: Flask, value: str) -> FlaskClient:
    browser = app.test_client()
    browser.set_cookie(SESSION, value, domain="localhost", secure=True)
    return browser


def test_recovery_codes_are_shown_again_to_their_owner_alone(
    signed_in: Browsers, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, path = signed_in("bob"), "/account/second-factor"
    before, form = cookie(browser), turning_on(browser)
    shown = codes(send(browser, path, form))
    assert len(shown) == 10
    # The page is loaded again, or the second press comes with the cookie of before.
    for again in (browser, with_cookie(app, before)):
        answer = send(again, path, form)
        assert (answer.status_code, codes(answer)) == (200, shown)
    assert browser.get("/surveys", **HTTPS).status_code == 200
    # Whoever has neither a session of the account nor the cookie gets nothing.
    stranger, other = send(app.test_client(), path, form), send(signed_in("cleo"), path, form)
    assert (stranger.status_code, codes(stranger)) == (401, [])
    assert (other.status_code, codes(other)) == (409, [])
    changed = send(with_cookie(app, before), path, form | {"old": "guess"})
    assert (changed.status_code, codes(changed)) == (401, [])
    guessed = send(with_cookie(app, before), path, form | {"csrf": "guess"})
    assert (guessed.status_code, codes(guessed)) == (401, [])
    # Nor is it shown for long.
    monkeypatch.setattr(kept_answers, "KEPT_FOR", 0.0)
    for again, status in ((browser, 409), (with_cookie(app, before), 401)):
        answer = send(again, path, form)
        assert (answer.status_code, codes(answer)) == (status, [])
        assert "was sent before" in answer.text


def test_a_changed_password_is_said_to_be_changed_when_its_page_is_loaded_again(
    signed_in: Browsers, store: Store
) -> None:
    browser, path = signed_in("bob"), "/account"
    form = hidden(browser.get(path, **HTTPS).text, path, 0)
    form |= {"old": SECRET, "password": "mole under nine clouds", "again": "mole under nine clouds"}
    for _ in range(2):
        answer = send(browser, path, form)
        assert (answer.status_code, "was changed" in answer.text) == (200, True)
    lines = [entry.what for entry in store.log.entries()]
    assert lines.count("change password") == 1


def signing_in(browser: FlaskClient, code: str) -> dict[str, str]:
    form = hidden(browser.get("/login", **HTTPS).text, "/login")
    return form | {"name": "bob", "password": SECRET, "code": code}


def test_a_second_press_of_sign_in_gets_what_the_first_one_got(
    signed_in: Browsers, app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = signed_in("bob")
    first, second = codes(send(owner, "/account/second-factor", turning_on(owner)))[:2]
    browser, late = app.test_client(), app.test_client()
    form = signing_in(browser, first)
    sessions = store.database.tables()["session"][1]
    for one in (browser, browser, late):
        answer = send(one, "/login", form)
        assert (answer.location, len(answer.headers.getlist("Content-Type"))) == ("/surveys", 1)
        assert one.get("/surveys", **HTTPS).status_code == 200
    assert store.database.tables()["session"][1] == sessions + 1
    assert cookie(browser, BROWSER) == cookie(late, BROWSER)
    # The same code is used up for another form, another content, and once the session is over.
    for other in (signing_in(browser, first), form | {"target": "/people"}, form | {"name": "x"}):
        stranger = app.test_client()
        answer = send(stranger, "/login", other)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (401, False)
    assert post(browser, "/logout").status_code == 303
    assert send(browser, "/login", form).status_code == 401
    # It is given for a minute.
    form = signing_in(browser, second)
    assert send(browser, "/login", form).status_code == 303
    monkeypatch.setattr(kept_answers, "KEPT_FOR", 0.0)
    assert send(browser, "/login", form).status_code == 401
    # Who has not signed in makes the server keep nothing, and store nothing of the form.
    pressed_twice._ANSWERS.clear()
    send(browser, "/login", signing_in(browser, "guess"))
    assert (len(pressed_twice._ANSWERS), pressed_twice._UNDER_WAY) == (0, {})


def test_a_second_press_waits_for_the_first(
    signed_in: Browsers, app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = signed_in("bob")
    code = codes(send(owner, "/account/second-factor", turning_on(owner)))[0]
    browser, late = app.test_client(), app.test_client()
    form, use, answers = signing_in(browser, code), type(store.factors).use, list[Any]()
    pressing = threading.Thread(target=lambda: answers.append(send(late, "/login", form)))

    def is_waiting() -> bool:
        return pressed_twice._WAITING._value < pressed_twice._MOST_WAITING

    def use_slowly(*given: Any) -> bool:
        if pressing.ident is None:
            pressing.start()
            wait_until(lambda: is_waiting() or not pressing.is_alive())
        return use(*given)

    monkeypatch.setattr(type(store.factors), "use", use_slowly)
    answers.append(send(browser, "/login", form))
    pressing.join()
    assert [answer.location for answer in answers] == ["/surveys", "/surveys"]
    assert late.get("/surveys", **HTTPS).status_code == 200


@pytest.mark.usefixtures("answered")
def test_another_account_in_the_same_browser_sees_nothing_of_a_page_that_was_shown(
    signed_in: Browsers, store: Store
) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    assert "/setup/" in send(browser, path, form).text
    second = passwords.new_password()
    store.researchers.put(Researcher("eve", "owner"), passwords.hashed(second))
    send(browser, "/login", {"name": "eve", "password": second})
    for proof in (form["csrf"], hidden(browser.get(path, **HTTPS).text, path)["csrf"]):
        answer = send(browser, path, form | {"csrf": proof})
        assert (answer.status_code, "/setup/" in answer.text) == (409, False)
