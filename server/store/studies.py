"""What researchers note of a survey beside its frozen form: its goal, and whether it is listed."""

from dataclasses import dataclass, replace
from datetime import date
from sqlite3 import Connection

from server.store.file import File
from server.store.locks import StoreError

#: A survey that is listed, one that was put away, and one of which everything was deleted but its
#: texts. Its id stays taken: devices remember what they spent on it.
LISTED, ARCHIVED, DELETED = "listed", "archived", "deleted"
#: A copy that made-up respondents answered, which no real one can see.
TRIAL = "trial"

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
    "work",
)


@dataclass(frozen=True)
class Study:
    """What is noted of a survey.

    `planned` is the number of respondents, if that is known. On the day `opens` it is opened, after
    the day `closes` it is closed, if these are given.
    """

    planned: int | None = None
    state: str = LISTED
    opens: date | None = None
    closes: date | None = None


class Studies:
    """The notes of all surveys."""

    def __init__(self, file: File) -> None:
        self._file = file

    def get(self, survey_id: str) -> Study:
        """Return what is noted of a survey."""
        sql = "SELECT planned, state, opens, closes FROM study WHERE survey = ?"
        row = self._file.query(sql, survey_id).fetchone()
        if row is None:
            return Study()
        days = [date.fromisoformat(day) if day else None for day in row[2:]]
        return Study(*row[:2], *days)

    def plan(self, survey_id: str, respondents: int) -> None:
        """Note how many respondents are planned."""
        self._put(survey_id, replace(self.get(survey_id), planned=respondents))

    def schedule(self, survey_id: str, opens: date | None, closes: date | None) -> None:
        """Note on which day a survey is to be opened, and after which closed."""
        self._put(survey_id, replace(self.get(survey_id), opens=opens, closes=closes))

    def archive(self, survey_id: str, put_away: bool = True) -> None:
        """Put a survey away, or list it again; nothing else changes."""
        state = ARCHIVED if put_away else LISTED
        self._put(survey_id, replace(self.get(survey_id), state=state))

    def delete(self, survey_id: str) -> None:
        """Delete all that respondents sent to a survey, close it for good, and write the file anew.

        Raises
        ------
        StoreError
            If a wave is open.
        """
        self._empty(survey_id, Study(state=DELETED))
        self._file.rewrite()

    def begin_trial(self, survey_id: str) -> None:
        """Empty a survey that only made-up respondents answer, or begin one.

        Raises
        ------
        StoreError
            If a wave is open.
        """
        self._empty(survey_id, Study(state=TRIAL))

    def declare_same(self, survey_id: str, question: str, before: str, after: str) -> None:
        """Note that a question's changed labels, known by their hashes, mean what others did."""
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO correction VALUES (?, ?, ?, ?)",
                (survey_id, question, before, after),
            )

    def declared_same(self, survey_id: str) -> set[tuple[str, str, str]]:
        """Return all that `declare_same` noted: question, and labels before and after."""
        sql = "SELECT question, before, after FROM correction WHERE survey = ?"
        return {(question, *both) for question, *both in self._file.query(sql, survey_id)}

    def _empty(self, survey_id: str, study: Study) -> None:
        with self._file.writing() as connection:
            opened = "SELECT 1 FROM wave WHERE survey = ? AND state = 'open'"
            if connection.execute(opened, (survey_id,)).fetchone():
                raise StoreError(f"{survey_id}: expected a survey that is closed, got an open one")
            for table in _OF_RESPONDENTS:
                connection.execute(f"DELETE FROM {table} WHERE survey = ?", (survey_id,))
            self._write(connection, survey_id, study)

    def _put(self, survey_id: str, study: Study) -> None:
        with self._file.writing() as connection:
            known = connection.execute("SELECT state FROM study WHERE survey = ?", (survey_id,))
            if known.fetchone() == (DELETED,):
                raise StoreError(f"{survey_id}: was deleted")
            self._write(connection, survey_id, study)

    def _write(self, connection: Connection, survey_id: str, study: Study) -> None:
        days = [day.isoformat() if day else None for day in (study.opens, study.closes)]
        connection.execute(
            "INSERT OR REPLACE INTO study VALUES (?, ?, ?, ?, ?)",
            (survey_id, study.planned, study.state, *days),
        )
