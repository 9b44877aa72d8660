"""Invitations: whether each was used, but never by which report."""

from collections.abc import Iterable

from server.store.database import Connection, Database
from server.store.surveys import Surveys


class Invitations:
    """The keys of invitations, as `server.intake.invitations` makes them from tokens."""

    def __init__(self, database: Database, surveys: Surveys) -> None:
        self._database, self._surveys = database, surveys

    def add(self, survey_id: str, wave: int, keys: Iterable[bytes]) -> None:
        """Add unused invitations to a wave; those of a panel are good in its later waves too."""
        with self._database.writing() as connection:
            waves = [wave]
            current = self._surveys.current(survey_id)
            if current is not None and current.survey.access == "panel":
                waves += [later for later in self._surveys.waves(survey_id) if later > wave]
            connection.executemany(
                "INSERT INTO invitation VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING",
                sorted((survey_id, number, key) for key in keys for number in waves),
            )

    def replace(self, survey_id: str, old: bytes, new: bytes) -> bool:
        """Give a lost invitation another key, in all waves; return whether that exists now.

        The new key counts as used in the waves in which the old one was used, so nobody learns from
        it whether the old one was used.
        """
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO invitation SELECT survey, wave, ?3, used FROM invitation "
                "WHERE survey = ?1 AND token_hash = ?2",
                (survey_id, old, new),
            )
            sql = "SELECT 1 FROM invitation WHERE survey = ? AND token_hash = ?"
            known = connection.execute(sql, (survey_id, new)).fetchone()
            return self._remove(connection, survey_id, old) or known is not None

    def revoke(self, survey_id: str, keys: Iterable[bytes]) -> bool:
        """Take invitations back, in all waves; return whether one of them existed."""
        with self._database.writing() as connection:
            removed = [self._remove(connection, survey_id, key) for key in keys]
        return any(removed)

    def revoke_all(self, survey_id: str, waves: Iterable[int], keys: Iterable[bytes]) -> None:
        """Take many invitations to some waves back; each is found by the whole key of its row."""
        rows = [(survey_id, wave, key) for wave in waves for key in keys]
        sql = "DELETE FROM invitation WHERE survey = ? AND wave = ? AND token_hash = ?"
        with self._database.writing() as connection:
            connection.executemany(sql, sorted(rows))

    def _remove(self, connection: Connection, survey_id: str, key: bytes) -> bool:
        sql = "DELETE FROM invitation WHERE survey = ? AND token_hash = ?"
        return connection.execute(sql, (survey_id, key)).rowcount > 0

    def known(self, survey_id: str) -> set[bytes]:
        """Return the keys of all invitations to a survey, used or not."""
        sql = "SELECT DISTINCT token_hash FROM invitation WHERE survey = ?"
        return {bytes(key) for (key,) in self._database.query(sql, survey_id)}

    def is_usable(self, survey_id: str, wave: int, key: bytes) -> bool:
        """Return whether an invitation can be used; used and unknown ones give the same answer."""
        sql = (
            "SELECT 1 FROM invitation WHERE survey = ? AND wave = ? AND token_hash = ? AND used = 0"
        )
        return self._database.query(sql, survey_id, wave, key).fetchone() is not None

    def counts(self, survey_id: str) -> dict[int, tuple[int, int]]:
        """Return for each wave how many were invited, and how many of them have answered."""
        sql = (
            "SELECT wave, count(*), CAST(sum(used) AS BIGINT) FROM invitation "
            "WHERE survey = ? GROUP BY wave"
        )
        rows = self._database.query(sql, survey_id)
        return {wave: (invited, used) for wave, invited, used in rows}
