"""A server that fails or tampers with modules, and sees which ones a browser accepts."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from werkzeug.wrappers import Response

from server.pages.browser_files import CLIENT

Environ = dict[str, Any]
_Wsgi = Callable[[Environ, Any], Iterable[bytes]]

#: Where a page begins to load its program; by then a preload has asked for each of its modules.
_START = b'<script type="module"'
_IMPORT_MAP = re.compile(rb'<script type="importmap">.*?</script>', re.S)
#: Seconds after which a short step has failed, on a machine that others use, too.
_LONG = 60.0


def layers_of(page: str) -> list[list[str]]:
    """Return the modules of a page by their distance from its entry.

    One visit can attack all modules of a layer, and each gets a verdict of its own: a browser
    asks for all imports of a module at once, but for none of a module that it refused.
    """
    layers, known = [[f"page/{page}.js"]], {f"page/{page}.js"}
    while True:
        reached = set().union(*map(_imports, layers[-1])) - known
        if not reached:
            return layers
        layers.append(sorted(reached))
        known |= reached


def _imports(name: str) -> set[str]:
    path = CLIENT / name
    found = re.findall(r"(?:\bfrom|^import) '([^']+)'", path.read_text(), flags=re.M)
    return {(path.parent / one).resolve().relative_to(CLIENT).as_posix() for one in found}


def _unavailable(environ: Environ, content: bytes) -> Response:
    return Response(b"", 503, content_type="text/plain")


def _cut(environ: Environ, content: bytes) -> Response:
    """End the connection without a byte."""
    connection: socket.socket = environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
    return Response(b"", 503)


def _timeout(environ: Environ, content: bytes) -> Response:
    """Let the browser wait, then end the connection, as proxies do."""
    time.sleep(0.5)
    return _cut(environ, content)


def _truncated(environ: Environ, content: bytes) -> Response:
    """Send half of what was announced."""
    response = Response(content[: len(content) // 2], content_type="text/javascript")
    response.headers["Content-Length"] = str(len(content))
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


#: How the first fetch of a module ends. None: it already gets the tampered module.
FAILURES: dict[str, Callable[[Environ, bytes], Response] | None] = {
    "503": _unavailable,
    "a cut connection": _cut,
    "a time-out": _timeout,
    "a truncated body": _truncated,
    "a tampered module": None,
}


class Tampering:
    """Around an application: fails the first fetch of each target, and tampers from then on.

    A tampered module imports a mark: a browser asks for that once it has accepted the module. And
    it fetches another, once it runs.
    """

    def __init__(self, app: _Wsgi) -> None:
        self._app = app
        self._lock = threading.Condition()
        self.attack([], None)

    def attack(
        self,
        targets: Iterable[str],
        failure: Callable[[Environ, bytes], Response] | None,
        strips_import_map: bool = False,
    ) -> None:
        """Choose which modules are attacked from now on, and how; forget earlier results."""
        self.targets, self._failure = set(targets), failure
        self._strips = strips_import_map
        self.failed, self.accepted, self.ran = set[str](), set[str](), set[str]()

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path.startswith("/mark/"):
            _, _, kind, name = path.split("/", 3)
            getattr(self, kind).add(name)
            response = Response(b"", content_type="text/javascript")
        elif not path.startswith(("/client/", "/s/", "/me")):
            return self._app(environ, start_response)
        else:
            environ.pop("HTTP_ACCEPT_ENCODING", None)
            environ.pop("HTTP_IF_NONE_MATCH", None)
            response = Response.from_app(self._app, environ)
            name = path.removeprefix("/client/")
            if name in self.targets:
                response = self._module(name, environ, response)
            elif response.mimetype == "text/html":
                response = self._page(response)
        return response(environ, start_response)

    def _module(self, name: str, environ: Environ, response: Response) -> Response:
        content = response.get_data()
        with self._lock:
            is_first = name not in self.failed
        failed = self._failure(environ, content) if is_first and self._failure else None
        with self._lock:
            self.failed.add(name)
            self._lock.notify_all()
        if failed:
            return failed
        marks = f"\nimport '/mark/accepted/{name}';\nfetch('/mark/ran/{name}');\n"
        response.set_data(content + marks.encode())
        return response

    def _page(self, response: Response) -> Response:
        content = response.get_data()
        if self._strips:
            content = _IMPORT_MAP.sub(b"", content)
            for name in self.targets:
                script = rf'<script type="module" src="/client/{name}"[^>]*></script>'
                content = re.sub(script.encode(), b"", content)
        head, start, rest = content.partition(_START)

        def parts() -> Iterator[bytes]:
            yield head
            with self._lock:
                self._lock.wait_for(lambda: self.targets <= self.failed, _LONG)
            # The answers are on their way; the browser notes them before it goes on.
            time.sleep(0.1)
            yield start + rest

        streamed = Response(parts(), response.status_code, direct_passthrough=True)
        streamed.headers.extend(response.headers)
        streamed.headers.remove("Content-Length")
        return streamed
