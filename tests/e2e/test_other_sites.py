"""Other websites cannot have their visitors' browsers send reports."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from collector import Collector
from device import SURVEY
from limits import MOMENT
from page_errors import CORS, POLICY
from playwright.sync_api import Browser

from analysis.survey.freeze import thaw
from analysis.survey.simulate import payloads

pytestmark = pytest.mark.more

#: Attempts of a page of another origin: each takes the address and a valid body, and is over when
#: its promise is.
ATTACKS = {
    "a request without CORS": """([url, body]) =>
        fetch(url, { method: 'POST', mode: 'no-cors', body })""",
    "a request without CORS that claims to be JSON": """([url, body]) =>
        fetch(url, { method: 'POST', mode: 'no-cors', body,
                     headers: { 'Content-Type': 'application/json' } })""",
    "a request without CORS of a blob of JSON": """([url, body]) =>
        fetch(url, { method: 'POST', mode: 'no-cors',
                     body: new Blob([body], { type: 'application/json' }) })""",
    "a request with CORS": """([url, body]) =>
        fetch(url, { method: 'POST', body,
                     headers: { 'Content-Type': 'application/json' } })""",
    "a simple request with CORS": """([url, body]) =>
        fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'text/plain' } })""",
    "a request that is redirected here": """([url, body]) =>
        fetch('/bounce?' + encodeURIComponent(url), { method: 'POST', body,
              headers: { 'Content-Type': 'application/json' } })""",
    "a beacon": """([url, body]) => {
        navigator.sendBeacon(url, new Blob([body], { type: 'text/plain' }));
        return new Promise((done) => setTimeout(done, 500));
    }""",
    "a beacon of JSON": """([url, body]) => {
        navigator.sendBeacon(url, new Blob([body], { type: 'application/json' }));
        return new Promise((done) => setTimeout(done, 500));
    }""",
    "a form": """([url, body]) => new Promise((done) => {
        const frame = document.createElement('iframe');
        frame.name = 'frame';
        const form = document.createElement('form');
        Object.assign(form, { method: 'POST', action: url, enctype: 'text/plain',
                              target: 'frame' });
        const field = document.createElement('input');
        field.name = body.slice(0, -1) + ',"token":"';
        field.value = '"}';
        form.append(field);
        document.body.append(frame, form);
        frame.onload = done;
        setTimeout(done, 2000);
        form.submit();
    })""",
}


class _OtherSite(http.server.BaseHTTPRequestHandler):
    """Serves an empty page, and redirects requests to the address after their question mark."""

    def do_GET(self) -> None:
        page = b"<!doctype html><title>Another site</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", unquote(self.path.split("?")[1]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Run another website; return its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _OtherSite)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join(MOMENT)
    server.server_close()


def made_up(collector: Collector, survey: str) -> str:
    """Return the body of a submission that the collector would store from its own page."""
    frozen = collector.frozen(survey)
    published = thaw({key: frozen[key] for key in ("survey", "randomizers")}, frozen["version"])
    answers = {question.id: "" for question in published.questions} | {"team": "lab"}
    (payload,) = payloads(published, [answers], 1, 1)
    return json.dumps(payload)


@pytest.mark.provokes(CORS, POLICY)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_another_website_stores_nothing_through_its_visitors(
    browser: Browser, collector: Collector, port: int, attack: str, host: str
) -> None:
    survey = collector.publish(SURVEY)
    body = made_up(collector, survey)
    path = f"/api/surveys/{survey}/reports"
    page = browser.new_page()
    # With "localhost" the page is of another site; with the collector's address, of another origin.
    page.goto(f"http://{host}:{port}/")
    page.evaluate(
        f"(given) => Promise.resolve(({attack})(given)).catch(() => {{}})",
        [collector.url + path, body],
    )
    page.close()
    assert collector.stored(survey) == 0
    # The same bytes are stored if the collector's own page sends them.
    page = browser.new_page()
    page.goto(collector.page(survey))
    assert (
        page.evaluate(
            """async ([path, body]) => (await fetch(path, { method: 'POST', body,
             headers: { 'Content-Type': 'application/json' } })).status""",
            [path, body],
        )
        == 201
    )
    page.close()
    assert collector.stored(survey) == 1
