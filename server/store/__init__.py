"""The store, the only folder with SQL. `schema` says what is stored, and so what cannot be."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from functools import cached_property
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from server.store.copies import copied_in_memory, copy_to, migrate
from server.store.drafts import Drafts
from server.store.file import File, StoreBusy
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
    """A database in one file, in parts by subject; its parameters and errors are those of `File`.

    A second kind of database needs the same parts, and must guarantee what `server.decision.Intake`
    says.
    """

    def __init__(self, path: Path, create: bool = False, upgrade: bool = False) -> None:
        self.file = File(path, create, upgrade)
        self.log = Log(self.file)
        self.studies = Studies(self.file)
        self.researchers = Researchers(self.file)
        self.access = Access(self.file)
        self.work = Work(self.file)
        self.drafts = Drafts(self.file)

    # The parts below need numpy and all of analysis, which take ten times as long to import as the
    # rest of a command such as `log` or `backup` takes. So each is imported when it is asked for.

    @cached_property
    def surveys(self) -> "Surveys":
        """Surveys and their waves."""
        from server.store.surveys import Surveys

        return Surveys(self.file)

    @cached_property
    def invitations(self) -> "Invitations":
        """Invitations, and which were used."""
        from server.store.invitations import Invitations

        return Invitations(self.file, self.surveys)

    @cached_property
    def reports(self) -> "Reports":
        """What respondents sent."""
        from server.store.reports import Reports

        return Reports(self.file, self.surveys)

    @cached_property
    def ledger(self) -> "Ledger":
        """What respondents were charged."""
        from server.store.ledger import Ledger

        return Ledger(self.file)

    @cached_property
    def batches(self) -> "Batches":
        """The intake's reading and writing."""
        from server.store.batches import Batches

        return Batches(self.file, self.surveys)

    @cached_property
    def backups(self) -> "Backups":
        """What the last backup of a series had."""
        from server.store.backups import Backups

        return Backups(self.file)

    @cached_property
    def upkeep(self) -> "Upkeep":
        """Deleting and checking, over all surveys and tables."""
        from server.store.upkeep import Upkeep

        return Upkeep(self.file, self.surveys, self.reports, self.ledger)

    def add(
        self, submissions: "Iterable[Submission]", today: date, simulated: bool = False
    ) -> "Sequence[Refusal | int]":
        """Store a batch of submissions: `server.decision.take_in`."""
        from server.decision import take_in

        return take_in(self.batches, submissions, today, simulated)

    def copy_to(self, target: Path) -> None:
        """Copy the database to a new file, as `copies.copy_to` does."""
        copy_to(self.file.connection, target)

    def copied_in_memory(self) -> AbstractContextManager[Connection]:
        """Copy the database into memory, as `copies.copied_in_memory` does."""
        return copied_in_memory(self.file.path)

    def close(self) -> None:
        """Close this thread's connection, and leave no history of writes beside the file."""
        self.file.close()
