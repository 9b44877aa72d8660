"""Shares of texts that are few beside the cells of a tally: all fitted at once, by least squares.

Nothing is assumed of how shares are spread, so with fixed weights the fit would be unbiased
whatever the hashes of the candidates are; the weights are estimated too, which with few reports
biases it by a small part of its standard error. Many candidates are for
`analysis.estimate.decoding`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.noise import Chances, covariance

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """`estimate` and `std_error` by candidate; and of what all other texts have together."""

    estimate: Rows
    std_error: Rows
    other: float
    other_error: float


def fit_few(
    counts: NDArray[np.int64], totals: NDArray[np.int64], hits: NDArray[np.int64], chances: Chances
) -> Fitted | None:
    """The fit, or None if the candidates are too many for the cells that have reports.

    Parameters
    ----------
    counts, totals, hits, chances
        As of `analysis.estimate.decoding.decode`.
    """
    held = totals > 0
    counts, totals, hits = counts[held], totals[held], hits[held]
    cells = Cells.of(hits, counts.shape[1])
    cohorts, width, texts = cells.cohorts, cells.cells, cells.candidates
    free = cohorts * (width - chances.one_symbol)
    if 8 * texts > free:
        return None
    strangers = cells.background.covariance(width)
    tallies = (counts / totals[:, np.newaxis] - chances.q) / (chances.p - chances.q)
    apart = (tallies - cells.background.mean).ravel()
    columns = cells.columns(np.arange(texts))
    weights, beside, shares = totals / totals.mean(), 0.0, np.zeros(texts)
    for _ in range(3):
        weighted = columns * np.repeat(weights, width)[:, np.newaxis]
        inverse = np.linalg.pinv(columns.T @ weighted, hermitian=True)
        shares = inverse @ (weighted.T @ apart)
        left = (apart - columns @ shares) ** 2
        possible = np.clip(shares, 0.0, 1.0)
        possible /= max(1.0, float(possible.sum()))
        noise = covariance(cells.single(possible), cells.pairs(possible), totals, chances)
        alone = np.trace(noise, axis1=1, axis2=2)
        # What is left beyond noise is what other texts do; a part of it the fit has taken away.
        scale = free / (free - texts)
        beyond = float(left.sum()) * scale - float(alone.sum())
        beside = max(0.0, beyond / (cohorts * float(np.trace(strangers))))
        weights = 1 / (alone + beside * float(np.trace(strangers)))
    blocks = weighted.reshape(cohorts, width, texts)
    spread = np.matmul(noise + beside * strangers, blocks).reshape(-1, texts)
    errors = inverse @ (blocks.reshape(-1, texts).T @ spread) @ inverse
    return Fitted(
        shares, np.sqrt(np.diag(errors)), 1 - float(shares.sum()), float(errors.sum() ** 0.5)
    )
