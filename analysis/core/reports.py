"""Many reports of one question, packed in the form that channels draw and read."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.types import Array, Integers


@dataclass(frozen=True)
class Reports:
    """Many reports, each in a row: their cohorts (0 if there are none), and what was drawn.

    Both arrays have the smallest type of integer that holds them. Widen it before calculating.
    """

    cohorts: Array
    drawn: Array

    def of(self, chosen: Any) -> "Reports":
        """Return some of the reports; `chosen` is a slice, a mask, or an array of positions."""
        return Reports(self.cohorts[chosen], self.drawn[chosen])

    def distinct(self) -> tuple["Reports", Integers]:
        """Return one report of each kind, and for each report the position of its kind."""
        rows = np.column_stack([self.drawn, self.cohorts]).astype(np.uint64, copy=False)
        cells = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
        _, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        return self.of(first), codes

    @property
    def nbytes(self) -> int:
        """The memory that they take, in bytes. A 0 that stands for all cohorts takes none."""
        return self.cohorts.nbytes * any(self.cohorts.strides) + self.drawn.nbytes
