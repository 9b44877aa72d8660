"""The respondents of a model: their weights, and groups of equal respondents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

#: Up to this number of clusters, errors are corrected for the small number.
_CORRECTED = 200
#: From this number of degrees of freedom on, such errors are valid (Tipton, Psychological Methods
#: 2015).
_ENOUGH = 4
#: The rows that are compared at a time.
_BLOCK = 2**14
#: From this number of clusters in strata on, 95 % intervals about keep their level for unequal
#: sizes.
_MANY = 40


@dataclass(frozen=True)
class Clusters:
    """Clusters in which respondents were drawn, perhaps in strata.

    Attributes
    ----------
    of_row : (rows,) array
        The cluster of each row, from 0 on.
    strata : (clusters,) array
        The stratum of each cluster, from 0 on. A stratum has at least two clusters.
    named : bool
        Whether clusters are more than single respondents.
    """

    of_row: NDArray[np.int64]
    strata: NDArray[np.int64]
    named: bool

    @property
    def freedom(self) -> int:
        """The degrees of freedom of a variance: clusters less strata."""
        return len(self.strata) - (int(self.strata.max()) + 1)

    def of(self, places: NDArray[np.int64]) -> "Clusters":
        """Return the clusters of some rows; raise `ValueError` if a stratum has only one left."""
        kept, of_row = np.unique(self.of_row[places], return_inverse=True)
        _, strata = np.unique(self.strata[kept], return_inverse=True)
        if (np.bincount(strata) < 2).any():
            raise ValueError(
                "each stratum must have two or more clusters (or respondents), or its variance "
                "cannot be estimated: join strata, or leave them out"
            )
        return Clusters(of_row, strata, self.named)

    def products(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (q, q) products of (clusters, q) totals, centered at the mean of their stratum."""
        sizes = np.bincount(self.strata)
        means = np.zeros((len(sizes), totals.shape[1]))
        np.add.at(means, self.strata, totals / sizes[self.strata, None])
        apart = (totals - means[self.strata]) * np.sqrt(sizes / (sizes - 1))[self.strata, None]
        return np.asarray(apart.T @ apart)


