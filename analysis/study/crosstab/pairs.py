"""Counts of the pairs of reports that respondents made, from which a crosstab is made."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.core.channels.pattern import Pattern
from analysis.core.words import parts
from analysis.estimate.columns import Column
from analysis.estimate.columns.together import chance_of, channel_of, drawn_together
from analysis.estimate.mixture import Mixture, mixture

Array = NDArray[np.float64]

#: The most values of a question that makes a table or groups.
MOST_VALUES = 64
#: Up to this many cells, which take 16 MB, pairs are counted in a dense table.
_DENSE = 2**21


@dataclass(frozen=True)
class Pairs:
    """The counts of pairs of reports.

    Attributes
    ----------
    first, second : Column
        Columns of the same respondents in the same order, randomized independently or in one draw.
    counts, squares : (reports of first, reports of second) arrays, dense or sparse
        Sums of the respondents' weights, and of their squares. Without weights both are equal.
    n : int
        The number of respondents.
    """

    first: Column
    second: Column
    counts: Any
    squares: Any
    n: int

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.counts.sum())

    @cached_property
    def n_effective(self) -> float:
        """The effective number of equally weighted respondents (Kish, Survey Sampling 1965)."""
        return self.total**2 / float(self.squares.sum())

    @cached_property
    def together(self) -> Pattern | None:
        """The channel of both reports if they come from one draw; None otherwise."""
        places = [self.first.place, self.second.place]
        return channel_of(places) if len(drawn_together(places)) == 1 else None

    @cached_property
    def excess(self) -> float:
        """The factor of a product of deviations, less 1. It is 0 for separate draws.

        See `analysis.estimate.columns.together`.
        """
        return 0.0 if self.together is None else float(self.together.factor(0, 1) - 1)

    def debiased(self, left: Array, right: Array, means: tuple[Any, Any]) -> Array:
        """Return the debiased product of two scores; `means` are those of average reports."""
        both = left * right
        if self.excess:
            both = both + self.excess * (left - means[0]) * (right - means[1])
        return np.asarray(both)

    def _terms(self, left: Array, right: Array) -> list[tuple[Array, Array]]:
        """Return scores whose products sum to the debiased product of two scores."""
        if not self.excess:
            return [(left, right)]
        return [(left, right), (self.excess * (left - left[-1]), right - right[-1])]

    def _sums(self, left: Array, right: Array, counts: Any) -> Array:
        return np.asarray(sum(one.T @ (counts @ other) for one, other in self._terms(left, right)))

    def averages(self, left: Array, right: Array) -> Array:
        """Return (i, j) weighted averages, over respondents, of debiased products of two scores.

        `left` has i scores of each report of the first column, and `right` has j of the second.
        """
        return self._sums(left, right, self.counts) / self.total

    def covariance(self, left: Array, right: Array) -> Array:
        """Return the (i j, i j) covariance of raveled `averages`, linearized if there are weights.

        See docs/methods.md, (18).

        Raise `ValueError` if there are fewer than two respondents.
        """
        if self.n < 2:
            raise ValueError(f"a standard error needs at least 2 respondents, got {self.n}")
        wide, high = left.shape[1], right.shape[1]
        products = np.zeros((wide * wide, high * high))
        for (one, other), (again, and_other) in product(self._terms(left, right), repeat=2):
            products += _products(one, again).T @ (self.squares @ _products(other, and_other))
        products = products.reshape(wide, wide, high, high).transpose(0, 2, 1, 3)
        products = products.reshape(wide * high, wide * high)
        mean = self.averages(left, right).ravel()
        cross = np.outer(mean, self._sums(left, right, self.squares))
        apart = products - cross - cross.T + float(self.squares.sum()) * np.outer(mean, mean)
        return np.asarray(apart * (self.n / (self.n - 1) / self.total**2))

    def variances(self, left: Array, right: Array) -> Array:
        """Return the diagonal of `covariance` as an (i, j) array."""
        mean = self.averages(left, right)
        apart = float(self.squares.sum()) * mean**2
        apart -= 2 * mean * self._sums(left, right, self.squares)
        for (one, other), (again, and_other) in product(self._terms(left, right), repeat=2):
            apart += (one * again).T @ (self.squares @ (other * and_other))
        return np.asarray(np.maximum(apart, 0) * (self.n / (self.n - 1) / self.total**2))

    @property
    def turned(self) -> "Pairs":
        """The same counts with the questions in the other order."""
        return Pairs(self.second, self.first, self.counts.T, self.squares.T, self.n)

    @cached_property
    def seen(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Pairs of reports that were made together, and how often: `n_effective` in all."""
        rows, columns = self.counts.nonzero()
        times = np.asarray(self.counts[rows, columns], dtype=np.float64)
        return rows, columns, times * (self.n_effective / self.total)

    @cached_property
    def squares_seen(self) -> Array:
        """Squared weights of those who made the pairs of `seen`, which sum to `n_effective`."""
        rows, columns, _ = self.seen
        squares = np.asarray(self.squares[rows, columns], dtype=np.float64)
        return squares * (self.n_effective / float(squares.sum()))

    @cached_property
    def likeliest(self) -> Mixture:
        """The likeliest shares of pairs of values, in the order of the raveled table."""
        # Reports with equal probabilities under each value count as one kind, as many hashes do.
        first, kind_of_first = _kinds(self.first.chances)
        second, kind_of_second = _kinds(self.second.chances)
        rows, columns, times = self.seen
        kinds = kind_of_first[rows] * len(second) + kind_of_second[columns]
        cells, where = np.unique(kinds, return_inverse=True)
        rows, columns = np.divmod(cells, len(second))
        products = first[rows][:, :, None] * second[columns][:, None, :]
        if self.together is not None:
            # The largest entry of a row is at the values in the set.
            holds = first[rows][:, :, None] == 1, second[columns][:, None, :] == 1
            products = chance_of(self.together, holds)
        often = np.asarray(np.bincount(where, times), dtype=np.float64)
        return mixture(products.reshape(len(cells), -1), often)


