"""What researchers note of a survey beside its frozen form: its goal, and whether it is listed."""

from dataclasses import dataclass

from server.store.file import File
from server.store.locks import StoreError

#: A survey that is listed, one that was put away, and one of which everything was deleted but its
#: texts. Its id stays taken: devices remember what they spent on it.
LISTED, ARCHIVED, DELETED = "listed", "archived", "deleted"

#: The tables that have something of respondents; all have a column `survey`.
_OF_RESPONDENTS = (
    "report",
    "tally",
    "report_size",
    "snapshot",
    "cell",
    "ledger",
    "respondent_total",
    "total_snapshot",
    "invitation",
)


@dataclass(frozen=True)
class Study:
    """What is noted of a survey: how many respondents are planned, if that is known; its state."""

    planned: int | None = None
    state: str = LISTED


class Studies:
    """The notes of all surveys."""

    def __init__(self, file: File) -> None:
        self._file = file

    def get(self, survey_id: str) -> Study:
        """Return what is noted of a survey."""
        sql = "SELECT planned, state FROM study WHERE survey = ?"
        row = self._file.query(sql, survey_id).fetchone()
        return Study(*row) if row else Study()

    def plan(self, survey_id: str, respondents: int) -> None:
        """Note how many respondents are planned."""
        self._put(survey_id, Study(respondents, self.get(survey_id).state))

    def archive(self, survey_id: str, put_away: bool = True) -> None:
        """Put a survey away, or list it again; nothing else changes."""
        study = self.get(survey_id)
        self._put(survey_id, Study(study.planned, ARCHIVED if put_away else LISTED))

    def delete(self, survey_id: str) -> None:
        """Delete all that respondents sent to a survey, close it for good, and write the file anew.

        Raises
        ------
        StoreError
            If a wave is open.
        """
        with self._file.writing() as connection:
            opened = "SELECT 1 FROM wave WHERE survey = ? AND state = 'open'"
            if connection.execute(opened, (survey_id,)).fetchone():
                raise StoreError(f"{survey_id}: expected a survey that is closed, got an open one")
            for table in _OF_RESPONDENTS:
                connection.execute(f"DELETE FROM {table} WHERE survey = ?", (survey_id,))
            connection.execute(
                "INSERT OR REPLACE INTO study VALUES (?, NULL, ?)", (survey_id, DELETED)
            )
        self._file.rewrite()

    def _put(self, survey_id: str, study: Study) -> None:
        with self._file.writing() as connection:
            known = connection.execute("SELECT state FROM study WHERE survey = ?", (survey_id,))
            if known.fetchone() == (DELETED,):
                raise StoreError(f"{survey_id}: was deleted")
            connection.execute(
                "INSERT OR REPLACE INTO study VALUES (?, ?, ?)",
                (survey_id, study.planned, study.state),
            )
