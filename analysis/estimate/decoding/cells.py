"""The cells that each candidate supports, compared with a string of random hashes."""

from dataclasses import dataclass

import numpy as np
import scipy

from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.noise import Background

#: How many of the largest shares are counted for pairs of cells that one value supports.
_LARGEST = 200


@dataclass(frozen=True)
class Cells:
    """The design matrix: a row for each cell of each cohort, and a column for each candidate.

    A column holds 1 where the candidate supports the cell and 0 elsewhere, less the background's
    mean. Since the shares of all strings sum to 1, a tally less that mean is the sum of shares
    times columns, plus noise.
    """

    hits: Ints
    cells: int
    background: Background
    support: "scipy.sparse.csc_array"
    turned: "scipy.sparse.csr_array"

    @classmethod
    def of(cls, hits: Ints, cells: int) -> "Cells":
        """Return the design of the (cohorts, candidates, hashes) cells that candidates support."""
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

    def sum(self, weights: Floats) -> Floats:
        """Return the (rows,) sum of columns times weights."""
        return np.asarray(self.support @ weights - self.background.mean * weights.sum())

    def scores(self, rows: Floats) -> Floats:
        """Return the (candidates,) product of each column with `rows`."""
        return np.asarray(self.turned @ rows - self.background.mean * rows.sum())

    def columns(self, chosen: Ints) -> Floats:
        """Return the (rows, chosen) columns themselves."""
        return np.asarray(self.support[:, chosen].toarray() - self.background.mean)

    def single(self, shares: Floats) -> Floats:
        """Return (cohorts, cells) the share of people whose value supports a cell.

        Here and in `pairs`, shares are at least 0 and sum to at most 1.
        """
        return self.sum(shares).reshape(self.cohorts, self.cells) + self.background.mean

    def pairs(self, shares: Floats) -> Floats:
        """Return (cohorts, cells, cells) the share of people whose value supports both cells.

        The diagonal has no meaning.
        """
        top = np.argsort(-shares)[:_LARGEST]
        top = top[shares[top] > 0]
        cohort, candidate = np.arange(self.cohorts)[:, None, None], np.arange(len(top))[None, :]
        supports = np.zeros((self.cohorts, len(top), self.cells))
        supports[cohort, candidate[:, :, None], self.hits[:, top]] = 1.0
        rest = (1 - float(shares[top].sum())) * self.background.both
        return np.asarray(rest + (supports.transpose(0, 2, 1) * shares[top]) @ supports)
