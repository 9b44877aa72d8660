"""The collector: serves the page, takes in noisy reports, shows researchers the estimates."""

import base64
import hashlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from flask import Flask, Response

from server import health, intake, pages, research
from server.store import Store
from server.writer import Writer

#: The modules that respondents' browsers run, as they stand beside this package.
CLIENT = Path(__file__).parent.parent / "client"

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Collector(Flask):
    """Flask, but what goes wrong is logged without time, address, values or messages."""

    def log_exception(self, exc_info: Any) -> None:
        kind, _, places = exc_info
        trail = " < ".join(
            f"{Path(frame.filename).name}:{frame.lineno}"
            for frame in reversed(traceback.extract_tb(places))
        )
        print(f"deniable: {kind.__name__} at {trail}", file=sys.stderr, flush=True)


def create_app(config: dict[str, Any] | None = None) -> Flask:
    """The application.

    Parameters
    ----------
    config : dict, optional
        ``DATABASE``, the path of the store, by default from the environment variable
        ``DENIABLE_DB``; ``CLIENT``, the folder of the modules to serve.
    """
    app = Collector(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # questions stay in their order
    app.config.update(CLIENT=CLIENT)
    app.config.update(config or {"DATABASE": os.environ["DENIABLE_DB"]})
    app.extensions["store"] = Store(Path(app.config["DATABASE"]))
    app.extensions["writer"] = Writer(app.extensions["store"], intake.today)
    app.extensions["client"] = _client(Path(app.config["CLIENT"]))
    for blueprint in (pages.blueprint, intake.blueprint, research.blueprint, health.blueprint):
        app.register_blueprint(blueprint)
    app.after_request(_add_headers)
    return app


def _client(folder: Path) -> dict[str, tuple[bytes, str]]:
    """Each file that browsers load, with its Subresource Integrity hash; read once."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".js", ".css"))
    found = {}
    for path in files:
        content = path.read_bytes()
        hashed = base64.b64encode(hashlib.sha256(content).digest()).decode()
        found[path.relative_to(folder).as_posix()] = (content, f"sha256-{hashed}")
    return found


def _add_headers(response: Response) -> Response:
    response.headers.update(_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
