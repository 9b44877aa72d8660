"""Which forms of the console were sent, so that none acts twice."""

from server.store.database import Database

#: Seconds for which a form is remembered: longer than any session lasts.
_REMEMBERED = 24 * 3600.0


class SentForms:
    """The hashes of forms, and what came of each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, key: bytes, now: float) -> str | None:
        """Return None for a form that comes for the first time; otherwise what `end` noted of it.

        That is empty while the first one is under way, and if nothing was noted.
        """
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sent_form WHERE until <= ?", (now,))
            sql = "INSERT INTO sent_form VALUES (?, '', ?) ON CONFLICT DO NOTHING"
            if connection.execute(sql, (key, now + _REMEMBERED)).rowcount:
                return None
            return self.told(key)

    def told(self, key: bytes) -> str | None:
        """Return what was noted of a form; None if it was not sent."""
        row = self._database.query("SELECT told FROM sent_form WHERE hash = ?", key).fetchone()
        return None if row is None else str(row[0])

    def end(self, key: bytes, told: str) -> None:
        """Note what came of a form."""
        self._database.write("UPDATE sent_form SET told = ? WHERE hash = ?", told, key)

    def forget(self, key: bytes) -> None:
        """Forget a form that did nothing, so that it can be sent again."""
        self._database.write("DELETE FROM sent_form WHERE hash = ?", key)
