"""Links are made, downloaded, replaced and renewed once, however often a form is sent."""

import csv
import io
import re
from typing import Any

import pytest
from console_pages import Browsers, app, signed_in, survey_file
from flask import Flask
from forms import post
from test_access import HTTPS
from test_mistakes import HTML
from test_sent_forms import content, forgotten, hidden, send

from server.console.links import Links
from server.intake.invitations import ISSUER
from server.store import Store, StoreBusy

__all__ = ["app", "forgotten", "signed_in", "survey_file"]
pytestmark = pytest.mark.usefixtures("answered")


def links(answer: Any) -> list[str]:
    assert answer.content_type.startswith("text/csv")
    return [row["link"] for row in csv.DictReader(io.StringIO(answer.text))]


def invited(store: Store) -> int:
    return sum(n for n, _ in store.invitations.counts("canteen").values())


def test_links_are_made_once_and_downloaded_until_the_session_ends(
    signed_in: Browsers, store: Store
) -> None:
    browser, page = signed_in("cleo"), "/surveys/canteen"
    path = f"{page}/invitations"
    assert "No links were made yet" in browser.get(page, **HTTPS).text
    form = hidden(browser.get(page, **HTTPS).text, path) | {"links": "7"}
    form["address"] = "https://survey.example.org"
    made = send(browser, path, form)
    told = "You have made 7 links for wave 1."
    assert (told in made.text, "No links were made" in made.text) == (True, False)
    # After Back and after a reload, too, a second press makes no more, and says so.
    for _ in range(2):
        form |= hidden(browser.get(page, **HTTPS).text, path)
        again = send(browser, path, form | {"links": "8"})
        assert (told in again.text, "Nothing was made now" in again.text) == (True, True)
        assert invited(store) == 7
    panel = form | hidden(browser.get(page, **HTTPS).text, path, 0)
    given = links(send(browser, path, panel | {"do": "download"}))
    assert links(send(browser, path, panel | {"do": "download"})) == given
    keys = [ISSUER.key(link.partition("#")[2]) for link in given]
    assert (len(set(keys)), len({len(link) for link in given})) == (7, 1)
    assert all(store.invitations.is_usable("canteen", 1, key) for key in keys)
    # One that was taken back by itself is not given any more.
    post(browser, f"{path}/revoke", HTML, link=given[0])
    assert links(send(browser, path, panel | {"do": "download"})) == given[1:]
    # They are taken back, and as many new ones are made, once.
    for _ in range(2):
        assert send(browser, path, panel | {"do": "renew"}).status_code == 200
        assert invited(store) == 7
    assert not any(store.invitations.is_usable("canteen", 1, key) for key in keys)
    assert send(browser, path, panel | {"do": "download"}).status_code == 409
    panel = form | hidden(browser.get(page, **HTTPS).text, path, 0)
    newer = links(send(browser, path, panel | {"do": "download"}))
    assert (len(set(newer)), set(newer) & set(given)) == (7, set())
    # More are made by a button that says so, once.
    for _ in range(2):
        assert send(browser, path, form | {"links": "3", "press": "2"}).status_code == 200
        assert invited(store) == 10
    # Nothing of the links is stored but their hashes, and another session cannot have them.
    assert not any(link.partition("#")[2] in "".join(content(store)) for link in newer)
    other = signed_in("cleo")
    assert "You have made" not in other.get(page, **HTTPS).text
    panel |= hidden(other.get(page, **HTTPS).text, path) | {"press": "1"}
    assert send(other, path, panel | {"do": "download"}).status_code == 409


def test_links_are_renewed_once_while_the_first_press_is_at_work(
    signed_in: Browsers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, path = signed_in("ada"), "/surveys/canteen/invitations"
    form = {"address": "https://survey.example.org"}
    page = browser.get("/surveys/canteen", **HTTPS).text
    send(browser, path, form | hidden(page, path) | {"links": "5"})
    panel = form | hidden(browser.get("/surveys/canteen", **HTTPS).text, path, 0) | {"do": "renew"}
    take_back, pressed = Links.take_back, list[int]()

    def press_again(links: Links) -> None:
        if not pressed:
            pressed.append(0)
            pressed.append(send(browser, path, panel).status_code)
        take_back(links)

    monkeypatch.setattr(Links, "take_back", press_again)
    assert send(browser, path, panel).status_code == 200
    assert (pressed, invited(store)) == ([0, 200], 5)


def test_a_link_is_replaced_once_and_shown_to_a_second_press(
    signed_in: Browsers, store: Store, bearer: dict[str, str], app: Flask
) -> None:
    form = {"links": "1", "address": "https://survey.example.org"}
    path = "/surveys/canteen/invitations"
    (link,) = links(app.test_client().post(path, data=form, headers=bearer, **HTTPS))
    browser = signed_in("cleo")
    answers = [post(browser, f"{path}/replace", HTML, link=link) for _ in range(3)]
    shown = {link for answer in answers for link in re.findall("<code>(.*?)</code>", answer.text)}
    assert len(shown) == 1
    assert invited(store) == 1
    token = shown.pop().partition("#")[2]
    assert store.invitations.is_usable("canteen", 1, ISSUER.key(token))
    # The page is not loaded again by itself, which would send the form.
    assert "live.js" in browser.get("/surveys/canteen", **HTTPS).text
    assert not any(word in answers[0].text for word in ("live.js", "data-live"))
    # Another session gets no link for one that was replaced.
    assert "no such link" in post(signed_in("cleo"), f"{path}/replace", HTML, link=link).text


def test_programs_get_links_at_once(app: Flask, store: Store, bearer: dict[str, str]) -> None:
    client, form = app.test_client(), {"links": "2", "address": "https://survey.example.org"}
    path = "/surveys/canteen/invitations"
    given = [links(client.post(path, data=form, headers=bearer, **HTTPS)) for _ in range(2)]
    assert len({*given[0], *given[1]}) == invited(store) == 4


def test_links_that_could_not_be_made_are_made_by_the_next_press(
    signed_in: Browsers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, path = signed_in("cleo"), "/surveys/canteen/invitations"
    form = hidden(browser.get("/surveys/canteen", **HTTPS).text, path) | {"links": "7"}
    form["address"] = "https://survey.example.org"

    def fail(*_: object) -> None:
        raise StoreBusy("the database has been busy for too long")

    with monkeypatch.context() as failing:
        failing.setattr("server.store.invitations.Invitations.add", fail)
        assert send(browser, path, form).status_code == 503
    assert invited(store) == 0
    assert "You have made 7 links" in send(browser, path, form).text
    # Those of an earlier wave can be had as long as the session lasts.
    store.surveys.open_wave("canteen", 2)
    panel = form | hidden(browser.get("/surveys/canteen", **HTTPS).text, path, 0)
    assert panel["wave"] == "1"
    assert len(links(send(browser, path, panel | {"do": "download"}))) == 7
