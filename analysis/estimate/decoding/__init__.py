"""Decoding: the share of each candidate string, from tallies of hashed and randomized reports.

See docs/methods.md, (36), and docs/decode.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.core.options import FALSE_DISCOVERIES
from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.discoveries import (
    chances_absent,
    detected,
    likely,
    selected_level,
)
from analysis.estimate.decoding.fit import Fit, fit
from analysis.estimate.decoding.least_squares import fit_few
from analysis.estimate.decoding.noise import Chances
from analysis.estimate.intervals import FEW, normal_intervals

__all__ = ["Chances", "Decoded", "Other", "decode", "detected", "fit_texts", "selected_level"]


@dataclass(frozen=True)
class Other:
    """The share of all strings that are not candidates, with `low` and `high` in [0, 1]."""

    estimate: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Decoded:
    """The shares of candidates, as (candidates,) arrays in the order of the candidates.

    `estimate` is nearly unbiased over hashes, and may lie outside [0, 1]. Intervals lie within [0,
    1]. `p_value` is that of the test that the share is 0 against that it is greater. `absent` is
    the estimated proportion of candidates without any share, in [0, 1], or None if it was not
    estimated. The intervals of `detected` candidates, `low` to `high`, cover at `confidence_level`
    on average over these candidates, since each is an interval at `detected_level`. Each interval
    of another candidate covers at `confidence_level`. If it is known that a candidate was not
    detected, its interval can be likelier to miss. `flags` holds ``few`` if there are so few people
    that a normal approximation is doubtful.
    """

    estimate: Floats
    std_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    detected: NDArray[np.bool_]
    absent: float | None
    other: Other
    reports: int
    confidence_level: float
    detected_level: float
    flags: tuple[str, ...]


def decode(
    counts: Ints,
    totals: Ints,
    hits: Ints,
    chances: Chances,
    false_discoveries: float = FALSE_DISCOVERIES,
    any_false: float | None = None,
    confidence_level: float = 0.95,
) -> Decoded:
    """Return the share of each candidate string with its interval, and which candidates exist.

    Candidates may outnumber cells. Strings that are not candidates are assumed to hit cells at
    random. Their share is estimated with the others, and every interval takes it into account.

    Parameters
    ----------
    counts : (cohorts, cells) array
        The number of a cohort's reports that count for a cell: they have that bit, or are that
        symbol.
    totals : (cohorts,) array
        The number of reports of each cohort. Cohorts without reports are left out.
    hits : (cohorts, candidates, hashes) array
        The cells that a candidate supports in a cohort, ``0 <= hits < cells``. Equal cells of a
        candidate count once. There must be at least one candidate.
    chances : Chances
        The probabilities of the reports, with ``chances.p != chances.q``.
    false_discoveries : float
        The average proportion of the detected candidates that nobody has, in (0, 1): the level of
        Benjamini and Hochberg's procedure. With 50 candidates or more, candidates are also detected
        if they are probable enough to exist.
    any_false : float, optional
        If given, a bound of the probability that any detected candidate does not exist, in (0, 1),
        by Bonferroni's inequality. `false_discoveries` is then not used.
    confidence_level : float
        The level of all intervals, in (0, 1).

    Raises
    ------
    ValueError
        If there are no reports, if there are fewer than two cells, or if shapes do not fit.
    """
    fitted = fit(*_debiased(counts, totals, hits, chances))
    estimates, errors = fitted.estimate, fitted.std_error
    p_value = ndtr(-estimates / errors)
    absent = chances_absent(estimates, errors) if any_false is None else None
    if any_false is None:
        chosen = detected(p_value, "fdr", false_discoveries)
    else:
        chosen = detected(p_value, "bonferroni", any_false)
    if absent is not None:
        chosen = chosen | likely(p_value, absent, false_discoveries)
    level = selected_level(confidence_level, int(chosen.sum()), len(chosen))
    inner = normal_intervals(estimates, errors, confidence_level)
    outer = normal_intervals(estimates, errors, level)
    other = np.array([fitted.other]), np.array([fitted.other_error])
    other_low, other_high = (float(end[0]) for end in normal_intervals(*other, confidence_level))
    n = int(totals.sum())
    return Decoded(
        estimate=estimates,
        std_error=errors,
        low=np.where(chosen, outer[0], inner[0]),
        high=np.where(chosen, outer[1], inner[1]),
        p_value=p_value,
        detected=chosen,
        absent=None if absent is None else float(absent.mean()),
        other=Other(fitted.other, fitted.other_error, other_low, other_high),
        reports=n,
        confidence_level=confidence_level,
        detected_level=level,
        flags=("few",) if n / chances.repeats < FEW else (),
    )


def fit_texts(counts: Ints, totals: Ints, hits: Ints, chances: Chances) -> Fit:
    """Return the shares of candidates: by `fit_few` if they are few enough, by `fit` otherwise.

    Parameters are those of `decode`.
    """
    tallied = _debiased(counts, totals, hits, chances)
    return fit_few(*tallied) or fit(*tallied)


def _debiased(
    counts: Ints, totals: Ints, hits: Ints, chances: Chances
) -> tuple[Floats, Ints, Cells, Chances]:
    """Check the arguments of `decode`, and return those of `fit`."""
    cohorts, cells = counts.shape
    if totals.shape != (cohorts,) or hits.ndim != 3 or hits.shape[0] != cohorts:
        raise ValueError(
            f"expected totals ({cohorts},) and hits ({cohorts}, candidates, hashes), "
            f"got {totals.shape} and {hits.shape}"
        )
    if cells < 2 or not hits.shape[1]:
        raise ValueError(f"expected at least 2 cells and 1 candidate, got {cells}, {hits.shape[1]}")
    if not totals.any():
        raise ValueError("expected at least one report, got none")
    if chances.p == chances.q:
        raise ValueError(f"p and q must differ, got {chances.p} for both")
    held = totals > 0
    counts, totals, hits = counts[held], totals[held], hits[held]
    tallies = (counts / totals[:, None] - chances.q) / (chances.p - chances.q)
    return tallies, totals, Cells.of(hits, cells), chances
