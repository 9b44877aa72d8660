"""A form of the console acts once, however often the same form is sent.

Each form has a random token. A second press of its button, or sending the page again, sends the
same token with the same content: then nothing is done, and whoever sent it gets what the first one
got. Another content is another form.
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Iterable

from flask import Response, g, redirect, request, session
from markupsafe import Markup
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as BaseResponse

from server.clock import now
from server.extensions import the_store
from server.store.sent_forms import UNDER_WAY

#: The name of the field with the token of a form.
TOKEN = "form"


def proof(token: str = "") -> Markup:
    """Return the fields of each form: that it is from a page of ours, and which form it is."""
    fields = {"csrf": session.get("csrf", ""), TOKEN: token or new_token()}
    inputs = (
        Markup('<input type="hidden" name="{}" value="{}">').format(name, value)
        for name, value in fields.items()
    )
    return Markup("").join(inputs)


def new_token() -> str:
    """Return the token of a new form: 192 random bits."""
    return secrets.token_urlsafe(24)


def key_of(
    path: str, items: Iterable[tuple[str, str]], files: Iterable[tuple[str, FileStorage]] = ()
) -> bytes | None:
    """Return the name of a form and its content, in any order of its fields; None without a token.

    The proof of a session is not part of the content.
    """
    fields = sorted((item for item in items if item[0] != "csrf"), key=lambda item: item[0])
    if not dict(fields).get(TOKEN):
        return None
    key, parts = hashlib.sha256(), [path, *(part for field in fields for part in field)]
    for name, file in files:
        parts += [name, file.filename or "", hashlib.sha256(file.stream.read()).hexdigest()]
        file.stream.seek(0)
    for part in parts:
        key.update(f"{len(part)} {part} ".encode(errors="surrogatepass"))
    return key.digest()


def key_of_request() -> bytes | None:
    """Return the name of the form that is sent now; None without a token."""
    files = request.files.items(multi=True)  # a field can have several
    return key_of(request.path, request.form.items(multi=True), files)


def was_sent(key: bytes | None) -> bool:
    """Return whether what a form asks for was done, or is being done."""
    return key is not None and the_store().sent_forms.outcome(key) is not None


def sent_before(is_known: bool) -> BaseResponse | str | None:
    """Return what to answer to a form that was sent before: what the first got, or a sentence.

    None is for a form that comes for the first time, and for what has no token. The first is noted,
    if it `is_known` who sends it: nobody else can have this server write.
    """
    key = key_of_request()
    return None if key is None or not (is_known or was_sent(key)) else _first(key)


#: Seconds for which the answer to a form is kept in memory, how many of them are, and for how many
#: seconds the same form waits for it. A page that shows something once is not lost then.
_KEPT_FOR, _MOST_ANSWERS, _PATIENCE = 60.0, 100, 10.0
_ANSWERS: dict[bytes, tuple[float, bytes, str]] = {}
_KEEPING = threading.Lock()
#: The outcome of a form that led nowhere.
_DONE = "done"


def _first(key: bytes) -> BaseResponse | str | None:
    """Note a form that comes for the first time; wait for what became of one that came before."""
    forms, end = the_store().sent_forms, time.monotonic() + _PATIENCE
    outcome = forms.begin(key, now())
    while outcome == UNDER_WAY and time.monotonic() < end:
        time.sleep(0.05)
        outcome = forms.outcome(key)
        if outcome is None:  # it was refused, so this one counts
            outcome = forms.begin(key, now())
    if outcome is None:
        g.sent_form = key
        return None
    at, page, media_type = _ANSWERS.get(key, (-_KEPT_FOR, b"", ""))
    if time.monotonic() < at + _KEPT_FOR:
        return Response(page, content_type=media_type)
    if outcome == UNDER_WAY:
        return "This form was sent before, and is still being worked on. Nothing was done again."
    if outcome != _DONE:
        return redirect(outcome, 303)
    return (
        "This form was sent before, and what it asks for was done then. Nothing was done again. "
        "What it showed cannot be shown a second time."
    )


def _keep(key: bytes, response: Response) -> None:
    """Keep an answer for those who send the same form again, and drop old answers."""
    at = time.monotonic()
    with _KEEPING:
        _ANSWERS[key] = (at, response.get_data(), response.content_type or "")
        for old, (since, *_) in list(_ANSWERS.items()):
            if since < at - _KEPT_FOR or len(_ANSWERS) > _MOST_ANSWERS:
                del _ANSWERS[old]


def note_sent(response: Response) -> Response:
    """Note where a form led; one that was refused can be sent again."""
    key = g.pop("sent_form", None)
    if key is None:
        return response
    if response.status_code >= 400 or g.get("mistakes"):
        the_store().sent_forms.forget(key)
        return response
    if not response.location:
        _keep(key, response)
    the_store().sent_forms.end(key, response.location or _DONE)
    return response
