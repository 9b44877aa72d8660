"""Shares of texts that are few compared with a tally's cells, fitted together by least squares.

The fit assumes nothing about the distribution of shares. So with fixed weights it would be unbiased
for any hashes of the candidates. The weights are estimated, too. With few reports that biases the
fit by a small fraction of its standard error. Many candidates need
`analysis.estimate.decoding.fit`.
"""

import numpy as np

from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.fit import Fit, noise_of, possible_shares
from analysis.estimate.decoding.noise import Chances, variances


def fit_few(tallies: Floats, reports: Ints, cells: Cells, chances: Chances) -> Fit | None:
    """Return the fit; None if the candidates are too many for the cells.

    Parameters are those of `analysis.estimate.decoding.fit.fit`.
    """
    cohorts, width, texts = cells.cohorts, cells.cells, cells.candidates
    free = cohorts * (width - chances.one_symbol)
    if 8 * texts > free:
        return None
    strangers = cells.background.covariance(width)
    apart = (tallies - cells.background.mean).ravel()
    columns = cells.columns(np.arange(texts))
    weights, beside, shares = reports / reports.mean(), 0.0, np.zeros(texts)
    for _ in range(3):
        weighted = columns * np.repeat(weights, width)[:, np.newaxis]
        inverse = np.linalg.pinv(columns.T @ weighted, hermitian=True)
        shares = inverse @ (weighted.T @ apart)
        left = (apart - columns @ shares) ** 2
        possible = possible_shares(np.clip(shares, 0.0, 1.0))
        alone = variances(cells.single(possible), reports, chances).sum(axis=1)
        # Residuals beyond noise are due to other texts. The fit has absorbed a part of them.
        scale = free / (free - texts)
        beyond = float(left.sum()) * scale - float(alone.sum())
        beside = max(0.0, beyond / (cohorts * float(np.trace(strangers))))
        weights = 1 / (alone + beside * float(np.trace(strangers)))
    noise = noise_of(possible, reports, cells, chances)
    blocks = weighted.reshape(cohorts, width, texts)
    spread = np.matmul(noise + beside * strangers, blocks).reshape(-1, texts)
    errors = inverse @ (blocks.reshape(-1, texts).T @ spread) @ inverse
    other, other_error = 1 - float(shares.sum()), float(errors.sum() ** 0.5)
    return Fit(shares, np.sqrt(np.diag(errors)), other, other_error)
