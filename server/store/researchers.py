"""Researchers: their accounts, sessions and failed attempts, and the log of what they did."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import rfc8785

from server.store.file import File

#: What an account may do: `owner` everything, `analyst` see and download results.
ROLES = ("owner", "analyst")

#: So many failed attempts to log in are told so at once; then each next one waits twice as long, up
#: to so many seconds, and the count begins anew after a day without any.
FREE_ATTEMPTS, LONGEST_WAIT = 8, 60.0
_DAY = 86_400


@dataclass(frozen=True)
class Researcher:
    """An account: its name and what it may do."""

    name: str
    role: str


@dataclass(frozen=True)
class Entry:
    """One line of the log. `hash` is over the line and the hash before it, so that a line which is
    changed, taken out or put in between shows; whoever rewrites all that follows can only be caught
    by somebody who noted a later hash.
    """

    number: int
    at: str
    who: str
    what: str
    subject: str
    hash: str

    def expected(self, before: str) -> str:
        """What `hash` must be after a line whose hash is `before`."""
        line: list[Any] = [before, self.number, self.at, self.who, self.what, self.subject]
        return hashlib.sha256(rfc8785.dumps(line)).hexdigest()


class Researchers(File):
    """Who may see results, and what they did. Secrets come and stay hashed."""

    # Accounts

    def put_researcher(self, researcher: Researcher, secret: str) -> None:
        """Add an account, or change its role and secret, which ends its sessions."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO researcher VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET role = excluded.role, secret = excluded.secret",
                (researcher.name, researcher.role, secret),
            )
            connection.execute("DELETE FROM session WHERE researcher = ?", (researcher.name,))

    def remove_researcher(self, name: str) -> None:
        """Take an account away, and its sessions."""
        with self._writing() as connection:
            connection.execute("DELETE FROM session WHERE researcher = ?", (name,))
            connection.execute("DELETE FROM researcher WHERE name = ?", (name,))

    def researchers(self) -> list[Researcher]:
        """All accounts."""
        rows = self._connection.execute("SELECT name, role FROM researcher ORDER BY name")
        return [Researcher(*row) for row in rows]

    def researcher(self, name: str) -> tuple[Researcher, str] | None:
        """An account and its hashed secret."""
        row = self._connection.execute(
            "SELECT name, role, secret FROM researcher WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else (Researcher(*row[:2]), row[2])

    # The token that `serve` prints

    def add_token(self, token: str) -> None:
        """Let a research token in. Only its hash is stored; it is random, so SHA-256 will do."""
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO research_token VALUES (?)", (_hash(token),))

    def remove_token(self, token: str) -> None:
        """Let a research token in no more."""
        with self._writing() as connection:
            connection.execute("DELETE FROM research_token WHERE hash = ?", (_hash(token),))

    def knows_token(self, token: str) -> bool:
        """Whether a research token is let in. The look-up is by hash, so timing tells nothing."""
        row = self._connection.execute(
            "SELECT 1 FROM research_token WHERE hash = ?", (_hash(token),)
        ).fetchone()
        return row is not None

    # Sessions

    def add_session(self, token: str, name: str) -> None:
        """Remember who was let in with a session's random token."""
        with self._writing() as connection:
            connection.execute("INSERT INTO session VALUES (?, ?)", (_hash(token), name))

    def session(self, token: str) -> str | None:
        """Whose session it is; None if it has ended."""
        row = self._connection.execute(
            "SELECT researcher FROM session WHERE hash = ?", (_hash(token),)
        ).fetchone()
        return None if row is None else str(row[0])

    def end_session(self, token: str) -> None:
        """Let nobody in with a session's token any more."""
        with self._writing() as connection:
            connection.execute("DELETE FROM session WHERE hash = ?", (_hash(token),))

    def end_access(self) -> None:
        """End all sessions and forget all printed tokens: those of servers that run no more."""
        with self._writing() as connection:
            connection.execute("DELETE FROM session")
            connection.execute("DELETE FROM research_token")

    # Attempts to log in

    def attempt(self, name: str, now: float) -> float:
        """Count a failed attempt to log in under a name.

        Returns
        -------
        float
            0 if it may be answered; else the seconds until the next may.
        """
        # Looked at before the lock is taken: a flood of attempts must not hold reports up.
        if (wait := self._wait(name, now)) > 0:
            return wait
        with self._writing() as connection:
            if (wait := self._wait(name, now)) > 0:
                return wait
            (failures,) = connection.execute(
                "SELECT failures FROM throttle WHERE name = ? AND until > ?", (name, now - _DAY)
            ).fetchone() or (0,)
            pause = min(2.0 ** (failures - FREE_ATTEMPTS), LONGEST_WAIT)
            connection.execute(
                "INSERT INTO throttle VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                "SET failures = excluded.failures, until = excluded.until",
                (name, failures + 1, now + pause if failures >= FREE_ATTEMPTS else now),
            )
        return 0.0

    def _wait(self, name: str, now: float) -> float:
        """Seconds until an attempt under a name is looked at."""
        row = self._connection.execute(
            "SELECT until FROM throttle WHERE name = ?", (name,)
        ).fetchone()
        # A clock that was set back must not lock anybody out for longer.
        return 0.0 if row is None else min(float(row[0]) - now, LONGEST_WAIT)

    # The log

    def record(self, at: str, who: str, what: str, subject: str) -> None:
        """Add a line to the log of what researchers did."""
        with self._writing() as connection:
            last = connection.execute(
                "SELECT number, hash FROM log ORDER BY number DESC LIMIT 1"
            ).fetchone() or (0, "")
            entry = Entry(last[0] + 1, at, who, what, subject, "")
            row = (entry.number, at, who, what, subject, entry.expected(last[1]))
            connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", row)

    def log(self) -> Iterator[Entry]:
        """The lines of the log, the first first."""
        rows = self._connection.execute(
            "SELECT number, at, who, what, subject, hash FROM log ORDER BY number"
        )
        return (Entry(*row) for row in rows)

    def is_log_whole(self) -> bool:
        """Whether every line follows from the one before it."""
        before = ""
        for number, entry in enumerate(self.log(), 1):
            if entry.number != number or entry.hash != entry.expected(before):
                return False
            before = entry.hash
        return True


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
