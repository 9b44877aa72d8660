"""Shares that could be true, for display: none negative, and all of a question sum to 1.

They are nearer to the truth on average, but no longer unbiased: what is rare looks more common than
it is. At ε = 1, k = 4 and n = 500 a share of 0 becomes .022 on average. So intervals and tests are
those of the unbiased estimates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.estimate import Floats, Ints
from analysis.estimate.estimates import Estimate
from analysis.estimate.mixture import mixture
from analysis.survey.question import Question
from analysis.survey.survey import Survey

#: How estimates can be constrained: the nearest shares, or the likeliest.
NORM_SUB, EM = "norm-sub", "em"


@dataclass(frozen=True)
class Constrained:
    """The share of one value for display, and by which method."""

    question: str
    term: str
    share: float
    method: str


def norm_sub(estimates: Floats) -> Floats:
    """The nearest shares to unbiased estimates: their Euclidean projection on the simplex.

    One number is added to all, and what is negative then is 0, so that they sum to 1.

    Parameters
    ----------
    estimates : (k,) array
        Finite; one or more.

    Returns
    -------
    (k,) array
        At least 0 each; they sum to 1.

    Raises
    ------
    ValueError
        If there is none, or one is not finite.

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric and Li, NDSS 2020 (Norm-Sub).
    By hand: (1.1, 0.2, -0.3) lose 0.15 each and become (0.95, 0.05, 0).
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    if estimates.ndim != 1 or not estimates.size or not np.isfinite(estimates).all():
        raise ValueError(f"estimates must be a list of one or more finite numbers, got {estimates}")
    falling = np.sort(estimates)[::-1]
    # What each would lose, if it and all larger ones were the only ones that stay above 0.
    losses = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    loss = losses[np.flatnonzero(falling > losses)[-1]]
    return np.asarray(np.maximum(0.0, estimates - loss))


def most_likely(chances: Floats, counts: Ints) -> Floats | None:
    """The shares under which the reports are likeliest, by EM.

    The unbiased estimates by inversion, where there are as many reports as values and these
    estimates can be shares.

    Parameters
    ----------
    chances : (reports, k) array
        Probability of each report under each value.
    counts : (reports,) array
        How often each was made.

    Returns
    -------
    (k,) array, or None
        At least 0 each; they sum to 1. The log-likelihood is at most
        `analysis.estimate.mixture.GAP` below its maximum; None if that was not reached in
        `analysis.estimate.mixture.ROUNDS` steps.

    Raises
    ------
    ValueError
        If there are no reports, other numbers of chances and counts, or a report that no value can
        make.

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
    found = mixture(chances[seen], counts[seen].astype(np.float64))
    return found.weights if found.converged else None


def constrained_shares(
    survey: Survey, tallies: Mapping[str, Ints], rows: Iterable[Estimate], method: str
) -> list[Constrained]:
    """Of each question where one of several values is true, the shares of these, for display.

    Parameters
    ----------
    survey, tallies
        As of `analysis.estimate.estimates.estimates`.
    rows : iterable of Estimate
        What it gave for them.
    method : str
        ``norm-sub``, or ``em``: then norm-sub stands in where tallies do not tell how often each
        report was made (a report counts for several symbols), where it has a cohort, and where EM
        does not get there.

    Raises
    ------
    ValueError
        If there is no such method.
    """
    if method not in (NORM_SUB, EM):
        raise ValueError(f'method must be {NORM_SUB} or {EM}, got "{method}"')
    unbiased = {(row.question, row.term): row.estimate for row in rows}
    found = []
    for question in survey.questions:
        terms = question.domain.alternatives
        if not terms:
            continue
        estimates = [unbiased[question.id, term] for term in terms]
        if None in estimates:
            continue
        shares = None
        if method == EM:
            shares = _likeliest(question, len(terms), tallies[question.id])
        used = NORM_SUB if shares is None else EM
        if shares is None:
            shares = norm_sub(np.array(estimates, dtype=np.float64))
        found += [
            Constrained(question.id, term, float(share), used)
            for term, share in zip(terms, shares, strict=True)
        ]
    return found


def _likeliest(question: Question, k: int, tally: Ints) -> Floats | None:
    encoder, channel = question.randomizer.encoder, question.randomizer.channel
    if encoder.cohorts is not None or not channel.gives_one_symbol:
        return None
    inputs = [encoder.encode(value, 0, iter(())) for value in range(k)]
    weights = np.array([channel.weights(one) for one in inputs], dtype=np.float64)
    return most_likely(weights.T / weights[0].sum(), tally[0])
