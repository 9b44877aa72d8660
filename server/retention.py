"""Delete reports when it was promised, remove traces of their order, and keep the schedule.

One thread of the server does this. Workers are other processes. Their `/healthz` learns from the
database, and from the time of the server's lock file, whether the thread still works.
"""

import threading
import time
from datetime import date

from server import failures
from server.clock import stamp, today
from server.commands import forget_due
from server.store import Place, Store
from server.store.studies import DELETED

#: Seconds between two looks.
PAUSE = 60.0


def keep_schedule(store: Store, day: date) -> None:
    """Open the surveys whose day has come, and close those whose last day is over."""
    for survey_id in store.surveys.ids():
        study = store.studies.get(survey_id)
        if study.opens is not None and day >= study.opens and study.state != DELETED:
            store.log.add(stamp(), "server", "open", f"{survey_id}, as scheduled")
            store.surveys.open_wave(survey_id, alone=True)
            store.studies.was_opened(survey_id, study.opens)
        if study.closes is not None and day > study.closes and study.state != DELETED:
            store.log.add(stamp(), "server", "close", f"{survey_id}, as scheduled")
            store.surveys.close_waves(survey_id)
            store.studies.was_closed(survey_id, study.closes)


class Keeper:
    """Look at a database again and again, and delete what is due."""

    def __init__(self, db: Place) -> None:
        self._db = db
        self._opened: set[tuple[str, int]] = set()
        self._day: date | None = None
        #: Whether the file may show the order of arrival in waves that take no more reports.
        self._due = True

    def look(self) -> None:
        """Keep the schedule, delete what is due, and write the file anew if waves were closed.

        Then the success is recorded.

        The first look always writes the file anew: a survey's last day may have passed while no
        server ran.
        """
        store = Store(self._db)
        try:
            day = today()
            keep_schedule(store, day)
            opened = store.surveys.answerable_waves(day)
            self._due = self._due or bool(self._opened - opened)
            self._opened = opened
            for survey_id in store.surveys.ids():
                store.surveys.settle(survey_id, day)
            if day != self._day:
                forget_due(store)
                self._day = day
            if self._due:
                store.database.rewrite()
                self._due = False
            if not store.database.is_settled():
                store.database.tidy()  # somebody may have read it when it was written anew
            store.database.beat()
        finally:
            store.database.leave()

    def keep(self) -> None:
        """Look forever. Log what fails, and try it again at the next look."""
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
