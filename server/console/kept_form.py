"""What somebody typed into a form is kept on the page where they sign in again."""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from flask import current_app, request

from server.console.sent_forms import TOKEN

#: The most bytes of a form that is kept on the page where somebody signs in.
_MOST_KEPT = 40_000
#: Fields that are not kept: proofs of this session, and secrets.
_NOT_KEPT = {"csrf", TOKEN, "password", "again", "old", "code", "secret"}


@dataclass(frozen=True)
class Kept:
    """A form that was sent when a session was over: where it goes, and what was typed."""

    path: str
    items: list[tuple[str, str]]

    @property
    def text(self) -> str:
        """The form as one field holds it."""
        content = json.dumps([self.path, self.items], ensure_ascii=False)
        return urlsafe_b64encode(content.encode(errors="replace")).decode()

    @property
    def is_too_long(self) -> bool:
        """Whether the form is too long to be kept."""
        return len(self.text) > _MOST_KEPT

    @classmethod
    def of(cls, text: str) -> "Kept | None":
        """Return what a field holds; None if it is no form that this server could get."""
        try:
            path, items = json.loads(urlsafe_b64decode(text))
            found = [(f"{name}", f"{value}") for name, value in items]
        except (ValueError, TypeError, RecursionError):
            return None
        # Two slashes would name another host.
        is_here = re.match(r"/[a-z]", f"{path}") is not None
        adapter = current_app.url_map.bind("")
        return cls(path, found) if is_here and adapter.test(path, method="POST") else None


def kept_form() -> Kept | None:
    """Return what somebody typed into a form whose session has ended; None if there is nothing.

    Files are not kept, and nothing of an account's own page, whose fields are secrets. Nothing is
    kept of what another site had a browser send.
    """
    is_ours = request.headers.get("Sec-Fetch-Site") == "same-origin"
    if request.method != "POST" or not is_ours or request.path.startswith("/account"):
        return None
    items = [item for item in request.form.items(multi=True) if item[0] not in _NOT_KEPT]
    return Kept(request.path, items) if items else None
