"""An audit from outside finds every change to a page, by the server or by anybody before it."""

import gzip
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run
from limits import MOMENT
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Response

from analysis.survey.survey import version_of
from analysis.survey.survey_file import read_survey
from server.app import create_app
from server.audit import strict_http
from server.store import Store

#: What somebody before the server does to an answer at a path.
Attack = Callable[[str, Response], None]


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing, as the real server does."""


class Attacked:
    """A server, and somebody before it."""

    def __init__(self, app: Any) -> None:
        self._app, self.url = app, ""
        self.attack: Attack = lambda path, response: None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        takes_gzip = "gzip" in environ.pop("HTTP_ACCEPT_ENCODING", "")
        response = Response.from_app(self._app, environ)
        self.attack(environ["PATH_INFO"], response)
        if takes_gzip and "Vary" in response.headers:
            response.set_data(gzip.compress(response.get_data(), compresslevel=1))
            response.headers["Content-Encoding"] = "gzip"
        return response(environ, start_response)


@pytest.fixture
def attacked(store: Store, database: Path) -> Iterator[Attacked]:
    app = create_app({"DATABASE": database})
    connections = app.extensions["store"]
    connections.close()
    app.teardown_request(lambda _: connections.close())
    attacked = Attacked(app)
    server = make_server("127.0.0.1", 0, attacked, threaded=True, request_handler=_Quiet)
    attacked.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield attacked
    server.shutdown()
    thread.join(MOMENT)
    server.server_close()


@pytest.fixture(autouse=True)
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Move away from any database: an auditor has only this program and an address."""
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")


def audit(*words: object) -> Result:
    return run("audit", *words)


def hashes(told: Result, part: str) -> list[str]:
    return re.findall(rf'^{part},/s/canteen,"?([^,"]+)"?,', told.stdout, re.M)


def changed(path: str, old: str, new: str) -> Attack:
    """Return a function that replaces something in an answer."""

    def attack(at: str, response: Response) -> None:
        if at == path:
            text = response.get_data(as_text=True)
            assert old in text
            response.set_data(text.replace(old, new, 1))

    return attack


def header(path: str, name: str, value: str) -> Attack:
    """Return a function that adds a header to an answer."""

    def attack(at: str, response: Response) -> None:
        if at == path:
            response.headers.add(name, value)

    return attack


def loosened(path: str, response: Response) -> None:
    name = "Content-Security-Policy"
    if path == "/s/canteen":
        strict = response.headers[name]
        response.headers[name] = strict.replace("connect-src 'self'", "connect-src *")


def swapped(text: str) -> str:
    return text.replace("Soup", "?").replace("Stew", "Soup").replace("?", "Stew")


def swapped_in_page(path: str, response: Response) -> None:
    """Swap the labels that people see; the data that the program reads stays."""
    if path == "/s/canteen":
        seen, start, rest = response.get_data(as_text=True).partition('<script type="application')
        response.set_data(swapped(seen) + start + rest)


def swapped_everywhere(path: str, response: Response) -> None:
    if "/canteen" in path:
        response.set_data(swapped(response.get_data(as_text=True)))


def other_map(path: str, response: Response) -> None:
    if path == "/s/canteen":
        pinned = r'("/client/random\.js":"sha256-)[^"]{4}'
        response.set_data(re.sub(pinned, r"\1AAAA", response.get_data(as_text=True), count=1))


def redirected(path: str, response: Response) -> None:
    if path == "/me":
        response.status_code = 302
        response.headers["Location"] = "https://example.org/me"


def other_type(path: str, response: Response) -> None:
    if path == RANDOM:
        response.headers["Content-Type"] = "text/html"


PAGE, RANDOM = "/s/canteen", "/client/random.js"
#: Each attack with what the audit says about it.
ATTACKS: dict[str, tuple[Attack, str]] = {
    "a script": (
        changed(PAGE, "</body>", '<script src="/client/random.js"></script></body>'),
        "served page, /s/canteen: compressed: differs at character",
    ),
    "labels swapped in the page": (swapped_in_page, "served page, /s/canteen: compressed: differs"),
    "a style attribute": (changed(PAGE, "<h1 ", '<h1 style="opacity:0" '), 'style="opacity:0"'),
    "the style": (changed("/client/style.css", "{", " {"), "served module, style.css: compressed"),
    "the policy": (loosened, "/s/canteen: compressed: content-security-policy differs at"),
    "a second policy": (
        header(PAGE, "Content-Security-Policy", "default-src *"),
        "content-security-policy comes 2 times",
    ),
    "a preload": (
        header(PAGE, "Link", "</x>; rel=preload; as=script"),
        "served headers, /s/canteen: compressed: link is unexpected: '</x>; rel=preload",
    ),
    "a cookie": (header("/me", "Set-Cookie", "a=b"), "/me: compressed: set-cookie is unexpected"),
    "a cookie of a module": (
        header(RANDOM, "Set-Cookie", "a=b"),
        "served headers, random.js: compressed: set-cookie",
    ),
    "a tag that knows a device": (header(PAGE, "ETag", '"device-1"'), "etag is unexpected"),
    "a header of tomorrow": (header(PAGE, "X-Tomorrow", "1"), "x-tomorrow is unexpected: '1'"),
    "one byte of a module": (changed(RANDOM, "const", "consT"), "served module, random.js"),
    "another import map": (other_map, "served page, /s/canteen: compressed: differs at"),
    "a redirect": (redirected, "status 302, expected 200; redirects are not followed"),
    "another media type": (other_type, "random.js: compressed: content-type differs at"),
}


