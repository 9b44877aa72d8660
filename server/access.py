"""Who a researcher is, and what they may do: tokens, passwords, second factors and sessions.

A session is a random token in a signed cookie. The store has the token's hash, and can end the
session at once. The time in the signature ends a session that was idle for some minutes.
"""

import contextlib
import hashlib
import hmac
import re
import secrets
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import timedelta
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any, NoReturn

from flask import Flask, Request, Response, after_this_request, current_app, g, request, session
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import Forbidden, TooManyRequests
from werkzeug.security import check_password_hash, generate_password_hash

from server.clock import now, stamp
from server.extensions import the_store
from server.store import StoreBusy
from server.store.factors import KNOWN_FOR
from server.store.researchers import Researcher
from server.store.rules import SECOND_FACTOR

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


class Sessions(SecureCookieSessionInterface):
    """Flask's sessions, but only for requests with a cookie, and for those that sign in.

    Respondents' devices send no cookies.
    """

    def open_session(self, app: Flask, request: Request) -> Any:
        signs_in = request.path == "/login" or request.path.startswith("/setup/")
        if "Cookie" not in request.headers and not signs_in:
            return self.make_null_session(app)
        return super().open_session(app, request)


class FactorNeeded(Forbidden):
    """An account has no second factor although all need one."""

    description = "Here every account needs a second factor: set it up at /account."


#: Seconds after which a session ends even if it is in use.
LONGEST_SESSION = 12 * 3600

#: The researcher who sends the token that `deniable serve` printed.
SERVER = Researcher("research token", "owner")

#: The cookie by which a browser is known in which somebody has signed in. It lets nobody in: failed
#: attempts in such a browser are counted apart, so that nobody else can make its owner wait.
BROWSER = "__Host-deniable-browser"

#: scrypt takes 32 MiB and much time. So a process computes only one hash at a time for strangers,
#: one for those whose password is likely, and one for known browsers. Few of each may wait, so that
#: a flood of attempts leaves threads to others.
_STRANGE, _LIKELY, _KNOWN = ((threading.BoundedSemaphore(4), threading.Lock()) for _ in range(3))

#: It has the form of every stored hash, and is that of no password. A name that nobody has costs as
#: much time as one that somebody has.
_OF_NOBODY = f"scrypt:32768:8:1${'0' * 16}${'0' * 128}"


def new_password() -> str:
    """Return 192 random bits as 48 hexadecimal digits, which need no quotes in shells and tables.

    Base64 would be shorter, but could begin with -, which tables guard as a formula.
    """
    return secrets.token_hex(24)


def account_name() -> str:
    """Return the name under which the store has this researcher's sessions."""
    return "" if g.researcher == SERVER else str(g.researcher.name)


def hashed(password: str) -> str:
    """Return what is stored of a password: two bytes of its SHA-256, then its scrypt hash.

    The two bytes rule out nearly every wrong password at once. So the right one never has to wait,
    however fast somebody else guesses. Whoever steals the hash must still guess 176 random bits.
    """
    return f"{_check(password)}:{generate_password_hash(password)}"


#: The fewest characters of a password that somebody chooses, the fewest different characters, and
#: the most characters.
SHORTEST, DIFFERENT, LONGEST = 12, 5, 256


def unfit(password: str, name: str) -> str:
    """Return why a password is unfit for this account, or "" if it is fit.

    Length counts. No rule asks for certain kinds of characters (NIST SP 800-63B, 3.1.1.2).
    """
    if not SHORTEST <= len(password) <= LONGEST:
        expected = f"{SHORTEST} to {LONGEST} characters"
        return f"Password: expected {expected}, got {len(password)}"
    if len(set(password.lower())) < DIFFERENT:
        return f"Password: expected at least {DIFFERENT} different characters"
    if len(name) >= 4 and name.lower() in password.lower():
        return "Password: expected one without your name in it"
    return ""


def hashed_choice(password: str) -> str:
    """Return what is stored of a password that somebody chose: its scrypt hash alone.

    Two bytes of a fast hash would rule out nearly all of the words that others try on a stolen
    database. So each attempt costs a scrypt hash, and has to wait before.
    """
    return f":{generate_password_hash(_normal(password))}"


