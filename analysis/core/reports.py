"""Many reports of one question at once, packed as channels draw and read them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.types import Array, Integers


@dataclass(frozen=True)
class Reports:
    """Many reports, a row each: their cohorts (0 where there are none), and what was drawn.

    They are the smallest integers that hold them: widen them before calculating.
    """

    cohorts: Array
    drawn: Array

    def of(self, chosen: Any) -> "Reports":
        """Return some of the reports; `chosen` is a slice, a mask, or their places."""
        return Reports(self.cohorts[chosen], self.drawn[chosen])

    def distinct(self) -> tuple["Reports", Integers]:
        """Return one report of each kind, and for each report the place of its kind among these."""
        rows = np.column_stack([self.drawn, self.cohorts]).astype(np.uint64, copy=False)
        cells = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
        _, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        return self.of(first), codes

    @property
    def nbytes(self) -> int:
        """The memory they take: a 0 that stands for all cohorts takes none."""
        return self.cohorts.nbytes * any(self.cohorts.strides) + self.drawn.nbytes
