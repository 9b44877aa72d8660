"""A form of the console acts once, however often the same form is sent.

Each form has a random token. A second press of its button, or sending the page again, sends the
same token with the same content: then nothing is done, and whoever sent it gets what the first one
got. Another content is another form.
"""

import hashlib
import json
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from dataclasses import dataclass

from flask import Response, current_app, g, redirect, request, session
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from server.clock import now
from server.extensions import the_store

#: The name of the field with the token of a form.
TOKEN = "form"


def proof() -> Markup:
    """Return the fields of each form: that it is from a page of ours, and which form it is."""
    fields = {"csrf": session.get("csrf", ""), TOKEN: new_token()}
    inputs = (
        Markup('<input type="hidden" name="{}" value="{}">').format(name, value)
        for name, value in fields.items()
    )
    return Markup("").join(inputs)


def new_token() -> str:
    """Return the token of a new form: 192 random bits."""
    return secrets.token_urlsafe(24)


def sent_before(is_known: bool) -> BaseResponse | str | None:
    """Return what to answer to a form that was sent before: what the first got, or a sentence.

    None is for a form that comes for the first time, and for what has no token. The first is noted,
    if it `is_known` who sends it: nobody else can have this server write.
    """
    if not request.form.get(TOKEN):
        return None
    key = hashlib.sha256()
    items = (item for item in request.form.items(multi=True) if item[0] != "csrf")
    parts = [request.path, *(part for item in items for part in item)]
    for file in request.files.values():
        parts += [file.filename or "", hashlib.sha256(file.stream.read()).hexdigest()]
        file.stream.seek(0)
    for part in parts:
        key.update(f"{len(part)} {part} ".encode(errors="surrogatepass"))
    if not is_known and the_store().sent_forms.told(key.digest()) is None:
        return None
    return _first(key.digest())


#: Seconds for which the answer to a form is kept in memory, how many of them are, and for how many
#: seconds the same form waits for it. A page that shows something once is not lost then.
_KEPT_FOR, _MOST_ANSWERS, _PATIENCE = 60.0, 100, 10.0
_ANSWERS: OrderedDict[bytes, tuple[float, bytes, str]] = OrderedDict()
#: What is noted of a form that led nowhere.
_DONE = "done"


def _first(key: bytes) -> BaseResponse | str | None:
    """Note a form that comes for the first time; wait for what became of one that came before."""
    forms, end = the_store().sent_forms, time.monotonic() + _PATIENCE
    told = forms.begin(key, now())
    while told == "" and time.monotonic() < end:
        time.sleep(0.05)
        told = forms.told(key)
        if told is None:  # it was refused, so this one counts
            told = forms.begin(key, now())
    if told is None:
        g.sent_form = key
        return None
    at, page, media_type = _ANSWERS.get(key, (-_KEPT_FOR, b"", ""))
    if time.monotonic() < at + _KEPT_FOR:
        return Response(page, content_type=media_type)
    if told == "":
        return "This form was sent before, and is still being worked on. Nothing was done again."
    if told != _DONE:
        return redirect(told, 303)
    return (
        "This form was sent before, and what it asks for was done then. Nothing was done again. "
        "What it showed was shown once."
    )


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


def is_too_long(kept: Kept) -> bool:
    """Return whether a form is too long to be kept."""
    return len(kept.text) > _MOST_KEPT


def note_sent(response: Response) -> Response:
    """Note where a form led; one that was refused can be sent again."""
    key = g.pop("sent_form", None)
    if key is None:
        return response
    if response.status_code >= 400 or g.get("mistakes"):
        the_store().sent_forms.forget(key)
        return response
    if not response.location:
        content_type = response.content_type or ""
        _ANSWERS[key] = (time.monotonic(), response.get_data(), content_type)
        for old in [old for old, (at, *_) in _ANSWERS.items() if at < time.monotonic() - _KEPT_FOR]:
            del _ANSWERS[old]
        while len(_ANSWERS) > _MOST_ANSWERS:
            _ANSWERS.popitem(last=False)
    the_store().sent_forms.end(key, response.location or _DONE)
    return response