def _normal(password: str) -> str:
    """Return a password in one Unicode form, which no longer depends on the keyboard."""
    return unicodedata.normalize("NFKC", password)


def _check(password: str) -> str:
    return hashlib.sha256(password.encode(errors="surrogatepass")).hexdigest()[:4]


def identify() -> Researcher | None:
    """Return who sends this request, by token, password or session; None if they are unknown.

    Raises
    ------
    TooManyRequests
        If passwords were tried too often under this name.
    """
    given = request.authorization
    if given is None:
        return _session_owner()
    token = given.token or given.password
    if token and the_store().access.knows_token(token):
        return SERVER
    if given.type == "basic" and given.username and given.password:
        account = the_store().researchers.find(given.username)
        # A program has no second factor, so no password is right where one is asked for, and
        # nobody can find out in this way which one would be.
        is_asked = account is not None and _asks_for_factor(account[0])
        return check_password(given.username, "" if is_asked else given.password)
    return None


def shown_account() -> str | None:
    """Return whose session or research token the head of this request has; None if it has none.

    No password is tried: a change cannot be made with a name and a password alone.
    """
    if request.authorization is not None and request.authorization.type != "bearer":
        return None
    with contextlib.suppress(StoreBusy):  # the view will say so
        researcher = identify()
        return None if researcher is None else researcher.name
    return None


def check_password(name: str, password: str) -> Researcher | None:
    """Return the account with this name and password, or count a failed attempt; errors as above.

    The password may also be a research token, under any name. A wrong password takes the same time
    whether the name is known or not.
    """
    store = the_store()
    if store.access.knows_token(password):
        return SERVER
    if len(password) > LONGEST:  # Unicode forms take time that grows with the square
        password = ""
    account = store.researchers.find(name)
    check, _, scrypt = account[1].partition(":") if account else ("", "", _OF_NOBODY)
    bucket, is_known = _bucket(name)
    # A made password never waits. For names without one, random bytes stand for its first ones.
    is_likely = compare_digest(check or _no_check(name), _check(password))
    if not is_likely:
        _check_wait(store.access.wait(bucket, now()))
    with _turn(*(_KNOWN if is_known else _LIKELY if is_likely else _STRANGE)):
        right = check_password_hash(scrypt, password if check else _normal(password))
    if account is not None and right:
        return account[0]
    _check_wait(store.access.attempt(bucket, now()))
    return None


def sign_in(name: str, password: str, code: str) -> Researcher | None:
    """Return the account with this name, password and, if it has one, second factor.

    A wrong code counts as a failed attempt, and raises TooManyRequests like a wrong password.
    """
    store, researcher = the_store(), check_password(name, password)
    if researcher is None or researcher is SERVER or not store.factors.has(researcher.name):
        return researcher
    if is_right_code(researcher, code):
        return researcher
    # It counts like a wrong password, so that its count does not tell that the password was right.
    _check_wait(store.access.attempt(_bucket(name)[0], now()))
    return None


def is_right_code(researcher: Researcher, code: str) -> bool:
    """Return whether a code is the second factor of an account now, or count a failed attempt."""
    store = the_store()
    # Only whoever has the right password is counted here, and known browsers apart, so nobody else
    # makes the owner wait. It is counted before, since several codes can be tried at once.
    bucket, is_known = _bucket(researcher.name)
    if not is_known:  # many names share a bucket for passwords
        bucket = hashlib.sha256(researcher.name.encode()).hexdigest()[:32]
    bucket = f"code {bucket}"
    _check_wait(store.access.attempt(bucket, now()))
    if not store.factors.use(researcher.name, code, now()):
        return False
    store.access.forgive(bucket)
    return True


def lacks_factor(researcher: Researcher) -> bool:
    """Return whether an account has no second factor although all need one."""
    if researcher == SERVER or SECOND_FACTOR not in the_store().rules.all():
        return False
    return not the_store().factors.has(researcher.name)


def _asks_for_factor(researcher: Researcher) -> bool:
    return the_store().factors.has(researcher.name) or lacks_factor(researcher)


