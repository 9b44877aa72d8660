"""A form of the console acts once, however often the same form is sent.

Each form has a random token. A second press of its button, or sending the page again, sends the
same token with the same content: then nothing is done, and whoever sent it gets what the first one
got. Another content is another form.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hmac import compare_digest

from flask import Response, g, redirect, request, session
from markupsafe import Markup
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as BaseResponse

from server.clock import now
from server.console.kept_answers import KeptAnswers
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
    return key is not None and the_store().sent_forms.outcome(key, now()) is not None


@dataclass(frozen=True)
class _Answer:
    """What a form got: the account that sent it ("" for nobody), its proof, and the page."""

    who: str
    csrf: str
    page: bytes
    media_type: str

    def is_for(self, who: str | None) -> bool:
        """Return whether somebody may see the page: the account that sent the form, or its browser.

        The browser shows by its cookie that it had the session with which the form was sent. None
        stands for whoever has no session any more.
        """
        if who is not None:
            return self.who == who
        proofs = request.form.get("csrf", ""), session.get("csrf", "")
        return bool(self.csrf) and all(
            compare_digest(self.csrf.encode(), proof.encode()) for proof in proofs
        )


#: What forms got. A page that shows something once is not lost to whoever sends its form again.
_ANSWERS = KeptAnswers[_Answer]()
#: Seconds for which the same form waits for the first one.
_PATIENCE = 10.0
#: The outcome of a form that led nowhere.
_DONE = "done"


def sent_before(who: str, is_known: bool = True) -> BaseResponse | str | None:
    """Return what to answer to a form that was sent before: what the first got, or a sentence.

    None is for a form that comes for the first time, and for what has no token. The first is noted,
    if it `is_known` who sends it: nobody else can have this server write. `who` is their account.
    """
    key = key_of_request()
    if key is None or not (is_known or was_sent(key)):
        return None
    outcome = _begun(key)
    if outcome is None:
        g.sent_form = key, who
        return None
    return _answer(key, who) or _told(outcome)


def note_repeated() -> None:
    """Note a form that acts, or not, by rules of its own, so that it is known to have been sent.

    Its answer is not kept.
    """
    key = key_of_request()
    if key is not None and the_store().sent_forms.begin(key, now()) is None:
        g.sent_form = key, None


def sent_by_session_before(who: str) -> BaseResponse | str | None:
    """Return the same for a form with the proof of another session; nothing is noted."""
    key = key_of_request()
    outcome = None if key is None else _outcome(key)
    return None if key is None or outcome is None else _answer(key, who) or _told(outcome)


def answer_after_session() -> BaseResponse | None:
    """Return what a form of one's account got that ended its own session; None if it is not kept.

    Such a form shows what is shown once, and is sent again with the cookie of before.
    """
    key = key_of_request() if request.path.startswith("/account") else None
    return None if key is None or _outcome(key) is None else _answer(key, None)


def _begun(key: bytes) -> str | None:
    """Note a form that comes for the first time; return what became of one that came before."""
    forms = the_store().sent_forms
    return _awaited(key, forms.begin(key, now()), lambda: forms.begin(key, now()))


def _outcome(key: bytes) -> str | None:
    """Return what became of a form; None if it was not sent, or refused."""
    return _awaited(key, the_store().sent_forms.outcome(key, now()), lambda: None)


def _awaited(key: bytes, outcome: str | None, refused: Callable[[], str | None]) -> str | None:
    """Return what became of a form once that is known; of a refused one, what `refused` returns."""
    end = time.monotonic() + _PATIENCE
    while outcome == UNDER_WAY and time.monotonic() < end:
        time.sleep(0.05)
        outcome = the_store().sent_forms.outcome(key, now())
        if outcome is None:
            outcome = refused()
    return outcome


def _answer(key: bytes, who: str | None) -> BaseResponse | None:
    """Return the page that the first form got, if it is kept and they may see it."""
    answer = _ANSWERS.get(key)
    if answer is None or not answer.is_for(who):
        return None
    return Response(answer.page, content_type=answer.media_type)


def _told(outcome: str) -> BaseResponse | str:
    """Return where a form led, or a sentence if it led nowhere."""
    if outcome == UNDER_WAY:
        return "This form was sent before, and is still being worked on. Nothing was done again."
    if outcome != _DONE:
        return redirect(outcome, 303)
    return (
        "This form was sent before, and what it asks for was done then. Nothing was done again. "
        "What it showed cannot be shown a second time."
    )


def _keep(key: bytes, who: str, response: Response) -> None:
    """Keep an answer for those who send the same form again."""
    csrf, media_type = request.form.get("csrf", ""), response.content_type or ""
    _ANSWERS.keep(key, _Answer(who, csrf, response.get_data(), media_type), who)


def note_sent(response: Response) -> Response:
    """Note where a form led; one that was refused can be sent again."""
    if "sent_form" not in g:
        return response
    key, who = g.pop("sent_form")
    if response.status_code >= 400 or g.get("mistakes"):
        the_store().sent_forms.forget(key)
        return response
    if who is not None and not response.location:
        _keep(key, who, response)
    the_store().sent_forms.end(key, response.location or _DONE, now())
    return response
