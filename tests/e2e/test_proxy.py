"""The nginx of `docs/deploy`, run as it is shipped, before a real collector."""

import contextlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from collector import Collector
from device import Device, answer, expect_state
from limits import MOMENT
from playwright.sync_api import Browser
from programs import find
from test_other_sites import made_up

from analysis.survey.survey import LONGEST_REQUEST

pytestmark = pytest.mark.more

CONFIGURATION = Path(__file__).parent.parent.parent / "docs/deploy/nginx.conf"
#: An address of this machine that nothing else uses, by which a client can be found in files.
CLIENT = "127.77.66.55"
#: Where nginx would keep what does not fit into memory.
PLACES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
ANSWERS = {"smoked": "yes", "pet": "dog", "team": "office", "debts": "1234"}
#: What the collector gets with each request besides: nginx's own.
OF_PROXY = {"host", "connection", "content-length"}


@dataclass
class Proxy:
    """A running nginx: its address, and the folder that has all its files."""

    port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def connect(self, *protocols: str) -> ssl.SSLSocket:
        """A connection with TLS from the address `CLIENT`."""
        context = ssl.create_default_context(cafile=str(self.folder / "certificate.pem"))
        context.set_alpn_protocols(protocols or ("http/1.1",))
        plain = socket.create_connection(("127.0.0.1", self.port), 30, (CLIENT, 0))
        return context.wrap_socket(plain, server_hostname="127.0.0.1")

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """An answer, and its body."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port)
        connection.sock = self.connect()
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            return response, response.read()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def nginx(folder: Path, upstream: str) -> Iterator[Proxy]:
    """The shipped configuration with other ports, names and places, and nothing else changed."""
    program = find("nginx")
    if program is None:
        pytest.fail("no nginx; python tests/programs.py nginx installs one")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=survey.example.org"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    port = free_port()
    text = CONFIGURATION.read_text()
    own_user = "" if os.geteuid() else "user root;"
    places = "".join(f"    {name}_temp_path {folder / name};\n" for name in PLACES)
    for old, new in (
        ("user www-data;", own_user),
        ("/run/nginx.pid", str(folder / "nginx.pid")),
        ("    access_log off;\n", f"    access_log off;\n{places}"),
        ("/etc/ssl/deniable/fullchain.pem", str(certificate)),
        ("/etc/ssl/deniable/privkey.pem", str(key)),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("        listen [::]:80;\n", ""),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("        listen [::]:443 ssl http2;\n", ""),
        ("server_name survey.example.org;", "server_name 127.0.0.1;"),
        ("http://127.0.0.1:8000;", f"{upstream};"),
    ):
        assert old in text, f"the configuration no longer has {old!r}: change the test with it"
        text = text.replace(old, new)
    file = folder / "nginx.conf"
    file.write_text(text)
    command = [program, "-p", str(folder), "-e", str(folder / "start.log"), "-c", str(file)]
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"])
    try:
        wait_for(port, process)
        yield Proxy(port, folder)
    finally:
        process.terminate()
        process.wait(MOMENT)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    while True:
        assert process.poll() is None, "nginx has ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return
        time.sleep(0.05)


@pytest.fixture(scope="module")
def proxy(
    collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:  # fmt: skip
    """The shipped proxy before the collector."""
    with nginx(tmp_path_factory.mktemp("nginx"), collector.url) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Device]:
    """A device that trusts the proxy's certificate."""
    device = Device(browser, ignore_https_errors=True)
    device.context.set_default_timeout(60_000)
    yield device
    device.context.close()


