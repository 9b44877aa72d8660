"""Who a researcher is, and what they may do: tokens, passwords, sessions.

A session is a random token in a signed cookie, of which the store has the hash: the signature's
time ends it after idle minutes, the store ends it at once.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from hmac import compare_digest
from typing import Any, ParamSpec, TypeVar

from flask import Flask, Request, abort, g, request, session
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import Forbidden, TooManyRequests
from werkzeug.security import check_password_hash, generate_password_hash

from server.clock import now, stamp
from server.extensions import the_store
from server.store.researchers import Researcher

#: Flask's settings of the cookie. `__Host-`: only over https (or on this computer), for this host
#: alone, set by nobody else.
COOKIE = {
    "SESSION_COOKIE_NAME": "__Host-deniable",
    "SESSION_COOKIE_SECURE": True,
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Strict",
    "PERMANENT_SESSION_LIFETIME": timedelta(minutes=30),
    "SESSION_REFRESH_EACH_REQUEST": False,
}


class Sessions(SecureCookieSessionInterface):
    """Flask's own, but a request without a cookie has none, unless it is about to sign in.

    Respondents' devices send no cookies, and nobody looks for any.
    """

    def open_session(self, app: Flask, request: Request) -> Any:
        if "Cookie" not in request.headers and request.path != "/login":
            return self.make_null_session(app)
        return super().open_session(app, request)


#: Seconds after which a session ends though it is in use.
LONGEST_SESSION = 12 * 3600

#: Who has the token that `deniable serve` printed.
SERVER = Researcher("research token", "owner")

#: scrypt takes 32 MiB and much time: one at once in a process, however many ask.
_HASHING = threading.Lock()


def hashed(password: str) -> str:
    """What is kept of a password: two bytes of its SHA-256, then its scrypt hash.

    The two bytes tell nearly every wrong one at once. So however fast somebody else guesses, the
    right password never has to wait; and of 192 random bits 176 are left to guess.
    """
    return f"{_check(password)}:{generate_password_hash(password)}"


def _check(password: str) -> str:
    return hashlib.sha256(password.encode(errors="surrogatepass")).hexdigest()[:4]


def identify() -> Researcher | None:
    """Who sends this request, by their token, password or session; None if nobody known.

    Raises
    ------
    TooManyRequests
        If passwords were tried too often under this name.
    """
    given = request.authorization
    if given is None:
        return _of_session()
    store = the_store()
    token = given.token or given.password
    if token and store.access.knows_token(token):
        return SERVER
    if given.type == "basic" and given.username and given.password:
        return check_password(given.username, given.password)
    return None


def check_password(name: str, password: str) -> Researcher | None:
    """The account with this name and password, or None; counts against guessing.

    Raises
    ------
    TooManyRequests
        If it was tried too often under this name.
    """
    store = the_store()
    if store.access.knows_token(password):
        return SERVER
    account = store.researchers.find(name)
    check, _, kept = account[1].partition(":") if account else ("", "", "")
    if compare_digest(check, _check(password)):
        with _HASHING:
            right = check_password_hash(kept, password)
        if account is not None and right:
            return account[0]
    # Counted by a part of the name's hash: nobody can fill the table, or tell which names exist.
    wait = store.access.attempt(
        hashlib.sha256(name.encode(errors="replace")).hexdigest()[:3], now()
    )
    if wait > 0:
        raise TooManyRequests(retry_after=int(wait) + 1)
    return None


def begin_session(researcher: Researcher) -> None:
    """Let a researcher in until they leave, or do nothing for a while."""
    store = the_store()
    token = secrets.token_urlsafe(24)
    store.access.add_session(token, "" if researcher is SERVER else researcher.name)
    session.clear()
    session.permanent = True
    session.update(token=token, csrf=secrets.token_urlsafe(24), born=now())


def end_session() -> None:
    """Let nobody in with this session's token any more."""
    store = the_store()
    store.access.end_session(session.get("token", ""))
    session.clear()


def _of_session() -> Researcher | None:
    store = the_store()
    name = store.access.session(session.get("token", ""))
    if name is None or now() > session["born"] + LONGEST_SESSION:
        return None
    session.modified = True  # signed anew, so that it stays while it is used
    account = store.researchers.find(name)
    return SERVER if not name else account[0] if account else None


def check_origin() -> None:
    """Refuse what another site had a researcher's browser send; Forbidden."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site not in ("same-origin", "none"):
        raise Forbidden("This was sent from another site.")


def check_csrf() -> None:
    """Refuse a change that was not sent from a page of ours; Forbidden.

    Programs with a bearer token need no such proof: browsers never add one by themselves.
    """
    check_origin()
    if request.authorization is not None and request.authorization.type == "bearer":
        return
    expected, got = session.get("csrf", ""), request.form.get("csrf", "")
    if not expected or not compare_digest(expected.encode(), got.encode()):
        raise Forbidden("This page is too old; please open it again.")


P = ParamSpec("P")
R = TypeVar("R")


def for_owners(view: Callable[P, R]) -> Callable[P, R]:
    """A view that analysts may not use."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if g.researcher.role != "owner":
            abort(403, "This is for owners; you are signed in as an analyst.")
        return view(*args, **kwargs)

    return guarded


def record(what: str, subject: str) -> None:
    """Note in the log what this request is about to do."""
    store = the_store()
    store.log.add(stamp(), g.researcher.name, what, subject)
