"""The inverse of the covariance of all rows, which consists of noise and candidates' effects."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.cells import Cells

#: A sample of this many candidates without an effect of their own stands for the information of all
#: such candidates before the last round. It differs by a few percent, since columns of hashes are
#: similar.
SAMPLE = 64


@dataclass(frozen=True)
class Whitener:
    """The factors that transform rows of a cohort into rows with independent noise of variance 1.

    `null` is the number of rows without information, since the rows of a cohort may sum to 0.
    """

    factors: Floats
    strangers: Floats
    null: int

    @classmethod
    def of(cls, noise: Floats, strangers: Floats, extra: float) -> "Whitener":
        """Return the whitener of the cells' noise and `extra` times `strangers`' covariance."""
        spread = noise + extra * strangers
        cells = spread.shape[1]
        null = 0
        if np.abs(spread.sum(axis=2)).max() < 1e-9 * np.abs(spread).max():
            # A report counts for one symbol, so the rows of a cohort sum to 0. All columns that
            # they are compared with sum to 0, too. So any variance of that sum will do.
            spread = spread + np.trace(spread, axis1=1, axis2=2)[:, None, None] / cells**2
            null = len(spread)
        # A cell without noise, because its channel changes nothing, still has rounding errors.
        rounding = 1e-9 * np.trace(spread, axis1=1, axis2=2)[:, None, None] / cells
        factors = np.linalg.inv(np.linalg.cholesky(spread + rounding * np.eye(cells)))
        return cls(factors, factors @ strangers @ factors.transpose(0, 2, 1), null)

    def white(self, rows: Floats) -> Floats:
        """Return whitened rows, or whitened columns of rows."""
        cohorts, cells = self.factors.shape[:2]
        return np.asarray((self.factors @ rows.reshape(cohorts, cells, -1)).reshape(rows.shape))

    def back(self, rows: Floats) -> Floats:
        """Return rows whose products with columns equal those of `rows` with whitened columns."""
        cohorts, cells = self.factors.shape[:2]
        turned = self.factors.transpose(0, 2, 1)
        return np.asarray((turned @ rows.reshape(cohorts, cells, 1)).ravel())

    def of_a_stranger(self) -> float:
        """Return the mean squared length of a whitened column of random hashes."""
        return float(np.trace(self.strangers, axis1=1, axis2=2).sum())


@dataclass(frozen=True)
class Solved:
    """The inverse of V, the covariance of whitened rows; `apply` returns ``V^-1 z``.

    `information` is ``x' V^-1 x`` for the column x of each candidate, and `trace` is that of V^-1.
    """

    apply: Callable[[Floats], Floats]
    information: Floats
    trace: float


def solve(cells: Cells, whitener: Whitener, loose: Floats, fitted: Ints, exact: bool) -> Solved:
    """Invert the covariance ``1 + sum(loose x x')`` over the candidates that are `fitted`.

    Parameters
    ----------
    cells, whitener : Cells and Whitener
        The columns x, and their whitener.
    loose : (candidates,) array
        The variance of each effect. Either all are 0, or none is.
    fitted : (fitted,) array
        The indices of candidates whose effects are not part of the whitener.
    exact : bool
        Whether the information of the other candidates is computed for each, too.
    """
    rows = cells.cohorts * cells.cells
    if not loose.any():
        information = np.full(cells.candidates, whitener.of_a_stranger())
        return Solved(lambda z: z, information, rows - whitener.null)
    columns = whitener.white(cells.columns(fitted))
    information = np.empty(cells.candidates)
    products = columns.T @ columns
    factor = scipy.linalg.cho_factor(products + np.diag(1 / loose[fitted]), check_finite=False)
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(fitted)), check_finite=False)
    # This is computed from the covariance without the candidate's own effect, since the direct
    # formula would lose all digits.
    alone = np.maximum(1 / np.diag(inverse) - 1 / loose[fitted], 1e-6 / loose[fitted])
    information[fitted] = 1 / (loose[fitted] + 1 / alone)
    trace = rows - whitener.null - float((inverse * products).sum())

    def apply(z: Floats) -> Floats:
        return np.asarray(z - columns @ (inverse @ (columns.T @ z)))

    rest = np.setdiff1d(np.arange(cells.candidates), fitted)
    if len(rest):
        some = rest if exact else rest[:: -(-len(rest) // SAMPLE)]
        blocks = np.array_split(some, len(some) // len(fitted) + 1)
        whites = (whitener.white(cells.columns(block)) for block in blocks)
        others = np.concatenate([np.einsum("ij,ij->j", white, apply(white)) for white in whites])
        information[rest] = others if exact else others.mean()
    return Solved(apply, information, trace)
