"""Mistakes in forms, shown in a list that gets the focus, and at the field itself."""

import re
from collections.abc import Callable
from functools import wraps
from html import unescape
from typing import Any, ParamSpec

from flask import Response, g, request
from markupsafe import Markup, escape

P = ParamSpec("P")

_FIELD = re.compile(
    r'(?P<before>(?:<label class="tick[^"]*">)?)'
    r'(?P<tag><(?:input|select|textarea|fieldset)\b[^>]*?\sid="(?P<id>[^"]*)"[^>]*)>'
    r"(?P<legend>(?:<legend>.*?</legend>)?)"
)
_DESCRIBED = re.compile(r'aria-describedby="')


class Mistake(ValueError):
    """A field has an impossible value: the page shows it again, and says what was expected.

    `field` is the id of the field in the page, or the beginning of it up to a point.
    """

    def __init__(self, field: str, told: str) -> None:
        super().__init__(told)
        self.field = field


def field_named(error: ValueError, otherwise: str = "") -> str:
    """Return the id of the field that an error names; `otherwise` if it names none."""
    return error.field if isinstance(error, Mistake) else otherwise


def note(field: str, told: str) -> None:
    """Put a mistake on the page that is shown now; it belongs to no field if `field` is empty."""
    g.setdefault("mistakes", {})[field] = told


def is_page() -> bool:
    """Return whether somebody looks at a page, and not a program that fetches or sends."""
    return "text/html" in request.headers.get("Accept", "")


def refused(response: Response) -> Response:
    """Give the answer to a form with a mistake the status that says so."""
    if g.get("mistakes") and request.method == "POST" and response.status_code == 200:
        response.status_code = 422
    return response


def told() -> dict[str, Any]:
    """Return the mistakes that templates show, by the ids of their fields."""
    return {"mistakes": g.get("mistakes", {})}


def again(page: Callable[..., Any]) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Return a decorator of views: after a mistake the page is shown again, as it was typed."""

    def decorator(view: Callable[P, Any]) -> Callable[P, Any]:
        @wraps(view)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                return view(*args, **kwargs)
            except Mistake as error:
                if not is_page():
                    raise
                note(error.field, str(error))
            return page(*args, **kwargs)

        return answer

    return decorator


def marked(html: Markup) -> Markup:
    """Return a page whose fields with a mistake are marked, and say what was expected."""
    mistakes: dict[str, str] = g.get("mistakes", {})
    text = str(html)
    for field, what in mistakes.items():
        text = _marked(text, field, what)
    return Markup(text)


def _marked(html: str, field: str, what: str) -> str:
    ids = [unescape(found["id"]) for found in _FIELD.finditer(html)]
    there = [one for one in ids if one == field or one.startswith(f"{field}.")] if field else []
    link = re.compile(rf'<a href="#{re.escape(escape(field))}" class="to-field">(.*?)</a>')
    if not there:
        is_place = bool(field) and f'id="{escape(field)}"' in html
        return html if is_place else link.sub(r"\1", html)

    def mark(found: re.Match[str]) -> str:
        if unescape(found["id"]) != there[0]:
            return found[0]
        tag, name = found["tag"], f"wrong-{found['id']}"
        tag, described = _DESCRIBED.subn(f'aria-describedby="{name} ', tag)
        tag += "" if described else f' aria-describedby="{name}"'
        # A group has no state of its own.
        tag += "" if tag.startswith("<fieldset") else ' aria-invalid="true"'
        message = f'<span class="complaint at-field" id="{name}">{escape(what)}</span>'
        if found["legend"] or tag.startswith("<fieldset"):
            return f"{tag}>{found['legend']}{message}"
        return f"{message}{found['before']}{tag}>"

    target = escape(there[0])
    return _FIELD.sub(mark, link.sub(rf'<a href="#{target}">\1</a>', html))