class Upstream:
    """Stands where the collector would, and notes the bytes that come."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def receive(self, seconds: float) -> bytes:
        """The bytes of the next request, which is answered; nothing if none comes in time."""
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
    tmp_path: Path, upstream: Upstream, accepted: str, passed: str | None
) -> None:
    with nginx(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {accepted}\r\n\r\n".encode())
        assert headers_of(upstream.receive(30)).get("accept-encoding") == passed


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")[1:]
    return dict(line.split(": ", 1) for line in lines)


def test_the_collector_gets_nothing_else_of_respondents(tmp_path: Path, upstream: Upstream) -> None:
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
    with nginx(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        lines = [f"{name}: {value}" for name, value in needed.items()]
        lines += [f"{name}: canary" for name in marked]
        lines += ["Host: canary", "Content-Length: 2"]
        head = "POST /api/surveys/x/reports?canary=canary HTTP/1.1"
        client.sendall("\r\n".join([head, *lines, "", "{}"]).encode())
        received = upstream.receive(30)
    assert received.startswith(b"POST /api/surveys/x/reports HTTP/1.1\r\n")
    assert received.endswith(b"\r\n\r\n{}")
    assert b"canary" not in received
    assert CLIENT.encode() not in received
    found = headers_of(received)
    assert set(found) == {name.lower() for name in needed} | OF_PROXY
    assert found["accept-encoding"] == "gzip"


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


def test_a_slow_body_does_not_reach_the_collector(tmp_path: Path, upstream: Upstream) -> None:
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {LONGEST_REQUEST}\r\n\r\n".encode()
    with nginx(tmp_path, upstream.url) as proxy, proxy.connect() as client:
        before = {name: (tmp_path / name).stat().st_mtime_ns for name in PLACES}
        client.sendall(head + b" " * (LONGEST_REQUEST - 1))
        assert upstream.receive(2) == b""
        client.sendall(b" ")
        assert len(upstream.receive(30)) > LONGEST_REQUEST
        # A file that was made and deleted would have changed its folder.
        assert {name: (tmp_path / name).stat().st_mtime_ns for name in PLACES} == before


def test_no_file_of_the_machine_has_a_respondents_address(
    proxy: Proxy, collector: Collector, survey: str
) -> None:
    body = made_up(collector, survey).encode()
    places = {name: (proxy.folder / name).stat().st_mtime_ns for name in PLACES}
    path, kind = f"/api/surveys/{survey}/reports", {"Content_Type": "application/json"}
    for sent in (body, body, b"{", b" " * LONGEST_REQUEST, b" " * (LONGEST_REQUEST + 1)):
        proxy.request("POST", path, sent, **kind)
    proxy.request("GET", "/nothing/here")
    with proxy.connect() as client:
        client.sendall(b"no HTTP at all\r\n\r\n")
        client.recv(65536)
    with socket.create_connection(("127.0.0.1", proxy.port), 30, (CLIENT, 0)) as client:
        client.sendall(b"no TLS at all\r\n\r\n" * 100)
        client.recv(65536)
    with (
        socket.create_connection(("127.0.0.1", proxy.port), 30, (CLIENT, 0)) as client,
        pytest.raises(ssl.SSLError),
    ):
        # Nobody has vouched for the certificate.
        ssl.create_default_context().wrap_socket(client, server_hostname="127.0.0.1")
    for folder in (proxy.folder, collector.database.parent):
        for file in folder.rglob("*"):
            if file.is_file():
                assert CLIENT.encode() not in file.read_bytes(), file
    assert {name: (proxy.folder / name).stat().st_mtime_ns for name in PLACES} == places


def test_http_leads_to_https_and_h2_is_spoken(proxy: Proxy) -> None:
    with proxy.connect("h2", "http/1.1") as client:
        assert client.selected_alpn_protocol() == "h2"
    plain = re.search(r"listen 127\.0\.0\.1:(\d+);", (proxy.folder / "nginx.conf").read_text())
    assert plain is not None
    connection = http.client.HTTPConnection("127.0.0.1", int(plain[1]), timeout=MOMENT)
    with contextlib.closing(connection):
        connection.request("GET", "/s/x")
        response: Any = connection.getresponse()
        assert response.status == 308
        assert response.getheader("Location").startswith("https://")
