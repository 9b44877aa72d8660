"""The likeliest mixture behind noisy reports, by EM for many tallies at once."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats

#: EM ends when a step moves no more than this fraction of the weight.
_STILL = 1e-5
_ROUNDS = 5000


def early_em(chances: Floats, counts: Floats, gain: float) -> Floats:
    """Return (m,) weights after EM from equal weights, which ends when steps gain too little.

    Stopping early leaves out features that only noise explains.

    Parameters
    ----------
    chances : (reports, m) array
        The probability of each report under each component of the mixture, above 0.
    counts : (reports,) array
        How often each report was made, not all 0.
    gain : float
        The least that a step must add to the log-likelihood.
    """
    weights = np.full(chances.shape[1], 1 / chances.shape[1])
    parts, before = counts / counts.sum(), -np.inf
    for _ in range(_ROUNDS):
        mixed = chances @ weights
        height = float(counts @ np.log(mixed))
        if not height - before >= gain:
            break
        weights, before = weights * ((parts / mixed) @ chances), height
    return weights


def rest(
    chances: Floats, shares: Floats, start: Floats, blur: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the limit of accelerated EM for each of many tallies, and whether it converged.

    Parameters
    ----------
    chances : (reports, m) array
        See `early_em`.
    shares : (reports, tallies) array
        The share of each report in each tally; columns sum to 1.
    start : (m, tallies) array
        Positive weights.
    blur : (m, m) array
        The matrix that multiplies weights after each step; columns sum to 1.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li, SIGMOD 2020, section 5.5 (EM and smoothing, EMS);
    Varadhan and Roland, Scandinavian Journal of Statistics 2008 (acceleration, SqS3).
    """

    def step(tallied: Floats, weights: Floats) -> Floats:
        return np.asarray(blur @ (weights * (chances.T @ (tallied / (chances @ weights)))))

    fitted = start / start.sum(axis=0)
    rested = np.zeros(shares.shape[1], dtype=bool)
    going = np.arange(shares.shape[1])
    tallied, weights = shares, fitted
    for _ in range(_ROUNDS // 3):
        first = step(tallied, weights)
        still = np.abs(first - weights).sum(axis=0) < _STILL
        if still.any():
            fitted[:, going[still]] = first[:, still]
            rested[going[still]] = True
            going, tallied = going[~still], tallied[:, ~still]
            weights, first = weights[:, ~still], first[:, ~still]
            if not len(going):
                return fitted, rested
        second = step(tallied, first)
        change, bend = first - weights, (second - first) - (first - weights)
        size = np.sqrt((change**2).sum(axis=0) / np.maximum((bend**2).sum(axis=0), 1e-300))
        size = np.maximum(size, 1.0)
        far = np.maximum(weights + 2 * size * change + size**2 * bend, 1e-3 * second)
        weights = step(tallied, far / far.sum(axis=0))
    fitted[:, going] = weights
    return fitted, rested


def shifted(
    chances: Floats, share: Floats, weights: Floats, others: Floats, blur: Floats
) -> Floats:
    """Return the limits of EM for other tallies, to first order in their differences.

    Parameters
    ----------
    chances, blur
        See `rest`.
    share : (reports,) array
        The shares of reports in the tally for which EM converges to (m,) `weights`.
    others : (reports, tallies) array
        The shares in other tallies.
    """
    mixed = chances @ weights
    pull = chances.T @ (share / mixed)
    bend = weights[:, None] * ((chances.T * (share / mixed**2)) @ chances)
    jacobian = np.eye(len(weights)) - blur @ (np.diag(pull) - bend)
    moved = blur @ (weights[:, None] * (chances.T @ ((others - share[:, None]) / mixed[:, None])))
    near = weights[:, None] + np.linalg.lstsq(jacobian, moved, rcond=1e-9)[0]
    return np.maximum(near, 0.05 * weights[:, None])
