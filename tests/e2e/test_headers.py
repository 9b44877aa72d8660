"""Check the headers of every answer of the server, and those that no answer has."""

import urllib.error
import urllib.request
from email.message import Message

import pytest
from collector import Collector
from limits import MOMENT
from playwright.sync_api import Browser

from server.headers import OF_PAGES

PATHS = [
    "/s/{}",
    "/s/no-such-survey",
    "/me",
    "/client/page/survey.js",
    "/client/style.css",
    "/static/research.css",
    "/api/surveys/{}",
    "/api/surveys/{}/estimates.json",
    "/results/{}",
    "/healthz",
    "/nothing/here",
]


def headers(collector: Collector, path: str, method: str = "GET") -> Message:
    """Return the headers of an answer, whatever its status."""
    data = b"{}" if method == "POST" else None
    request = urllib.request.Request(collector.url + path, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=MOMENT) as response:
            message: Message = response.headers
            return message
    except urllib.error.HTTPError as error:
        with error:
            return error.headers


@pytest.mark.parametrize("path", PATHS)
def test_every_document_has_the_policy_and_no_answer_sets_a_cookie(
    collector: Collector, survey: str, path: str
) -> None:
    for method in ("GET", "POST"):
        found = headers(collector, path.format(survey), method)
        assert found["Referrer-Policy"] == "no-referrer"
        assert found["X-Content-Type-Options"] == "nosniff"
        assert found["Set-Cookie"] is None
        # Only documents have these: for a module the headers would be longer than its text.
        is_page = found["Content-Type"].startswith("text/html")
        expected = OF_PAGES["Permissions-Policy"] if is_page else None
        assert found["Permissions-Policy"] == expected
        if found["Content-Type"].startswith(("text/javascript", "text/css")):
            assert found["Content-Security-Policy"] is None
            assert found["X-Frame-Options"] is None
            continue
        policy = found["Content-Security-Policy"]
        # Researchers sign in with a form and run no program; for respondents it is the reverse.
        research = method == "GET" and ("/results" in path or "estimates" in path)
        own = ("script-src 'none'", "form-action 'self'")
        own = own if research else ("script-src 'self'", "form-action 'none'")
        for rule in ("default-src 'none'", "frame-ancestors 'none'", *own):
            assert rule in policy
        assert "unsafe" not in policy


def test_pages_are_stored_nowhere(collector: Collector, survey: str) -> None:
    assert headers(collector, f"/s/{survey}")["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/s/{}", "/me", "/nothing/here"])
def test_browsers_understand_every_word_and_grant_nothing_that_is_denied(
    browser: Browser, collector: Collector, survey: str, path: str
) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(collector.url + path.format(survey))
    denied = {one.removesuffix("=()") for one in OF_PAGES["Permissions-Policy"].split(", ")}
    known = set(page.evaluate("document.featurePolicy.features()"))
    assert denied <= known
    assert denied & set(page.evaluate("document.featurePolicy.allowedFeatures()")) == set()
    assert [one for one in said if "404" not in one] == []
    page.close()


def test_pictures_of_people_are_drawn_on_every_page_of_questions(
    browser: Browser, collector: Collector, survey: str
) -> None:
    # Patterns in a part of the page that is not displayed paint nothing.
    page = browser.new_page()
    page.goto(collector.page(survey))
    page.evaluate(
        """() => {
          for (const section of document.querySelectorAll('section[data-page]')) {
            section.hidden = section.id === 'explanation';
          }
          document.querySelector('details.protection').open = true;
        }"""
    )
    picture = page.locator(".people svg").first
    drawn = picture.screenshot()
    page.evaluate("document.getElementById('did').remove()")
    assert picture.screenshot() != drawn
    page.close()
