"""Keep reports no longer than promised, and no trace of their order of arrival.

One thread of the server sees to it. Workers are other processes: from the database, and from the
time of the server's lock file, their `/healthz` learns whether the thread still works.
"""

import threading
import time
from datetime import date
from pathlib import Path

from server import failures
from server.clock import today
from server.commands import forget_due
from server.store import Store

#: Seconds between two looks.
PAUSE = 60.0


class Keeper:
    """Delete what is due from a database, in one look after another."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._opened: set[tuple[str, int]] = set()
        self._day: date | None = None
        #: Whether the file may show the order of arrival in waves that take no more reports.
        self._due = True

    def look(self) -> None:
        """Delete what is due, write the file anew if waves were closed, and record the success.

        The first look always writes the file anew: a survey's last day may have passed while no
        server ran.
        """
        store = Store(self._db)
        try:
            day, opened = today(), store.surveys.answerable_waves(today())
            self._due = self._due or bool(self._opened - opened)
            self._opened = opened
            for survey_id in store.surveys.ids():
                store.surveys.settle(survey_id, day)
            if day != self._day:
                forget_due(store)
                self._day = day
            if self._due:
                store.file.rewrite()
                self._due = False
            if store.file.wal_size():
                store.file.settle()  # somebody may have read it when the file was written anew
            store.file.beat()
        finally:
            store.file.leave()

    def keep(self) -> None:
        """Look forever; what fails is logged, and tried again at the next look."""
        while True:
            try:
                self.look()
            except Exception as error:
                failures.log(error, " while keeping promises")
            time.sleep(PAUSE)

    def start(self) -> None:
        """Look now, and then again and again in a thread."""
        try:
            self.look()
        except Exception as error:
            failures.log(error, " while keeping promises")
        threading.Thread(target=self.keep, name="promises", daemon=True).start()
