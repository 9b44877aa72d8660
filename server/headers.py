"""Headers of every response: what browsers may do with it."""

from flask import Response, request

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
#: What respondents get. Nothing may be sent but by the page's program, to this server.
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
#: What researchers get: forms, but no program.
_RESEARCH = HEADERS | {
    "Content-Security-Policy": _POLICY.replace("script-src 'self'", "script-src 'none'")
    .replace("connect-src 'self'", "connect-src 'none'")
    .replace("form-action 'none'", "form-action 'self'")
}


def add(response: Response) -> Response:
    """Add them; nothing is kept in a cache unless a view says otherwise."""
    response.headers.update(_RESEARCH if request.blueprint == "research" else HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
