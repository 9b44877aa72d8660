"""nginx and Caddy, run as `deniable deploy` configures them, before a real collector."""

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from collector import Collector
from device import Device, answer, expect_state
from limits import MOMENT
from playwright.sync_api import Browser
from proxies import CLIENT, HOST, PLACES, RESEARCH_HOST, Proxy, caddy, free_port, nginx
from test_other_sites import made_up

from analysis.survey.survey import LONGEST_REQUEST

pytestmark = pytest.mark.more

ANSWERS = {"smoked": "yes", "pet": "dog", "team": "office", "debts": "1234"}
#: The headers that the collector gets with each request besides: nginx's own.
OF_PROXY = {"host", "connection", "content-length"}


#: Starts a proxy in a folder, before a collector of this address.
Start = Callable[[Path, str], contextlib.AbstractContextManager[Proxy]]
STARTS: dict[str, Start] = {"nginx": nginx, "caddy": caddy}


@pytest.fixture(scope="module", params=[*STARTS])
def start(request: pytest.FixtureRequest) -> Start:
    """Return each proxy in turn."""
    return STARTS[request.param]


@pytest.fixture(scope="module")
def proxy(
    start: Start, collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:  # fmt: skip
    """Run the shipped proxy before the collector."""
    with start(tmp_path_factory.mktemp("proxy"), collector.url) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Device]:
    """Return a device that trusts the proxy's certificate."""
    device = Device(browser, ignore_https_errors=True)
    device.context.set_default_timeout(60_000)
    yield device
    device.context.close()


