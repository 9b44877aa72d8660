"""The store, the only folder with SQL. `schema` says what is stored; nothing else can be."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import date
from functools import cached_property
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from server.store import copies
from server.store.copies import copied_in_memory, copy_to
from server.store.database import Database
from server.store.drafts import Drafts
from server.store.errors import Again, StoreBusy, StoreError
from server.store.factors import Factors
from server.store.file import File
from server.store.log import Log
from server.store.places import Place
from server.store.researchers import Access, Researchers
from server.store.rules import Rules
from server.store.sent_forms import SentForms
from server.store.studies import Studies
from server.store.work import Work

if TYPE_CHECKING:
    from server.intake.decision import Waiting
    from server.intake.wire import Refusal, Submission
    from server.store.backups import Backups
    from server.store.batches import Batches
    from server.store.invitations import Invitations
    from server.store.ledger import Ledger
    from server.store.reports import Reports
    from server.store.surveys import Surveys
    from server.store.upkeep import Upkeep

__all__ = ["Place", "Store", "StoreBusy", "StoreError", "migrate"]


def _opened(place: Place, create: bool, upgrade: bool) -> Database:
    if isinstance(place, Path):
        return File(place, create, upgrade)
    from server.store.postgres.database import Postgres  # which needs psycopg

    return Postgres(place, create)


def migrate(place: Place) -> tuple[int, Path] | None:
    """Bring a database to this release's schema: see `copies.migrate`.

    PostgreSQL databases began with this release's schema, so there is nothing to do but to check.
    """
    if isinstance(place, Path):
        return copies.migrate(place)
    from server.store.postgres.database import Postgres

    with Postgres(place).unserved():
        return None


#: How often a batch is tried if its transaction conflicts with others.
_TRIES = 5


def _gathered(taken: "list[Submission]", waiting: "Waiting") -> "Waiting":
    """Return `waiting`, but its first result also has all that was taken before."""
    seen = 0

    def gathered() -> "Sequence[Submission]":
        nonlocal seen
        taken.extend(waiting())
        new, seen = taken[seen:], len(taken)
        return new

    return gathered


class Store:
    """A database, in parts by subject; parameters and errors are those of `File` or `Postgres`."""

    def __init__(self, place: Place, create: bool = False, upgrade: bool = False) -> None:
        self.database = _opened(place, create, upgrade)
        self.log = Log(self.database)
        self.studies = Studies(self.database)
        self.researchers = Researchers(self.database)
        self.access = Access(self.database)
        self.factors = Factors(self.database)
        self.rules = Rules(self.database)
        self.sent_forms = SentForms(self.database)
        self.work = Work(self.database)
        self.drafts = Drafts(self.database)

    # The parts below need numpy and all of analysis, which take ten times as long to import as the
    # rest of a command such as `log` or `backup` takes. So each is imported when it is asked for.

    @cached_property
    def surveys(self) -> "Surveys":
        """Surveys and their waves."""
        from server.store.surveys import Surveys

        return Surveys(self.database)

    @cached_property
    def invitations(self) -> "Invitations":
        """Invitations, and which were used."""
        from server.store.invitations import Invitations

        return Invitations(self.database, self.surveys)

    @cached_property
    def reports(self) -> "Reports":
        """The reports that respondents sent."""
        from server.store.reports import Reports

        return Reports(self.database, self.surveys)

    @cached_property
    def ledger(self) -> "Ledger":
        """The charges of respondents."""
        from server.store.ledger import Ledger

        return Ledger(self.database)

    @cached_property
    def batches(self) -> "Batches":
        """The intake's reading and writing."""
        from server.store.batches import Batches

        return Batches(self.database, self.surveys)

    @cached_property
    def backups(self) -> "Backups":
        """The notes on the backups of a series."""
        from server.store.backups import Backups

        return Backups(self.database)

    @cached_property
    def upkeep(self) -> "Upkeep":
        """Deleting and checking, over all surveys and tables."""
        from server.store.upkeep import Upkeep

        return Upkeep(self.database, self.surveys, self.reports, self.ledger)

    def add(
        self, submissions: "Iterable[Submission]", today: date, simulated: bool = False
    ) -> "Sequence[Refusal | int]":
        """Store a batch of submissions: `server.intake.decision.take_in`."""
        source = iter(submissions)
        return self.add_waiting(lambda: source, today, simulated)

    def add_waiting(
        self, waiting: "Waiting", today: date, simulated: bool = False
    ) -> "Sequence[Refusal | int]":
        """Store the submissions that wait, as `add` does."""
        from server.intake.decision import take_in

        taken: list[Submission] = []
        for _ in range(_TRIES - 1):
            with suppress(Again):
                return take_in(self.batches, _gathered(taken, waiting), today, simulated)
        return take_in(self.batches, _gathered(taken, waiting), today, simulated)

    def copy_to(self, target: Place) -> None:
        """Copy the database to a new one, completely or not at all: see `copies`."""
        if isinstance(target, Path):
            copy_to(self.database.write_copy, target)
        else:
            from server.store.postgres.copying import copy_into

            copy_into(target, self.database)

    def copied_in_memory(self) -> AbstractContextManager[Connection]:
        """Copy the database into memory, as `copies.copied_in_memory` does."""
        return copied_in_memory(self.database)

    def close(self) -> None:
        """Close this thread's connection, and leave no history of writes if that is quick."""
        self.database.close()
