"""Tables and models of a wave, which take too long for a page to wait for them."""

from dataclasses import dataclass
from typing import Any, Protocol

from analysis.study.sources.counted import CountedWave
from analysis.study.verbs import Progress
from analysis.study.verbs.crosstab import Crosstab
from analysis.study.verbs.estimate import Calibrated
from analysis.study.verbs.model import ChosenModel
from server.store import Store
from server.stored_results import StoredWave

#: What can be computed, by the names that are stored.
COMPUTED = {"crosstab": Crosstab, "model": ChosenModel, "calibrated": Calibrated}


class Computed(Protocol):
    """What is computed from one wave."""

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
        """The name of the verb, as it is stored."""
        return next(name for name, kind in COMPUTED.items() if isinstance(self.verb, kind))

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return the result of the verb."""
        stored = StoredWave(store, self.survey, self.wave, self.version, batch=True)
        return self.verb.result(stored, self.level, progress)
