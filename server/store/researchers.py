"""Researchers: their accounts, sessions and failed attempts to sign in."""

import hashlib
import secrets
from dataclasses import dataclass, field, replace

from server.store.database import Connection, Database

#: Names of accounts.
NAME = r"[\w.@-]{1,64}"

#: What an account may do: `owner` everything, `analyst` see and download results, `fieldworker` see
#: how the field goes and make invitations, but see no results.
ROLES = ("owner", "analyst", "fieldworker")

#: This many failed attempts to sign in are answered at once. Then each waits twice as long as the
#: one before, up to this many seconds. After a day without attempts the count starts again.
FREE_ATTEMPTS, LONGEST_WAIT = 8, 60.0
_DAY = 86_400


#: Seconds for which a browser is known after somebody signed in, and the most browsers of an
#: account. The one that was used the longest time ago is forgotten first.
KNOWN_FOR, MOST_BROWSERS = 365 * 86_400.0, 20

#: The most sessions of an account. If another one begins, the oldest ends.
MOST_SESSIONS = 50


@dataclass(frozen=True)
class Researcher:
    """An account: its name and what it may do.

    `mark` is random, and another one whenever the account gets another password or second factor,
    or is signed out everywhere. So what takes a while can find out at its end whether whom it let
    in may still come in.
    """

    name: str
    role: str
    mark: str = field(default="", compare=False, repr=False)


class Researchers:
    """The accounts of those who may see results. Passwords come and stay hashed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, researcher: Researcher, secret: str) -> None:
        """Add an account, or change its role and secret.

        This ends its sessions and links, and no browser is known any more. It has no second factor
        any more, either: it may have been lost.
        """
        with self._database.writing() as connection:
            _put(connection, researcher, secret)

    def set_up(self, code: str, secret: str, now: float) -> Researcher | None:
        """Add or change the account of a link, as `put` does; None if it is unknown or too old."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM setup WHERE until <= ?", (now,))
            sql = "SELECT name, role FROM setup WHERE hash = ?"
            row = connection.execute(sql, (hash_of(code),)).fetchone()
            return None if row is None else _put(connection, Researcher(*row), secret)

    def change_secret(self, researcher: Researcher, secret: str) -> Researcher | None:
        """Give an account another secret, which ends its sessions; None as for `renew`."""
        with self._database.writing() as connection:
            renewed = renew(connection, researcher)
            if renewed is not None:
                sql = "UPDATE researcher SET secret = ? WHERE name = ?"
                connection.execute(sql, (secret, researcher.name))
                end_setups(connection, researcher.name)
            return renewed

    def rewrite_secret(self, name: str, before: str, secret: str) -> None:
        """Store the same password of an account in another way."""
        sql = "UPDATE researcher SET secret = ? WHERE name = ? AND secret = ?"
        self._database.write(sql, secret, name, before)

    def remove(self, name: str) -> None:
        """Remove an account, its sessions, its second factor, and links to set it up."""
        with self._database.writing() as connection:
            end_sessions(connection, name)
            end_setups(connection, name)
            remove_factor(connection, name)
            connection.execute("DELETE FROM researcher WHERE name = ?", (name,))

    def all(self) -> list[Researcher]:
        """Return all accounts, in the order of their names."""
        rows = self._database.query("SELECT name, role FROM researcher ORDER BY name")
        return [Researcher(*row) for row in rows]

    def find(self, name: str) -> tuple[Researcher, str] | None:
        """Return an account and its hashed secret; None if there is none."""
        sql = "SELECT name, role, mark, secret FROM researcher WHERE name = ?"
        row = self._database.query(sql, name).fetchone()
        return None if row is None else (Researcher(*row[:3]), row[3])


