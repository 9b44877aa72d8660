"""What somebody typed into a form is kept on the page where they sign in again."""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from flask import current_app, g, request

from server.console.sent_forms import TOKEN, key_of, key_of_request, was_sent

#: The most bytes of a form that is kept on the page where somebody signs in.
_MOST_KEPT = 40_000
#: Fields that are not kept: the proof of a session, and secrets.
_NOT_KEPT = {"csrf", "password", "again", "old", "code", "secret"}


@dataclass(frozen=True)
class Kept:
    """A form that was sent when a session was over: where it goes, and what it has.

    It keeps its token, so that it acts once. If it `is_sent`, it was sent before the session was
    over, too, and what it asks for was done then, or is being done.
    """

    path: str
    items: list[tuple[str, str]]
    is_sent: bool = False

    @property
    def token(self) -> str:
        """The token of the form; "" if it has none."""
        return dict(self.items).get(TOKEN, "")

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What was typed or chosen."""
        return [item for item in self.items if item[0] != TOKEN]

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
            f"{path}{found}".encode()  # ValueError for halves of characters
        except (ValueError, TypeError, RecursionError):
            return None
        # Two slashes would name another host.
        is_here = re.match(r"/[a-z]", f"{path}") is not None
        adapter = current_app.url_map.bind("")
        if not is_here or not adapter.test(path, method="POST"):
            return None
        return cls(path, found, was_sent(key_of(path, found)))


def kept_form(keeps_buttons: bool = True) -> Kept | None:
    """Return the form that is sent now, whose session has ended; None if nothing is to be kept.

    Files are not kept, and nothing of an account's own page, whose fields are secrets. Nothing is
    kept of what another site had a browser send, of signing out, or, without `keeps_buttons`, of a
    button alone.
    """
    is_ours = request.headers.get("Sec-Fetch-Site") == "same-origin"
    signs_out = request.path in ("/logout", "/sign-out-everywhere")
    if request.method != "POST" or not is_ours or signs_out:
        return None
    if "sent_form" not in g and was_sent(key_of_request()):  # and not by this very request
        return Kept(request.path, [], is_sent=True)
    items = [item for item in request.form.items(multi=True) if item[0] not in _NOT_KEPT]
    kept = Kept(request.path, items)
    is_alone = keeps_buttons and not kept.typed
    return None if request.path.startswith("/account") or is_alone else kept
