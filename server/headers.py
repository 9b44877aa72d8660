"""The headers of every response, which say what browsers may do with it."""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Response as FlaskResponse
from flask import current_app, g
from markupsafe import Markup
from werkzeug.wrappers import Response


def policy(*inline: str) -> str:
    """Return the Content-Security-Policy of a page whose program runs.

    Inline scripts run only if their hash is one of `inline`.
    """
    scripts = " ".join(["'self'", *(f"'{integrity}'" for integrity in inline)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self'; connect-src 'self'; "
        "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


_POLICY = policy()
#: Features of browsers that no page needs: sensors, devices, identities, facts about the device.
_DENIED = (
    "accelerometer autoplay browsing-topics camera ch-device-memory ch-downlink ch-dpr ch-ect "
    "ch-prefers-color-scheme ch-prefers-reduced-motion ch-rtt ch-save-data ch-ua ch-ua-arch "
    "ch-ua-bitness ch-ua-full-version ch-ua-full-version-list ch-ua-mobile ch-ua-model "
    "ch-ua-platform ch-ua-platform-version ch-viewport-height ch-viewport-width ch-width "
    "clipboard-read clipboard-write compute-pressure deferred-fetch deferred-fetch-minimal "
    "display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid "
    "identity-credentials-get idle-detection keyboard-map local-fonts magnetometer microphone midi "
    "otp-credentials payment picture-in-picture private-state-token-issuance "
    "private-state-token-redemption publickey-credentials-create publickey-credentials-get "
    "screen-wake-lock serial speaker-selection storage-access sync-xhr usb window-management "
    "xr-spatial-tracking"
)
#: Only the page's program may send anything, and only to this server. A response that sets one of
#: these headers itself keeps its own.
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
#: Only documents heed this header; with each module it would be half of what a phone waits for.
#: And a search engine that knows a survey's address would send people there who were not asked.
OF_PAGES = {
    "Permissions-Policy": ", ".join(f"{name}=()" for name in _DENIED.split()),
    "X-Robots-Tag": "noindex",
}
#: Browsers heed these for documents, and not for a document's scripts and styles. With each module
#: they would be an eighth of all that a phone waits for.
_OF_DOCUMENTS = {
    "content-security-policy",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "x-frame-options",
}
#: The policy of researchers' pages: forms, but no program, unless the page loads one.
WITHOUT_PROGRAM = (
    _POLICY.replace("script-src 'self'", "script-src 'none'")
    .replace("connect-src 'self'", "connect-src 'none'")
    .replace("form-action 'none'", "form-action 'self'")
)

#: The policy of researchers' pages that load a program of ours.
WITH_PROGRAM = _POLICY.replace("form-action 'none'", "form-action 'self'")

#: The policy of researchers' pages that also frame a page of ours.
WITH_FRAME = WITH_PROGRAM.replace("img-src data:", "img-src data:; frame-src 'self'")


def program(name: str) -> Markup:
    """Return the tag that loads a program of `server/static`; the page's policy then allows it."""
    if g.get("policy") != WITH_FRAME:
        g.policy = WITH_PROGRAM
    integrity = current_app.extensions["static"][name].integrity
    tag = '<script type="module" src="/static/{}" integrity="{}"></script>'
    return Markup(tag).format(name, integrity)


def frame(address: str) -> Markup:
    """Return the attributes of a frame with a page of ours; the page's policy then allows it."""
    g.policy = WITH_FRAME
    return Markup('sandbox="allow-scripts allow-forms" src="{}"').format(address)


def for_forms(response: FlaskResponse) -> FlaskResponse:
    """Return a page with forms, with a policy that allows the programs and frames that it loads."""
    response.headers["Content-Security-Policy"] = g.get("policy", WITHOUT_PROGRAM)
    return response


def previewed(response: Response) -> Response:
    """Return a respondent's page that our pages may frame, and that may send nothing."""
    name = "Content-Security-Policy"
    response.headers[name] = (
        response.headers[name]
        .replace("connect-src 'self'", "connect-src 'none'")
        .replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    )
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


_Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]
_FIXED = [(name.lower(), name, value) for name, value in HEADERS.items()]
_OF_PARTS = [header for header in _FIXED if header[0] not in _OF_DOCUMENTS]
_OF_PAGES = list(OF_PAGES.items())


def completed(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers that a response sets itself, and all others that it must have."""
    set_already = {name.lower(): value for name, value in headers}
    kind = set_already.get("content-type", "")
    fixed = _OF_PARTS if kind.startswith(("text/javascript", "text/css")) else _FIXED
    more = [(name, value) for key, name, value in fixed if key not in set_already]
    if kind.startswith("text/html"):
        more += _OF_PAGES
    return headers + more


def added(app: _Wsgi) -> _Wsgi:
    """Return a WSGI application that adds these headers to views, errors and redirects alike.

    Flask's `after_request` took a seventh of a request's time for them.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, completed(headers), *error)

        return app(environ, start)

    return answer
