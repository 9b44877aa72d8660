"""What researchers note of a survey beside its frozen form: its goal, and whether it is listed."""

from dataclasses import dataclass
from datetime import date

from server.store.database import OF_RESPONDENTS, Connection, Database
from server.store.errors import StoreError

#: A survey that is listed, one that was put away, and one of which everything except its texts was
#: deleted. Its id stays taken: devices remember what they spent on it.
LISTED, ARCHIVED, DELETED = "listed", "archived", "deleted"

#: The tables from which a survey's rows are deleted; all have a column `survey`.
_EMPTIED = (*OF_RESPONDENTS, "work", "backed_up")


@dataclass(frozen=True)
class Study:
    """The notes on a survey.

    `planned` is the number of respondents, if that is known. On the day `opens` it is opened, after
    the day `closes` it is closed, if these are given. A trial is a copy that made-up respondents
    answered, and that no real respondent can see. It always stays a trial.
    """

    planned: int | None = None
    state: str = LISTED
    opens: date | None = None
    closes: date | None = None
    is_trial: bool = False


class Studies:
    """The notes of all surveys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, survey_id: str) -> Study:
        """Return what is noted of a survey."""
        sql = "SELECT planned, state, opens, closes, trial FROM study WHERE survey = ?"
        row = self._database.query(sql, survey_id).fetchone()
        if row is None:
            return Study()
        planned, state, *days, trial = row
        opens, closes = (date.fromisoformat(day) if day else None for day in days)
        return Study(planned, state, opens, closes, bool(trial))

    def plan(self, survey_id: str, respondents: int) -> None:
        """Note how many respondents are planned."""
        self._change(survey_id, "planned = ?", respondents)

    def schedule(self, survey_id: str, opens: date | None, closes: date | None) -> None:
        """Note on which day a survey is to be opened, and after which closed."""
        days = [day.isoformat() if day else None for day in (opens, closes)]
        self._change(survey_id, "opens = ?, closes = ?", *days)

    def was_opened(self, survey_id: str, day: date) -> None:
        """Note that a survey was opened as scheduled for a day, unless it got another one since."""
        self._change(survey_id, "opens = nullif(opens, ?)", day.isoformat())

    def was_closed(self, survey_id: str, day: date) -> None:
        """Note that a survey was closed as scheduled for a day, unless it got another one since."""
        self._change(survey_id, "closes = nullif(closes, ?)", day.isoformat())

    def archive(self, survey_id: str, put_away: bool = True) -> None:
        """Put a survey away, or list it again; nothing else changes."""
        self._change(survey_id, "state = ?", ARCHIVED if put_away else LISTED)

    def delete(self, survey_id: str) -> None:
        """Delete all that respondents sent to a survey, close it for good, and write the file anew.

        Raises
        ------
        StoreError
            If a wave is open.
        """
        with self._database.writing() as connection:
            self._empty(connection, survey_id)
            self._note(connection, survey_id)
            connection.execute(
                "UPDATE study SET state = ?, planned = NULL, opens = NULL, closes = NULL "
                "WHERE survey = ?",
                (DELETED, survey_id),
            )
        self._database.rewrite()

    def begin_trial(self, survey_id: str) -> None:
        """Empty a survey that only made-up respondents answer, or begin one.

        Raises
        ------
        StoreError
            If a wave is open, or it is a survey for real respondents.
        """
        with self._database.writing() as connection:
            sql = (
                "SELECT 1 FROM survey LEFT JOIN study ON survey = id "
                "WHERE id = ? AND coalesce(trial, 0) <> 1"
            )
            if connection.execute(sql, (survey_id,)).fetchone():
                raise StoreError(f"{survey_id}: expected a trial copy, got a survey of its own")
            self._empty(connection, survey_id)
            self._note(connection, survey_id)
            connection.execute(
                "UPDATE study SET trial = 1, state = ? WHERE survey = ?", (LISTED, survey_id)
            )

    def declare_same(self, survey_id: str, question: str, before: str, after: str) -> None:
        """Note that a question's changed labels, known by their hashes, mean what others meant."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO correction VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (survey_id, question, before, after),
            )

    def declared_same(self, survey_id: str) -> set[tuple[str, str, str]]:
        """Return all that `declare_same` noted: question, and labels before and after."""
        sql = "SELECT question, before, after FROM correction WHERE survey = ?"
        return {(question, *both) for question, *both in self._database.query(sql, survey_id)}

    def _empty(self, connection: Connection, survey_id: str) -> None:
        opened = "SELECT 1 FROM wave WHERE survey = ? AND state = 'open'"
        if connection.execute(opened, (survey_id,)).fetchone():
            raise StoreError(f"{survey_id}: expected a survey that is closed, got an open one")
        for table in _EMPTIED:
            connection.execute(f"DELETE FROM {table} WHERE survey = ?", (survey_id,))

    def _change(self, survey_id: str, changes: str, *values: object) -> None:
        """Change only some columns, so that two people do not undo each other's changes."""
        with self._database.writing() as connection:
            self._note(connection, survey_id)
            sql = f"UPDATE study SET {changes} WHERE survey = ? AND state <> ?"
            if not connection.execute(sql, (*values, survey_id, DELETED)).rowcount:
                raise StoreError(f"{survey_id}: was deleted")

    def _note(self, connection: Connection, survey_id: str) -> None:
        """Make sure that there is a row to be changed."""
        connection.execute(
            "INSERT INTO study VALUES (?, NULL, ?, NULL, NULL, 0) ON CONFLICT DO NOTHING",
            (survey_id, LISTED),
        )
