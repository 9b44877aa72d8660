"""The covariance of all rows, noise and candidates' effects, undone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.estimate.decoding.cells import Cells

Rows = NDArray[np.float64]

#: Candidates without an effect of their own, of which the information of all such is guessed
#: before the last round. Columns of hashes are much alike: it differs by a few percent.
SAMPLE = 64


@dataclass(frozen=True)
class Whitener:
    """What turns rows of a cohort into rows with independent noise of variance 1.

    `null` is how many of the rows say nothing, as those of a cohort sum to 0.
    """

    factors: NDArray[np.float64]
    strangers: NDArray[np.float64]
    null: int

    @classmethod
    def of(cls, noise: NDArray[np.float64], strangers: Rows, extra: float) -> "Whitener":
        """From the noise of cells and the covariance of one string's hits times `extra`."""
        spread = noise + extra * strangers
        cells = spread.shape[1]
        null = 0
        if np.abs(spread.sum(axis=2)).max() < 1e-9 * np.abs(spread).max():
            # One symbol a report: rows of a cohort sum to 0, and so do all that they are compared
            # with; any variance of that sum will do.
            spread = spread + np.trace(spread, axis1=1, axis2=2)[:, None, None] / cells**2
            null = len(spread)
        # A cell without any noise, as of a channel that changes nothing, still has rounding.
        rounding = 1e-9 * np.trace(spread, axis1=1, axis2=2)[:, None, None] / cells
        factors = np.linalg.inv(np.linalg.cholesky(spread + rounding * np.eye(cells)))
        return cls(factors, factors @ strangers @ factors.transpose(0, 2, 1), null)

    def white(self, rows: Rows) -> Rows:
        """The rows, or columns of them, whitened."""
        cohorts, cells = self.factors.shape[:2]
        done: Rows = (self.factors @ rows.reshape(cohorts, cells, -1)).reshape(rows.shape)
        return done

    def back(self, rows: Rows) -> Rows:
        """What multiplies unwhitened columns to the same products."""
        cohorts, cells = self.factors.shape[:2]
        turned = self.factors.transpose(0, 2, 1)
        done: Rows = (turned @ rows.reshape(cohorts, cells, 1)).ravel()
        return done

    def of_a_stranger(self) -> float:
        """Mean squared length of a whitened column of random hashes."""
        return float(np.trace(self.strangers, axis1=1, axis2=2).sum())


@dataclass(frozen=True)
class Solved:
    """With V the covariance of whitened rows: ``V^-1 z`` as `apply`, ``x' V^-1 x`` for the column
    of each candidate as `information`, and the trace of V^-1."""

    apply: Callable[[Rows], Rows]
    information: NDArray[np.float64]
    trace: float


def solve(
    cells: Cells,
    whitener: Whitener,
    loose: NDArray[np.float64],
    fitted: NDArray[np.int64],
    exact: bool,
) -> Solved:
    """Of the covariance ``1 + sum(loose x x')`` over the candidates that are `fitted`.

    Parameters
    ----------
    cells, whitener : Cells and Whitener
        Columns x, and what whitens them.
    loose : (candidates,) array
        Variance of each effect; all 0, or none.
    fitted : (fitted,) array
        Numbers of those whose effects are not part of the whitener.
    exact : bool
        Whether the information of others is computed one by one too.
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
    # By what is left without the candidate's own effect: the direct formula would lose all digits.
    alone = np.maximum(1 / np.diag(inverse) - 1 / loose[fitted], 1e-6 / loose[fitted])
    information[fitted] = 1 / (loose[fitted] + 1 / alone)
    trace = rows - whitener.null - float((inverse * products).sum())

    def apply(z: Rows) -> Rows:
        done: Rows = z - columns @ (inverse @ (columns.T @ z))
        return done

    rest = np.setdiff1d(np.arange(cells.candidates), fitted)
    if len(rest):
        some = rest if exact else rest[:: -(-len(rest) // SAMPLE)]
        found = [
            np.einsum("ij,ij->j", part, apply(part))
            for chosen in np.array_split(some, len(some) // len(fitted) + 1)
            for part in [whitener.white(cells.columns(chosen))]
        ]
        information[rest] = np.concatenate(found) if exact else np.concatenate(found).mean()
    return Solved(apply, information, trace)
