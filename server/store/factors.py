"""What helps an account to sign in: a second factor, and browsers in which it signed in before."""

import re

from server import second_factor
from server.store.database import Connection, Database
from server.store.researchers import Researcher, has_mark, hash_of, remove_factor, renew


class Factors:
    """Second factors, with the hashes of their recovery codes, and hashes of known browsers.

    Nothing is changed of an account that no longer has the mark with which it was read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, researcher: Researcher, secret: str, step: int, codes: list[str]
    ) -> Researcher | None:
        """Ask an account for a second factor from now on; its code of `step` was used already.

        This ends its sessions, and no browser is known any more. Return it with its new mark, or
        None if nothing was changed.
        """
        with self._database.writing() as connection:
            renewed = renew(connection, researcher)
            if renewed is not None:
                name = researcher.name
                remove_factor(connection, name)
                values = (name, secret, step)
                connection.execute("INSERT INTO second_factor VALUES (?, ?, ?)", values)
                _put_codes(connection, name, codes)
            return renewed

    def remove(self, researcher: Researcher) -> bool:
        """Ask an account for no second factor any more; return whether that was done."""
        with self._database.writing() as connection:
            is_same = has_mark(connection, researcher.name, researcher.mark)
            if is_same:
                remove_factor(connection, researcher.name)
            return is_same

    def put_codes(self, researcher: Researcher, codes: list[str]) -> bool:
        """Accept these recovery codes, and no others; return whether that was done."""
        with self._database.writing() as connection:
            is_same = has_mark(connection, researcher.name, researcher.mark)
            if is_same:
                _put_codes(connection, researcher.name, codes)
            return is_same

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
