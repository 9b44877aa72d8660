"""The store, the only folder with SQL. `schema` says what is stored, and so what cannot be."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from functools import cached_property
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from server.store.copies import copied_in_memory, copy_to, migrate
from server.store.database import StoreBusy
from server.store.drafts import Drafts
from server.store.file import File
from server.store.locks import StoreError
from server.store.log import Log
from server.store.researchers import Access, Researchers
from server.store.studies import Studies
from server.store.work import Work

if TYPE_CHECKING:
    from server.store.backups import Backups
    from server.store.batches import Batches
    from server.store.invitations import Invitations
    from server.store.ledger import Ledger
    from server.store.reports import Reports
    from server.store.surveys import Surveys
    from server.store.upkeep import Upkeep
    from server.wire import Refusal, Submission

__all__ = ["Store", "StoreBusy", "StoreError", "migrate"]


class Store:
    """A database, in parts by subject; parameters and errors are those of `File`."""

    def __init__(self, path: Path, create: bool = False, upgrade: bool = False) -> None:
        self.database = File(path, create, upgrade)
        self.log = Log(self.database)
        self.studies = Studies(self.database)
        self.researchers = Researchers(self.database)
        self.access = Access(self.database)
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
        """Store a batch of submissions: `server.decision.take_in`."""
        from server.decision import take_in

        return take_in(self.batches, submissions, today, simulated)

    def copy_to(self, target: Path) -> None:
        """Copy the database to a new file, as `copies.copy_to` does."""
        copy_to(self.database.write_copy, target)

    def copied_in_memory(self) -> AbstractContextManager[Connection]:
        """Copy the database into memory, as `copies.copied_in_memory` does."""
        return copied_in_memory(self.database)

    def close(self) -> None:
        """Close this thread's connection, and leave no history of writes if that is quick."""
        self.database.close()