@dataclass(frozen=True)
class Rows:
    """Groups of equal respondents.

    Attributes
    ----------
    places : (groups,) array
        The row of one respondent of each group.
    times, squares : (groups,) array
        Sums of respondents' weights, whose mean is 1, and of squared weights.
    scale : float
        The mean of the given weights.
    n : int
        The number of respondents whose weight is above 0.
    clusters : Clusters, optional
        The clusters in which respondents were drawn; None if they were drawn one by one.
    """

    places: NDArray[np.int64]
    times: NDArray[np.float64]
    squares: NDArray[np.float64]
    scale: float
    n: int
    clusters: Clusters | None = None

    @property
    def freedom(self) -> float:
        """The degrees of freedom of robust errors; infinite if respondents were drawn singly."""
        return inf if self.clusters is None else self.clusters.freedom

    @property
    def robust(self) -> str:
        """The name of robust standard errors."""
        return "sandwich" if self.named is None else "cluster sandwich"

    @property
    def named(self) -> int | None:
        """The number of clusters; None if clusters are single respondents."""
        drawn = self.clusters
        return len(drawn.strata) if drawn is not None and drawn.named else None

    def few_clusters(self, freedom: float) -> list[str]:
        """Return a sentence if clusters are too few for reliable errors; otherwise nothing.

        `freedom` is the least number of degrees of freedom of a term.
        """
        if self.named is None:
            return []
        if self.are_few and freedom < _ENOUGH:
            return [
                f"standard errors rest on {self.named} clusters, and some on {freedom:.1f} degrees "
                f"of freedom: below {_ENOUGH}, intervals and tests are rough"
            ]
        if not self.are_few and self.named < _MANY:
            return [
                f"standard errors rest on {self.named} clusters in strata: if fewer than {_MANY}, "
                "some much larger than others, intervals cover less often than their level says"
            ]
        return []

    def meat(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (q, q) covariance of the weighted sum of (groups, q) scores.

        References
        ----------
        Binder, International Statistical Review 1983 (strata and clusters). With one stratum it is
        known as CR1, with the factor G / (G - 1) for G clusters. If clusters `are_few`,
        `analysis.study.regression.small_samples` replaces it.
        """
        if self.clusters is None:
            return np.asarray((scores * self.squares[:, None]).T @ scores)
        return self.clusters.products(self.totals(scores))

    def totals(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (clusters, q) weighted sums of (groups, q) scores."""
        assert self.clusters is not None
        size = len(self.places)
        adding = scipy.sparse.csr_array((self.times, (self.clusters.of_row, np.arange(size))))
        return np.asarray(adding @ scores)

    @property
    def are_few(self) -> bool:
        """Return whether clusters, without strata, are few enough to need a correction."""
        drawn = self.clusters
        return drawn is not None and not drawn.strata.any() and len(drawn.strata) <= _CORRECTED

    def parts(self) -> Iterator[NDArray[np.float64]]:
        """Yield the (groups,) weights of each cluster's members."""
        assert self.clusters is not None
        for cluster in range(len(self.clusters.strata)):
            yield np.where(self.clusters.of_row == cluster, self.times, 0.0)

    def check_size(self, parameters: int) -> None:
        """Raise `ValueError` if a model has more parameters than respondents."""
        if self.n < parameters:
            raise ValueError(
                "a model must have at least as many respondents as parameters, got "
                f"{self.n} for {parameters}: leave terms out"
            )


def group(
    keys: Sequence[NDArray[Any]],
    design: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    clusters: Clusters | None = None,
) -> Rows:
    """Return the rows of a table. Equal rows are grouped if that at least halves their number.

    `keys` are (n,) arrays of all that a respondent's likelihood depends on. `design` (n, ...) is
    the formula's design. Equal rows stay separate if the formula distinguishes them, such as by
    their order. `weights` have passed `check_weights`. Rows of different clusters stay separate.
    """
    size = len(design)
    scale = 1.0 if weights is None else float(weights[weights > 0].mean())
    each = np.ones(size) if weights is None else weights / scale
    kept = np.flatnonzero(each)
    within = [] if clusters is None else [clusters.of_row]
    where = _alike([key[kept] for key in (*keys, *within)])

    def of(places: NDArray[np.int64]) -> Clusters | None:
        return None if clusters is None else clusters.of(places)

    if where is not None:
        places = np.zeros(where.max() + 1, dtype=np.int64)
        places[where] = kept
        blocks = (slice(start, start + _BLOCK) for start in range(0, len(kept), _BLOCK))
        if all(np.array_equal(design[places[where[some]]], design[kept[some]]) for some in blocks):
            times, squares = (
                np.bincount(where, each[kept] ** power).astype(np.float64) for power in (1, 2)
            )
            return Rows(places, times, squares, scale, len(kept), of(places))
    return Rows(kept, each[kept], each[kept] ** 2, scale, len(kept), of(kept))


def _alike(keys: Sequence[NDArray[Any]]) -> NDArray[np.int64] | None:
    """Return (n,) the group of each row; None if groups number more than half the rows."""
    where = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        _, codes = np.unique(key, return_inverse=True)
        values, where = np.unique(where * (codes.max() + 1) + codes, return_inverse=True)
        if 2 * len(values) > len(where):
            return None
    return where


def check_clusters(
    clusters: ArrayLike | None, strata: ArrayLike | None, size: int
) -> Clusters | None:
    """Return the clusters of `size` respondents; None if they were drawn one by one.

    `clusters` and `strata` are labels of any kind. The same label in two strata stands for two
    clusters. Raise `ValueError` if a respondent has no label.
    """
    if clusters is None and strata is None:
        return None
    codes = []
    for name, labels in (("strata", strata), ("clusters", clusters)):
        column = np.arange(size) if labels is None else np.asarray(labels)
        if labels is None and name == "strata":
            column = np.zeros(size)
        if column.shape != (size,):
            raise ValueError(
                f"{name} must be one for each of {size} respondents, got {column.shape}"
            )
        lacking = sum(label is None or label != label or label == "" for label in column.tolist())
        if lacking:
            raise ValueError(f"{name} must have a label for all, got {lacking} of {size} without")
        codes.append(np.unique(column.astype(str), return_inverse=True)[1])
    pairs, of_row = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return Clusters(of_row.ravel(), pairs[:, 0], clusters is not None)


def check_weights(weights: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return `size` weights; raise `ValueError` unless finite, at least 0, and some above 0."""
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, got others") from None
    if numbers.shape != (size,):
        raise ValueError(f"weights must be one for each of {size} respondents, got {numbers.shape}")
    wrong = int((~(np.isfinite(numbers) & (numbers >= 0))).sum())
    if wrong:
        raise ValueError(
            f"weights must be finite and not negative, got {wrong} of {size} that are not"
        )
    if not numbers.any():
        raise ValueError("weights must not all be 0")
    return numbers