def pairs_of(first: Column, second: Column, weights: Array | None = None) -> Pairs:
    """Count the pairs of reports of two columns.

    Parameters
    ----------
    first, second : Column
        Columns of the same respondents in the same order, randomized independently or in one draw.
    weights : (n,) array, optional
        The weights of respondents, at least 0.

    Raises
    ------
    ValueError
        If the columns have different respondents or share reports, if weights are not a number of
        at least 0 for each respondent, or if there are no respondents.
    """
    if first.n != second.n:
        raise ValueError(
            f"columns must be of the same respondents, got {first.n} of {first.name} and "
            f"{second.n} of {second.name}"
        )
    if first.codes is second.codes or first.name == second.name:
        raise ValueError(
            f"columns must be randomized separately, got {first.name} and {second.name} of "
            "the same reports"
        )
    if first.n == 0:
        raise ValueError("a crosstab needs respondents who reported on both questions, got none")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (first.n,):
            raise ValueError(f"expected {first.n} weights, got {weights.shape}")
        if not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
            raise ValueError("weights must be numbers of at least 0, not all 0, got others")
    counts = _counted(first, second, weights)
    squares = counts if weights is None else _counted(first, second, weights**2)
    return Pairs(first, second, counts, squares, first.n)


def _counted(first: Column, second: Column, weights: Array | None) -> Any:
    shape = len(first.chances), len(second.chances)
    if shape[0] * shape[1] > _DENSE:
        ones = np.ones(first.n) if weights is None else weights
        return scipy.sparse.csr_array((ones, (first.codes, second.codes)), shape=shape)
    counts = np.zeros(shape[0] * shape[1])
    # Pieces stay in the cache, since new memory for all takes longer than counting.
    for part in parts(first.n, max(32768, 4 * len(counts))):
        cells = first.codes[part] * shape[1] + second.codes[part]
        counts += np.bincount(cells, None if weights is None else weights[part], len(counts))
    return counts.reshape(shape)


def _products(scores: Array, others: Array) -> Array:
    return (scores[:, :, None] * others[:, None, :]).reshape(len(scores), -1)


def _kinds(chances: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return distinct rows relative to their largest entry, and the index of each row's kind."""
    scaled = chances / np.maximum(chances.max(axis=1, keepdims=True), 1e-300)
    rounded = np.round(scaled, 12)
    _, first, where = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    return scaled[first], where.ravel()
