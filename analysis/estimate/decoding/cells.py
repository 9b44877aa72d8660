"""Which cells each candidate supports, seen apart from what a string with random hashes does."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.estimate.decoding.noise import Background

#: So many of the largest shares count where two cells of a cohort are supported by one value.
_LARGEST = 200


@dataclass(frozen=True)
class Cells:
    """The design: a row for each cell of each cohort, a column for each candidate.

    A column holds 1 where the candidate supports the cell and 0 elsewhere, less the background's
    mean: a tally, less that mean, is then the sum of shares times columns and of noise, as the
    shares of all strings sum to 1.
    """

    hits: NDArray[np.int64]
    cells: int
    background: Background
    support: "scipy.sparse.csc_array"
    turned: "scipy.sparse.csr_array"

    @classmethod
    def of(cls, hits: NDArray[np.int64], cells: int) -> "Cells":
        """From the (cohorts, candidates, hashes) array of the cells that candidates support."""
        cohorts, candidates, hashes = hits.shape
        rows = (np.arange(cohorts)[:, None, None] * cells + hits).ravel()
        columns = np.broadcast_to(np.arange(candidates)[None, :, None], hits.shape).ravel()
        shape = (cohorts * cells, candidates)
        support = scipy.sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        support.data[:] = 1.0  # equal cells of a candidate were added up
        return cls(hits, cells, Background.of(cells, hashes), support, support.T.tocsr())

    @property
    def cohorts(self) -> int:
        return int(self.hits.shape[0])

    @property
    def candidates(self) -> int:
        return int(self.hits.shape[1])

    def sum(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(rows,) sum of columns times weights."""
        total: NDArray[np.float64] = self.support @ weights - self.background.mean * weights.sum()
        return total

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """(candidates,) product of each column with `rows`."""
        products: NDArray[np.float64] = self.turned @ rows - self.background.mean * rows.sum()
        return products

    def columns(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """(rows, chosen) the columns themselves."""
        dense: NDArray[np.float64] = self.support[:, chosen].toarray()
        return dense - self.background.mean

    def single(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """(cohorts, cells) share of people whose value supports a cell.

        Shares are at least 0, with a sum of at most 1, here and below.
        """
        return self.sum(shares).reshape(self.cohorts, self.cells) + self.background.mean

    def pairs(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """(cohorts, cells, cells) share of people whose value supports both cells, if different."""
        top = np.argsort(-shares)[:_LARGEST]
        top = top[shares[top] > 0]
        cohort, candidate = np.arange(self.cohorts)[:, None, None], np.arange(len(top))[None, :]
        supports = np.zeros((self.cohorts, len(top), self.cells))
        supports[cohort, candidate[:, :, None], self.hits[:, top]] = 1.0
        rest = (1 - float(shares[top].sum())) * self.background.both
        both: NDArray[np.float64] = rest + (supports.transpose(0, 2, 1) * shares[top]) @ supports
        return both
