"""Long work that researchers ask for: plans, tables of two questions, models, trial copies.

A separate process does it, one piece after another, at a low priority, so that the intake of
reports does not wait. Results stay in the database: whoever asked can leave, and come back.
"""

import atexit
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import rfc8785

from analysis.study.verbs import Progress
from server.store import Store
from server.store.work import Job

#: The most pieces of work that may wait at once, of all researchers together.
MOST_WAITING = 20


class Asked(Protocol):
    """A kind of work; its fields say what was asked, as JSON can hold it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def name(self) -> str:
        """The name of its kind, as it is stored."""

    @property
    def survey(self) -> str:
        """The id of the survey that it is about."""

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Do the work, and return its result; raise ValueError with the reason if it cannot be."""


def _kinds() -> "dict[str, Callable[..., Asked]]":
    """Return what reads each kind of work from its fields, by name, imported only when needed."""
    from server.work.auditing import Auditing
    from server.work.computing import COMPUTED, computing
    from server.work.planning import Planning
    from server.work.trial import Trial

    computed = {name: partial(computing, verb) for name, verb in COMPUTED.items()}
    return {"trial": Trial, "audit": Auditing, "plan": Planning, **computed}


def key_of(asked: Asked) -> str:
    """Return the key of work: the same for whoever asks the same."""
    return hashlib.sha256(rfc8785.dumps(_written(asked))).hexdigest()[:32]


def find(store: Store, asked: Asked) -> Job | None:
    """Return the work that was asked for, as far as it has come; None if nobody asked for it."""
    job = store.work.get(key_of(asked))
    if job is not None and not job.is_over:
        begin(store)  # it may have been interrupted
    return job


def ask(store: Store, asked: Asked) -> bool:
    """Ask for work, and have it begun; return whether there was room for it."""
    if store.work.waiting() >= MOST_WAITING:
        return False
    store.work.ask(key_of(asked), asked.survey, _written(asked))
    begin(store)
    return True


def _written(asked: Asked) -> dict[str, Any]:
    """Return what was asked as JSON, without choices that are the default.

    So work from before a choice existed is found again.
    """
    return {"what": asked.name, **_choices(asked)}


def _choices(asked: Any) -> dict[str, Any]:
    """Return the fields that are not the default; those of a verb are among those of its work."""
    choices: dict[str, Any] = {}
    for field in fields(asked):
        value = getattr(asked, field.name)
        if is_dataclass(value):
            choices |= _choices(value)
        elif value != field.default:
            choices[field.name] = value
    return choices


def read(asked: dict[str, Any]) -> Asked:
    """Return the work that was written down."""
    values = dict(asked)
    return _kinds()[values.pop("what")](**values)


_BEGINNING = threading.Lock()
_PROCESSES: dict[str, "subprocess.Popen[bytes]"] = {}


@atexit.register
def _stop() -> None:
    """End the processes that this one started; their work is done when somebody asks again."""
    for process in _PROCESSES.values():
        process.kill()
        process.communicate()


def begin(store: Store) -> None:
    """Start the process that does the work of a database, unless there is one.

    It ends as soon as nothing is to be done, or when this process ends, which closes its input.
    """
    address = store.database.address
    with _BEGINNING:
        process = _PROCESSES.get(address)
        if process is not None and process.poll() is not None:
            process.communicate()  # closes its input
            process = None
        if process is None and not store.database.is_working():
            # The address can hold a password, and all users of the machine can see arguments.
            _PROCESSES[address] = subprocess.Popen(
                [sys.executable, "-P", "-m", "server.work.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "DENIABLE_DB": address},
            )
