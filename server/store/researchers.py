"""Researchers: their accounts, sessions and failed attempts to sign in."""

from dataclasses import dataclass

from server.store import factors
from server.store.database import Connection, Database
from server.store.factors import hash_of

#: Names of accounts.
NAME = r"[\w.@-]{1,64}"

#: What an account may do: `owner` everything, `analyst` see and download results, `fieldworker` see
#: how the field goes and make invitations, but see no results.
ROLES = ("owner", "analyst", "fieldworker")

#: This many failed attempts to sign in are answered at once. Then each waits twice as long as the
#: one before, up to this many seconds. After a day without attempts the count starts again.
FREE_ATTEMPTS, LONGEST_WAIT = 8, 60.0
_DAY = 86_400


@dataclass(frozen=True)
class Researcher:
    """An account: its name and what it may do."""

    name: str
    role: str


class Researchers:
    """The accounts of those who may see results. Passwords come and stay hashed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, researcher: Researcher, secret: str, keeps_factor: bool = False) -> None:
        """Add an account, or change its role and secret.

        This ends its sessions and links, and no browser is known any more. An account that
        somebody else gives a secret has no second factor any more: it may have been lost.
        """
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO researcher VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET role = excluded.role, secret = excluded.secret",
                (researcher.name, researcher.role, secret),
            )
            _end(connection, researcher.name)
            if not keeps_factor:
                factors.remove(connection, researcher.name)

    def remove(self, name: str) -> None:
        """Remove an account, its sessions, its second factor, and links to set it up."""
        with self._database.writing() as connection:
            _end(connection, name)
            factors.remove(connection, name)
            connection.execute("DELETE FROM researcher WHERE name = ?", (name,))

    def all(self) -> list[Researcher]:
        """Return all accounts, in the order of their names."""
        rows = self._database.query("SELECT name, role FROM researcher ORDER BY name")
        return [Researcher(*row) for row in rows]

    def find(self, name: str) -> tuple[Researcher, str] | None:
        """Return an account and its hashed secret; None if there is none."""
        sql = "SELECT name, role, secret FROM researcher WHERE name = ?"
        row = self._database.query(sql, name).fetchone()
        return None if row is None else (Researcher(*row[:2]), row[2])


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

    def add_session(self, token: str, name: str) -> None:
        """Remember who was let in with a session's random token."""
        self._database.write("INSERT INTO session VALUES (?, ?)", hash_of(token), name)

    def session(self, token: str) -> str | None:
        """Return whose session it is; None if it has ended."""
        sql = "SELECT researcher FROM session WHERE hash = ?"
        row = self._database.query(sql, hash_of(token)).fetchone()
        return None if row is None else str(row[0])

    def end_session(self, token: str) -> None:
        """End the session with this token."""
        self._database.write("DELETE FROM session WHERE hash = ?", hash_of(token))

    def end_sessions_of(self, name: str) -> None:
        """End all sessions of an account, and know its browsers no more; '' for printed tokens."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM session WHERE researcher = ?", (name,))
            connection.execute("DELETE FROM browser WHERE researcher = ?", (name,))

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

    def use_setup(self, code: str, now: float) -> Researcher | None:
        """Return the account as `setup` does; forget the code and all codes that are too old."""
        with self._database.writing() as connection:
            found = self.setup(code, now)
            sql = "DELETE FROM setup WHERE hash = ? OR until <= ?"
            connection.execute(sql, (hash_of(code), now))
        return found

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


def _end(connection: Connection, name: str) -> None:
    """End the sessions and the links of an account, and know its browsers no more."""
    connection.execute("DELETE FROM session WHERE researcher = ?", (name,))
    connection.execute("DELETE FROM browser WHERE researcher = ?", (name,))
    connection.execute("DELETE FROM setup WHERE name = ?", (name,))