class Access:
    """The tokens that `serve` prints, sessions, and failed attempts to sign in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_token(self, token: str) -> None:
        """Accept a research token. Only its hash is stored; it is random, so SHA-256 will do."""
        sql = "INSERT INTO research_token VALUES (?) ON CONFLICT DO NOTHING"
        self._database.write(sql, hash_of(token))

    def remove_token(self, token: str) -> None:
        """Forget a research token."""
        self._database.write("DELETE FROM research_token WHERE hash = ?", hash_of(token))

    def knows_token(self, token: str) -> bool:
        """Return whether a research token is valid, by its hash, in a time that reveals nothing."""
        rows = self._database.query("SELECT 1 FROM research_token WHERE hash = ?", hash_of(token))
        return rows.fetchone() is not None

    def begin_session(
        self, token: str, name: str, mark: str, browser: str = "", now: float = 0
    ) -> bool:
        """Remember whom a session's random token lets in, and by which browser.

        Nothing is remembered, and the result is False, if the account no longer has this `mark`:
        what it was let in by may be wrong now. With '' as its name, `mark` is a printed token.
        """
        with self._database.writing() as connection:
            if not (has_mark(connection, name, mark) if name else self.knows_token(mark)):
                return False
            sql = "SELECT coalesce(max(number), 0) FROM session WHERE researcher = ?"
            (last,) = connection.execute(sql, (name,)).fetchone()
            values = hash_of(token), name, last + 1
            connection.execute("INSERT INTO session VALUES (?, ?, ?)", values)
            sql = "DELETE FROM session WHERE researcher = ? AND number <= ?"
            connection.execute(sql, (name, last + 1 - MOST_SESSIONS))
            if browser:
                add_browser(connection, browser, name, now)
            return True

    def session(self, token: str) -> Researcher | None:
        """Return whose session it is, with '' as the name for printed tokens; None if it ended."""
        sql = (
            "SELECT session.researcher, role, mark FROM session "
            "LEFT JOIN researcher ON name = session.researcher WHERE hash = ?"
        )
        row = self._database.query(sql, hash_of(token)).fetchone()
        if row is None or (row[0] and row[1] is None):
            return None
        return Researcher(*row) if row[0] else Researcher("", "owner")

    def end_session(self, token: str) -> None:
        """End the session with this token."""
        self._database.write("DELETE FROM session WHERE hash = ?", hash_of(token))

    def end_sessions_of(self, name: str) -> None:
        """End all sessions of an account, and know its browsers no more; '' for printed tokens."""
        with self._database.writing() as connection:
            connection.execute("UPDATE researcher SET mark = ? WHERE name = ?", (_mark(), name))
            end_sessions(connection, name)

    def add_setup(self, code: str, researcher: Researcher, until: float) -> None:
        """Remember a code with which an account can be set up once, until then."""
        values = (hash_of(code), researcher.name, researcher.role, until)
        self._database.write("INSERT INTO setup VALUES (?, ?, ?, ?)", *values)

    def setup(self, code: str, now: float) -> Researcher | None:
        """Return the account that a code can set up; None if the code is unknown or too old."""
        sql = "SELECT name, role FROM setup WHERE hash = ? AND until > ?"
        row = self._database.query(sql, hash_of(code), now).fetchone()
        return None if row is None else Researcher(*row)

    def setups(self, now: float) -> list[Researcher]:
        """Return the accounts that somebody has a link to set up."""
        sql = "SELECT DISTINCT name, role FROM setup WHERE until > ? ORDER BY name, role"
        return [Researcher(*row) for row in self._database.query(sql, now)]

    def end_all(self) -> None:
        """End all sessions and forget all printed tokens: those of servers that run no more."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM session")
            connection.execute("DELETE FROM research_token")

    def attempt(self, name: str, now: float) -> float:
        """Count a failed attempt to sign in under a name; return the seconds until it is answered.

        An attempt that has to wait is not counted.
        """
        # Check this before taking the lock: a flood of attempts must not hold reports up.
        if (wait := self.wait(name, now)) > 0:
            return wait
        with self._database.writing() as connection:
            if (wait := self.wait(name, now)) > 0:
                return wait
            (failures,) = connection.execute(
                "SELECT failures FROM throttle WHERE name = ? AND until > ?", (name, now - _DAY)
            ).fetchone() or (0,)
            pause = min(2.0 ** (failures - FREE_ATTEMPTS), LONGEST_WAIT)
            connection.execute(
                "INSERT INTO throttle VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
                "SET failures = excluded.failures, until = excluded.until",
                (name, failures + 1, now + pause if failures >= FREE_ATTEMPTS else now),
            )
        return 0.0

    def forgive(self, name: str) -> None:
        """Count the attempts under a name anew."""
        self._database.write("DELETE FROM throttle WHERE name = ?", name)

    def wait(self, name: str, now: float) -> float:
        """Return the seconds until an attempt under a name is looked at."""
        row = self._database.query("SELECT until FROM throttle WHERE name = ?", name).fetchone()
        # A clock that was set back must not lock anybody out for longer.
        return 0.0 if row is None else min(float(row[0]) - now, LONGEST_WAIT)


