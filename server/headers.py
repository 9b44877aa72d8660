"""The headers of every response, which say what browsers may do with it."""

from collections.abc import Callable, Iterable
from typing import Any

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
#: The policy of researchers' pages: forms, but no program.
WITHOUT_PROGRAM = (
    _POLICY.replace("script-src 'self'", "script-src 'none'")
    .replace("connect-src 'self'", "connect-src 'none'")
    .replace("form-action 'none'", "form-action 'self'")
)

#: The policy of researchers' pages with live parts, which one program of ours keeps current.
WITH_LIVE_PARTS = _POLICY.replace("form-action 'none'", "form-action 'self'")

#: The policy of the page that edits a draft. It frames the respondent's page, which is ours.
WITH_PREVIEW = WITH_LIVE_PARTS.replace("img-src data:", "img-src data:; frame-src 'self'")


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
_OF_PAGES = list(OF_PAGES.items())


def completed(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers that a response sets itself, and all others that it must have."""
    set_already = {name.lower(): value for name, value in headers}
    more = [(name, value) for key, name, value in _FIXED if key not in set_already]
    if set_already.get("content-type", "").startswith("text/html"):
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
