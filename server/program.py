"""The files that browsers load: their hashes, which of them a page runs, and as they are sent."""

import base64
import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flask import Response, request

#: The modules that respondents' browsers run, as they stand beside this package.
CLIENT = Path(__file__).parent.parent / "client"
#: What only researchers' pages load.
STATIC = Path(__file__).parent / "static"

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_IMPORT = re.compile(r"(?:\bfrom|^import) '(\.[\w./-]+\.js)'", re.M)


@dataclass(frozen=True)
class Body:
    """What a response carries, compressed once.

    Not for pages of researchers: beside what a request can choose, a secret must not be compressed,
    or lengths tell it (BREACH, 2013).
    """

    content: bytes
    compressed: bytes

    @classmethod
    def of(cls, content: bytes) -> "Body":
        """The same bytes for the same content."""
        return cls(content, gzip.compress(content, mtime=0))

    def response(self, kind: str, status: int = 200) -> Response:
        """In the form that the request at hand accepts."""
        takes = request.accept_encodings.quality("gzip") > 0
        response = Response(self.compressed if takes else self.content, status, content_type=kind)
        response.headers["Vary"] = "Accept-Encoding"
        if takes:
            response.headers["Content-Encoding"] = "gzip"
        return response


@dataclass(frozen=True)
class File:
    """A file that browsers load, and its Subresource Integrity hash."""

    kind: str
    body: Body
    integrity: str

    def response(self) -> Response:
        """The file, or that the browser has it."""
        response = self.body.response(self.kind)
        # The pages name the hash that they expect, so an old copy must never be used.
        response.headers["Cache-Control"] = "no-cache"
        # A weak one: it stands for the compressed form as well.
        response.set_etag(self.integrity.removeprefix("sha256-"), weak=True)
        response.make_conditional(request)
        return response


def client_files(folder: Path) -> dict[str, File]:
    """The files of a folder that browsers load, by their names in it; read once."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _TYPES):
        body = Body.of(path.read_bytes())
        name = path.relative_to(folder).as_posix()
        found[name] = File(_TYPES[path.suffix], body, _hash(body.content))
    return found


def hash_of_all(files: Mapping[str, File]) -> str:
    """One hash to compare all files by: of the lines "name hash", sorted."""
    lines = "".join(f"{name} {files[name].integrity}\n" for name in sorted(files))
    return _hash(lines.encode())


def modules_of(files: Mapping[str, File], entry: str) -> list[tuple[str, str]]:
    """The modules that a page runs, with their hashes: the entry, then all that it reaches.

    Raises
    ------
    ValueError
        If a module imports one that is not there.
    """
    found: dict[str, str] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        if name not in files:
            raise ValueError(f"modules: expected {name} among the files of client/, got none")
        found[name] = files[name].integrity
        folder = posixpath.dirname(name)
        imported = _IMPORT.findall(files[name].body.content.decode())
        waiting += [posixpath.normpath(posixpath.join(folder, one)) for one in imported]
    return list(found.items())


def _hash(content: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
