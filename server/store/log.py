"""The log of what researchers did, as a chain of hashes."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import rfc8785

from server.store.database import Database


@dataclass(frozen=True)
class Entry:
    """One line of the log, with the hash of the line and the hash before it.

    So a line that was changed, removed or inserted shows. Whoever rewrites all lines that follow,
    too, can only be caught by somebody who noted a later hash.
    """

    number: int
    at: str
    who: str
    what: str
    subject: str
    hash: str

    def expected(self, before: str) -> str:
        """Return what `hash` must be after a line whose hash is `before`."""
        line: list[Any] = [before, self.number, self.at, self.who, self.what, self.subject]
        return hashlib.sha256(rfc8785.dumps(line)).hexdigest()


class Log:
    """The lines of the log, to which others are only ever added."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, at: str, who: str, what: str, subject: str) -> None:
        """Add a line that says who does what, and when."""
        with self._database.writing() as connection:
            last = connection.execute(
                "SELECT number, hash FROM log ORDER BY number DESC LIMIT 1"
            ).fetchone() or (0, "")
            entry = Entry(last[0] + 1, at, who, what, subject, "")
            row = (entry.number, at, who, what, subject, entry.expected(last[1]))
            connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", row)

    def entries(self) -> Iterator[Entry]:
        """Return the lines, the first first."""
        rows = self._database.query(
            "SELECT number, at, who, what, subject, hash FROM log ORDER BY number"
        )
        return (Entry(*row) for row in rows)

    def is_whole(self) -> bool:
        """Return whether every line follows from the one before it."""
        before = ""
        for number, entry in enumerate(self.entries(), 1):
            if entry.number != number or entry.hash != entry.expected(before):
                return False
            before = entry.hash
        return True
