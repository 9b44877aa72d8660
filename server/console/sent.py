"""A form of the console acts once, however often the same form is sent.

Each form has a random token. A second press of its button, or Back and the button again, sends the
same token with the same content: then nothing is done, and whoever sent it gets to where the first
one led. Another content is another form.
"""

import hashlib
import secrets
from urllib.parse import urlencode

from flask import Response, g, redirect, request, session
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


def sent_before() -> BaseResponse | str | None:
    """Return what to answer to a form that was sent before: where it led, or a sentence.

    None is for a form that comes for the first time, which is noted, and for what has no token.
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
    told = the_store().sent_forms.begin(key.digest(), now())
    if told is None:
        g.sent_form = key.digest()
        return None
    if told:
        return redirect(told, 303)
    return (
        "This form was sent before, and what it asks for was done then. Nothing was done again. "
        "What it showed was shown once."
    )


#: The most characters of a form that is kept on the page where somebody signs in.
_MOST_KEPT = 20_000
#: Fields that are not kept: proofs of this session, and secrets.
_NOT_KEPT = {"csrf", TOKEN, "password", "again", "old", "code", "secret", "target", "kept"}


def kept_form() -> str:
    """Return what somebody typed into a form whose session has ended; "" if there is nothing.

    Files are not kept. Nothing is kept of what another site had a browser send.
    """
    if request.method != "POST" or request.headers.get("Sec-Fetch-Site") != "same-origin":
        return ""
    items = [item for item in request.form.items(multi=True) if item[0] not in _NOT_KEPT]
    kept = urlencode(items)
    return kept if len(kept) <= _MOST_KEPT else ""


def note_sent(response: Response) -> Response:
    """Note where a form led; one that was refused can be sent again."""
    key = g.pop("sent_form", None)
    if key is None:
        return response
    if response.status_code >= 400 or g.get("mistakes"):
        the_store().sent_forms.forget(key)
    elif response.location:
        the_store().sent_forms.end(key, response.location)
    return response