def test_an_honest_server_passes_and_server_and_auditor_print_the_same_hash(
    attacked: Attacked, database: Path
) -> None:
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 0, told.stderr
    (page,), (served,) = hashes(told, "page"), hashes(told, "page as served")
    assert page == served
    assert re.fullmatch(r"sha256-[\w+/]{43}=", page)
    assert "a report has ε = 1 (stated: 1)" in told.stdout
    own = audit("--db", database, "--survey", "canteen")
    assert own.exit_code == 0
    assert hashes(own, "page") == [page]
    # The page's own address names the survey; the part after "#" does not matter.
    named = audit("--url", f"{attacked.url}/s/canteen#secret-invitation")
    assert hashes(named, "page as served") == [page]
    assert "secret" not in named.output


@pytest.mark.parametrize("name", ATTACKS)
def test_every_change_to_a_page_is_found(attacked: Attacked, name: str) -> None:
    attacked.attack, said = ATTACKS[name]
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 1
    assert isinstance(told.exception, SystemExit)
    assert said in told.stderr
    (page,), (served,) = hashes(told, "page"), hashes(told, "page as served")
    assert page != served


def test_changes_in_only_one_form_of_an_answer_are_found(attacked: Attacked) -> None:
    forms = count()

    def every_second(path: str, response: Response) -> None:
        if path == RANDOM and next(forms):
            response.set_data(response.get_data() + b" ")

    attacked.attack = every_second
    told = audit("--url", attacked.url)
    assert told.exit_code == 1
    assert "served module, random.js: plain: differs at character" in told.stderr
    assert "compressed" not in told.stderr


def test_labels_swapped_in_page_and_api_are_no_longer_the_version(attacked: Attacked) -> None:
    attacked.attack = swapped_everywhere
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 1
    assert "served survey, canteen: its page cannot be made: ValueError: " in told.stderr
    assert "the stored form does not have version" in told.stderr


def test_another_survey_under_the_same_id_has_another_hash(
    attacked: Attacked, store: Store, survey_file: Path
) -> None:
    before = hashes(audit("--url", attacked.url, "--survey", "canteen"), "page as served")
    survey_file.write_text(swapped(survey_file.read_text()))
    store.surveys.publish(read_survey(survey_file))
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 0
    assert hashes(told, "page as served") != before


def _more_than_stated(data: dict[str, Any]) -> None:
    data["survey"]["questions"][0]["epsilon"] = 0.5


def _no_survey(data: dict[str, Any]) -> None:
    data["survey"] = []


def _no_questions(data: dict[str, Any]) -> None:
    del data["survey"]["questions"]


def _other_id(data: dict[str, Any]) -> None:
    data["survey"]["id"] = "other"


def _no_wave(data: dict[str, Any]) -> None:
    data["wave"] = True


