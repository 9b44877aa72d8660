"""Intervals for the quantiles and the variance of a number that hold for every distribution."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from analysis.estimate import Floats, Ints
from analysis.estimate.distribution.em import early_em
from analysis.estimate.distribution.least_favorable import evidence
from analysis.estimate.distribution.ranges import Places

#: More than `FINEST` numbers are divided into `PARTS` parts: grids are hardly finer.
FINEST, PARTS = 1024, 1000
#: The number of grid points that a search begins with; others are added where they matter.
_FIRST = 64
#: The reference has learned enough when a step of EM adds so little log-likelihood. With 0.1 it
#: learns noise: for 2000 equal numbers and a sharp channel (square-wave, ε = 2) the interval of the
#: variance was too high 9 times in 100, with 0.5 3 times; with 1 intervals are up to a third wider.
_GAIN = 0.5
#: The ends of a variance's interval are searched to 2^-13 of the squared range.
_ROUNDS = 11


@dataclass(frozen=True)
class Reference:
    """A tally of reports, and a distribution near the true one, against which tests are sharp.

    Attributes
    ----------
    possible : (reports, numbers) array
        The chance of each class of reports, for numbers in equal steps over the range, and for
        no-answer, if it is possible.
    numbers : (numbers,) array
        The numbers as parts of the range, from 0 to 1; NaN for no-answer.
    weights : (numbers,) array
        The weights of the distribution; they are 0 for most numbers.
    tally : (reports,) array
        How often each class of reports was made.
    """

    possible: Floats
    numbers: Floats
    weights: Floats
    tally: Floats

    @classmethod
    def of(cls, channel: Places, steps: int, tally: Floats) -> "Reference":
        """Return that of a tally with at least one report, of numbers with so many steps."""
        numbers = np.linspace(0, 1, (steps if steps <= FINEST else PARTS) + 1)
        skipped = np.full(channel.skipped.shape[1], np.nan)
        possible = np.hstack([channel.chances(numbers), channel.skipped])
        numbers = np.append(numbers, skipped)
        first = _spread(numbers)
        weights = np.zeros(len(numbers))
        weights[first] = early_em(possible[:, first], tally, _GAIN)
        return cls(possible, numbers, weights, tally)

    @property
    def last(self) -> int:
        """The place of the greatest number."""
        return int(np.nanargmax(self.numbers))

    def quantile(self, share: float) -> int:
        """Return the place of the least number with such a share of the distribution up to it."""
        first = np.flatnonzero(self.weights[: self.last + 1])
        weights = self.weights[first] / self.weights[first].sum()
        below = np.cumsum(weights)
        if len(first) == self.last + 1:
            return int(np.searchsorted(below, share))
        # Each stands for those around it, half of them on either side.
        return round(float(np.interp(share, below - weights / 2, first)))

    @property
    def variance(self) -> float:
        """The variance of this distribution, in parts of the squared range."""
        weights, numbers = self.weights[: self.last + 1], self.numbers[: self.last + 1]
        mean = float(weights @ numbers) / float(weights.sum())
        return float(weights @ (numbers - mean) ** 2) / float(weights.sum())

    def share_up_to(self, place: int, share: float) -> float:
        """Return the `evidence` that more than a share is up to a number, ``0 <= place < last``."""
        side = np.where(np.arange(len(self.numbers)) <= place, 1 - share, -share)
        return self._evidence(side, np.array([place, place + 1]))

    def distance_from(self, center: float, square: float) -> float:
        """Return the `evidence` that the mean squared distance from `center` is above `square`."""
        return self._evidence((self.numbers - center) ** 2 - square, np.zeros(0, dtype=np.int64))

    def _evidence(self, side: Floats, besides: Ints) -> float:
        side = np.where(np.isnan(self.numbers), 0.0, side)
        first = np.unique(np.append(_spread(self.numbers), besides))
        return evidence(self.possible, side, first, self.possible @ self.weights, self.tally)


def _spread(numbers: Floats) -> Ints:
    """Return the places of some numbers over all of the range, and that of no-answer."""
    last = int(np.nanargmax(numbers))
    some = np.unique(np.rint(np.linspace(0, last, min(last, _FIRST) + 1)).astype(np.int64))
    return np.append(some, np.flatnonzero(np.isnan(numbers)))


def quantile_range(reference: Reference, share: float, confidence_level: float) -> tuple[int, int]:
    """Return the places of the least and the greatest number that may be the quantile.

    Both may be the same.

    Parameters
    ----------
    reference : Reference
        That of at least two reports.
    share : float
        The quantile is the least number with this share of all up to it, in (0, 1).
    confidence_level : float
        The level of both ends together, in (0, 1).
    """
    reach = _reach(reference, confidence_level)

    def first(test: Callable[[float], bool]) -> int:
        low, high = 0, reference.last
        while low < high:
            middle = (low + high) // 2
            passed = test(reference.share_up_to(middle, share))
            low, high = (low, middle) if passed else (middle + 1, high)
        return low

    # The quantile is at least the first number up to which the share may lie, and at most the first
    # up to which it must lie.
    return first(lambda errors: errors >= -reach), first(lambda errors: errors > reach)


def variance_range(
    reference: Reference, mean: float, std_error: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of the variance's interval, in parts of the squared range; ``low < high``.

    The mean squared distance from an estimated mean exceeds the variance by the square of that
    estimate's error; so the lower end is lower by `squared_error`.

    Parameters
    ----------
    reference : Reference
        That of at least two reports.
    mean, std_error : float
        The mean of the numbers, estimated from the same reports, in parts of the range.
    confidence_level : float
        The level of both ends together, in (0, 1).
    """
    reach = _reach(reference, confidence_level)
    center = min(1.0, max(0.0, mean))

    def bracket(passed: Callable[[float], bool]) -> tuple[float, float]:
        low, high = 0.0, 0.25
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (middle, high) if passed(middle) else (low, middle)
        return low, high

    error = squared_error(reference, std_error, confidence_level)
    low, _ = bracket(lambda square: reference.distance_from(center, square + error) > reach)
    _, high = bracket(lambda square: reference.distance_from(center, square) >= -reach)
    return low, max(high, low + 0.25 / 2**_ROUNDS)


def squared_error(reference: Reference, std_error: float, confidence_level: float) -> float:
    """Return a bound of a mean's squared error, which fails a fifth as often as an interval.

    With all numbers alike the tests are so sharp that this error alone decides what is covered.
    """
    return (_reach(reference, 1 - (1 - confidence_level) / 5) * std_error) ** 2


def _reach(reference: Reference, confidence_level: float) -> float:
    return float(stdtrit(reference.tally.sum() - 1, (1 + confidence_level) / 2))
