"""Snapshots of counts, which pages show; `analysis.survey.batches` says when they are taken."""

from collections.abc import Iterable

from analysis.survey.batches import Cell
from server.intake.decision import WHOLE, CellChange, Key
from server.store.database import Connection

#: Stands for the moment of a snapshot in the number of all simulated reports so far.
SO_FAR = -1


def read_cells(connection: Connection, survey_id: str) -> dict[Key, Cell]:
    """Return the cells of a survey that have a report, and that of all of it."""
    sql = "SELECT survey, version, wave, n, shown, next, settled FROM cell WHERE survey = ?"
    rows = connection.execute(sql, (survey_id,))
    return {
        (survey, version, wave): Cell(n, shown, following, bool(settled))
        for survey, version, wave, n, shown, following, settled in rows
    }


def write_cells(connection: Connection, changes: Iterable[CellChange]) -> None:
    """Write cells, and take or drop the snapshots of those that changed.

    The counts that a snapshot is taken of must have been written before.
    """
    for change in changes:
        key, before, after = change.key, change.before, change.after
        connection.execute(
            "INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (survey, version, wave) DO UPDATE SET n = excluded.n, "
            "shown = excluded.shown, next = excluded.next, settled = excluded.settled",
            (*key, after.n, after.shown, after.next, int(after.settled)),
        )
        if after.next != before.next:
            _take(connection, key, after.next)
        _drop(connection, key, {before.shown, before.next} - {after.shown, after.next})


def _take(connection: Connection, key: Key, n: int) -> None:
    """Copy the counts of a cell that has `n` reports by now."""
    if key[1:] == WHOLE:
        connection.execute(
            "INSERT INTO total_snapshot SELECT survey, ?2, answered, charged, respondents "
            "FROM respondent_total WHERE survey = ?1",
            (key[0], n),
        )
        return
    for table in ("tally", "report_size"):
        connection.execute(
            f"INSERT INTO snapshot SELECT survey, version, wave, ?4, '{table}', question, cohort, "
            f"block, counts FROM {table} WHERE survey = ?1 AND version = ?2 AND wave = ?3",
            (*key, n),
        )
    connection.execute(
        "INSERT INTO simulated SELECT survey, version, wave, ?4, reports FROM simulated "
        "WHERE survey = ?1 AND version = ?2 AND wave = ?3 AND taken = ?5",
        (*key, n, SO_FAR),
    )


def _drop(connection: Connection, key: Key, taken: Iterable[int]) -> None:
    """Forget snapshots that are neither shown nor next."""
    for n in taken:
        if key[1:] == WHOLE:
            connection.execute(
                "DELETE FROM total_snapshot WHERE survey = ? AND taken = ?", (key[0], n)
            )
        else:
            for table in ("snapshot", "simulated"):
                connection.execute(
                    f"DELETE FROM {table} "
                    "WHERE survey = ? AND version = ? AND wave = ? AND taken = ?",
                    (*key, n),
                )