class Upstream:
    """Stands in for the collector, and notes the bytes that come."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def receive(self, seconds: float) -> bytes:
        """Return the bytes of the next request, which is answered, or b"" if none comes."""
        self.listener.settimeout(seconds)
        try:
            connection, _ = self.listener.accept()
        except TimeoutError:
            return b""
        with connection:
            connection.settimeout(1)
            received = b""
            with contextlib.suppress(TimeoutError):
                while part := connection.recv(65536):
                    received += part
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        return received


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    made = Upstream()
    yield made
    made.listener.close()


def test_a_survey_is_answered_through_it_over_http_2(
    proxy: Proxy, visitor: Device, collector: Collector, survey: str
) -> None:
    page = visitor.visit(f"{proxy.url}/s/{survey}")
    protocols = page.evaluate(
        """() => [...performance.getEntriesByType('navigation'),
                  ...performance.getEntriesByType('resource')].map((one) => one.nextHopProtocol)"""
    )
    assert set(protocols) == {"h2"}
    answer(page, ANSWERS)
    assert collector.stored(survey) == 1


def test_pages_and_modules_are_compressed_on_the_wire(
    proxy: Proxy, visitor: Device, collector: Collector, survey: str
) -> None:
    page = visitor.context.new_page()
    devtools, sizes = visitor.context.new_cdp_session(page), list[int]()
    devtools.on("Network.loadingFinished", lambda one: sizes.append(one["encodedDataLength"]))
    devtools.send("Network.enable")
    page.goto(f"{proxy.url}/s/{survey}")
    expect_state(page, "ready")
    whole = 0
    for path in {one.url.removeprefix(proxy.url) for one in visitor.requests}:
        response, body = proxy.request("GET", path)
        assert response.status == 200
        assert response.getheader("Content-Encoding") is None
        whole += len(body)
    assert sum(sizes) < 0.6 * whole, (sum(sizes), whole)


@pytest.mark.parametrize(
    ("accepted", "passed"),
    [
        ("gzip, deflate, br, zstd", "gzip"),
        ("GZIP;q=0.5", "gzip"),
        ("br", None),
        ("gzip;q=0", None),
        ("gzip; q=0.000, br", None),
        ("x-gzipped", None),
        ("", None),
    ],
)
def test_of_encodings_only_gzip_is_passed_on(
    start: Start, tmp_path: Path, upstream: Upstream, accepted: str, passed: str | None
) -> None:
    with start(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        client.sendall(
            f"GET / HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: {accepted}\r\n\r\n".encode()
        )
        found = headers_of(upstream.receive(30)).get("accept-encoding")
        assert (found if found == "gzip" else None) == passed


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")[1:]
    return dict(line.split(": ", 1) for line in lines)


def test_the_collector_gets_nothing_else_of_respondents(
    start: Start, tmp_path: Path, upstream: Upstream
) -> None:
    needed = {
        "Accept-Encoding": "br, gzip;q=0.9",
        "Content-Type": "application/json",
        "If-None-Match": '"etag"',
        "Sec-Fetch-Site": "same-origin",
    }
    marked = (
        *(
            "User-Agent",
            "Referer",
            "Origin",
            "Cookie",
            "From",
            "Via",
            "X-Forwarded-For",
            "Forwarded",
        ),
        *("X-Real-IP", "Accept", "Accept-Language", "DNT", "Sec-CH-UA", "Sec-Fetch-Mode", "X-Mark"),
    )
    with start(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        lines = [f"{name}: {value}" for name, value in needed.items()]
        lines += [f"{name}: canary" for name in marked]
        lines += [f"Host: {HOST}", "Content-Length: 2"]
        head = "POST /api/surveys/x/reports?canary=canary HTTP/1.1"
        client.sendall("\r\n".join([head, *lines, "", "{}"]).encode())
        received = upstream.receive(30)
    assert received.startswith(b"POST /api/surveys/x/reports HTTP/1.1\r\n")
    assert received.endswith(b"\r\n\r\n{}")
    assert b"canary" not in received
    assert CLIENT.encode() not in received
    found = headers_of(received)
    assert set(found) - OF_PROXY == {name.lower() for name in needed}
    assert found["host"] in (HOST, upstream.url.removeprefix("http://"))
    assert found["accept-encoding"] == "gzip"


def test_the_page_to_explore_gets_the_query_of_its_address_and_no_other_page(
    proxy: Proxy, start: Start, tmp_path: Path, upstream: Upstream
) -> None:
    for path in ("/explore", "/explore/meaning"):
        _, body = proxy.request("GET", f"{path}?meaning-epsilon=3&meaning-belief=20")
        assert b"At \xce\xb5 = 3, a report" in body.replace(b"\xc2\xa0", b" ")
    with start(tmp_path, upstream.url) as running:
        for path, expected in {
            "/explore/meaning?a=b": "/explore/meaning?a=b",
            "/public/some?wave=2": "/public/some?wave=2",
            "/s/some?utm_source=x": "/s/some",
            "/explored?a=b": "/explored",
            "/me?a=b": "/me",
        }.items():
            with running.connect() as client:
                client.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
                line = upstream.receive(MOMENT).split(b"\r\n")[0].decode()
            assert line.split()[1].rstrip("?") == expected


def test_pages_that_a_browser_has_are_not_sent_again(proxy: Proxy, collector: Collector) -> None:
    fetch = partial(proxy.request, "GET", "/client/page/survey.js", Accept_Encoding="gzip, br")
    first, body = fetch()
    assert first.getheader("Content-Encoding") == "gzip"
    assert body
    tag = first.getheader("ETag") or ""
    again, body = fetch(If_None_Match=tag)
    assert (again.status, body) == (304, b"")
    other, body = fetch(If_None_Match='"other"')
    assert other.status == 200


def test_a_body_may_be_as_long_as_the_collector_takes_and_no_longer(
    proxy: Proxy, collector: Collector, survey: str
) -> None:
    path, kind = f"/api/surveys/{survey}/reports", {"Content_Type": "application/json"}
    body = made_up(collector, survey).encode()
    body += b" " * (LONGEST_REQUEST - len(body))
    assert proxy.request("POST", path, body + b" ", **kind)[0].status == 413
    assert collector.stored(survey) == 0
    assert proxy.request("POST", path, body, **kind)[0].status == 201
    assert collector.stored(survey) == 1


def test_other_sites_are_refused_through_it(
    proxy: Proxy, collector: Collector, survey: str
) -> None:
    path, body = f"/api/surveys/{survey}/reports", made_up(collector, survey).encode()
    for headers, status, word in (
        ({"Content_Type": "text/plain"}, 415, "media-type"),
        ({"Content_Type": "application/json", "Sec_Fetch_Site": "cross-site"}, 403, "cross-site"),
        ({"Content_Type": "application/json", "Sec_Fetch_Site": "same-site"}, 403, "cross-site"),
    ):
        response, text = proxy.request("POST", path, body, **headers)
        assert response.status == status
        assert json.loads(text)["type"] == f"urn:deniable:problem:{word}"
    assert collector.stored(survey) == 0


def places(folder: Path) -> dict[str, int]:
    """Return when each folder in which nginx would keep files was changed; Caddy has none."""
    return {name: (folder / name).stat().st_mtime_ns for name in PLACES if (folder / name).exists()}


def test_a_slow_body_does_not_reach_the_collector(
    start: Start, tmp_path: Path, upstream: Upstream
) -> None:
    head = f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {LONGEST_REQUEST}\r\n\r\n".encode()
    with start(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        before = places(tmp_path)
        client.sendall(head + b" " * (LONGEST_REQUEST - 1))
        assert upstream.receive(2) == b""
        client.sendall(b" ")
        assert len(upstream.receive(30)) > LONGEST_REQUEST
        # A file that was made and deleted would have changed its folder.
        assert places(tmp_path) == before


def test_no_file_of_the_machine_has_a_respondents_address(
    proxy: Proxy, collector: Collector, survey: str
) -> None:
    body = made_up(collector, survey).encode()
    before = places(proxy.folder)
    path, kind = f"/api/surveys/{survey}/reports", {"Content_Type": "application/json"}
    for sent in (body, body, b"{", b" " * LONGEST_REQUEST, b" " * (LONGEST_REQUEST + 1)):
        proxy.request("POST", path, sent, **kind)
    proxy.request("GET", "/nothing/here")
    with proxy.connect() as client:
        client.sendall(b"no HTTP at all\r\n\r\n")
        client.recv(65536)
    with socket.create_connection(("127.0.0.1", proxy.port), 30, (CLIENT, 0)) as client:
        client.sendall(b"no TLS at all\r\n\r\n" * 100)
        with contextlib.suppress(ConnectionError):
            client.recv(65536)
    with (
        socket.create_connection(("127.0.0.1", proxy.port), 30, (CLIENT, 0)) as client,
        pytest.raises(ssl.SSLError),
    ):
        # No authority has signed the certificate.
        ssl.create_default_context().wrap_socket(client, server_hostname=HOST)
    for folder in (proxy.folder, collector.database.parent):
        for file in folder.rglob("*"):
            if file.is_file():
                assert CLIENT.encode() not in file.read_bytes(), file
    assert places(proxy.folder) == before


def plainly(proxy: Proxy, path: str, host: str) -> tuple[int, str, bytes]:
    """Return the answer without TLS: the status, where it leads, and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.plain_port, timeout=MOMENT)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        return response.status, response.getheader("Location", ""), response.read()


