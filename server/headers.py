"""Headers of every response: what browsers may do with it."""

from collections.abc import Callable, Iterable
from typing import Any


def policy(*inline: str) -> str:
    """The Content-Security-Policy of a page whose program runs.

    Of inline scripts only those with one of the hashes `inline` run.
    """
    scripts = " ".join(["'self'", *(f"'{integrity}'" for integrity in inline)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self'; connect-src 'self'; "
        "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


_POLICY = policy()
#: What browsers offer and no page needs: sensors, devices, identities, what a device is like.
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
#: Nothing may be sent but by the page's program, to this server. A response with one of these of
#: its own keeps its own.
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
#: What only documents heed; on each module it would be half of what a phone has to wait for.
OF_PAGES = {"Permissions-Policy": ", ".join(f"{name}=()" for name in _DENIED.split())}
#: What researchers' pages get: forms, but no program.
WITHOUT_PROGRAM = (
    _POLICY.replace("script-src 'self'", "script-src 'none'")
    .replace("connect-src 'self'", "connect-src 'none'")
    .replace("form-action 'none'", "form-action 'self'")
)

_Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


_FIXED = [(name.lower(), name, value) for name, value in HEADERS.items()]
_OF_PAGES = list(OF_PAGES.items())


def completed(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return all headers of a response that sets these itself."""
    own = {name.lower(): value for name, value in headers}
    more = [(name, value) for key, name, value in _FIXED if key not in own]
    if own.get("content-type", "").startswith("text/html"):
        more += _OF_PAGES
    return headers + more


def added(app: _Wsgi) -> _Wsgi:
    """A WSGI application with these headers, whatever answers: a view, an error, a redirect.

    Here rather than in Flask's `after_request`, where they took a seventh of a request's time.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, completed(headers), *error)

        return app(environ, start)

    return answer
