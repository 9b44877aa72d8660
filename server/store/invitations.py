"""Invitations: for each, whether it was used; never by which report."""

from collections.abc import Iterable

from server.store.surveys import Surveys


class Invitations(Surveys):
    """The keys of invitations, as `server.invitations` makes them from tokens."""

    def invite(self, survey_id: str, wave: int, keys: Iterable[bytes]) -> None:
        """Add unused invitations to a wave; those of a panel are good in its later waves too."""
        with self._writing() as connection:
            waves = [wave]
            current = self.current(survey_id)
            if current is not None and current.survey.access == "panel":
                waves += [later for later in self.waves(survey_id) if later > wave]
            connection.executemany(
                "INSERT OR IGNORE INTO invitation VALUES (?, ?, ?, 0)",
                sorted((survey_id, one, key) for key in keys for one in waves),
            )

    def is_usable(self, survey_id: str, wave: int, key: bytes) -> bool:
        """Whether an invitation is there and was not used; which of the two is not told."""
        row = self._connection.execute(
            "SELECT 1 FROM invitation "
            "WHERE survey = ? AND wave = ? AND token_hash = ? AND used = 0",
            (survey_id, wave, key),
        ).fetchone()
        return row is not None

    def invitations(self, survey_id: str) -> dict[int, tuple[int, int]]:
        """For each wave how many were invited, and how many of them have answered."""
        rows = self._connection.execute(
            "SELECT wave, count(*), sum(used) FROM invitation WHERE survey = ? GROUP BY wave",
            (survey_id,),
        )
        return {wave: (invited, used) for wave, invited, used in rows}
