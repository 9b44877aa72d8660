"""Drafts: survey files that researchers write in the console, with their history."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.clock import stamp
from server.store.database import Connection, Database
from server.store.errors import StoreError

#: The number of versions of a draft that are kept: the last ones.
KEPT = 200


class Outdated(StoreError):
    """A draft was changed by somebody else since it was read; nothing was stored."""


@dataclass(frozen=True)
class Draft:
    """A version of a draft: its number, when it was made, by whom, and what was changed.

    `toml` is the survey file. The version before is not always `number` - 1: what one person
    changes at one place, again and again, is one version.
    """

    id: str
    number: int
    at: str
    who: str
    what: str
    toml: str


_COLUMNS = "draft, number, at, who, what, toml"


class Drafts:
    """The drafts of all surveys, by the survey's id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, survey_id: str, number: int | None = None) -> Draft | None:
        """Return a version of a draft, by default the last; None if there is no such draft."""
        sql = (
            f"SELECT {_COLUMNS} FROM draft_version WHERE draft = ?1 AND number = coalesce(?2, "
            "(SELECT max(number) FROM draft_version WHERE draft = ?1))"
        )
        row = self._database.query(sql, survey_id, number).fetchone()
        return Draft(*row) if row else None

    def all(self) -> list[Draft]:
        """Return the last version of every draft, by id."""
        sql = (
            f"SELECT {_COLUMNS} FROM draft_version AS one WHERE number = "
            "(SELECT max(number) FROM draft_version WHERE draft = one.draft) ORDER BY draft"
        )
        return [Draft(*row) for row in self._database.query(sql)]

    def history(self, survey_id: str) -> list[Draft]:
        """Return the versions of a draft that are kept, the last first."""
        sql = f"SELECT {_COLUMNS} FROM draft_version WHERE draft = ? ORDER BY number DESC"
        return [Draft(*row) for row in self._database.query(sql, survey_id)]

    def imported(self, survey_id: str) -> str:
        """Return the report of the import that a draft began with, as CSV; "" if there is none."""
        row = self._database.query("SELECT imported FROM draft WHERE id = ?", survey_id).fetchone()
        return row[0] if row else ""

    def files(self, survey_id: str) -> dict[str, bytes]:
        """Return the files that a draft can name, by their names."""
        sql = "SELECT name, content FROM draft_file WHERE draft = ? ORDER BY name"
        return dict(self._database.query(sql, survey_id).fetchall())

    def begin(
        self,
        survey_id: str,
        toml: str,
        who: str,
        what: str,
        files: Mapping[str, bytes] | None = None,
        imported: str = "",
    ) -> None:
        """Store the first version of a draft.

        Raises
        ------
        StoreError
            If there is a draft of this id.
        """
        with self._database.writing() as connection:
            sql = "INSERT INTO draft VALUES (?, ?) ON CONFLICT DO NOTHING"
            if not connection.execute(sql, (survey_id, imported)).rowcount:
                raise StoreError(f"{survey_id}: there is a draft with this id already")
            self._insert(connection, Draft(survey_id, 1, stamp(), who, what, toml))
            _put(connection, survey_id, files or {})

    def change(
        self,
        before: Draft,
        toml: str,
        who: str,
        what: str,
        files: Mapping[str, bytes] | None = None,
    ) -> Draft:
        """Store the next version of a draft, and return it.

        Raises
        ------
        Outdated
            If `before` is not the last version.
        """
        after = Draft(before.id, before.number + 1, stamp(), who, what, toml)
        with self._database.writing() as connection:
            last = connection.execute(
                "SELECT number, who, what FROM draft_version WHERE draft = ? "
                "ORDER BY number DESC LIMIT 1",
                (before.id,),
            ).fetchone()
            if last is None or last[0] != before.number:
                raise Outdated(f"{before.id}: was changed by somebody else in the meantime")
            if last[1:] == (who, what):
                connection.execute(
                    "DELETE FROM draft_version WHERE draft = ? AND number = ?",
                    (before.id, before.number),
                )
            self._insert(connection, after)
            connection.execute(
                "DELETE FROM draft_version WHERE draft = ? AND number <= ?",
                (before.id, after.number - KEPT),
            )
            _put(connection, before.id, files or {})
        return after

    def delete(self, survey_id: str) -> None:
        """Delete a draft with its history and its files."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM draft WHERE id = ?", (survey_id,))
            for table in ("draft_version", "draft_file"):
                connection.execute(f"DELETE FROM {table} WHERE draft = ?", (survey_id,))

    @staticmethod
    def _insert(connection: Connection, draft: Draft) -> None:
        values = (draft.id, draft.number, draft.at, draft.who, draft.what, draft.toml)
        connection.execute(
            f"INSERT INTO draft_version ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", values
        )


def _put(connection: Connection, survey_id: str, files: Mapping[str, bytes]) -> None:
    connection.executemany(
        "INSERT INTO draft_file VALUES (?, ?, ?) "
        "ON CONFLICT (draft, name) DO UPDATE SET content = excluded.content",
        [(survey_id, name, content) for name, content in files.items()],
    )
