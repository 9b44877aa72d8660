"""Possible shares for display: none is negative, and those of a question sum to 1.

They are nearer to the truth on average, but no longer unbiased: rare values look more common than
they are. At ε = 1, k = 4 and n = 500 a share of 0 becomes .022 on average. So intervals and tests
use the unbiased estimates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.core.options import EM, NORM_SUB
from analysis.estimate import Floats, Ints
from analysis.estimate.estimates import Estimate
from analysis.estimate.mixture import mixture
from analysis.survey.question import Question
from analysis.survey.survey import Survey


@dataclass(frozen=True)
class Constrained:
    """The share of one value for display, and its method."""

    question: str
    term: str
    share: float
    method: str


def norm_sub(estimates: Floats) -> Floats:
    """Return the shares nearest to unbiased estimates: their Euclidean projection on the simplex.

    One number is added to all. Negative results then become 0. The number is such that shares sum
    to 1.

    Parameters
    ----------
    estimates : (k,) array
        One or more finite numbers.

    Raises
    ------
    ValueError
        If there is no number, or if one is not finite.

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric and Li, NDSS 2020 (Norm-Sub); docs/methods.md, (25).
    By hand: (1.1, 0.2, -0.3) lose 0.15 each and become (0.95, 0.05, 0).
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    if estimates.ndim != 1 or not estimates.size or not np.isfinite(estimates).all():
        raise ValueError(f"estimates must be a list of one or more finite numbers, got {estimates}")
    falling = np.sort(estimates)[::-1]
    # The number that each would lose if only it and all larger ones stayed above 0.
    losses = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    loss = losses[np.flatnonzero(falling > losses)[-1]]
    return np.asarray(np.maximum(0.0, estimates - loss))


def most_likely(chances: Floats, counts: Ints | Floats) -> Floats | None:
    """Return the shares under which the reports are likeliest, by EM.

    They are the unbiased estimates by inversion, if there are as many reports as values and these
    estimates can be shares.

    Parameters
    ----------
    chances : (reports, k) array
        The probability of each report under each value.
    counts : (reports,) array
        How often each report was made, or sums of weights.

    Returns
    -------
    (k,) array, or None
        Shares of at least 0 that sum to 1. The log-likelihood is at most
        `analysis.estimate.mixture.GAP` below its maximum. None if EM does not get there in
        `analysis.estimate.mixture.ROUNDS` steps.

    Raises
    ------
    ValueError
        If there are no reports, if `chances` and `counts` differ in length, or if no value can lead
        to a report that was made.

    References
    ----------
    van den Hout and van der Heijden, International Statistical Review 2002 (EM for randomized
    response).
    """
    if chances.ndim != 2 or chances.shape[:1] != counts.shape:
        raise ValueError(
            f"chances must have a row for each of {counts.size} counts, got {chances.shape}"
        )
    seen = counts > 0
    fitted = mixture(chances[seen], counts[seen].astype(np.float64))
    return fitted.weights if fitted.converged else None


def constrained_shares(
    survey: Survey, tallies: Mapping[str, Ints], rows: Iterable[Estimate], method: str
) -> list[Constrained]:
    """Return shares for display, for each question that has exactly one true value.

    Parameters
    ----------
    survey, tallies
        The arguments of `analysis.estimate.estimates.estimates`.
    rows : iterable of Estimate
        The estimates that it returned.
    method : str
        ``norm-sub`` or ``em``. Norm-sub replaces EM if tallies do not show how often each report
        was made (a report counts for several symbols), if reports have cohorts, or if EM does not
        converge.

    Raises
    ------
    ValueError
        If there is no such method.
    """
    if method not in (NORM_SUB, EM):
        raise ValueError(f'method must be {NORM_SUB} or {EM}, got "{method}"')
    unbiased = {(row.question, row.term): row.estimate for row in rows}
    constrained: list[Constrained] = []
    for question in survey.questions:
        terms = question.domain.alternatives
        estimates = [unbiased[question.id, term] for term in terms]
        if not terms or None in estimates:
            continue
        likeliest = _likeliest(question, tallies[question.id]) if method == EM else None
        used = NORM_SUB if likeliest is None else EM
        shares = norm_sub(np.array(estimates, dtype=float)) if likeliest is None else likeliest
        constrained += [
            Constrained(question.id, term, float(share), used)
            for term, share in zip(terms, shares, strict=True)
        ]
    return constrained


def _likeliest(question: Question, tally: Ints) -> Floats | None:
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    if encoder.cohorts is not None or not channel.gives_one_symbol:
        return None
    values = range(len(question.domain.alternatives))
    inputs = [encoder.encode(value, 0, iter(())) for value in values]
    weights = np.array([channel.weights(symbol) for symbol in inputs], dtype=np.float64)
    return most_likely(weights.T / weights[0].sum(), tally[0])
