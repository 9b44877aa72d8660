"""What helps an account to sign in: a second factor, and browsers in which it signed in before."""

import hashlib
import re

from server import second_factor
from server.store.database import Connection, Database

#: Seconds for which a browser is known after somebody signed in, and the most browsers of an
#: account. The one that was used the longest time ago is forgotten first.
KNOWN_FOR, MOST_BROWSERS = 365 * 86_400.0, 20


class Factors:
    """Second factors, with the hashes of their recovery codes, and hashes of known browsers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, secret: str, step: int, codes: list[str]) -> None:
        """Ask an account for a second factor from now on; its code of `step` was used already."""
        with self._database.writing() as connection:
            remove(connection, name)
            connection.execute("INSERT INTO second_factor VALUES (?, ?, ?)", (name, secret, step))
            _put_codes(connection, name, codes)

    def remove(self, name: str) -> None:
        """Ask an account for no second factor any more."""
        with self._database.writing() as connection:
            remove(connection, name)

    def put_codes(self, name: str, codes: list[str]) -> None:
        """Accept these recovery codes, and no others."""
        with self._database.writing() as connection:
            _put_codes(connection, name, codes)

    def all(self) -> dict[str, int]:
        """Return how many recovery codes each account with a second factor has left."""
        rows = self._database.query(
            "SELECT second_factor.researcher, count(hash) FROM second_factor "
            "LEFT JOIN recovery_code USING (researcher) GROUP BY second_factor.researcher"
        )
        return dict(rows.fetchall())

    def recovery_codes(self, name: str) -> int | None:
        """Return how many recovery codes an account has left; None without a second factor."""
        return self.all().get(name)

    def has(self, name: str) -> bool:
        """Return whether an account is asked for a second factor."""
        sql = "SELECT 1 FROM second_factor WHERE researcher = ?"
        return self._database.query(sql, name).fetchone() is not None

    def use(self, name: str, code: str, now: float) -> bool:
        """Return whether a code lets an account in; it does so once."""
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT secret FROM second_factor WHERE researcher = ?", (name,)
            ).fetchone()
            if row is None:
                return False
            step = second_factor.step_of(row[0], code, now)
            if step is None:
                sql = "DELETE FROM recovery_code WHERE researcher = ? AND hash = ?"
                return connection.execute(sql, (name, hash_of(_bare(code)))).rowcount > 0
            sql = "UPDATE second_factor SET step = ? WHERE researcher = ? AND step < ?"
            return connection.execute(sql, (step, name, step)).rowcount > 0

    def add_browser(self, token: str, name: str, now: float) -> None:
        """Know a browser by its token, in which an account has signed in."""
        with self._database.writing() as connection:
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

    def known_in(self, token: str, now: float) -> set[str]:
        """Return which accounts have signed in by the browser with this token."""
        sql = "SELECT researcher FROM browser WHERE hash = ? AND until > ?"
        return {row[0] for row in self._database.query(sql, hash_of(token), now)}


def _bare(code: str) -> str:
    """Return a recovery code as it is compared: people leave hyphens out, or type spaces."""
    return re.sub("[^0-9a-f]", "", code.lower())


def _put_codes(connection: Connection, name: str, codes: list[str]) -> None:
    connection.execute("DELETE FROM recovery_code WHERE researcher = ?", (name,))
    rows = [(name, hash_of(_bare(code))) for code in codes]
    connection.executemany("INSERT INTO recovery_code VALUES (?, ?)", rows)


def remove(connection: Connection, name: str) -> None:
    """Remove the second factor of an account, in a transaction of somebody else."""
    connection.execute("DELETE FROM second_factor WHERE researcher = ?", (name,))
    connection.execute("DELETE FROM recovery_code WHERE researcher = ?", (name,))


def hash_of(text: str) -> bytes:
    """Return what is stored of a random text; it is random, so SHA-256 will do."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
