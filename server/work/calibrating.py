"""Estimates that are calibrated to known shares of the population."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.study.infinities import without_infinities
from server.store import Store
from server.stored_calibration import calibrated_rows
from server.stored_results import StoredWave
from server.work import Progress


@dataclass(frozen=True)
class Calibrating:
    """The known shares to which a researcher asked all other estimates to be calibrated.

    `reports` is how many are shown: once there are more, these are other estimates.
    """

    survey: str
    version: str
    wave: int
    reports: int
    level: float
    margins: Mapping[str, Mapping[str, float]]

    def done(self, store: Store, progress: Progress) -> dict[str, Any]:
        """Return the rows of the table, and notes."""
        stored = StoredWave(store, self.survey, self.wave, self.version, batch=True)
        rows, notes = calibrated_rows(stored, self.margins, self.level)
        return {"rows": [without_infinities(row) for row in rows], "notes": notes}
