"""The addresses at which people open pages: the operator's settings, or this request's address."""

import io
from urllib.parse import urlsplit

import segno
from flask import current_app, request
from markupsafe import Markup


def checked(text: str) -> str:
    """Return an address such as https://survey.example.org, without a slash at its end.

    Raises
    ------
    ValueError
        If it is no such address, or has a path: other pages of the same host could read the form.
    """
    given = text.strip().rstrip("/")
    try:
        parts = urlsplit(given)
        is_sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, brackets without an end
        is_sound = False
    if not is_sound or parts.path or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(
            f"expected an address such as https://survey.example.org, got {given[:80]!a}"
        )
    return given


def of_respondents() -> str:
    """Return where respondents open pages."""
    return current_app.config["URL"] or request.url_root.rstrip("/")


def of_researchers() -> str:
    """Return where researchers open pages."""
    return current_app.config["RESEARCH_URL"] or request.url_root.rstrip("/")


def qr_code(text: str, title: str) -> Markup:
    """Return a QR code as SVG, dark on light in every theme: scanners need that."""
    out = io.BytesIO()
    segno.make(text, micro=False, error="m").save(
        out, kind="svg", xmldecl=False, svgns=True, omitsize=True, light="#ffffff", title=title,
        svgclass=None, lineclass=None,
    )  # fmt: skip
    return Markup(out.getvalue().decode())
