"""Shuffling: what the shuffled reports of n respondents reveal to those who see nothing else.

It holds for readers of a table, or of reports without names in random order. It never holds for the
operator, who keeps a ledger of whose reports these are, and learns the full ε of each report.
"""

from collections.abc import Callable
from math import ceil, exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

from analysis.core.errors import check_count, check_delta, check_positive
from analysis.privacy.accounting.loss import Total

#: Beyond this many standard deviations, and this many counts more, a binomial tail is below 1e-14.
#: It is added to δ.
_DEVIATIONS, _COUNTS = 8, 40
#: The relative error of sums of binomial probabilities, for up to a billion respondents.
_ROUNDING = 1e-5
#: The least number of parts into which the count of other reports is cut, and the number of terms
#: in all. Counts are rounded down, since fewer others reveal more.
_PARTS, _CELLS = 24, 2**15
#: The relative error by which ε may be too large.
_FINE = 1e-5


def shuffled(epsilon: float, respondents: int, delta: float, k: int | None = None) -> Total:
    """Return what n shuffled reports reveal about a respondent who sent one of them.

    Parameters
    ----------
    epsilon : float
        The pure ε of one report, in (0, ∞). All respondents used the same randomizer.
    respondents : int
        The number of respondents who sent a shuffled report, at least 1.
    delta : float
        In (0, 1).
    k : int, optional
        The number of values if reports are k-ary randomized response, for which a smaller ε is
        proved.

    Returns
    -------
    Total
        The total by the method ``shuffle`` or, if that is not smaller, (`epsilon`, 0) by ``sum``.

    References
    ----------
    Feldman, McMillan and Talwar, "Hiding among the clones", FOCS 2021, theorem 3.2, for any
    randomizer; Balle, Bell, Gascón and Nissim, "The privacy blanket of the shuffle model", CRYPTO
    2019, lemma 5.3, for k-ary randomized response. Both sums are computed completely. Feldman,
    McMillan and Talwar, SODA 2023, prove a smaller ε for all randomizers, but with an erratum.
    """
    check_delta(delta)
    curve = _curve(epsilon, respondents, k)
    low, high = 0.0, epsilon
    while high - low > _FINE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) <= delta else (middle, high)
    return Total(high, delta, "shuffle") if high < epsilon else Total(epsilon)


def shuffled_delta(local: float, respondents: int, epsilon: float, k: int | None = None) -> float:
    """Return δ at this ε of shuffled reports with `local` ε each; see `shuffled`."""
    return _curve(local, respondents, k)(check_positive(epsilon))


def _curve(local: float, n: int, k: int | None) -> Callable[[float], float]:
    """Return δ as a function of ε, by the proof for these reports."""
    check_positive(local)
    check_count(n, "respondents")
    if k is None:
        return _clones(local, n)
    if check_count(k, "k") < 2:
        raise ValueError(f"k must be at least 2, got {k}")
    return _blanket(local, n, k)


def _clones(local: float, n: int) -> Callable[[float], float]:
    """Return δ as a function of ε by the clones of Feldman, McMillan and Talwar.

    C ~ Bin(n - 1, e^-local) others copy one of two answers, and A ~ Bin(C, 1/2) of them the first.
    The pair is (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D), where D is 1 with probability
    e^local / (e^local + 1).
    """
    counts, chances, missing = _binomial(n - 1, exp(-local))
    keep, turn = 1 / (1 + exp(-local)), 1 / (1 + exp(local))

    def delta(epsilon: float) -> float:
        odds = exp(epsilon)
        more, less = keep - odds * turn, odds * keep - turn
        if more <= 0:
            return 0.0
        # From this count on, the first of C + 1 is likelier by more than e^ε.
        least = np.floor((counts + 1) * (less / (more + less))) + 1
        terms = more * _upper(counts, least - 1) - less * _upper(counts, least)
        return _padded(float(chances @ np.maximum(terms, 0)), missing)

    return delta


def _blanket(local: float, n: int, k: int) -> Callable[[float], float]:
    """Return δ as a function of ε by the blanket: those who send a uniform report hide the others.

    It is E max(0, u H - v (C - H) - w R) k / (γ n). Each of n reports is part of the blanket with
    the probability γ = k / (e^local + k - 1). Of these, H and C - H are the two answers, and R are
    others.
    """
    keep = 1 / (1 + (k - 1) * exp(-local))
    turn = keep * exp(-local)
    counts, chances, missing = _binomial(n, 2 * turn)
    # Fewer others reveal more, so counts of others are rounded down.
    chance = (k - 2) * turn / (1 - 2 * turn) if k > 2 else 0.0
    ends = _edges(n - counts[-1], n - counts[0], chance, max(_PARTS, _CELLS // len(counts)))
    others = np.append(0.0, ends)
    reached = np.ones((len(counts), len(others) + 1))
    reached[:, -1] = 0.0
    for part, end in enumerate(ends, 1):
        reached[:, part] = _upper(n - counts, np.full(len(counts), end), chance)
    weights = -np.diff(reached, axis=1) * chances[:, None]
    some = weights > 1e-6 * missing
    left_out = float(weights[~some].sum())
    both = np.broadcast_to(counts[:, None], some.shape)[some]
    rest = np.broadcast_to(others, some.shape)[some]
    weights = weights[some]

    def delta(epsilon: float) -> float:
        odds = exp(epsilon)
        more, less, third = keep - odds * turn, odds * keep - turn, turn * expm1(epsilon)
        if more <= 0:
            return 0.0
        against = less * both + third * rest
        least = np.floor(against / (more + less)) + 1
        # The partial mean of H from `least` on is C/2 times a probability with one trial less.
        gain = (more + less) * both / 2 * _upper(both - 1, least - 1)
        terms = gain - against * _upper(both, least)
        summed = float(weights @ np.maximum(terms, 0)) / (turn * n)
        return _padded(summed, (missing + left_out) * more / turn)

    return delta


def _padded(delta: float, missing: float) -> float:
    """Return δ plus the most that rounding and omitted terms can have taken from it."""
    return min(1.0, delta * (1 + _ROUNDING) + missing)


def _binomial(n: int, chance: float) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return counts around the mean, their probabilities, and a bound of that of all others."""
    spread = _DEVIATIONS * sqrt(n * chance * (1 - chance)) + _COUNTS
    low, high = max(0, int(n * chance - spread)), min(n, ceil(n * chance + spread))
    counts = np.arange(low, high + 1, dtype=float)
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    chances = np.exp(ways + xlogy(counts, chance) + xlog1py(n - counts, -chance))
    below = 0.0 if low == 0 else float(betainc(n - low + 1, low, 1 - chance))
    above = 0.0 if high == n else float(betainc(high + 1, n - high, chance))
    return counts, chances, below + above


def _edges(fewest: float, most: float, chance: float, parts: int) -> NDArray[np.float64]:
    """Return counts > 0 where parts of the likely range of Bin(fewest..most, chance) begin."""
    if chance == 0.0:
        return np.empty(0)
    spread = 7 * sqrt(most * chance * (1 - chance)) + 3
    low, high = max(1.0, fewest * chance - spread), min(most, most * chance + spread)
    return np.unique(np.round(np.linspace(low, max(low, high), parts)))


def _upper(
    n: NDArray[np.float64], least: NDArray[np.float64], chance: float = 0.5
) -> NDArray[np.float64]:
    """Return the probability that Bin(n, chance) is at least `least`."""
    inside = (least >= 1) & (least <= n)
    chances = np.where(least < 1, 1.0, 0.0)
    chances[inside] = betainc(least[inside], n[inside] - least[inside] + 1, chance)
    return chances
