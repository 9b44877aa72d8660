"""Which of many candidates exist, and the level at which their intervals cover."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats

#: With fewer candidates, the probability that a candidate is absent is not estimated.
FEWEST = 50
#: The least share that counts as present, in standard errors, times the fourth root of the number
#: of candidates. If half of the candidates have this share and half have none, the variance of
#: estimates exceeds that of their errors by 0.45 of its own standard error. With 1.1, 6.7 instead
#: of 5.1 % of the detected candidates of `demo` are false. With 2.2, fewer are detected if most
#: candidates exist: 155 instead of 182 of `medium-typical`.
LEAST = 1.6
#: A detected string is more probably present than absent.
LIKELIEST = 0.5
#: The points of a distribution of shares, in equal ratios; the proportions that may be absent, from
#: 0 to 1; and the steps of EM from equal weights. More steps would fit single candidates.
POINTS, PARTS, STEPS = 12, 21, 30
#: The least density that can be a divisor.
_TINY = 1e-280


def detected(p_values: Floats, correction: str, alpha: float) -> NDArray[np.bool_]:
    """Return the tests that reject, out of many.

    Parameters
    ----------
    p_values : (tests,) array
        The p-value of each single test.
    correction : {"fdr", "bonferroni"}
        With "fdr", at most a proportion `alpha` of rejections is false on average. With
        "bonferroni", the probability that any is false is at most `alpha`.
    alpha : float
        In (0, 1).

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B, 1995. By hand: of the
    p-values 0.01, 0.04, 0.05 and 0.5 at alpha 0.1, the first three reject, as 0.05 <= 0.1 * 3 / 4.
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
    """Return the most tests of smallest p-value of which at most `alpha` are false on average.

    No test is likelier false than true, unless `alpha` is above 1/2, and no p-value is above 1/2.

    Parameters
    ----------
    p_values : (tests,) array
        The p-value of each single test.
    absent : (tests,) array
        The probability of each null hypothesis, given all data. The error rate is right if these
        probabilities are right.
    alpha : float
        In (0, 1).

    References
    ----------
    Sun and Cai, Journal of the American Statistical Association 2007, section 4. By hand: of the
    probabilities 0.01, 0.03, 0.11 and 0.9 at alpha 0.05, the first three have the mean 0.05.
    """
    order = np.argsort(p_values, kind="stable")
    mean = np.cumsum(absent[order]) / np.arange(1, len(order) + 1)
    within = np.flatnonzero(mean <= alpha)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: within[-1] + 1 if len(within) else 0]] = True
    return np.asarray(chosen & (absent <= max(LIKELIEST, alpha)) & (p_values <= 0.5))


def chances_absent(estimate: Floats, std_error: Floats) -> Floats | None:
    """Return the probability that a candidate has no share, in [0, 1]; None with few candidates.

    The model takes estimates as independent and normal. A share is 0, or drawn from any
    distribution above a least share, and shares sum to at most 1. For each proportion of absent
    candidates, that distribution is fitted by maximum likelihood, and each candidate's probability
    follows. The result is the mean of these probabilities, weighted by the likelihood of the
    proportion. So shares that are too small to be seen count as absent.

    Parameters
    ----------
    estimate, std_error : (candidates,) arrays
        Those of each candidate's share. Errors are above 0, and similar.

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
    """Return the (candidates, parts) density of estimates, kept above `_TINY`."""
    return np.maximum(nothing + (something @ weights) * (1 - parts), _TINY)


def selected_level(confidence_level: float, chosen: int, tests: int) -> float:
    """Return the level at which intervals of chosen candidates cover as asked on average.

    References
    ----------
    Benjamini and Yekutieli, Journal of the American Statistical Association 2005, section 3: with
    R of m chosen, 1 - q R / m. By hand: 10 chosen of 100 need 0.995 each for 0.95.
    """
    return 1 - (1 - confidence_level) * max(chosen, 1) / tests
