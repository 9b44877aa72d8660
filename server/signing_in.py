"""Who somebody is, by a name, a password and a code; failed attempts make their author wait."""

import contextlib
import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from flask import request
from werkzeug.exceptions import TooManyRequests

from server.clock import now
from server.extensions import the_store
from server.passwords import LONGEST, has_old_form, hashed, is_chosen, is_made
from server.store.researchers import Researcher

#: The researcher who sends the token that `deniable serve` printed.
SERVER = Researcher("research token", "owner")

#: The cookie by which a browser is known in which somebody has signed in. It lets nobody in: failed
#: attempts in such a browser are counted apart, so that nobody else can make its owner wait.
BROWSER = "__Host-deniable-browser"


class Turns:
    """Turns to compute a hash, one at a time: scrypt takes 32 MiB and much time.

    Few may wait, so that a flood of attempts leaves threads to others; and few of them for the same
    owner, so that nobody takes the places of all others.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._waiting, self._counting = Counter[str](), threading.Lock()
        self._hashing = threading.Lock()

    @contextlib.contextmanager
    def one(self, owner: str) -> Iterator[None]:
        """Wait for a turn; raise TooManyRequests if too many others wait."""
        with self._counting:
            waiting = self._waiting[owner]
            if waiting >= self._most_of_one or self._waiting.total() >= self._most:
                raise TooManyRequests(retry_after=1)
            self._waiting[owner] += 1
        try:
            with self._hashing:
                yield
        finally:
            with self._counting:
                self._waiting -= Counter([owner])  # which forgets whoever waits no more


#: The turns of strangers, who have no owner, and those of accounts in known browsers.
STRANGERS, KNOWN = Turns(4, 4), Turns(8, 2)


def check_password(name: str, password: str) -> Researcher | None:
    """Return the account with this name and password, or count a failed attempt.

    The password may also be a research token, under any name. A wrong password takes the same time
    whether the name is known or not.
    """
    store = the_store()
    if store.access.knows_token(password):
        return replace(SERVER, mark=password)
    if len(password) > LONGEST:  # Unicode forms take time that grows with the square
        password = ""
    account = store.researchers.find(name)
    stored = account[1] if account else ""
    # A made password never waits, whatever others try: its own hash says at once that it is right.
    is_right = is_made(stored, password) or _is_chosen(name, stored, password)
    if account is None or not is_right:
        return None
    if has_old_form(stored):
        store.researchers.rewrite_secret(name, stored, hashed(password))
    return account[0]


def _is_chosen(name: str, stored: str, password: str) -> bool:
    """Return whether a password is the chosen one of which this is stored, or count an attempt.

    The hash is computed in turn, and only once the failed attempts before have waited.
    """
    store, (bucket, is_known) = the_store(), _bucket(name)
    _check_wait(store.access.wait(bucket, now()))
    with KNOWN.one(name) if is_known else STRANGERS.one(""):
        _check_wait(store.access.wait(bucket, now()))  # others may have failed meanwhile
        if is_chosen(stored, password):
            return True
        _check_wait(store.access.attempt(bucket, now()))
    return False


def sign_in(name: str, password: str, code: str) -> Researcher | None:
    """Return the account with this name, password and, if it has one, second factor.

    A wrong code counts as a failed attempt, and raises TooManyRequests like a wrong password.
    """
    store, researcher = the_store(), check_password(name, password)
    if researcher is None or researcher == SERVER or not store.factors.has(researcher.name):
        return researcher
    if is_right_code(researcher, code):
        return researcher
    # It costs and counts like a wrong password, so neither the time nor the count tells that the
    # password was right.
    account = store.researchers.find(name)
    if account and is_made(account[1], password):
        _is_chosen(name, "", password)
    else:
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


def _bucket(name: str) -> tuple[str, bool]:
    """Return under which name attempts are counted, and whether their browser is known.

    Others are counted by a part of the hash of the name that they try, so that nobody can fill the
    table.
    """
    token = request.cookies.get(BROWSER, "")
    if token and name in the_store().factors.known_in(token, now()):
        # Another account of the same browser is counted apart.
        own = f"{token} {name}".encode(errors="replace")
        return f"browser {hashlib.sha256(own).hexdigest()[:32]}", True
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:3], False


def waits(error: TooManyRequests) -> str:
    """Return in a sentence for how long an attempt has to wait."""
    return f"Too many attempts. The next one can be made in {error.retry_after} s."


def _check_wait(seconds: float) -> None:
    if seconds > 0:
        raise TooManyRequests(retry_after=int(seconds) + 1)
