"""The likeliest mixture behind noisy reports, by EM, of many tallies at once."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats

#: EM ends when a step moves no more than this part of all weight.
_STILL = 1e-5
_ROUNDS = 5000


def early_em(chances: Floats, counts: Floats, gain: float) -> Floats:
    """(m,) weights after as many steps of EM from equal ones as gain log-likelihood.

    Stopping early leaves out what only noise explains.

    Parameters
    ----------
    chances : (reports, m) array
        Positive; the chance of each report under each part of the mixture.
    counts : (reports,) array
        Not all 0.
    gain : float
        The least that a step must add to the log-likelihood.
    """
    weights = np.full(chances.shape[1], 1 / chances.shape[1])
    parts, before = counts / counts.sum(), -np.inf
    while True:
        mixed = chances @ weights
        height = float(counts @ np.log(mixed))
        if height - before < gain:
            return weights
        weights, before = weights * ((parts / mixed) @ chances), height


def rest(
    chances: Floats, shares: Floats, start: Floats, blur: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Where EM comes to rest for each of many tallies, and whether it did.

    Steps are lengthened where they creep.

    Parameters
    ----------
    chances : (reports, m) array
        Positive.
    shares : (reports, tallies) array
        Of each report in each tally; columns sum to 1.
    start : (m, tallies) array
        Positive weights.
    blur : (m, m) array
        What weights are multiplied with after each step; columns sum to 1.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, SIGMOD 2020, section 5.5 (EM and smoothing, EMS);
    Varadhan and Roland, Scandinavian Journal of Statistics 2008 (acceleration, SqS3).
    """

    def step(own: Floats, weights: Floats) -> Floats:
        after: Floats = blur @ (weights * (chances.T @ (own / (chances @ weights))))
        return after

    found = start / start.sum(axis=0)
    rested = np.zeros(shares.shape[1], dtype=bool)
    going = np.arange(shares.shape[1])
    own, weights = shares, found
    for _ in range(_ROUNDS // 3):
        one = step(own, weights)
        still = np.abs(one - weights).sum(axis=0) < _STILL
        if still.any():
            found[:, going[still]] = one[:, still]
            rested[going[still]] = True
            going, own = going[~still], own[:, ~still]
            weights, one = weights[:, ~still], one[:, ~still]
            if not len(going):
                return found, rested
        two = step(own, one)
        change, bend = one - weights, (two - one) - (one - weights)
        size = np.sqrt((change**2).sum(axis=0) / np.maximum((bend**2).sum(axis=0), 1e-300))
        size = np.maximum(size, 1.0)
        far = np.maximum(weights + 2 * size * change + size**2 * bend, 1e-3 * two)
        weights = step(own, far / far.sum(axis=0))
    found[:, going] = weights
    return found, rested


def shifted(
    chances: Floats, share: Floats, weights: Floats, others: Floats, blur: Floats
) -> Floats:
    """About where EM comes to rest for other tallies: to first order in what they differ by.

    Parameters
    ----------
    chances, blur
        As of `rest`.
    share : (reports,) array
        Of the tally for which EM is known to rest at (m,) `weights`.
    others : (reports, tallies) array
        Shares of others.
    """
    mixed = chances @ weights
    pull = chances.T @ (share / mixed)
    bend = weights[:, None] * ((chances.T * (share / mixed**2)) @ chances)
    kept = np.eye(len(weights)) - blur @ (np.diag(pull) - bend)
    moved = blur @ (weights[:, None] * (chances.T @ ((others - share[:, None]) / mixed[:, None])))
    near = weights[:, None] + np.linalg.lstsq(kept, moved, rcond=1e-9)[0]
    return np.maximum(near, 0.05 * weights[:, None])