# What follows is part of a transaction of whoever calls it.


def renew(connection: Connection, researcher: Researcher) -> Researcher | None:
    """End an account's sessions, know its browsers no more, and return it with another mark.

    None is returned, and nothing ended, if it no longer has the mark with which it was read.
    """
    renewed = replace(researcher, mark=_mark())
    sql = "UPDATE researcher SET mark = ? WHERE name = ? AND mark = ?"
    values = renewed.mark, researcher.name, researcher.mark
    if not connection.execute(sql, values).rowcount:
        return None
    end_sessions(connection, researcher.name)
    return renewed


def has_mark(connection: Connection, name: str, mark: str) -> bool:
    """Return whether an account exists and still has this mark."""
    sql = "SELECT 1 FROM researcher WHERE name = ? AND mark = ?"
    return connection.execute(sql, (name, mark)).fetchone() is not None


def end_sessions(connection: Connection, name: str) -> None:
    """End the sessions of an account, and know its browsers no more."""
    connection.execute("DELETE FROM session WHERE researcher = ?", (name,))
    connection.execute("DELETE FROM browser WHERE researcher = ?", (name,))


def end_setups(connection: Connection, name: str) -> None:
    """Forget the links that set an account up."""
    connection.execute("DELETE FROM setup WHERE name = ?", (name,))


def remove_factor(connection: Connection, name: str) -> None:
    """Remove the second factor of an account."""
    connection.execute("DELETE FROM second_factor WHERE researcher = ?", (name,))
    connection.execute("DELETE FROM recovery_code WHERE researcher = ?", (name,))


def add_browser(connection: Connection, token: str, name: str, now: float) -> None:
    """Know a browser by its token, in which an account has signed in."""
    connection.execute(
        "INSERT INTO browser VALUES (?, ?, ?) "
        "ON CONFLICT (researcher, hash) DO UPDATE SET until = excluded.until",
        (name, hash_of(token), now + KNOWN_FOR),
    )
    connection.execute(
        "DELETE FROM browser WHERE until <= ? OR (researcher = ? AND hash NOT IN (SELECT "
        "hash FROM browser WHERE researcher = ? ORDER BY until DESC, hash LIMIT ?))",
        (now, name, name, MOST_BROWSERS),
    )


def _put(connection: Connection, researcher: Researcher, secret: str) -> Researcher:
    """Add an account, or change its role and secret; return it with its mark."""
    marked = replace(researcher, mark=_mark())
    connection.execute(
        "INSERT INTO researcher VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
        "SET role = excluded.role, secret = excluded.secret, mark = excluded.mark",
        (marked.name, marked.role, secret, marked.mark),
    )
    end_sessions(connection, marked.name)
    end_setups(connection, marked.name)
    remove_factor(connection, marked.name)
    return marked


def _mark() -> str:
    return secrets.token_hex(16)


def hash_of(text: str) -> bytes:
    """Return what is stored of a random text; it is random, so SHA-256 will do."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
