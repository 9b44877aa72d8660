"""Tables and models of a wave, which take too long for a page to wait for them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from analysis.study.sources.counted import CountedWave
from analysis.study.verbs import Progress
from analysis.study.verbs.crosstab import Crosstab
from analysis.study.verbs.estimate import Calibrated
from analysis.study.verbs.model import ChosenModel
from server.store import Store
from server.stored_results import StoredWave


class Computed(Protocol):
    """What is computed from one wave."""

    #: Its name, as it is stored.
    stored_as: ClassVar[str]

    def result(self, source: CountedWave, level: float, progress: Progress) -> dict[str, Any]:
        """Return it as JSON; raise ValueError with the reason if it cannot be computed."""


@dataclass(frozen=True)
class Computing:
    """A table or a model that a researcher asked for.

    `reports` is how many are shown: once there are more, it is another table.
    """

    survey: str
    version: str
    wave: int
    reports: int
    level: float
    verb: Computed

    @property
    def name(self) -> str:
        """The name of what is computed, as it is stored."""
        return self.verb.stored_as

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Compute it."""
        stored = StoredWave(store, self.survey, self.wave, self.version, batch=True)
        return self.verb.result(stored, self.level, progress)


#: What can be computed, by the names that are stored.
COMPUTED: dict[str, Callable[..., Computed]] = {
    verb.stored_as: verb for verb in (Crosstab, ChosenModel, Calibrated)
}


def computing(verb: Callable[..., Computed], **values: Any) -> Computing:
    """Return the work that was stored with the fields of its verb among its own."""
    names = [field.name for field in fields(Computing) if field.name in values]
    return Computing(**{name: values.pop(name) for name in names}, verb=verb(**values))
