"""Which of many candidates are there at all, and at what level their intervals cover."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats

#: Of fewer candidates, the part that is absent is not estimated, but taken to be 1.
FEWEST = 50
#: The least share that counts as one, times the fourth root of the number of candidates, in
#: standard errors. If half of the candidates have this share and half none, the variance of
#: estimates is larger than their errors' by 0.86 of its own standard error: less is not seen.
LEAST = 2.2
#: What is added to the mean of the absent part, in its standard deviations. With half of one, of
#: 200 candidates 0.20, 0.49 and 0.86 are estimated where 0.2, 0.5 and 0.9 are absent, if the rest
#: are at 3 standard errors, and 0.96 if all are absent; without it, less by 0.01 to 0.03.
CAUTION = 0.5
#: Points of a distribution of shares, in equal ratios; parts that may be absent, from 0 to 1;
#: and steps of the EM algorithm, from equal weights. More steps would fit single candidates.
POINTS, PARTS, STEPS = 12, 21, 30
#: The least density that is divided by.
_TINY = 1e-280


def detected(
    p_values: Floats, correction: str, alpha: float, absent: float = 1.0
) -> NDArray[np.bool_]:
    """Return which of many tests reject.

    Parameters
    ----------
    p_values : (tests,) array
        The p-value of each test by itself.
    correction : {"fdr", "bonferroni"}
        "fdr": of those detected, a part of at most `alpha` is false, on average; none has a
        p-value above `alpha`. "bonferroni": the chance that any is false is at most `alpha`.
    alpha : float
        In (0, 1).
    absent : float
        The part of tests whose null hypothesis is true, in (0, 1]. It makes "fdr" less strict: if
        it is an estimate, what is promised holds approximately.

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B, 1995; with `absent`, Storey,
    the same journal, 2002, section 4. By hand: of 0.01, 0.04, 0.05 and 0.5 at alpha 0.1 the first
    three, as 0.05 <= 0.1 * 3 / 4.
    """
    tests = len(p_values)
    if correction == "bonferroni":
        return p_values <= alpha / tests
    if correction != "fdr":
        raise ValueError(f'correction must be "fdr" or "bonferroni", got "{correction}"')
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered * absent <= alpha * np.arange(1, tests + 1) / tests)
    # If next to none is absent, the procedure alone would take what speaks for nothing, too.
    most = min(alpha, ordered[below[-1]]) if len(below) else -1.0
    return np.asarray(p_values <= most)


def absent(estimate: Floats, std_error: Floats) -> float:
    """Return an estimate of the part of candidates that have no share, in (0, 1].

    Estimates are taken as independent and normal; shares as 0, or drawn from any distribution from
    a least share on, with a sum of at most 1. Whatever the absent part is, that distribution is
    fitted by maximum likelihood. The part's mean over its likelihood is returned, plus half of its
    standard deviation, plus one candidate. So shares too small to be seen count as absent.

    Parameters
    ----------
    estimate, std_error : (candidates,) arrays
        Of each candidate's share; errors are above 0, and much alike.

    References
    ----------
    Efron, Statistical Science 2008, section 3 (the model of two groups); Stephens, Biostatistics
    2017 (a nonparametric distribution of effects).
    """
    candidates = len(estimate)
    if candidates < FEWEST:
        return 1.0
    least = LEAST * candidates**-0.25 * float(np.median(std_error))
    points = np.append(0.0, np.geomspace(least, max(float(estimate.max()), 2 * least), POINTS))
    apart = (estimate[:, None] - points) ** 2 / (2 * std_error[:, None] ** 2)
    density = np.exp(apart.min(axis=1, keepdims=True) - apart)
    parts = np.linspace(0, 1, PARTS)
    parts = parts[(1 - parts) * candidates * least <= 1]
    nothing, something = density[:, :1] * parts, density[:, 1:]
    weights = np.full((POINTS, len(parts)), 1 / POINTS)
    for _ in range(STEPS):
        weights *= something.T @ (1 / _mixed(nothing, something, weights, parts))
        weights /= weights.sum(axis=0)
    fit = np.log(_mixed(nothing, something, weights, parts)).sum(axis=0)
    likelihood = np.exp(fit - fit.max())
    likelihood /= likelihood.sum()
    mean = float(likelihood @ parts)
    deviation = float(np.sqrt(likelihood @ (parts - mean) ** 2))
    return min(1.0, mean + CAUTION * deviation + 1 / candidates)


def _mixed(nothing: Floats, something: Floats, weights: Floats, parts: Floats) -> Floats:
    """Return the (candidates, parts) density of estimates, kept above what can be divided by."""
    return np.maximum(nothing + (something @ weights) * (1 - parts), _TINY)


def selected_level(confidence_level: float, chosen: int, tests: int) -> float:
    """Return the level at which the intervals of chosen candidates cover as asked, on average.

    References
    ----------
    Benjamini and Yekutieli, Journal of the American Statistical Association 2005, section 3: with
    R of m chosen, 1 - q R / m. By hand: 10 of 100 at 0.95 need 0.995 each.
    """
    return 1 - (1 - confidence_level) * max(chosen, 1) / tests
