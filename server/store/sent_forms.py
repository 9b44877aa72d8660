"""Which forms of the console were sent, so that none acts twice."""

from server.store.database import Database

#: Seconds for which a form is remembered: longer than any session lasts. One whose work has not
#: ended is remembered for less: its process may have died.
_REMEMBERED, _UNDER_WAY_FOR = 24 * 3600.0, 300.0
#: The outcome of a form whose work has not ended.
UNDER_WAY = ""


class SentForms:
    """The hashes of forms, and what came of each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, key: bytes, now: float) -> str | None:
        """Return None for a form that comes for the first time; otherwise its outcome so far."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sent_form WHERE until <= ?", (now,))
            sql = "INSERT INTO sent_form VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            if connection.execute(sql, (key, UNDER_WAY, now + _UNDER_WAY_FOR)).rowcount:
                return None
            return self.outcome(key, now)

    def outcome(self, key: bytes, now: float) -> str | None:
        """Return what came of a form, as `end` noted it; None if it was not sent."""
        sql = "SELECT outcome FROM sent_form WHERE hash = ? AND until > ?"
        row = self._database.query(sql, key, now).fetchone()
        return None if row is None else str(row[0])

    def end(self, key: bytes, outcome: str, now: float) -> None:
        """Note what came of a form."""
        sql = "UPDATE sent_form SET outcome = ?, until = ? WHERE hash = ?"
        self._database.write(sql, outcome, now + _REMEMBERED, key)

    def forget(self, key: bytes) -> None:
        """Forget a form that did nothing, so that it can be sent again."""
        self._database.write("DELETE FROM sent_form WHERE hash = ?", key)
