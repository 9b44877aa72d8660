"""Exact and Monte Carlo p-values, for tests that are decided by too few reports for chi-square.

A statistic is the squared length of a sum of scores. Its p-value is exact if all outcomes can be
listed. Otherwise outcomes are drawn, always from the same seed, so that equal reports give equal
p-values.
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

#: If fewer reports matter, p-values are by resampling. With this many, chi-square rejected .047 to
#: .052 of samples at .05 (k-RR, 3 to 12 values, ε = 1 to 8, 100,000 samples each).
MANY = 50.0
#: The most outcomes that are listed.
_LISTED = 100_000
#: The most outcomes that are drawn, and the number of outcomes at least as extreme after which
#: drawing ends. The standard error of a p-value of .05 is .002.
_DRAWN, _ENOUGH = 9_999, 500
#: The most numbers in a batch of drawn outcomes.
_BATCH = 1_000_000
#: Statistics that differ by less than this fraction of the observed one count as equal.
_ROUNDING = 1e-9


def square_root(inverse: Array) -> Array:
    """Return a (k, k) matrix whose product with its own transpose is the given matrix.

    So a quadratic form is the squared length of a vector times the root.
    """
    sizes, directions = np.linalg.eigh(inverse)
    return np.asarray(directions * np.sqrt(np.maximum(0.0, sizes)))


def multinomial_p_value(law: Array, scores: Array, counts: Array) -> tuple[float, str]:
    """Return the p-value of a sum of scores as long as that of n reports, and the method.

    All outcomes are listed if that is possible (``exact``), and drawn otherwise (``simulated``).

    Parameters
    ----------
    law : (reports,) array
        The probability of each report.
    scores : (reports, d) array
    counts : (reports,) array
        How often each report was made, as whole numbers.
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
    """Return the p-value of a difference of two groups' mean scores; see `multinomial_p_value`."""
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
    """Return the p-value of the association of rows and columns, and the method.

    Tables with the same margins have the probabilities that shuffling respondents gives them. The
    statistic is the squared length of all products of scores, summed over respondents.

    Parameters
    ----------
    table : (r, c) array
        The number of respondents with each row and column, as whole numbers.
    rows, columns : (r, a) and (c, b) arrays
        The scores of rows and of columns.
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
    """Return whether all possible counts of these reports by n people can be listed."""
    return comb(n + reports - 1, reports - 1) <= _LISTED


def outcomes_of(n: int, reports: int) -> NDArray[np.int64]:
    """Return (outcomes, reports) all rows of whole numbers of at least 0 that sum to n."""
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
    Besag and Clifford, Biometrika 1991. The p-value is valid wherever drawing ends.
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
