"""What a visitor's side of a proxy shows: TLS, names, headers, and what else is served there."""

import contextlib
import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from server.audit.website import audit_website
from server.deliver import Unreachable
from server.doctor import Check

#: A certificate should have been renewed this many days before its end; a month is usual.
_SOON = 14
_SECONDS = 20
#: A name that nobody can have (RFC 2606).
_OTHER = "another-name.invalid"
_PROXY = "see docs/operations.md, or print a configuration with deniable deploy"


@dataclass(frozen=True)
class Origin:
    """A host and port with TLS; `authorities` is a file of certificates to trust besides."""

    host: str
    port: int
    authorities: str | None = None

    def connect(
        self, version: ssl.TLSVersion | None = None, name: str | None = None, check: bool = True
    ) -> ssl.SSLSocket:
        """Return a connection by one version of TLS, to the host under its own or another name."""
        context = ssl.create_default_context()
        if self.authorities is not None:
            context.load_verify_locations(self.authorities)
        if not check:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if version is not None:
            context.minimum_version = context.maximum_version = version
        plain = socket.create_connection((self.host, self.port), _SECONDS)
        try:
            return context.wrap_socket(plain, server_hostname=name or self.host)
        except BaseException:
            plain.close()
            raise

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Return an answer and its body, whoever vouches for the certificate."""
        connection = http.client.HTTPSConnection(self.host, self.port)
        connection.sock = self.connect(check=False)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            return response, response.read()


def look(url: str, authorities: str | None = None) -> Iterator[Check]:
    """Yield what is seen at an address such as https://survey.example.org.

    Raises
    ------
    Unreachable
        If the address is no host's, or nothing answers there.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        raise Unreachable(
            f"{url}: expected an address such as https://survey.example.org"
        ) from None
    if parts.scheme != "https" or not parts.hostname:
        raise Unreachable(f"{url}: expected an address such as https://survey.example.org")
    if parts.path.strip("/") or parts.query:
        raise Unreachable(
            f"{url}: expected a host of its own, got a path on a host: any script on that host "
            "could read the form and what devices keep"
        )
    origin = Origin(parts.hostname, port, authorities)
    try:
        socket.create_connection((origin.host, port), _SECONDS).close()
    except OSError as error:
        raise Unreachable(f"{url}: no answer: {error}") from None
    yield _certificate(origin)
    yield from _versions(origin)
    yield _other_name(origin)
    yield _other_host(origin)
    yield _plain(origin)
    try:
        health, answers = _health(origin)
        yield health
        if answers:
            yield from _served(origin)
    except (OSError, http.client.HTTPException) as error:
        yield Check("proxy", "answers", f"an answer broke off: {error}", False, "check the proxy")
        return
    # Without a collector, its pages cannot be compared.
    if answers and authorities is None:
        yield from _headers(url)


