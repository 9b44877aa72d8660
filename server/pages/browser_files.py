"""The files that browsers load: their hashes, which a page runs, and how they are sent."""

import base64
import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flask import Response, request

#: The modules that respondents' browsers run, as they stand beside this package.
CLIENT = Path(__file__).parents[2] / "client"
#: What only researchers' pages load.
STATIC = Path(__file__).parents[1] / "static"

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_IMPORT = re.compile(r"(?:\bfrom|^import) '(\.[\w./-]+\.js)'", re.M)


@dataclass(frozen=True)
class Resource:
    """What is served at one address: its bytes, and the headers of its own; the same for everybody.

    It is compressed once, or never if `compressed` is None. Pages of researchers are no resources:
    beside what a request can choose, a secret must not be compressed, or lengths tell it (BREACH,
    2013).
    """

    content: bytes
    compressed: bytes | None
    own: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, content: bytes, *headers: tuple[str, str], compress: bool = True) -> "Resource":
        """The resource with these bytes; the compressed form depends on nothing else."""
        return cls(content, gzip.compress(content, mtime=0) if compress else None, headers)

    def form(self, takes_gzip: bool) -> tuple[bytes, list[tuple[str, str]]]:
        """Return the bytes and own headers of the answer, compressed if the client takes gzip."""
        if self.compressed is None:
            return self.content, [*self.own]
        headers = [*self.own, ("Vary", "Accept-Encoding")]
        if takes_gzip:
            return self.compressed, [*headers, ("Content-Encoding", "gzip")]
        return self.content, headers

    def response(self, status: int = 200) -> Response:
        """The answer in the form that the request at hand accepts."""
        content, headers = self.form(request.accept_encodings.quality("gzip") > 0)
        response = Response(content, status, headers)
        if "ETag" in response.headers:
            response.make_conditional(request)
        return response


@dataclass(frozen=True)
class File:
    """A file that browsers load, and its Subresource Integrity hash."""

    resource: Resource
    integrity: str

    @classmethod
    def of(cls, content: bytes, kind: str) -> "File":
        """The file with these bytes, of this media type."""
        integrity = integrity_of(content)
        return cls(
            Resource.of(
                content,
                ("Content-Type", kind),
                # The pages name the hash that they expect, so an old copy must never be used.
                ("Cache-Control", "no-cache"),
                # A weak one: it stands for the compressed form as well.
                ("ETag", f'W/"{integrity.removeprefix("sha256-")}"'),
            ),
            integrity,
        )


def client_files(folder: Path) -> dict[str, File]:
    """The files of a folder that browsers load, by their names in it; read once."""
    return {
        path.relative_to(folder).as_posix(): File.of(path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TYPES
    }


def hash_of_all(files: Mapping[str, File]) -> str:
    """One hash to compare all files by: of the lines "name hash", sorted."""
    lines = "".join(f"{name} {files[name].integrity}\n" for name in sorted(files))
    return integrity_of(lines.encode())


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
        imported = _IMPORT.findall(files[name].resource.content.decode())
        waiting += [posixpath.normpath(posixpath.join(folder, one)) for one in imported]
    return list(found.items())


def import_map(modules: Iterable[tuple[str, str]]) -> str:
    """The import map that pins modules by their hashes, as the text of an inline script.

    The hash in a page's link binds the first fetch of a module alone. If that fails, browsers may
    fetch the module again for the `import` that names it; then only this map has its hash.
    """
    return json.dumps(
        {"integrity": {f"/client/{name}": integrity for name, integrity in modules}},
        separators=(",", ":"),
        sort_keys=True,
    )


def integrity_of(content: bytes) -> str:
    """The Subresource Integrity hash of some bytes."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
