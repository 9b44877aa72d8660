"""Fetch a server's answers as a browser would, and check every line of their headers.

Python parses answers leniently: a line that browsers skip can end the headers, a lone carriage
return can begin one, and `Content-Length: 1_0` is a length. So a server could show an auditor other
headers, or less of a page, than a browser. Here the lines are kept as they came, and each must be
plain. The end of the body, and how it is packed, must each be stated once, in one way.
"""

import contextlib
import http.client
import io
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from server.deliver import Unreachable

#: The most bytes of an answer that are read, packed or not; and the seconds that each may take.
_LARGEST, _SECONDS = 16 * 2**20, 60
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~]*)\r\n")
_SURVEY = re.compile(r"/s/([^/]+)/?")

#: Headers that browsers send with each request, with those for pages, and with those for files.
_ALWAYS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept-Language": "en-US,en;q=0.5",
    "Sec-Fetch-Site": "same-origin",
}
_OF_PAGES = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Upgrade-Insecure-Requests": "1",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-User": "?1",
}
_OF_FILES = {"Accept": "*/*", "Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "cors"}
#: `Accept-Encoding` of browsers, and that of whoever asks for the bytes as they are.
ENCODINGS = {"compressed": "gzip, deflate, br, zstd", "plain": "identity"}


@dataclass(frozen=True)
class Answer:
    """A response: its headers as they came, and the unpacked body.

    `oddities` lists what no honest server sends.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    oddities: tuple[str, ...]


class Site:
    """A server, from the address of its root or of a survey's page; `survey` is the id in it."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        named = _SURVEY.fullmatch(parts.path)
        sound = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        if not sound or parts.query or (parts.path not in ("", "/") and not named):
            # Do not repeat the address: behind its "#" an invitation may stand.
            raise Unreachable("--url: expected https://HOST or https://HOST/s/ID, got another form")
        # Browsers send nothing that stands behind "#".
        self.root = f"{parts.scheme}://{parts.netloc}"
        self.survey = named[1] if named else None
        self._scheme, self._host, self._port = parts.scheme, str(parts.hostname), port

    def fetch(self, path: str, encoding: str) -> Answer:
        """Return the answer at a path in one of `ENCODINGS`; redirects are not followed.

        Raises
        ------
        Unreachable
            If there is no answer within a minute, or none that is HTTP.
        """
        connection = self._connection()
        is_page = path.startswith(("/s/", "/me"))
        headers = _ALWAYS | (_OF_PAGES if is_page else _OF_FILES)
        watchdog = threading.Timer(_SECONDS, _end, [connection])
        watchdog.daemon = True
        watchdog.start()
        try:
            connection.request(
                "GET", path, headers=headers | {"Accept-Encoding": ENCODINGS[encoding]}
            )
            response = connection.getresponse()
            assert isinstance(response, _Response)
            body = response.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = printable(str(error) or type(error).__name__)
            raise Unreachable(
                f"{self.root}{path}: expected a collector, got no answer: {reason}"
            ) from None
        finally:
            watchdog.cancel()
            connection.close()
        return _answer(response, body)

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._scheme == "https":
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=30, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=30)
        connection.response_class = _Response
        return connection


def _end(connection: http.client.HTTPConnection) -> None:
    """End a connection that another thread waits for: a server may send one byte a minute."""
    with contextlib.suppress(OSError, AttributeError):  # it may have ended by itself
        connection.sock.shutdown(socket.SHUT_RDWR)


class _Lines(io.BufferedReader):
    """A stream that keeps the lines that were read from it."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__(raw)
        self.lines: list[bytes] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self.lines.append(line)
        return line


class _Response(http.client.HTTPResponse):
    """A response that keeps its first lines, up to the empty one, as they came.

    `later_lines` are those of the body: the sizes of its chunks, and what follows the last one.
    """

    lines: list[bytes]

    def begin(self) -> None:
        self.fp = self._stream = _Lines(self.fp.detach())
        super().begin()
        read = self._stream.lines
        self.lines = read[: read.index(b"\r\n")] if b"\r\n" in read else []

    @property
    def later_lines(self) -> list[bytes]:
        return self._stream.lines[len(self.lines) + 1 :]


def printable(text: str) -> str:
    """Return a server's text for a terminal, with its control characters escaped."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def _framing(
    headers: list[tuple[str, str]], later_lines: list[bytes], body: bytes
) -> Iterator[str]:
    """Yield a phrase for whatever could make browsers disagree on a body's end or packing."""
    lengths, codings, packings = (
        [value for name, value in headers if name == wanted]
        for wanted in ("content-length", "transfer-encoding", "content-encoding")
    )
    if packings not in ([], ["gzip"]):
        yield f"its encodings are {packings}; expected gzip once, or none"
    if codings and (codings != ["chunked"] or lengths):
        yield f"it has the transfer encodings {codings} and the lengths {lengths}"
    elif codings:
        *sizes, last = later_lines or [b""]
        plain = re.compile(rb"[0-9a-fA-F]{1,8}\r\n").fullmatch
        if last != b"\r\n" or not all(map(plain, sizes)):
            yield "its chunks do not have plain sizes, or something follows them"
    elif len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,9}", lengths[0]):
        yield f"its lengths are {lengths}; expected one plain number"
    elif int(lengths[0]) != len(body) and len(body) <= _LARGEST:
        yield f"its stated length is {lengths[0]}, but {len(body)} bytes came"


def _answer(response: _Response, body: bytes) -> Answer:
    status, lines, oddities = response.status, response.lines, []
    if not lines or not re.match(rb"HTTP/1\.[01] %d " % status, lines[0]):
        oddities.append("its first line is not its status")
    headers = []
    for line in lines[1:]:
        plain = _LINE.fullmatch(line)
        if plain:
            headers.append((plain[1].decode().lower(), plain[2].decode().strip(" \t")))
        else:
            oddities.append(f"not a plain header: {line[:80]!r}")
    oddities += _framing(headers, response.later_lines, body)
    if len(body) > _LARGEST:
        return Answer(status, tuple(headers), b"", (*oddities, "it is too long to be read"))
    encoding = dict(headers).get("content-encoding", "identity")
    if encoding == "gzip":
        try:
            body = _unpacked(body)
        except (zlib.error, ValueError) as error:
            body = b""
            oddities.append(f"not one gzip stream: {error}")
    return Answer(status, tuple(headers), body, tuple(oddities))


def _unpacked(body: bytes) -> bytes:
    if body[3:4] != b"\0":
        # A comment, for example, could be a page to a browser that does not unpack.
        raise ValueError("it has a name, a comment or other fields")
    unpacking = zlib.decompressobj(wbits=31)
    content = unpacking.decompress(body, _LARGEST)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it is too long, is cut off, or something follows it")
    return content
