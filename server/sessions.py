"""Sessions of researchers, and the browsers in which they have signed in.

A session is a random token in a signed cookie. The store has the token's hash, and can end the
session at once. The time in the signature ends a session that was idle for some minutes.
"""

import secrets
from datetime import timedelta
from typing import Any

from flask import Flask, Request, Response, after_this_request, request, session
from flask.sessions import SecureCookieSessionInterface

from server.clock import now
from server.extensions import the_store
from server.signing_in import BROWSER, SERVER
from server.store.factors import KNOWN_FOR
from server.store.researchers import Researcher

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


def begin(researcher: Researcher) -> None:
    """Begin a session, which lasts until the researcher leaves or is idle for a while."""
    store = the_store()
    if researcher is not SERVER:
        _know_browser(researcher.name)
    token = secrets.token_urlsafe(24)
    store.access.add_session(token, "" if researcher is SERVER else researcher.name)
    session.clear()
    session.permanent = True
    session.update(token=token, csrf=secrets.token_urlsafe(24), born=now())


def _know_browser(name: str) -> None:
    """Know from now on that this account has signed in by this browser."""
    token = request.cookies.get(BROWSER, "")
    if not the_store().factors.known_in(token, now()):
        token = secrets.token_urlsafe(24)
    the_store().factors.add_browser(token, name, now())

    @after_this_request
    def keep(response: Response) -> Response:
        response.set_cookie(
            BROWSER, token, int(KNOWN_FOR), secure=True, httponly=True, samesite="Strict"
        )
        return response


def end() -> None:
    """End the session of this request."""
    the_store().access.end_session(session.get("token", ""))
    session.clear()


def owner() -> Researcher | None:
    store = the_store()
    name = store.access.session(session.get("token", ""))
    if name is None or now() > session["born"] + LONGEST_SESSION:
        return None
    # Sign the cookie anew while the session is used. Pages that ask by themselves do not use it.
    session.modified = not request.path.endswith(("/live", "/preview"))
    account = store.researchers.find(name)
    return SERVER if not name else account[0] if account else None
