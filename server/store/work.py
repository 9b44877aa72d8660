"""Work that takes long: what researchers asked for, how far it has come, and what came of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from server.store.database import Database

#: Work that nobody has begun, that is under way, that is done, and that cannot be done.
WAITING, RUNNING, DONE, REFUSED = "waiting", "running", "done", "refused"
#: Work whose process ended this often is not tried again: it may take too much memory.
_TRIES = 2


@dataclass(frozen=True)
class Job:
    """A piece of work: what was asked, its state, the part that is done, and its result.

    `result` is that of the work; of refused work it is ``{"refused": message}``.
    """

    key: str
    survey: str
    asked: dict[str, Any]
    state: str
    part: float
    result: dict[str, Any]

    @property
    def is_over(self) -> bool:
        """Return whether it will change no more."""
        return self.state in (DONE, REFUSED)


class Work:
    """All pieces of work, which one process at a time does in the order in which they came."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> Job | None:
        """Return a piece of work; None if nobody asked for it."""
        return next(self._read("WHERE key = ?", key), None)

    def of_survey(self, survey_id: str) -> list[Job]:
        """Return the work for a survey, the last first."""
        return list(self._read("WHERE survey = ? ORDER BY number DESC", survey_id))

    def waiting(self) -> int:
        """Return how many pieces of work are not over."""
        sql = f"SELECT count(*) FROM work WHERE state IN ('{WAITING}', '{RUNNING}')"
        return int(self._database.query(sql).fetchone()[0])

    def queue(self, key: str) -> tuple[int, int]:
        """Return how many pieces of work that are not over come before one, and after it."""
        sql = (
            "SELECT count(*) FILTER (WHERE other.number < work.number), "
            "count(*) FILTER (WHERE other.number > work.number) FROM work JOIN work AS other "
            f"ON other.state IN ('{WAITING}', '{RUNNING}') WHERE work.key = ?"
        )
        before, after = self._database.query(sql, key).fetchone()
        return int(before), int(after)

    def ask(self, key: str, survey_id: str, asked: dict[str, Any]) -> None:
        """Ask for work, if nobody did before; what was refused is tried again."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM work WHERE key = ? AND state = ?", (key, REFUSED))
            connection.execute(
                "INSERT INTO work SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, 0, 0, '' "
                "FROM work WHERE true ON CONFLICT DO NOTHING",
                (key, survey_id, json.dumps(asked), WAITING),
            )

    def next(self) -> Job | None:
        """Return the first piece of work that is not over, and note that it was begun.

        Only the process that does all work may call this: what was running before ended with the
        process that did it.
        """
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE work SET state = ?, result = ? WHERE state = ? AND tries >= ?",
                (REFUSED, _refused("It was interrupted twice."), RUNNING, _TRIES),
            )
            row = connection.execute(
                "SELECT key FROM work WHERE state IN (?, ?) ORDER BY number LIMIT 1",
                (RUNNING, WAITING),
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE work SET state = ?, part = 0, tries = tries + 1 WHERE key = ?",
                (RUNNING, *row),
            )
        return self.get(*row)

    def advance(self, key: str, part: float) -> None:
        """Note which part, in [0, 1], of a piece of work is done."""
        self._put(key, RUNNING, part, "")

    def finish(self, key: str, result: dict[str, Any]) -> None:
        """Store the result of a piece of work."""
        self._put(key, DONE, 1, json.dumps(result))

    def refuse(self, key: str, message: str) -> None:
        """Note why a piece of work cannot be done."""
        self._put(key, REFUSED, 1, _refused(message))

    def _put(self, key: str, state: str, part: float, result: str) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE work SET state = ?, part = ?, result = ? WHERE key = ?",
                (state, part, result, key),
            )

    def _read(self, where: str, *values: str) -> Iterator[Job]:
        sql = f"SELECT key, survey, asked, state, part, result FROM work {where}"
        for key, survey, asked, state, part, result in self._database.query(
            sql, *values
        ).fetchall():
            yield Job(key, survey, json.loads(asked), state, part, json.loads(result or "{}"))


def _refused(message: str) -> str:
    return json.dumps({"refused": message})