def _certificate(origin: Origin) -> Check:
    try:
        with origin.connect() as client:
            end = ssl.cert_time_to_seconds(str((client.getpeercert() or {})["notAfter"]))
    except ssl.SSLCertVerificationError as error:
        return Check(
            "tls",
            "certificate",
            f"browsers refuse it: {error.verify_message}",
            False,
            "renew it, or ask your certificate authority, and reload the proxy; "
            "nobody can click this warning away (HSTS)",
        )
    except (OSError, ssl.SSLError) as error:
        return Check("tls", "certificate", f"no connection: {error}", False, _PROXY)
    days = int((end - time.time()) // 86400)
    advice = "find out why it was not renewed (certbot renew --dry-run); then reload the proxy"
    return Check("tls", "certificate", f"good for {days} days", days >= _SOON, advice)


def _versions(origin: Origin) -> Iterator[Check]:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        name = version.name.replace("TLSv", "TLS ").replace("_", ".")
        try:
            with origin.connect(version, check=False) as client:
                head = f"GET /healthz HTTP/1.1\r\nHost: {origin.host}\r\nConnection: close\r\n\r\n"
                client.sendall(head.encode())
                while client.recv(65536):
                    pass  # tickets come before the answer, or with it
                session = client.session
        except (OSError, ssl.SSLError) as error:
            yield Check("tls", name, f"no connection: {error}", False, _PROXY)
            continue
        kept = session is not None and bool(session.has_ticket or session.id)
        yield Check(
            "tls",
            name,
            "gives a ticket, by which it can recognize a device" if kept else "gives no ticket",
            not kept,
            "nginx: ssl_session_tickets off, ssl_session_cache off, ssl_conf_command NumTickets 0",
        )


def _other_name(origin: Origin) -> Check:
    subject = "another name"
    with contextlib.suppress(OSError, ssl.SSLError):
        origin.connect(name=_OTHER, check=False).close()
        return Check("names", subject, "the proxy accepts another name, too", False, _names())
    return Check("names", subject, "the proxy refuses TLS under another name", True)


def _other_host(origin: Origin) -> Check:
    with contextlib.suppress(OSError, http.client.HTTPException):
        status = origin.request("GET", "/healthz", Host=_OTHER)[0].status
        if status < 400:
            text = f"a request for another host is answered ({status})"
            return Check("names", "another host", text, False, _names())
    return Check("names", "another host", "a request for another host gets nothing", True)


def _names() -> str:
    return (
        "let a default server reject other names: for browsers each name is another site, where a "
        "device that has answered starts anew"
    )


def _plain(origin: Origin) -> Check:
    subject, connection = "http", http.client.HTTPConnection(origin.host, 80, timeout=5)
    try:
        with contextlib.closing(connection):
            connection.request("GET", "/")
            response = connection.getresponse()
            place = response.getheader("Location", "")
    except (OSError, http.client.HTTPException):
        return Check("names", subject, "port 80 does not answer from here", True)
    good = response.status in (301, 308) and place.startswith(f"https://{origin.host}")
    text = f"answers {response.status}, {f'leads to {place}' if place else 'leads nowhere'}"
    return Check("names", subject, text, good, f"answer with 308 to https://{origin.host}")


def _health(origin: Origin) -> tuple[Check, bool]:
    """Return what a collector says of itself, and whether one has answered at all."""
    response, body = origin.request("GET", "/healthz")
    if response.status == 503 and not body and response.getheader("Content-Security-Policy"):
        text = "it is not well, and tells only its own machine and accounts why"
        advice = "ask it there, or with an account: see docs/operations.md, Watch it"
        return Check("collector", "health", text, False, advice), True
    try:
        status = str(json.loads(body)["status"])
    except (ValueError, LookupError, TypeError):
        text = f"no collector answered ({response.status}), so what it serves was not checked"
        advice = "start the collector, let the proxy lead to its port, and run this again"
        return Check("collector", "health", text, False, advice), False
    advice = "see docs/operations.md, Watch it"
    return Check("collector", "health", status, status == "ok", advice), True


def _served(origin: Origin) -> Iterator[Check]:
    response, _ = origin.request("GET", "/client/page/survey.js", Accept_Encoding="gzip, br")
    packed = response.getheader("Content-Encoding") == "gzip"
    yield Check(
        "proxy",
        "compression",
        "files are compressed" if packed else "files are not compressed: 2.4 times the bytes",
        packed,
        "pass on whether Accept-Encoding has gzip",
    )
    response, _ = origin.request(
        *("POST", "/api/surveys/x/reports", b"{}"),
        Content_Type="application/json",
        Sec_Fetch_Site="cross-site",
    )
    passed = response.status == 403
    yield Check(
        "proxy",
        "other websites",
        "reports that they send are refused" if passed else f"not refused ({response.status})",
        passed,
        "pass on Sec-Fetch-Site and Content-Type",
    )
    shown = [
        path for path in ("/surveys", "/results") if origin.request("GET", path)[0].status != 404
    ]
    yield Check(
        "proxy",
        "researchers' pages",
        f"served to everybody: {' '.join(shown)}" if shown else "not served here",
        not shown,
        "start serve with --research-port, and give that port to researchers alone",
    )


def _headers(url: str) -> Iterator[Check]:
    """Yield which pages and headers do not arrive as this release sends them."""
    try:
        findings = [fact for fact in audit_website(url, ()) if not fact.ok]
    except Unreachable as error:
        yield Check("proxy", "pages", str(error), False, "check the proxy")
        return
    for fact in findings:
        advice = "let the proxy change nothing, and run the same release here as on the server"
        yield Check("proxy", fact.subject, fact.finding, False, advice)
    if not findings:
        yield Check("proxy", "pages", "arrive exactly as this release sends them", True)
