"""What was typed when a session was over is kept, and what was done before is not done again."""

import re
from typing import Any

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from flask.testing import FlaskClient
from forms import post
from test_access import HTTPS, SECRET, basic
from test_mistakes import HTML
from test_sent_forms import hidden

from server.console import sent_forms
from server.store import Store
from server.store.rules import SECOND_FACTOR

__all__ = ["app", "signed_in", "survey_file"]
pytestmark = pytest.mark.usefixtures("answered")
SENT = "This form was sent before"


@pytest.fixture(autouse=True)
def forgotten() -> None:
    sent_forms._ANSWERS.clear()


def send(browser: FlaskClient, path: str, form: dict[str, Any]) -> Any:
    """Send a form as a page of ours does."""
    ours = {"Accept": HTML, "Sec-Fetch-Site": "same-origin"}
    return browser.post(path, data=form, headers=ours, **HTTPS)


def sign_in_with(browser: FlaskClient, page: str) -> Any:
    """Sign in on a page that keeps a form."""
    form = hidden(page, "/login") | {"name": "ada", "password": SECRET}
    return send(browser, "/login", form)


def links(store: Store) -> list[Any]:
    return store.database.query("SELECT hash FROM setup").fetchall()


def test_a_form_that_was_done_is_not_called_unstored_once_the_session_is_over(
    signed_in: Browsers, store: Store
) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    assert send(browser, path, form).status_code == 200
    done = links(store)
    store.access.end_sessions_of("ada")
    told = send(browser, path, form)
    assert (told.status_code, SENT in told.text, "is kept" in told.text) == (401, True, False)
    assert "kept" not in hidden(told.text, "/login")
    assert sign_in_with(browser, told.text).location == path
    # With another content it is another form.
    store.access.end_sessions_of("ada")
    other = send(browser, path, form | {"name": "eve"})
    assert (SENT in other.text, "is kept" in other.text) == (False, True)
    # A program, and whoever sends something by another site, get the page without it.
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert SENT not in browser.post(path, data=form, headers=headers, **HTTPS).text
    assert links(store) == done


def test_a_kept_form_acts_once(signed_in: Browsers, store: Store) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    store.access.end_sessions_of("ada")
    page = send(browser, path, form).text
    back = sign_in_with(browser, page)
    again = hidden(back.text, path)
    assert {name: again[name] for name in form if name != "csrf"} == {
        name: form[name] for name in form if name != "csrf"
    }
    assert f"<dt>{sent_forms.TOKEN}</dt>" not in back.text
    pages = [send(browser, path, again).text for _ in range(2)]
    assert len({*re.findall(r"/setup/[\w-]+", "".join(pages))}) == len(links(store)) == 1
    # The page that had the form, and the one that kept it, know that it was sent.
    store.access.end_sessions_of("ada")
    assert SENT in send(browser, path, form).text
    back = sign_in_with(browser, page)
    assert (SENT in back.text, f'action="{path}"' in back.text) == (True, False)
    assert len(links(store)) == 1


def test_a_form_is_not_called_unstored_by_the_rule_that_it_made(
    signed_in: Browsers, store: Store
) -> None:
    browser, path = signed_in("ada"), "/people/rules"
    form = hidden(browser.get("/people", **HTTPS).text, path) | {"rule": SECOND_FACTOR}
    assert send(browser, path, form).status_code == 303
    told = send(browser, path, form)
    assert (told.status_code, SENT in told.text, "is kept" in told.text) == (403, True, False)
    assert 'name="kept"' not in told.text
    assert store.rules.all() == {SECOND_FACTOR}
    # What a mistake held up was not done.
    store.rules.put([])
    wrong = hidden(browser.get("/people", **HTTPS).text, "/people") | {"name": "a b"}
    assert send(browser, "/people", wrong).status_code == 422
    store.rules.put([SECOND_FACTOR])
    assert "is kept" in send(browser, "/people", wrong).text


def test_links_are_not_made_again_in_another_session(
    signed_in: Browsers, store: Store, app: Flask
) -> None:
    browser, path = signed_in("ada"), "/surveys/canteen/invitations"
    form = hidden(browser.get("/surveys/canteen", **HTTPS).text, path)
    form |= {"links": "7", "address": "https://survey.example.org"}
    assert "You have made 7 links" in send(browser, path, form).text
    assert "Nothing was made now" in send(browser, path, form).text
    assert not sent_forms._ANSWERS
    store.access.end_sessions_of("ada")
    told = send(browser, path, form)
    assert (told.status_code, SENT in told.text, "is kept" in told.text) == (401, True, False)
    sign_in_with(browser, told.text)
    told = send(browser, path, form)
    assert (told.status_code, SENT in told.text) == (409, True)
    assert sum(made for made, _ in store.invitations.counts("canteen").values()) == 7


def test_whoever_signs_out_twice_gets_the_page_to_sign_in(signed_in: Browsers, app: Flask) -> None:
    browser = signed_in("ada")
    form = hidden(browser.get("/account", **HTTPS).text, "/logout")
    told = [send(browser, "/logout", form) for _ in range(2)]
    assert [one.status_code for one in told] == [303, 401]
    assert SENT not in told[1].text
    assert post(signed_in("bob"), "/sign-out-everywhere").status_code == 303


def test_a_form_of_the_session_before_is_kept_and_can_be_sent_now(
    signed_in: Browsers, store: Store, app: Flask
) -> None:
    browser, path = signed_in("ada"), "/people"
    form = hidden(browser.get(path, **HTTPS).text, path) | {"name": "dora", "role": "analyst"}
    close = hidden(browser.get("/surveys/canteen", **HTTPS).text, "/surveys/canteen/archive")
    # The session ends, and somebody signs in again in another tab.
    store.access.end_sessions_of("ada")
    send(browser, "/login", {"name": "ada", "password": SECRET})
    told = send(browser, path, form)
    assert (told.status_code, "Send it now?" in told.text) == (403, True)
    assert "You are signed in as ada" in told.text
    assert links(store) == []
    again = hidden(told.text, path)
    assert again["csrf"] != form["csrf"]
    assert again | {"csrf": ""} == form | {"csrf": ""}
    assert [send(browser, path, again).status_code for _ in range(2)] == [200, 200]
    assert len(links(store)) == 1
    # The old page knows it, too. A button alone is asked about as well.
    assert send(browser, path, form).status_code == 200
    told = send(browser, "/surveys/canteen/archive", close)
    assert 'action="/surveys/canteen/archive"' in told.text
    assert "Send it now?" in told.text
    # Nothing is offered of what another site sends, to a program, or of secrets.
    for headers in (
        {"Accept": HTML},
        {"Accept": HTML, "Sec-Fetch-Site": "cross-site"},
        {"Accept": HTML, "Sec-Fetch-Site": "same-site"},
        {"Accept": "*/*", "Sec-Fetch-Site": "same-origin"},
    ):
        theirs = browser.post(path, data=form | {"name": "eve"}, headers=headers, **HTTPS)
        assert (theirs.status_code, "eve" in theirs.text) == (403, False)
    basics = {"Accept": HTML, "Sec-Fetch-Site": "same-origin", **basic("ada", SECRET)}
    told = app.test_client().post(path, data=form | {"name": "eve"}, headers=basics, **HTTPS)
    assert (told.status_code, "eve" in told.text) == (403, False)
    told = send(browser, "/account", form | {"old": "secret words", "password": "others"})
    assert (told.status_code, "secret words" in told.text) == (403, False)
    assert len(links(store)) == 1
