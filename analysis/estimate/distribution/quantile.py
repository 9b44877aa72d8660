"""Intervals for a number's quantiles and variance that are valid for every distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import stdtrit

from analysis.estimate import Floats, Ints
from analysis.estimate.distribution.em import early_em
from analysis.estimate.distribution.least_favorable import evidence
from analysis.estimate.distribution.ranges import Places

#: If there are more than `FINEST` numbers, the range is divided into `PARTS` parts. Grids are
#: hardly finer.
FINEST, PARTS = 1024, 1000
#: The number of grid points that a search begins with. Others are added where they matter.
_FIRST = 64
#: EM ends when a step adds less than this to the log-likelihood of the reference. With 0.1 it
#: learns noise: for 2000 equal numbers and a sharp channel (square-wave, ε = 2), the interval of
#: the variance was too high 9 times in 100, and 3 times with 0.5. With 1, intervals are up to a
#: third wider.
_GAIN = 0.5
#: The search for an end of a variance's interval is precise to 2^-13 of the squared range.
_ROUNDS = 11


@dataclass(frozen=True)
class Reference:
    """A tally of reports, and a distribution near the true one, against which tests are powerful.

    Attributes
    ----------
    possible : (reports, numbers) array
        The probability of each class of reports, for numbers in equal steps over the range and, if
        it is possible, for no-answer.
    numbers : (numbers,) array
        The numbers as fractions of the range, from 0 to 1; NaN for no-answer.
    weights : (numbers,) array
        The weights of the distribution, which are 0 for most numbers.
    tally : (reports,) array
        How often each class of reports was made.
    """

    possible: Floats
    numbers: Floats
    weights: Floats
    tally: Floats

    @classmethod
    def of(cls, channel: Places, steps: int, tally: Floats) -> "Reference":
        """Return the reference of a tally of at least one report, of numbers with `steps` steps."""
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
        """The index of the greatest number."""
        return int(np.nanargmax(self.numbers))

    def quantile(self, share: float) -> int:
        """Return the index of the least number with this share of the distribution up to it."""
        first = np.flatnonzero(self.weights[: self.last + 1])
        weights = self.weights[first] / self.weights[first].sum()
        below = np.cumsum(weights)
        if len(first) == self.last + 1:
            return int(np.searchsorted(below, share))
        # Each number stands for those around it, half of which are on either side.
        return round(float(np.interp(share, below - weights / 2, first)))

    @property
    def variance(self) -> float:
        """The variance of this distribution, as a fraction of the squared range."""
        weights, numbers = self.weights[: self.last + 1], self.numbers[: self.last + 1]
        mean = float(weights @ numbers) / float(weights.sum())
        return float(weights @ (numbers - mean) ** 2) / float(weights.sum())

    def share_up_to(self, place: int, share: float) -> float:
        """Return the `evidence` that more than `share` is up to a number, ``0 <= place < last``."""
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
    """Return the indices of some numbers over the whole range, and that of no-answer."""
    last = int(np.nanargmax(numbers))
    some = np.unique(np.rint(np.linspace(0, last, min(last, _FIRST) + 1)).astype(np.int64))
    return np.append(some, np.flatnonzero(np.isnan(numbers)))


def quantile_range(reference: Reference, share: float, confidence_level: float) -> tuple[int, int]:
    """Return the indices of the least and the greatest number that may be the quantile.

    Both may be equal.

    Parameters
    ----------
    reference : Reference
        The reference of at least two reports.
    share : float
        The quantile is the least number such that this share of all numbers is up to it, in (0, 1).
    confidence_level : float
        The level of both ends together, in (0, 1).
    """
    reach = _reach(reference, confidence_level)

    # Both searches begin at the same numbers.
    @cache
    def share_up_to(place: int) -> float:
        return reference.share_up_to(place, share)

    def first(test: Callable[[float], bool]) -> int:
        low, high = 0, reference.last
        while low < high:
            middle = (low + high) // 2
            passed = test(share_up_to(middle))
            low, high = (low, middle) if passed else (middle + 1, high)
        return low

    # The quantile is at least the first number up to which the share may lie, and at most the first
    # number up to which it must lie.
    return first(lambda errors: errors >= -reach), first(lambda errors: errors > reach)


def variance_range(
    reference: Reference, mean: float, std_error: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of the variance's interval, as fractions of the squared range, low < high.

    The mean squared distance from an estimated mean exceeds the variance by the square of that
    estimate's error. So the lower end is reduced by `squared_error`.

    Parameters
    ----------
    reference : Reference
        The reference of at least two reports.
    mean, std_error : float
        The mean of the numbers, estimated from the same reports, as a fraction of the range.
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
    """Return a bound of a mean's squared error that fails a fifth as often as an interval.

    If all numbers are equal, the tests are so powerful that this error alone decides coverage.
    """
    return (_reach(reference, 1 - (1 - confidence_level) / 5) * std_error) ** 2


def _reach(reference: Reference, confidence_level: float) -> float:
    return float(stdtrit(reference.tally.sum() - 1, (1 + confidence_level) / 2))
