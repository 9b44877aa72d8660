"""Which forms of the console were sent, so that none acts twice."""

from server.store.database import Database

#: Seconds for which a form is remembered: longer than any session lasts.
_REMEMBERED = 24 * 3600.0
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
            if connection.execute(sql, (key, UNDER_WAY, now + _REMEMBERED)).rowcount:
                return None
            return self.outcome(key)

    def outcome(self, key: bytes) -> str | None:
        """Return what came of a form, as `end` noted it; None if it was not sent."""
        row = self._database.query("SELECT outcome FROM sent_form WHERE hash = ?", key).fetchone()
        return None if row is None else str(row[0])

    def end(self, key: bytes, outcome: str) -> None:
        """Note what came of a form."""
        self._database.write("UPDATE sent_form SET outcome = ? WHERE hash = ?", outcome, key)

    def forget(self, key: bytes) -> None:
        """Forget a form that did nothing, so that it can be sent again."""
        self._database.write("DELETE FROM sent_form WHERE hash = ?", key)
