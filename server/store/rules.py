"""What owners decided for everybody here."""

from collections.abc import Collection

from server.store.database import Database

#: The rules that an owner can make, by the names under which they are stored: every account needs
#: a second factor, and only owners put up pilots, which everybody can open.
SECOND_FACTOR, OWNERS_PILOT = "second factor", "owners pilot"
RULES = (SECOND_FACTOR, OWNERS_PILOT)


class Rules:
    """The rules that hold; none holds until an owner makes it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> set[str]:
        """Return the rules that hold."""
        return {str(name) for (name,) in self._database.query("SELECT name FROM rule")}

    def put(self, rules: Collection[str]) -> None:
        """Let these rules hold, and no others."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM rule")
            connection.executemany("INSERT INTO rule VALUES (?)", [(rule,) for rule in rules])
