"""Exact and Monte Carlo p-values, for tests that few reports decide, too few for chi-square.

A statistic is the squared length of a sum of scores. Its p-value is exact where all outcomes can be
listed. Elsewhere outcomes are drawn, always from the same seed: equal reports give equal p-values.
"""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import scipy
from numpy.random import PCG64, Generator
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Array = NDArray[np.float64]

#: With fewer reports that make a difference, p-values are by resampling. With so many, chi-square
#: rejected .047 to .052 of samples at .05 (k-RR, 3 to 12 values, ε = 1 to 8, 100,000 samples each).
MANY = 50.0
#: The most outcomes that are listed.
_LISTED = 100_000
#: The most outcomes that are drawn, and after how many at least as extreme ones drawing ends: the
#: standard error of a p-value of .05 is .002.
_DRAWN, _ENOUGH = 9_999, 500
#: The most numbers in a batch of drawn outcomes.
_BATCH = 1_000_000
#: Statistics that differ by less than this part of the observed one are equal but for rounding.
_ROUNDING = 1e-9


def square_root(inverse: Array) -> Array:
    """Return a (k, k) matrix whose product with its own transpose is this one.

    So a quadratic form is the squared length of a vector times the root.
    """
    sizes, directions = np.linalg.eigh(inverse)
    return np.asarray(directions * np.sqrt(np.maximum(0.0, sizes)))


def multinomial_p_value(law: Array, scores: Array, counts: Array) -> tuple[float, str]:
    """Return the chance of a sum of scores at least as long as that of n reports, and the method.

    All outcomes are listed if that is possible (``exact``), or else drawn (``simulated``).

    Parameters
    ----------
    law : (reports,) array
        How likely each report is.
    scores : (reports, d) array
    counts : (reports,) array
        How often each report was made, in whole numbers.
    """
    possible = law > 0
    law, scores, counts = law[possible] / law.sum(), scores[possible], counts[possible]
    n, observed = int(counts.sum()), float(_lengths(counts @ scores))
    if can_be_listed(n, len(law)):
        outcomes = outcomes_of(n, len(law))
        logs = gammaln(n + 1) - gammaln(outcomes + 1).sum(axis=1) + xlogy(outcomes, law).sum(axis=1)
        extreme = _lengths(outcomes @ scores) >= _least(observed)
        return min(1.0, float(np.exp(logs[extreme]).sum())), "exact"
    rng = _seeded()
    return _sequential(
        lambda times: _lengths(rng.multinomial(n, law, times) @ scores), observed, len(law)
    ), "simulated"


def p_value_of_difference(
    laws: tuple[Array, Array], scores: tuple[Array, Array], counts: tuple[Array, Array]
) -> tuple[float, str]:
    """Return as `multinomial_p_value` that of a difference of the mean scores of two groups."""
    rng = _seeded()
    sizes = [int(each.sum()) for each in counts]

    def lengths(first: NDArray[Any], second: NDArray[Any]) -> Array:
        return _lengths(first @ scores[0] / sizes[0] - second @ scores[1] / sizes[1])

    def draw(times: int) -> Array:
        first, second = (
            rng.multinomial(n, law / law.sum(), times) for n, law in zip(sizes, laws, strict=True)
        )
        return lengths(first, second)

    p_value = _sequential(draw, float(lengths(*counts)), sum(map(len, laws)))
    return p_value, "simulated"


def permutation_p_value(table: Array, rows: Array, columns: Array) -> tuple[float, str]:
    """Return the p-value of how rows and columns go together, and the method.

    Tables with the same margins are as likely as if respondents were shuffled. The statistic is the
    squared length of all products of scores, summed over respondents.

    Parameters
    ----------
    table : (r, c) array
        How many respondents have each row and column, in whole numbers.
    rows, columns : (r, a) and (c, b) arrays
        Scores.
    """
    margins = [table.sum(axis=axis).astype(np.int64) for axis in (1, 0)]
    rows, columns = rows[margins[0] > 0], columns[margins[1] > 0]
    table = table[margins[0] > 0][:, margins[1] > 0]
    law, rng = scipy.stats.random_table(*(margin[margin > 0] for margin in margins)), _seeded()

    def lengths(tables: Array) -> Array:
        products = rows.T @ (tables @ columns)
        return _lengths(products.reshape(*products.shape[:-2], -1))

    def draw(times: int) -> Array:
        return lengths(law.rvs(times, random_state=rng).reshape(times, *table.shape))

    return _sequential(draw, float(lengths(table)), table.size), "shuffled"


def can_be_listed(n: int, reports: int) -> bool:
    """Return whether all numbers of times that n people can make these reports can be listed."""
    return comb(n + reports - 1, reports - 1) <= _LISTED


def outcomes_of(n: int, reports: int) -> NDArray[np.int64]:
    """Return (outcomes, reports) all whole numbers of at least 0 that sum to n."""
    made, left = np.zeros((1, 0), dtype=np.int64), np.array([n])
    for _ in range(reports - 1):
        ways = left + 1
        starts = np.repeat(ways.cumsum() - ways, ways)
        here = np.arange(ways.sum()) - starts
        made = np.column_stack([np.repeat(made, ways, axis=0), here])
        left = np.repeat(left, ways) - here
    return np.column_stack([made, left])


def _sequential(draw: Callable[[int], Array], observed: float, size: int) -> float:
    """Return a p-value by drawing statistics until enough are as large as the observed one.

    References
    ----------
    Besag and Clifford, Biometrika 1991: the p-value is valid wherever drawing ends.
    """
    times, extreme, least = 0, 0, _least(observed)
    while times < _DRAWN:
        batch = min(_ENOUGH, _DRAWN - times, max(1, _BATCH // size))
        places = np.flatnonzero(draw(batch) >= least)
        if extreme + len(places) >= _ENOUGH:
            return float(_ENOUGH / (times + places[_ENOUGH - extreme - 1] + 1))
        times, extreme = times + batch, extreme + len(places)
    return (extreme + 1) / (times + 1)


def _lengths(sums: Array) -> Array:
    return np.asarray((sums**2).sum(axis=-1))


def _least(observed: float) -> float:
    return observed * (1 - _ROUNDING)


def _seeded() -> Generator:
    return Generator(PCG64(0))
