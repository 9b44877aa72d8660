"""What the last backup of a series had, so that the next one differs by whole batches."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from server.store.database import Connection, Database

if TYPE_CHECKING:
    from server.intake.decision import Key


class Held(NamedTuple):
    """The number of reports of a version and wave in a backup, and the first that had as many."""

    reports: int
    since: str


def genuine(connection: Connection) -> dict["Key", int]:
    """Return how many reports of each version and wave came, even if deleted, but not simulated.

    The connection can be to a database or to a copy of one.
    """
    from server.store.snapshots import SO_FAR  # which imports numpy: see server.store.Store

    rows = connection.execute(
        "SELECT cell.survey, cell.version, cell.wave, n - coalesce(reports, 0) FROM cell "
        "LEFT JOIN simulated ON simulated.survey = cell.survey "
        "AND simulated.version = cell.version AND simulated.wave = cell.wave AND taken = ? "
        "WHERE cell.version <> ''",
        (SO_FAR,),
    )
    return {(survey, version, wave): n for survey, version, wave, n in rows}


def write(connection: Connection, at: str, held: Mapping["Key", Held]) -> None:
    """Write what a backup has in place of what the one before had, within a transaction."""
    connection.execute("DELETE FROM backup")
    connection.execute("DELETE FROM backed_up")
    connection.execute("INSERT INTO backup VALUES (?)", (at,))
    connection.executemany(
        "INSERT INTO backed_up VALUES (?, ?, ?, ?, ?)",
        sorted((*key, *value) for key, value in held.items()),
    )


class Backups:
    """The notes on the series of backups of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self) -> str | None:
        """Return when the last backup of the series was made, as it was noted; None if never."""
        row = self._database.query("SELECT at FROM backup").fetchone()
        return None if row is None else str(row[0])

    def held(self) -> dict["Key", Held]:
        """Return what the last backup of the series had of each version and wave."""
        rows = self._database.query("SELECT survey, version, wave, reports, since FROM backed_up")
        return {(survey, version, wave): Held(*rest) for survey, version, wave, *rest in rows}

    def genuine(self) -> dict["Key", int]:
        """Return how many reports of each version and wave there are now: `genuine`."""
        return genuine(self._database.connection)

    def note(self, at: str, held: Mapping["Key", Held]) -> None:
        """Note what a backup has."""
        with self._database.writing() as connection:
            write(connection, at, held)
