"""Intervals for the quantiles and the variance of a number, that hold for every distribution."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from analysis.estimate import Floats, Ints
from analysis.estimate.distribution.em import early_em
from analysis.estimate.distribution.least_favorable import evidence
from analysis.estimate.distribution.ranges import Places

#: More numbers than these are taken as so many parts of the range: grids are hardly finer.
FINEST, PARTS = 1024, 1000
#: Numbers that a search begins with; others are added where they matter.
_FIRST = 64
#: The reference has learned enough when a step of EM adds so little log-likelihood. With 0.1 it
#: learns noise: of 2000 equal numbers and a sharp channel (square-wave, ε = 2) variance was told
#: to be too large 9 times in 100, with 0.5 3 times; with 1 intervals are up to a third wider.
_GAIN = 0.5
#: A variance's ends are searched to 2^-13 of the squared range.
_ROUNDS = 11


@dataclass(frozen=True)
class Reference:
    """A tally of reports, and a distribution near the true one, against which tests are sharp.

    Attributes
    ----------
    possible : (reports, numbers) array
        The chance of each class of reports, for numbers in equal steps over the range, and for
        no-answer, if it can be given.
    numbers : (numbers,) array
        As parts of the range, from 0 to 1; NaN for no-answer.
    weights : (numbers,) array
        Of the distribution; 0 for all but some numbers.
    tally : (reports,) array
        How often each class of reports was made.
    """

    possible: Floats
    numbers: Floats
    weights: Floats
    tally: Floats

    @classmethod
    def of(cls, channel: Places, steps: int, tally: Floats) -> "Reference":
        """Of a tally with at least one report, of numbers with so many steps."""
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
        """The place of the least number with so many of this distribution up to it."""
        first = np.flatnonzero(self.weights[: self.last + 1])
        own = self.weights[first] / self.weights[first].sum()
        below = np.cumsum(own)
        if len(first) == self.last + 1:
            return int(np.searchsorted(below, share))
        # Each stands for those around it, half of them on either side.
        return round(float(np.interp(share, below - own / 2, first)))

    @property
    def variance(self) -> float:
        """Of this distribution, in parts of the squared range."""
        own, numbers = self.weights[: self.last + 1], self.numbers[: self.last + 1]
        mean = float(own @ numbers) / float(own.sum())
        return float(own @ (numbers - mean) ** 2) / float(own.sum())

    def share_up_to(self, place: int, share: float) -> float:
        """`evidence` that more than a share is up to a number, ``0 <= place < last``."""
        side = np.where(np.arange(len(self.numbers)) <= place, 1 - share, -share)
        return self._evidence(side, np.array([place, place + 1]))

    def distance_from(self, center: float, square: float) -> float:
        """`evidence` that the mean squared distance from a number in [0, 1] is above one."""
        return self._evidence((self.numbers - center) ** 2 - square, np.zeros(0, dtype=np.int64))

    def _evidence(self, side: Floats, besides: Ints) -> float:
        side = np.where(np.isnan(self.numbers), 0.0, side)
        first = np.unique(np.append(_spread(self.numbers), besides))
        return evidence(self.possible, side, first, self.possible @ self.weights, self.tally)


def _spread(numbers: Floats) -> Ints:
    """Places of some numbers over all of the range, and that of no-answer."""
    last = int(np.nanargmax(numbers))
    some = np.unique(np.rint(np.linspace(0, last, min(last, _FIRST) + 1)).astype(np.int64))
    return np.append(some, np.flatnonzero(np.isnan(numbers)))


def quantile_range(reference: Reference, share: float, confidence_level: float) -> tuple[int, int]:
    """The places of the least and the greatest number that may be the quantile.

    They may be one.

    Parameters
    ----------
    reference : Reference
        Of at least two reports.
    share : float
        Of the quantile, in (0, 1): it is the least number with so many of all up to it.
    confidence_level : float
        Of both ends together, in (0, 1).
    """
    reach = _reach(reference, confidence_level)

    def first(test: Callable[[float], bool]) -> int:
        low, high = 0, reference.last
        while low < high:
            middle = (low + high) // 2
            passed = test(reference.share_up_to(middle, share))
            low, high = (low, middle) if passed else (middle + 1, high)
        return low

    # It is at least the first number up to which the share may be, and at most the first up to
    # which it must be.
    return first(lambda found: found >= -reach), first(lambda found: found > reach)


def variance_range(
    reference: Reference, mean: float, std_error: float, confidence_level: float
) -> tuple[float, float]:
    """Ends of an interval for the variance, in parts of the squared range; ``low < high``.

    The mean squared distance from an estimated mean is above the variance by the square of that
    estimate's error; so the lower end is lower by `squared_error`.

    Parameters
    ----------
    reference : Reference
        Of at least two reports.
    mean, std_error : float
        Of the numbers, estimated from the same reports, as parts of the range.
    confidence_level : float
        Of both ends together, in (0, 1).
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
    """What the squared error of a mean is at most, but for a fifth of the chance of an interval's.

    With all numbers alike the tests are so sharp that this error alone decides what is covered.
    """
    return (_reach(reference, 1 - (1 - confidence_level) / 5) * std_error) ** 2


def _reach(reference: Reference, confidence_level: float) -> float:
    return float(stdtrit(reference.tally.sum() - 1, (1 + confidence_level) / 2))
