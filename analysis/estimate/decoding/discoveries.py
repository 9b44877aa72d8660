"""Which of many candidates are there at all, and at what level their intervals cover."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats

#: With fewer candidates the probability of being absent is not estimated.
FEWEST = 50
#: The least share that counts as one, times the fourth root of the number of candidates, in
#: standard errors. If half of the candidates have this share and half none, the variance of
#: estimates is larger than their errors' by 0.45 of its own standard error. With 1.1, 6.7 instead
#: of 5.1 % of what is detected in `demo` are false; with 2.2, fewer are detected where most
#: candidates are there: `medium-typical` 155 instead of 182.
LEAST = 1.6
#: A detected string is likelier there than not.
LIKELIEST = 0.5
#: Points of a distribution of shares, in equal ratios; parts that may be absent, from 0 to 1;
#: and steps of the EM algorithm, from equal weights. More steps would fit single candidates.
POINTS, PARTS, STEPS = 12, 21, 30
#: The least density that is divided by.
_TINY = 1e-280


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


def likely(p_values: Floats, absent: Floats, alpha: float) -> NDArray[np.bool_]:
    """Return as many of the tests of smallest p-value as have at most `alpha` false, on average.

    None is likelier false than true, unless `alpha` is above 1/2, and none has a p-value above 1/2.

    Parameters
    ----------
    p_values : (tests,) array
        The p-value of each test by itself.
    absent : (tests,) array
        The chance that its null hypothesis is true, given all data: what is promised holds as far
        as these chances do.
    alpha : float
        In (0, 1).

    References
    ----------
    Sun and Cai, Journal of the American Statistical Association 2007, section 4. By hand: of
    chances 0.01, 0.03, 0.11 and 0.9 at alpha 0.05 the first three, whose mean is 0.05.
    """
    order = np.argsort(p_values, kind="stable")
    mean = np.cumsum(absent[order]) / np.arange(1, len(order) + 1)
    within = np.flatnonzero(mean <= alpha)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: within[-1] + 1 if len(within) else 0]] = True
    return np.asarray(chosen & (absent <= max(LIKELIEST, alpha)) & (p_values <= 0.5))


def chances_absent(estimate: Floats, std_error: Floats) -> Floats | None:
    """Return how likely each candidate has no share, in [0, 1], or None if they are too few.

    Estimates are taken as independent and normal; shares as 0, or drawn from any distribution from
    a least share on, with a sum of at most 1. Whatever part of the candidates is absent, that
    distribution is fitted by maximum likelihood, and a candidate's chance follows. The mean of the
    chances over the likelihood of the part is returned. So shares too small to be seen count as
    absent.

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
        return None
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
    mixed = _mixed(nothing, something, weights, parts)
    fit = np.log(mixed).sum(axis=0)
    likelihood = np.exp(fit - fit.max())
    return np.asarray(nothing / mixed @ (likelihood / likelihood.sum()))


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
