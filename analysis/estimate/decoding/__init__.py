"""From tallies of hashed, randomized reports to the share of each candidate string."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.estimate import Floats, Ints
from analysis.estimate.decoding.cells import Cells
from analysis.estimate.decoding.fit import Fit, fit
from analysis.estimate.decoding.least_squares import fit_few
from analysis.estimate.decoding.noise import Chances
from analysis.estimate.intervals import FEW, normal_intervals

__all__ = ["Chances", "Decoded", "Other", "decode", "detected", "fit_texts", "selected_level"]

#: The share of the detected strings that may be false, on average, if nothing else is asked.
ALPHA = 0.10


@dataclass(frozen=True)
class Other:
    """The share of all strings that are not candidates, with `low` and `high` in [0, 1]."""

    estimate: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Decoded:
    """The shares of candidates, as (candidates,) arrays in the order in which they were given.

    `estimate` is nearly unbiased over hashes, and may lie outside [0, 1]; intervals lie within.
    `low` and `high` cover at the level asked, on average over all candidates. `p_value` is that of
    the share being 0 against being greater. For the candidates that are `detected`,
    `detected_low` and `detected_high` cover at the level asked on average over the detected; they
    are NaN for others. `flags` holds ``few`` if there are so few people that a normal approximation
    is doubtful.
    """

    estimate: Floats
    std_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    detected: NDArray[np.bool_]
    detected_low: Floats
    detected_high: Floats
    other: Other
    reports: int
    confidence_level: float
    flags: tuple[str, ...]


def decode(
    counts: Ints,
    totals: Ints,
    hits: Ints,
    chances: Chances,
    correction: str = "fdr",
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
) -> Decoded:
    """Return the share of each candidate string with its interval, and which are there at all.

    Candidates may outnumber cells. Strings that are not candidates are assumed to hit cells at
    random: how much they do so is estimated with the rest, and is part of every interval.

    Parameters
    ----------
    counts : (cohorts, cells) array
        How many reports of a cohort count for a cell: they have that bit, or are that symbol.
    totals : (cohorts,) array
        The reports of each cohort. Cohorts without any are left out.
    hits : (cohorts, candidates, hashes) array
        The cells that a candidate supports in a cohort, ``0 <= hits < cells``; equal ones of a
        candidate count once. There is at least one candidate.
    chances : Chances
        Those of the reports, ``chances.p != chances.q``.
    correction, alpha : str and float
        What `Decoded.detected` promises: see `detected`.
    confidence_level : float
        The level of all intervals, in (0, 1).

    Raises
    ------
    ValueError
        If there are no reports or fewer than two cells, or shapes do not fit.
    """
    fitted = fit(*_debiased(counts, totals, hits, chances))
    estimates, errors = fitted.estimate, fitted.std_error
    p_value = ndtr(-estimates / errors)
    chosen = detected(p_value, correction, alpha)
    low, high = normal_intervals(estimates, errors, confidence_level)
    level = selected_level(confidence_level, int(chosen.sum()), len(chosen))
    ends = normal_intervals(estimates, errors, level)
    other = np.array([fitted.other]), np.array([fitted.other_error])
    other_low, other_high = (float(end[0]) for end in normal_intervals(*other, confidence_level))
    n = int(totals.sum())
    return Decoded(
        estimate=estimates,
        std_error=errors,
        low=low,
        high=high,
        p_value=p_value,
        detected=chosen,
        detected_low=np.where(chosen, ends[0], np.nan),
        detected_high=np.where(chosen, ends[1], np.nan),
        other=Other(fitted.other, fitted.other_error, other_low, other_high),
        reports=n,
        confidence_level=confidence_level,
        flags=("few",) if n / chances.repeats < FEW else (),
    )


def fit_texts(counts: Ints, totals: Ints, hits: Ints, chances: Chances) -> Fit:
    """Return the shares of candidates, by `fit_few` if they are few enough, else by `decode`.

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
        raise ValueError(f"expected 2 cells and 1 candidate or more, got {cells}, {hits.shape[1]}")
    if not totals.any():
        raise ValueError("expected at least one report, got none")
    if chances.p == chances.q:
        raise ValueError(f"p and q must differ, got {chances.p} for both")
    held = totals > 0
    counts, totals, hits = counts[held], totals[held], hits[held]
    tallies = (counts / totals[:, None] - chances.q) / (chances.p - chances.q)
    return tallies, totals, Cells.of(hits, cells), chances


def detected(p_values: Floats, correction: str, alpha: float) -> NDArray[np.bool_]:
    """Return which of many tests reject.

    Parameters
    ----------
    p_values : (tests,) array
        The p-value of each test by itself.
    correction : {"fdr", "bonferroni"}
        "fdr": of those detected, a part of at most `alpha` is false, on average. "bonferroni": the
        chance that any is false is at most `alpha`.
    alpha : float
        In (0, 1).

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B, 1995. By hand: of 0.01,
    0.04, 0.05 and 0.5 at alpha 0.1 the first three, as 0.05 <= 0.1 * 3 / 4.
    """
    tests = len(p_values)
    if correction == "bonferroni":
        return p_values <= alpha / tests
    if correction != "fdr":
        raise ValueError(f'correction must be "fdr" or "bonferroni", got "{correction}"')
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= alpha * np.arange(1, tests + 1) / tests)
    return np.asarray(p_values <= (ordered[below[-1]] if len(below) else -1.0))


def selected_level(confidence_level: float, chosen: int, tests: int) -> float:
    """Return the level at which the intervals of chosen candidates cover as asked, on average.

    References
    ----------
    Benjamini and Yekutieli, Journal of the American Statistical Association 2005, section 3: with
    R of m chosen, 1 - q R / m. By hand: 10 of 100 at 0.95 need 0.995 each.
    """
    return 1 - (1 - confidence_level) * max(chosen, 1) / tests
