"""Invitations: whether each was used, but never by which report."""

from collections.abc import Collection, Iterable

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
            is_there = connection.execute(sql, (survey_id, new)).fetchone() is not None
            _remove(connection, survey_id, [old])
            return is_there

    def revoke(self, survey_id: str, keys: Collection[bytes]) -> bool:
        """Take invitations back, in all waves; return whether one of them existed."""
        with self._database.writing() as connection:
            return _remove(connection, survey_id, keys)

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


def _remove(connection: Connection, survey_id: str, keys: Collection[bytes]) -> bool:
    """Remove invitations, in all waves; return whether one of them existed.

    Each row is found by its whole key: the first part alone would be a search of the whole survey
    for each of many links.
    """
    waves = connection.execute(
        "SELECT wave, count(*) FROM invitation WHERE survey = ? GROUP BY wave", (survey_id,)
    ).fetchall()
    rows = sorted((survey_id, wave, key) for wave, _ in waves for key in keys)
    sql = "DELETE FROM invitation WHERE survey = ? AND wave = ? AND token_hash = ?"
    connection.executemany(sql, rows)
    left = "SELECT count(*) FROM invitation WHERE survey = ?"
    return bool(connection.execute(left, (survey_id,)).fetchone()[0] < sum(n for _, n in waves))
