"""The files that browsers load: their hashes, which of them a page runs, and how they are sent."""

import base64
import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
    """A file that is served to everybody at one address: its bytes and its specific headers.

    It is compressed once, or never if `compressed` is None. Pages of researchers are no resources:
    a secret must not be compressed beside text that a request can choose, or the length of the
    answer reveals it (BREACH, 2013).
    """

    content: bytes
    compressed: bytes | None
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, content: bytes, *headers: tuple[str, str], compress: bool = True) -> "Resource":
        """Return a resource; its compressed form depends on its bytes alone, not on the time."""
        return cls(content, gzip.compress(content, mtime=0) if compress else None, headers)

    def form(self, takes_gzip: bool) -> tuple[bytes, list[tuple[str, str]]]:
        """Return the bytes and headers of the answer, compressed if the client takes gzip."""
        if self.compressed is None:
            return self.content, [*self.headers]
        headers = [*self.headers, ("Vary", "Accept-Encoding")]
        if takes_gzip:
            return self.compressed, [*headers, ("Content-Encoding", "gzip")]
        return self.content, headers

    def response(self, status: int = 200) -> Response:
        """Return the answer in the form that the request at hand accepts."""
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
        """Return the file with these bytes, of this media type."""
        integrity = integrity_of(content)
        return cls(
            Resource.of(
                content,
                ("Content-Type", kind),
                # The pages name the hash that they expect, so an old copy must never be used.
                ("Cache-Control", "no-cache"),
                # The preview of a draft runs in a frame without an origin, so it is cross-origin.
                ("Access-Control-Allow-Origin", "*"),
                # The tag is weak, since it stands for the compressed form as well.
                ("ETag", f'W/"{integrity.removeprefix("sha256-")}"'),
            ),
            integrity,
        )


def client_files(folder: Path) -> dict[str, File]:
    """Return the files of a folder that browsers load, by their names in it; read them once."""
    return {
        path.relative_to(folder).as_posix(): File.of(path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TYPES
    }


def hash_of_all(files: Mapping[str, File]) -> str:
    """Return one hash of all files, by which they can be compared."""
    lines = "".join(f"{name} {files[name].integrity}\n" for name in sorted(files))
    return integrity_of(lines.encode())


def modules_of(files: Mapping[str, File], entries: Iterable[str]) -> list[tuple[str, str]]:
    """Return the modules that a page runs, with their hashes, in the order in which they run.

    Each comes after all that it imports: a page that names them so asks for each one with its hash
    before any `import` asks for it without.

    Raises
    ------
    ValueError
        If a module imports one that is not there.
    """
    hashes: dict[str, str] = {}

    def add(name: str) -> None:
        if name in hashes:
            return
        if name not in files:
            raise ValueError(f"modules: expected {name} among the files of client/, got none")
        for imported in _imports_of(files, name):
            add(imported)
        hashes[name] = files[name].integrity

    for entry in entries:
        add(entry)
    return list(hashes.items())


def _imports_of(files: Mapping[str, File], name: str) -> list[str]:
    folder, imported = posixpath.dirname(name), _imported(files[name].resource.content)
    return [posixpath.normpath(posixpath.join(folder, module)) for module in imported]


@lru_cache(maxsize=256)  # each of the programs has most of the modules
def _imported(content: bytes) -> list[str]:
    return _IMPORT.findall(content.decode())


def import_map(modules: Iterable[tuple[str, str]]) -> str:
    """Return the import map that pins modules by their hashes, as the text of an inline script.

    The hash in a page's link only binds the first fetch of a module. If that fails, browsers may
    fetch the module again for the `import` that names it; then only this map has its hash.
    """
    hashes = {f"/client/{name}": integrity for name, integrity in modules}
    return json.dumps({"integrity": hashes}, separators=(",", ":"), sort_keys=True)


def integrity_of(content: bytes) -> str:
    """Return the Subresource Integrity hash of some bytes."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
