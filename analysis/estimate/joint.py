"""The joint distribution of the answers to two questions, from the same people's noisy reports."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats, Ints
from analysis.estimate.mixture import mixture

#: A share of less than this many of its standard errors counts as being at the border.
BORDER = 0.05
#: Directions with less than this fraction of the largest information are in its null space.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Joint:
    """The likeliest shares of all pairs of values, and their precision.

    `share` sums to 1. `std_error` comes from the observed information. It is infinite for pairs
    that reports cannot distinguish. `boundary` says that a share is 0 or so near to it that its
    estimate is not normal; its error is then that of an interior share, and only gives a scale.
    `covariance` is that of the pairs in the order of ``share.ravel()``, without infinite parts.
    `converged` says that the log-likelihood is at most `analysis.estimate.mixture.GAP` below its
    maximum. `log_likelihood` is summed over reports.
    """

    share: Floats
    std_error: Floats
    boundary: NDArray[np.bool_]
    covariance: Floats
    log_likelihood: float
    converged: bool
    reports: int


def joint(first: Floats, second: Floats, counts: Ints | None = None) -> Joint:
    """Maximize the likelihood by EM over groups of equal reports, accelerated where it is slow.

    Parameters
    ----------
    first, second : (reports, values) arrays
        The probability of each report if a value is true, for the first and the second question.
        The last value can stand for all that are not candidates; see `symbol_chances` and
        `bit_chances`.
    counts : (reports,) array, optional
        How often each pair of reports was made; by default, once.

    Raises
    ------
    ValueError
        If a report is impossible under every pair of values, or if there are no reports.

    References
    ----------
    Fanti, Pihur and Erlingsson, PoPETs 2016 (EM over reports); Varadhan and Roland, Scandinavian
    Journal of Statistics 2008 (its acceleration, SqS3); Louis, JRSS B 1982 (its information).
    """
    if first.ndim != 2 or second.ndim != 2 or len(first) != len(second) or not len(first):
        raise ValueError(
            "expected two tables of probabilities with equally many reports, at least one, "
            f"got {first.shape}, {second.shape}"
        )
    rows = np.hstack([first, second])
    often = np.ones(len(rows), dtype=np.int64) if counts is None else counts
    groups, where = np.unique(rows, axis=0, return_inverse=True)
    times = np.bincount(where.ravel(), often, len(groups)).astype(np.float64)
    groups, times = groups[times > 0], times[times > 0]
    left, right = groups[:, : first.shape[1]], groups[:, first.shape[1] :]
    likelihood = (left[:, :, None] * right[:, None, :]).reshape(len(groups), -1)
    fitted = mixture(likelihood, times)
    error, covariance = _errors(fitted.ratios, times)
    table = fitted.weights.reshape(first.shape[1], second.shape[1])
    return Joint(
        share=table,
        std_error=error.reshape(table.shape),
        boundary=(fitted.weights < BORDER * error).reshape(table.shape),
        covariance=covariance,
        log_likelihood=fitted.height,
        converged=fitted.converged,
        reports=int(times.sum()),
    )


def _errors(scores: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Return the errors and covariance of weights that sum to 1, from the scores of each group."""
    size = scores.shape[1]
    information = (scores * times[:, None]).T @ scores
    centering = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(centering @ information @ centering)
    known = values > _NOTHING * max(values[-1], 1e-300)
    covariance = (vectors[:, known] / values[known]) @ vectors[:, known].T
    # The direction of the sum is not identified, and does not matter.
    unknown = centering @ vectors[:, ~known]
    error = np.sqrt(np.diag(covariance))
    error[(unknown**2).sum(axis=1) > 1e-6] = np.inf
    return error, covariance


def symbol_chances(symbols: Ints, cohorts: Ints, hits: Ints, p: float, q: float) -> Floats:
    """Return (reports, candidates + 1) probabilities of symbols under each value, others last.

    Parameters
    ----------
    symbols, cohorts : (reports,) arrays
        The reported symbol, and the cohort of its respondent.
    hits : (cohorts, candidates) array
        The symbol of each candidate.
    p, q : float
        The probability of the candidate's own symbol, and of each other symbol.
    """
    chances = np.where(hits[cohorts] == symbols[:, None], p, q)
    # A uniformly drawn symbol is still uniform after it is randomized.
    any_symbol = 1 / ((1 - p) / q + 1)
    return np.column_stack([chances, np.full(len(symbols), any_symbol)])


def bit_chances(bits: NDArray[np.bool_], cohorts: Ints, hits: Ints, p: float, q: float) -> Floats:
    """Return (reports, candidates + 1) probabilities of the bits under each value, others last.

    Parameters
    ----------
    bits : (reports, cells) array
        The reported bits.
    cohorts : (reports,) array
        The cohort of each report.
    hits : (cohorts, candidates, hashes) array
        The bits that a candidate supports. Equal bits count once.
    p, q : float
        The probabilities that a supported bit is 1, and that another bit is 1, in (0, 1).
    """
    cells, hashes = bits.shape[1], hits.shape[2]
    ones = bits.sum(axis=1)
    bare = q**ones * (1 - q) ** (cells - ones)
    support = np.zeros((*hits.shape[:2], cells), dtype=bool)
    np.put_along_axis(support, hits, True, axis=2)
    supported = support[cohorts]
    set_ones = np.einsum("rvc,rc->rv", supported, bits, dtype=float)
    unset = supported.sum(axis=2) - set_ones
    gain, loss = p / q, (1 - p) / (1 - q)
    chances = bare[:, None] * gain**set_ones * loss**unset
    stranger = np.array([_stranger(n, cells, hashes, gain, loss) for n in range(cells + 1)])
    return np.column_stack([chances, bare * stranger[ones]])


def _stranger(ones: int, cells: int, hashes: int, gain: float, loss: float) -> float:
    """Return the mean factor by which random supported cells change the probability of the ones."""
    law = {(0, 0): 1.0}
    for _ in range(hashes):
        after: dict[tuple[int, int], float] = {}
        for (hit, missed), chance in law.items():
            for state, cells_of in (
                ((hit, missed), hit + missed),
                ((hit + 1, missed), ones - hit),
                ((hit, missed + 1), cells - ones - missed),
            ):
                if cells_of:
                    after[state] = after.get(state, 0.0) + chance * cells_of / cells
        law = after
    return sum(chance * gain**hit * loss**missed for (hit, missed), chance in law.items())
