"""The links of invited people, which follow from the session in which they are made."""

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from flask import current_app, session

from server import access
from server.clock import now
from server.extensions import the_store
from server.intake.invitations import ISSUER


def secret_of_session(name: str) -> bytes:
    """Return a secret that only this session and the server's key make; a random one without."""
    if "token" not in session:
        return secrets.token_bytes(32)
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, f"{session['token']} {name}".encode(), "sha256")


@dataclass(frozen=True)
class Links:
    """Links that are made by one press of a button.

    They follow from a secret that only a session and the server's key make. So the server stores
    none of them, and whoever made them can download them again until the session ends.
    """

    secret: bytes
    survey: str
    wave: int
    number: int

    @classmethod
    def of_press(cls, survey: str, wave: int, number: int) -> "Links":
        """Return those of a press in this session, counted from 0; a program has no session."""
        return cls(secret_of_session(f"{survey} {wave} {number}"), survey, wave, number)

    @classmethod
    def of_session(cls, survey: str, wave: int) -> "list[Links]":
        """Return those of all presses in this session so far."""
        found = list[Links]()
        while "token" in session:
            links = cls.of_press(survey, wave, len(found))
            if the_store().sent_forms.outcome(links.key, now()) is None:
                break
            found.append(links)
        return found

    @classmethod
    def all_of_session(cls, survey: str) -> "list[Links]":
        """Return those of all presses in this session, for every wave."""
        waves = list(the_store().surveys.waves(survey)) or [1]
        return [links for wave in waves for links in cls.of_session(survey, wave)]

    @classmethod
    def following(cls, survey: str, wave: int) -> "Links":
        """Return those of the next press in this session."""
        return cls.of_press(survey, wave, len(cls.of_session(survey, wave)))

    @property
    def key(self) -> bytes:
        """The name under which the store knows that they were made."""
        return hashlib.sha256(b"links " + self.secret).digest()

    def tokens(self, number: int) -> Iterator[str]:
        """Yield the tokens of so many links."""
        for place in range(number):
            yield ISSUER.issue(hmac.digest(self.secret, b"%d" % place, "sha256")[:16])

    @property
    def made(self) -> int:
        """How many of them were made and not taken back."""
        return int(the_store().sent_forms.outcome(self.key, now()) or 0)

    def make(self, number: int) -> None:
        """Make links, unless that was done, or is done right now."""
        store = the_store()
        if store.sent_forms.begin(self.key, now()) is not None:
            return
        try:
            access.record("invite", f"{self.survey}, wave {self.wave}, {number}")
            store.invitations.add(self.survey, self.wave, map(ISSUER.key, self.tokens(number)))
            store.sent_forms.end(self.key, f"{number}", now())
        except BaseException:
            store.sent_forms.forget(self.key)
            raise

    def take_back(self) -> None:
        """Take them back, used or not, so that none can be used any more."""
        store, made = the_store(), self.made
        access.record("revoke links", f"{self.survey}, wave {self.wave}, {made}")
        keys = [ISSUER.key(token) for token in self.tokens(made)]
        store.invitations.revoke(self.survey, keys)
        store.sent_forms.end(self.key, "0", now())
