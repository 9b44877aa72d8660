"""The process that does the work of the database that DENIABLE_DB names."""

import os
import signal
import sys
import threading
import time

from server import failures
from server.store import Place, Store
from server.store.places import place_of
from server.store.work import Job
from server.work import read

#: Seconds after which a piece of work is given up, and between two notes of its progress.
LONGEST, NOTED = 900, 0.5


def main(place: Place) -> None:
    """Do all work that waits, one piece after another, unless another process does so."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(19)
    signal.signal(signal.SIGALRM, _too_long)
    store = Store(place)
    with store.database.doing_work() as is_alone:
        while is_alone and (job := store.work.next()):
            _do(store, job)
    store.database.leave()


def _do(store: Store, job: Job) -> None:
    noted = time.monotonic()

    def progress(part: float) -> None:
        nonlocal noted
        if time.monotonic() > noted + NOTED:
            noted = time.monotonic()
            store.work.advance(job.key, part)

    signal.alarm(LONGEST)
    try:
        result = read(job.asked).done(store, progress)
    except (ValueError, ModuleNotFoundError) as error:
        signal.alarm(0)
        store.work.refuse(job.key, str(error))
    except TimeoutError:
        store.work.refuse(job.key, f"It took over {LONGEST // 60} minutes, and was stopped.")
    except Exception as error:
        signal.alarm(0)
        failures.log(error, " while doing work")
        store.work.refuse(job.key, "It failed; the server's log says where.")
    else:
        signal.alarm(0)
        store.work.finish(job.key, result)


def _too_long(*_: object) -> None:
    raise TimeoutError


def _end_with_parent() -> None:
    """End once the server has closed this process's input: it stopped, or was killed."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(place_of(os.environ["DENIABLE_DB"]))
