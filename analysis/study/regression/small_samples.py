"""Robust errors for few clusters: the bias-reduced linearization of Bell and McCaffrey (CR2).

A cluster's sum of scores s_g is smaller at the estimates than at the truth, since the estimates
follow it. The effect grows with the cluster's part J_g of the information J. If the model's own
variance is right, (1 - J_g J^-1)^-1/2 s_g has the variance of the true sum (docs/methods.md, (47)).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.study.regression.result import FLAT

Array = NDArray[np.float64]

#: A cluster with a larger fraction of the information shows nothing about its own error.
_WHOLE = 1 - 1e-6


@dataclass(frozen=True)
class FewClusters:
    """The (clusters, q, q) parts of the information of each cluster, in units of `units`.

    References
    ----------
    Bell and McCaffrey, Survey Methodology 2002; Pustejovsky and Tipton, Journal of Business &
    Economic Statistics 2018 (other models, and directions without information).
    """

    parts: Array

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """(q,) eigenvalues and (q, r) directions of the information, where they are not 0."""
        whole = self.parts.sum(axis=0)
        values, ways = np.linalg.eigh((whole + whole.T) / 2)
        return values[values >= FLAT], ways[:, values >= FLAT]

    @cached_property
    def _own(self) -> tuple[Array, Array]:
        """(clusters, r, r) parts, in units where the whole is the identity, and corrections."""
        values, ways = self._axes
        root = ways / np.sqrt(values)
        shares, turns = np.linalg.eigh(root.T @ self.parts @ root)
        # Noise can make a part of the information negative, or larger than the whole.
        shares = np.clip(shares, 0.0, 1.0)
        factors = np.where(shares < _WHOLE, 1 / np.sqrt(np.maximum(1 - shares, 1 - _WHOLE)), 0.0)
        own = (turns * shares[:, None]) @ turns.swapaxes(1, 2)
        return own, (turns * factors[:, None]) @ turns.swapaxes(1, 2)

    def meat(self, totals: Array) -> Array:
        """Return the (q, q) covariance of the sum of (clusters, q) sums of scores."""
        values, ways = self._axes
        _, factors = self._own
        sums = np.einsum("grs,gs->gr", factors, totals @ (ways / np.sqrt(values)))
        back = ways * np.sqrt(values)
        return np.asarray(back @ (sums.T @ sums) @ back.T)

    def freedoms(self, rows: Array) -> Array:
        """Return the degrees of freedom of the variances of (k, q) functions of the parameters.

        They are those of Satterthwaite, under the model's own variance.
        """
        values, ways = self._axes
        own, factors = self._own
        found = []
        for row in rows:
            lengths = factors @ ((ways / np.sqrt(values)).T @ row)
            pulled = np.einsum("grs,gs->gr", own, lengths)
            spread = np.diag(np.sum(pulled * lengths, axis=1)) - pulled @ pulled.T
            square = float(np.sum(spread**2))
            found.append(float(np.trace(spread)) ** 2 / square if square > 0 else 1.0)
        return np.array(found)
