"""From tallies of hashed, randomized reports to the share of each candidate string."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.discoveries import detected, selected_level
from analysis.estimate.decoding.fit import fit
from analysis.estimate.decoding.noise import Chances
from analysis.estimate.intervals import normal_intervals

__all__ = ["Chances", "Decoded", "Other", "decode"]

#: Part of the detected strings that may be false, on average, if nothing else is asked.
ALPHA = 0.10
#: Below so many reports the normal approximation is flagged.
FEW = 100


@dataclass(frozen=True)
class Other:
    """Share of all strings that are no candidates, with `low` and `high` in [0, 1]."""

    estimate: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Decoded:
    """Shares of candidates, an array of (candidates,) each, in the order they were given.

    `estimate` is nearly unbiased over hashes, and may lie outside [0, 1]; intervals lie within.
    `low` and `high` cover at the level asked, on average over all candidates. `p_value` is that of
    the share being 0 against being greater. For the candidates that are `detected`,
    `detected_low` and `detected_high` cover at the level asked on average over the detected; NaN
    for others. `flags` holds ``few`` (so few people that a normal approximation is doubtful), or
    nothing.
    """

    estimate: NDArray[np.float64]
    std_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: NDArray[np.float64]
    detected: NDArray[np.bool_]
    detected_low: NDArray[np.float64]
    detected_high: NDArray[np.float64]
    other: Other
    reports: int
    confidence_level: float
    flags: tuple[str, ...]


def decode(
    counts: NDArray[np.int64],
    totals: NDArray[np.int64],
    hits: NDArray[np.int64],
    chances: Chances,
    correction: str = "fdr",
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
) -> Decoded:
    """Share of each candidate string, each with its interval, and which are there at all.

    Candidates may outnumber cells. Strings that are no candidates are taken to hit cells at
    random: how much they do so is estimated with the rest, and is in every interval.

    Parameters
    ----------
    counts : (cohorts, cells) array
        How many reports of a cohort count for a cell: have that bit, or are that symbol.
    totals : (cohorts,) array
        Reports of each cohort. Cohorts without any are left out.
    hits : (cohorts, candidates, hashes) array
        The cells that a candidate supports in a cohort, ``0 <= hits < cells``; equal ones of a
        candidate count once. At least one candidate.
    chances : Chances
        Of the reports, ``chances.p != chances.q``.
    correction, alpha : str and float
        What `detected` promises: see `analysis.estimate.decoding.discoveries.detected`.
    confidence_level : float
        Of all intervals, in (0, 1).

    Raises
    ------
    ValueError
        If there are no reports or not two cells, or shapes do not fit.
    """
    _check(counts, totals, hits, chances)
    held = totals > 0
    counts, totals, hits = counts[held], totals[held], hits[held]
    tallies = (counts / totals[:, None] - chances.q) / (chances.p - chances.q)
    found = fit(tallies, totals, Cells.of(hits, counts.shape[1]), chances)
    errors = np.sqrt(found.variance)
    p_value = ndtr(-found.estimate / errors)
    chosen = detected(p_value, correction, alpha)
    low, high = normal_intervals(found.estimate, errors, confidence_level)
    level = selected_level(confidence_level, int(chosen.sum()), len(chosen))
    ends = normal_intervals(found.estimate, errors, level)
    other = normal_intervals(
        np.array([found.other]), np.array([found.other_error]), confidence_level
    )
    n = int(totals.sum())
    return Decoded(
        estimate=found.estimate,
        std_error=errors,
        low=low,
        high=high,
        p_value=p_value,
        detected=chosen,
        detected_low=np.where(chosen, ends[0], np.nan),
        detected_high=np.where(chosen, ends[1], np.nan),
        other=Other(found.other, found.other_error, float(other[0][0]), float(other[1][0])),
        reports=n,
        confidence_level=confidence_level,
        flags=("few",) if n / chances.repeats < FEW else (),
    )


def _check(
    counts: NDArray[np.int64],
    totals: NDArray[np.int64],
    hits: NDArray[np.int64],
    chances: Chances,
) -> None:
    cohorts, cells = counts.shape
    if totals.shape != (cohorts,) or hits.ndim != 3 or hits.shape[0] != cohorts:
        raise ValueError(
            f"expected totals ({cohorts},) and hits ({cohorts}, candidates, hashes), "
            f"got {totals.shape} and {hits.shape}"
        )
    if cells < 2 or not hits.shape[1]:
        raise ValueError(f"expected 2 cells and 1 candidate or more, got {cells}, {hits.shape[1]}")
    if not totals.any():
        raise ValueError("expected at least one report, got none")
    if chances.p == chances.q:
        raise ValueError(f"p and q must differ, got {chances.p} for both")
