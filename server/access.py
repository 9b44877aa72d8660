"""Who sends a request, and what they may do."""

import contextlib
import re
from collections.abc import Sequence
from hmac import compare_digest
from ipaddress import ip_address
from typing import NoReturn

from flask import current_app, g, request, session
from werkzeug.exceptions import Forbidden

from server import sessions
from server.clock import stamp
from server.extensions import the_store
from server.signing_in import SERVER, check_password
from server.store import StoreBusy
from server.store.researchers import Researcher
from server.store.rules import SECOND_FACTOR


class FactorNeeded(Forbidden):
    """An account has no second factor although all need one."""

    description = "Here every account needs a second factor: set it up at /account."


def account_name() -> str:
    """Return the name under which the store has this researcher's sessions."""
    return "" if g.researcher == SERVER else str(g.researcher.name)


def identify() -> Researcher | None:
    """Return who sends this request, by token, password or session; None if they are unknown.

    Raises
    ------
    TooManyRequests
        If passwords were tried too often under this name.
    """
    given = request.authorization
    if given is None:
        return sessions.owner()
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


def lacks_factor(researcher: Researcher) -> bool:
    """Return whether an account has no second factor although all need one."""
    if researcher == SERVER or SECOND_FACTOR not in the_store().rules.all():
        return False
    return not the_store().factors.has(researcher.name)


def _asks_for_factor(researcher: Researcher) -> bool:
    return the_store().factors.has(researcher.name) or lacks_factor(researcher)


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


def has_proof() -> bool:
    """Return whether a change was sent from a page of this session, or with a bearer token.

    Browsers never add such a token by themselves, so programs need no other proof. Raise Forbidden
    if another site had a browser send it.
    """
    check_origin()
    if request.authorization is not None and request.authorization.type == "bearer":
        return True
    expected, got = session.get("csrf", ""), request.form.get("csrf", "")
    return bool(expected) and compare_digest(expected.encode(), got.encode())


def refuse(roles: Sequence[str]) -> NoReturn:
    """Say which roles are let in, and which role this researcher has instead."""
    allowed = " and ".join(f"{role}s" for role in roles)
    role = g.researcher.role
    here = f"{'an' if role[0] in 'ao' else 'a'} {role}"
    raise Forbidden(f"This is for {allowed}; you are signed in as {here}.")


def record(what: str, subject: str) -> None:
    """Note in the log what this request is about to do."""
    the_store().log.add(stamp(), g.researcher.name, what, subject)
