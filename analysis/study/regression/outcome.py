"""Outcomes of a model: the density of each respondent's outcome, and its derivatives."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Density:
    """The density of n respondents' outcomes under each cell, given linear predictors.

    Derivatives are computed when they are first used, since most points of a search need none.

    Attributes
    ----------
    log : (n, cells) array
        The logarithm of the density.
    derivatives : function
        A function that returns `first`, `second` and `most`.
    possible : (n, cells) array, optional
        A mask. Where it is False, derivatives are 0.
    """

    log: Array
    derivatives: Callable[[], tuple[Array, Array, Array]]
    possible: NDArray[np.bool_] | None = None

    def masked(self, possible: NDArray[np.bool_]) -> "Density":
        """Return the density with derivatives of 0 where the (n, cells) mask is False."""
        return replace(self, possible=possible)

    @property
    def first(self) -> Array:
        """(predictors, n, cells) the derivative of the logarithm."""
        return self._computed[0]

    @property
    def second(self) -> Array:
        """(predictors, predictors, n, cells) the second derivative of the logarithm."""
        return self._computed[1]

    @property
    def most(self) -> Array:
        """(predictors, predictors, n or 1, cells) the information without randomization.

        It may be its expectation. It is never negative.
        """
        return self._computed[2]

    @cached_property
    def _computed(self) -> tuple[Array, Array, Array]:
        # Far off, these may be NaN.
        with np.errstate(all="ignore"):
            first, second, most = self.derivatives()
        if self.possible is None:
            return first, second, most
        first, second, most = (np.where(self.possible, x, 0.0) for x in (first, second, most))
        return first, second, most


class Outcome(Protocol):
    """An outcome with `sloped` linear predictors of the design, and `flat` constants."""

    @property
    def sloped(self) -> int:
        """The number of linear predictors that have the design."""

    @property
    def flat(self) -> int:
        """The number of linear predictors that are constants."""

    def start(self, times: Array) -> Array:
        """Return (sloped + flat,) constants near those of a model without predictors."""

    def density(self, predictors: Array) -> Density:
        """Return the density at (sloped + flat, n or 1, cells) linear predictors."""

    def repeated(self, times: int) -> "Outcome":
        """Return the outcome of respondents each of whom is repeated `times` times in a row."""


@dataclass(frozen=True)
class Categories:
    """Categories behind a channel. Linear predictors are log-odds against the first category.

    See docs/methods.md, (27).

    Attributes
    ----------
    chances : (k, n, cells or 1) array
        The probability of each respondent's report under each category, up to a factor for each
        respondent. It has cells if it depends on the reports on predictors.

    References
    ----------
    van den Hout, van der Heijden and Gilchrist, Computational Statistics & Data Analysis 51, 2007.
    """

    chances: Array
    flat: int = 0

    @property
    def sloped(self) -> int:
        """There is one for each category except the first."""
        return len(self.chances) - 1

    def start(self, times: Array) -> Array:
        """Return the log-odds of shares after some steps of EM."""
        shares = likely_shares(self.chances.mean(axis=2).T, times)
        return np.asarray(np.log(shares[1:] / shares[0]))

    def repeated(self, times: int) -> "Categories":
        """Return the outcome with each respondent repeated `times` times."""
        return replace(self, chances=np.repeat(self.chances, times, axis=1))

    def density(self, predictors: Array) -> Density:
        """Return the density. It is not concave, so the information may be negative."""
        top = np.maximum(predictors.max(axis=0), 0.0)
        odds = np.exp(predictors - top)
        base = np.exp(-top)
        total = base + odds.sum(axis=0)
        shares = odds / total
        joint = shares * self.chances[1:]
        seen = joint.sum(axis=0) + base / total * self.chances[0]

        def derivatives() -> tuple[Array, Array, Array]:
            given, most = joint / seen, _spread(base / total, shares)
            none_given = base / total * self.chances[0] / seen
            return given - shares, _spread(none_given, given) - most, most

        return Density(np.log(seen), derivatives)


def _spread(base: Array, shares: Array) -> Array:
    """Return the (k, k, ...) covariance of the indicators of categories with these (k, ...) shares.

    `base` is the share of the first category, which has no indicator. A share times all others
    keeps the digits that 1 - share loses near 1.
    """
    covariance = -shares[:, None] * shares[None]
    for category, share in enumerate(shares):
        others = base + np.delete(shares, category, axis=0).sum(axis=0)
        covariance[category, category] = share * others
    return covariance


def likely_shares(chances: Array, times: Array) -> Array:
    """Return (k,) shares of at least 1e-4 after some steps of EM, which only serve as a start.

    `chances` (n, k) are those of each report under each value, and `times` (n,) how often each was
    made.
    """
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(50):
        last, shares = shares, shares * ((times / (chances @ shares)) @ chances) / times.sum()
        if np.abs(shares - last).max() < 1e-3:
            break
    shares = np.maximum(shares, 1e-4)
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Gaussian:
    """Numbers with normal errors. The second linear predictor is the logarithm of their size.

    The (n,) values are in units of their standard deviation.
    """

    values: Array
    sloped: int = 1
    flat: int = 1

    def start(self, times: Array) -> Array:
        """Return the mean, and the whole variance as error."""
        return np.array([times @ self.values / times.sum(), 0.0])

    def repeated(self, times: int) -> "Gaussian":
        """Return the outcome with each respondent repeated `times` times."""
        return replace(self, values=np.repeat(self.values, times))

    def density(self, predictors: Array) -> Density:
        """Return the density. It is concave in the first predictor, but not in both."""
        apart = self.values[:, None] - predictors[0]
        narrow = np.broadcast_to(np.exp(-predictors[1]), apart.shape)
        apart = apart * narrow
        cross = -2 * apart * narrow
        none = np.zeros_like(apart)
        return Density(
            -0.5 * np.log(2 * np.pi) - predictors[1] - apart**2 / 2,
            lambda: (
                np.stack([apart * narrow, apart**2 - 1]),
                np.array([[-(narrow**2), cross], [cross, -2 * apart**2]]),
                np.array([[narrow**2, none], [none, none + 2]]),
            ),
        )


@dataclass(frozen=True)
class Counts:
    """Poisson counts, (n,) whole numbers.

    The linear predictor and the (n,) offset add up to the logarithm of their mean.
    """

    values: Array
    offset: Array
    sloped: int = 1
    flat: int = 0

    def start(self, times: Array) -> Array:
        """Return the logarithm of the mean, or that of half an event if there are no events."""
        exposure = float(times @ np.exp(self.offset))
        return np.array([np.log(max(float(times @ self.values), 0.5) / exposure)])

    def repeated(self, times: int) -> "Counts":
        """Return the outcome with each respondent repeated `times` times."""
        values, offset = (np.repeat(x, times) for x in (self.values, self.offset))
        return replace(self, values=values, offset=offset)

    def density(self, predictors: Array) -> Density:
        """Return the density, which is concave."""
        logarithm = predictors + self.offset[:, None]
        mean = np.exp(logarithm)
        values = self.values[:, None]
        return Density(
            values * logarithm[0] - mean[0] - gammaln(values + 1),
            lambda: (values - mean, -mean[None], mean[None]),
        )