def test_http_leads_to_https_and_h2_is_spoken(proxy: Proxy) -> None:
    with proxy.connect("h2", "http/1.1") as client:
        assert client.selected_alpn_protocol() == "h2"
    for host in (HOST, RESEARCH_HOST):
        assert plainly(proxy, "/s/x", host)[:2] == (308, f"https://{host}/s/x")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_no_session_can_be_taken_up_again(proxy: Proxy, version: ssl.TLSVersion) -> None:
    with proxy.connect(version=version) as client:
        client.sendall(f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        session = client.session
        assert session is None or not (session.has_ticket or len(session.id))


def test_other_names_get_no_answer(proxy: Proxy) -> None:
    with pytest.raises(ssl.SSLError, match=r"ALERT|UNRECOGNIZED"):
        proxy.connect(host="other.localhost")
    with proxy.connect() as client, contextlib.suppress(ConnectionError, ssl.SSLError):
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: other.localhost\r\n\r\n")
        assert client.recv(65536) == b""
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        plainly(proxy, "/s/x", "other.localhost")


def test_old_protocols_are_refused(proxy: Proxy) -> None:
    with pytest.raises(ssl.SSLError), pytest.warns(DeprecationWarning, match="TLSv1_1"):
        proxy.connect(version=ssl.TLSVersion.TLSv1_1)


def test_bytes_and_headers_arrive_as_the_collector_sends_them(
    proxy: Proxy, collector: Collector, survey: str
) -> None:
    packed = 0
    for path in (f"/s/{survey}", "/me", "/client/page/survey.js", f"/api/surveys/{survey}"):
        through, body = proxy.request("GET", path, Accept_Encoding="gzip")
        there = http.client.HTTPConnection(collector.url.removeprefix("http://"))
        with contextlib.closing(there):
            there.request("GET", path, headers={"Accept-Encoding": "gzip"})
            direct = there.getresponse()
            assert body == direct.read()
        own = {"server", "date", "connection", "transfer-encoding", "content-length"}
        sent, arrived = (
            sorted(
                (name.lower(), value) for name, value in one.getheaders() if name.lower() not in own
            )
            for one in (direct, through)
        )
        assert arrived == sent
        packed += through.getheader("Content-Encoding") == "gzip"
    assert packed >= 3  # short answers are not


def test_visitors_get_a_page_while_the_collector_is_away(start: Start, tmp_path: Path) -> None:
    with start(tmp_path, f"http://127.0.0.1:{free_port()}") as proxy:
        response, body = proxy.request("GET", "/s/x")
        text = body.decode()
    assert response.status == 502
    assert (response.getheader("Content-Type") or "").startswith("text/html")
    assert "default-src 'none'" in (response.getheader("Content-Security-Policy") or "")
    assert response.getheader("X-Robots-Tag") == "noindex"
    for tag in ("en", "de", "fr", "es", "ar"):
        assert f'<p lang="{tag}"' in text
    assert "//" not in text


def test_researchers_have_a_name_of_their_own(
    start: Start, tmp_path: Path, upstream: Upstream
) -> None:
    with start(tmp_path, upstream.url) as proxy, proxy.connect(host=RESEARCH_HOST) as client:
        head = f"GET /results?wave=2 HTTP/1.1\r\nHost: {RESEARCH_HOST}\r\nCookie: a=b\r\n\r\n"
        client.sendall(head.encode())
        received = upstream.receive(30)
    assert received.startswith(b"GET /results?wave=2 HTTP/1.1\r\n")
    found = headers_of(received)
    assert (found["host"], found["cookie"]) == (RESEARCH_HOST, "a=b")
    assert CLIENT.encode() not in received


def test_an_authority_finds_the_file_of_its_client(tmp_path: Path, upstream: Upstream) -> None:
    folder = tmp_path / "acme/.well-known/acme-challenge"
    folder.mkdir(parents=True)
    (folder / "token").write_text("proof")
    for parent in (tmp_path, *folder.relative_to(tmp_path).parents):
        (tmp_path / parent).chmod(0o755)
    with nginx(tmp_path, upstream.url) as proxy:
        status, _, body = plainly(proxy, "/.well-known/acme-challenge/token", HOST)
    assert (status, body) == (200, b"proof")


def test_caddy_of_the_compose_file_serves_as_well(
    tmp_path: Path, collector: Collector, survey: str
) -> None:
    with caddy(tmp_path, collector.url, in_compose=True) as proxy:
        response, _ = proxy.request("GET", f"/s/{survey}")
    assert response.status == 200