def _bucket(name: str) -> tuple[str, bool]:
    """Return under which name attempts are counted, and whether their browser is known.

    Others are counted by a part of the hash of the name that they try, so that nobody can fill the
    table.
    """
    token = request.cookies.get(BROWSER, "")
    if token and name in the_store().factors.known_in(token, now()):
        return f"browser {hashlib.sha256(token.encode()).hexdigest()[:32]}", True
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:3], False


def _no_check(name: str) -> str:
    """Return what stands for the two bytes of a made password where an account has none."""
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, name.encode(errors="replace"), "sha256").hex()[:4]


@contextlib.contextmanager
def _turn(places: threading.BoundedSemaphore, hashing: threading.Lock) -> Iterator[None]:
    """Wait for the turn to compute a hash; raise TooManyRequests if too many others wait."""
    if not places.acquire(blocking=False):
        raise TooManyRequests(retry_after=1)
    try:
        with hashing:
            yield
    finally:
        places.release()


def waits(error: TooManyRequests) -> str:
    """Return in a sentence for how long an attempt has to wait."""
    return f"Too many attempts. The next one can be made in {error.retry_after} s."


def _check_wait(seconds: float) -> None:
    if seconds > 0:
        raise TooManyRequests(retry_after=int(seconds) + 1)


def begin_session(researcher: Researcher) -> None:
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


def end_session() -> None:
    """End the session of this request."""
    the_store().access.end_session(session.get("token", ""))
    session.clear()


def _session_owner() -> Researcher | None:
    store = the_store()
    name = store.access.session(session.get("token", ""))
    if name is None or now() > session["born"] + LONGEST_SESSION:
        return None
    # Sign the cookie anew while the session is used. Pages that ask by themselves do not use it.
    session.modified = not request.path.endswith(("/live", "/preview"))
    account = store.researchers.find(name)
    return SERVER if not name else account[0] if account else None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host, which browsers trust without https."""
    with contextlib.suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def _is_asked_directly() -> bool:
    """Return whether the request is for a name that only this machine has, and no proxy's.

    A proxy says that it passes a request on, or passes on the name that visitors know.
    """
    host = re.sub(r":\d+$", "", request.host)
    forwarded = re.compile("(?i)x-forwarded-|forwarded$|via$|x-real-ip$")
    return is_loopback(host) and not any(forwarded.match(name) for name, _ in request.headers)


def is_from_here() -> bool:
    """Return whether this machine sent the request itself, to an address that only it can reach.

    The server never learns a client's address. It knows the one at which it was asked.
    """
    return _is_asked_directly() and is_loopback(request.environ["SERVER_NAME"])


def check_place() -> None:
    """Raise Forbidden if researchers' pages would be served on the respondents' public address.

    A script on such a page could read the form and what devices keep. On one machine, for a trial,
    both kinds of pages may share a port.
    """
    if "public" in current_app.config["PLANES"] and not _is_asked_directly():
        raise Forbidden(
            "Researchers' pages are not served on respondents' own address: "
            "start deniable serve with --research-port, and give that port to researchers alone."
        )


def check_origin() -> None:
    """Raise Forbidden if another site had a researcher's browser send the request."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site not in ("same-origin", "none"):
        raise Forbidden("Another site sent this request.")


def check_csrf() -> None:
    """Raise Forbidden unless a change was sent from a page of ours, or with a bearer token.

    Browsers never add such a token by themselves, so programs need no other proof.
    """
    check_origin()
    if request.authorization is not None and request.authorization.type == "bearer":
        return
    expected, got = session.get("csrf", ""), request.form.get("csrf", "")
    if not expected or not compare_digest(expected.encode(), got.encode()):
        raise Forbidden("This page is too old; please open it again.")


def refuse(roles: Sequence[str]) -> NoReturn:
    """Say which roles are let in, and which role this researcher has instead."""
    allowed = " and ".join(f"{role}s" for role in roles)
    role = g.researcher.role
    here = f"{'an' if role[0] in 'ao' else 'a'} {role}"
    raise Forbidden(f"This is for {allowed}; you are signed in as {here}.")


def record(what: str, subject: str) -> None:
    """Note in the log what this request is about to do."""
    the_store().log.add(stamp(), g.researcher.name, what, subject)
