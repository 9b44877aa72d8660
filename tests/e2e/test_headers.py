"""What every answer of the server carries, and what none does."""

import urllib.error
import urllib.request
from email.message import Message

import pytest
from collector import Collector

PATHS = [
    "/s/{}",
    "/s/no-such-survey",
    "/client/form.js",
    "/client/style.css",
    "/api/surveys/{}",
    "/api/surveys/{}/estimates.json",
    "/results/{}",
    "/healthz",
    "/nothing/here",
]


def headers(collector: Collector, path: str, method: str = "GET") -> Message:
    """The headers of an answer, whatever its status."""
    data = b"{}" if method == "POST" else None
    request = urllib.request.Request(collector.url + path, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.headers


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_policy_and_sets_no_cookie(
    collector: Collector, survey: str, path: str
) -> None:
    for method in ("GET", "POST"):
        found = headers(collector, path.format(survey), method)
        policy = found["Content-Security-Policy"]
        # Researchers sign in with a form, and run no program; respondents the other way round.
        research = method == "GET" and ("/results" in path or "estimates" in path)
        own = ("script-src 'none'", "form-action 'self'")
        own = own if research else ("script-src 'self'", "form-action 'none'")
        for rule in ("default-src 'none'", "frame-ancestors 'none'", *own):
            assert rule in policy
        assert "unsafe" not in policy
        assert found["Referrer-Policy"] == "no-referrer"
        assert found["X-Content-Type-Options"] == "nosniff"
        assert found["Set-Cookie"] is None


def test_pages_are_stored_nowhere(collector: Collector, survey: str) -> None:
    assert headers(collector, f"/s/{survey}")["Cache-Control"] == "no-store"
