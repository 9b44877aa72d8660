"""Sessions of researchers, and the browsers in which they have signed in.

A session is a random token in a signed cookie. The store has the token's hash, and can end the
session at once. The time in the signature ends a session that was idle for some minutes.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Flask, Request, Response, after_this_request, g, request, session
from flask.sessions import SecureCookieSessionInterface

from server.clock import now
from server.extensions import the_store
from server.signing_in import BROWSER, SERVER
from server.store.researchers import KNOWN_FOR, Researcher

#: Flask's settings of the cookie. With `__Host-` browsers take it only over https (or from this
#: computer), and only for and from this host.
COOKIE = {
    "SESSION_COOKIE_NAME": "__Host-deniable",
    "SESSION_COOKIE_SECURE": True,
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Strict",
    "PERMANENT_SESSION_LIFETIME": timedelta(minutes=30),
    "SESSION_REFRESH_EACH_REQUEST": False,
}


#: Seconds after which a session ends even if it is in use.
LONGEST_SESSION = 12 * 3600


class Sessions(SecureCookieSessionInterface):
    """Flask's sessions, but only for requests with a cookie, and for those that sign in.

    Respondents' devices send no cookies.
    """

    def open_session(self, app: Flask, request: Request) -> Any:
        signs_in = request.path == "/login" or request.path.startswith("/setup/")
        if "Cookie" not in request.headers and not signs_in:
            return self.make_null_session(app)
        return super().open_session(app, request)


@dataclass(frozen=True)
class Begun:
    """A session that has just begun: what its cookie has, and the token of its browser, if any."""

    values: dict[str, Any]
    browser: str


def begin(researcher: Researcher) -> bool:
    """Begin a session, which lasts until the researcher leaves or is idle for a while.

    Return whether it began. It does not if the account changed since `researcher` was read: then
    the password or the code that was right may be so no more.
    """
    token, is_server = secrets.token_urlsafe(24), researcher == SERVER
    name, browser = ("", "") if is_server else (researcher.name, _browser())
    if not the_store().access.begin_session(token, name, researcher.mark, browser, now()):
        return False
    values = {"token": token, "csrf": secrets.token_urlsafe(24), "born": now()}
    g.begun = Begun(values, browser)
    _hand_over(g.begun)
    return True


def resume(begun: Begun) -> bool:
    """Hand the same session over once more; return False if it has ended."""
    if the_store().access.session(begun.values["token"]) is None:
        return False
    _hand_over(begun)
    return True


def _hand_over(begun: Begun) -> None:
    """Let the browser have the cookies of a session."""
    if begun.browser:
        _keep(begun.browser)
    session.clear()
    session.permanent = True
    session.update(begun.values)


def _browser() -> str:
    """Return the token of this browser, or a new one for a browser that nobody has signed in by."""
    token = request.cookies.get(BROWSER, "")
    return token if the_store().factors.known_in(token, now()) else secrets.token_urlsafe(24)


def _keep(browser: str) -> None:
    """Let the browser keep its token, by which it is known from now on."""

    @after_this_request
    def keep(response: Response) -> Response:
        response.set_cookie(
            BROWSER, browser, int(KNOWN_FOR), secure=True, httponly=True, samesite="Strict"
        )
        return response


def end() -> None:
    """End the session of this request."""
    the_store().access.end_session(session.get("token", ""))
    session.clear()


def owner() -> Researcher | None:
    """Return whose session this request belongs to; None if it has none, or one that has ended."""
    found = the_store().access.session(session.get("token", ""))
    if found is None or now() > session["born"] + LONGEST_SESSION:
        return None
    # Sign the cookie anew while the session is used. Pages that ask by themselves do not use it.
    session.modified = not request.path.endswith(("/live", "/preview"))
    return found if found.name else SERVER