def _more(data: dict[str, Any]) -> None:
    data["also"] = 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_more_than_stated, "served survey, canteen: its page cannot be made: ValueError"),
        (_no_survey, "served survey, canteen: its page cannot be made: "),
        (_no_questions, "served survey, canteen: its page cannot be made: KeyError"),
        (_other_id, "expected the survey canteen, got 'other'"),
        (_no_wave, "expected a wave from 1, open or closed, got True, 'open'"),
        (_more, "served page, /api/surveys/canteen: compressed: differs at character"),
    ],
)
def test_nothing_from_the_api_is_believed(
    attacked: Attacked, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    def attack(path: str, response: Response) -> None:
        if path == "/api/surveys/canteen":
            data = json.loads(response.get_data())
            change(data)
            if "randomizers" in data and isinstance(data["survey"], dict):
                data["version"] = version_of({key: data[key] for key in ("survey", "randomizers")})
            response.set_data(json.dumps(data))

    attacked.attack = attack
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 1
    assert isinstance(told.exception, SystemExit)
    assert said in told.stderr


def test_a_closed_survey_is_compared_too(attacked: Attacked, store: Store) -> None:
    store.surveys.close_waves("canteen")
    assert audit("--url", attacked.url, "--survey", "canteen").exit_code == 0
    attacked.attack = changed(PAGE, "</main>", "<a href=/x>Go on here</a></main>")
    told = audit("--url", attacked.url, "--survey", "canteen")
    assert told.exit_code == 1
    assert "Go on here" in told.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:1", "expected a collector, got no answer"),
        ("127.0.0.1", "--url: expected https://HOST or https://HOST/s/ID"),
        ("https://a/s/b?c", "--url: expected https://HOST or https://HOST/s/ID"),
        ("https://a/b", "--url: expected https://HOST or https://HOST/s/ID"),
        ("https://u:secret@a/", "--url: expected https://HOST or https://HOST/s/ID"),
        ("https://a:secret", "--url: expected https://HOST or https://HOST/s/ID"),
        ("https://a/s/%2e%2e", "--survey: expected the id of a survey, got '%2e%2e'"),
    ],
)
def test_other_addresses_than_a_collectors_give_one_line(url: str, said: str) -> None:
    told = audit("--url", url)
    assert told.exit_code == 1
    assert isinstance(told.exception, SystemExit)
    assert said in told.stderr
    assert "secret" not in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_a_missing_survey_is_named(attacked: Attacked, database: Path) -> None:
    told = audit("--url", attacked.url, "--survey", "none")
    assert told.exit_code == 1
    assert "served survey, none: its page cannot be made: ValueError: status 404" in told.stderr
    told = audit("--db", database, "--survey", "none")
    assert told.exit_code == 1
    assert "no survey none" in told.stderr


ANY = b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/css\r\n"


def packed(content: bytes, comment: bytes) -> bytes:
    """Return an answer in gzip whose comment is a page to a browser that does not unpack it."""
    body = gzip.compress(content)
    body = body[:3] + b"\x10" + body[4:10] + comment + b"\0" + body[10:]
    return ANY + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize(
    ("answer", "oddity"),
    [
        (PLAIN + b"\r\nhi", None),
        # Python takes the text after a lone CR for a header, browsers do not.
        (PLAIN + b"Server: a\rX-Frame-Options: DENY\r\n\r\nhi", "not a plain header"),
        # Python ends the headers at a line without a colon, browsers skip it.
        (PLAIN + b"nonsense\r\nSet-Cookie: a=b\r\n\r\nhi", "not a plain header: b'nonsense"),
        (PLAIN + b"Date: a\r\n b\r\n\r\nhi", "not a plain header: b' b"),
        (PLAIN + b"Set-Cookie : a=b\r\n\r\nhi", "not a plain header: b'Set-Cookie :"),
        (b"HTTP/1.1 100 Go on\r\nLink: </x>\r\n\r\n" + PLAIN + b"\r\nhi", "first line is not"),
        (PLAIN + b"Content-Encoding: br\r\n\r\nhi", "its encodings are ['br']"),
        # Browsers that do not know the first coding show the bytes as they are.
        (
            PLAIN + b"Content-Encoding: x\r\nContent-Encoding: gzip\r\n\r\nhi",
            "its encodings are ['x', 'gzip']",
        ),
        # Python takes these for lengths; browsers read to the end, where another page may be.
        (ANY + b"Content-Length: 0_2\r\n\r\nhi<script>", "its lengths are ['0_2']"),
        (ANY + b"Content-Length: +2\r\n\r\nhi<script>", "its lengths are ['+2']"),
        (PLAIN + b"Content-Length: 2\r\n\r\nhi", "its lengths are ['2', '2']"),
        (ANY + b"\r\nhi", "its lengths are []"),
        (ANY + b"Transfer-Encoding: x, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "transfer encodings"),
        (PLAIN + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "transfer encodings"),
        (ANY + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n", "plain sizes"),
        (ANY + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n", "plain sizes"),
        (packed(b"hi", comment=b"<script>"), "not one gzip stream: it has a name, a comment"),
        (PLAIN + b"Content-Encoding: gzip\r\n\r\nhi", "not one gzip stream"),
    ],
)
def test_lines_that_browsers_and_auditors_could_read_differently_are_found(
    answer: bytes, oddity: str | None
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        site = strict_http.Site(f"http://127.0.0.1:{listener.getsockname()[1]}")
        got = site.fetch("/me", "plain")
        thread.join(MOMENT)
    if oddity is None:
        headers = ("content-length", "2"), ("content-type", "text/css")
        assert got == strict_http.Answer(200, headers, b"hi", ())
    else:
        assert any(oddity in found for found in got.oddities)


def test_an_answer_that_unpacks_to_too_much_is_not_unpacked() -> None:
    packed = gzip.compress(bytes(2**25))
    with pytest.raises(ValueError, match="too long"):
        strict_http._unpacked(packed)
