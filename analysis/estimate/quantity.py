"""One estimated quantity of a question: a share or a mean, with its interval and flags."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals import FEW, Interval, ratio_interval, share_interval
from analysis.mechanisms.base import Mean, Share


@dataclass(frozen=True)
class Quantity:
    """The estimate of one term; it has a `label` if the survey's author gave none."""

    term: str
    value: float | None
    std_error: float | None
    interval: Interval
    n_eff: float | None
    flags: tuple[str, ...] = ()
    label: str | None = None

    def one_of(self, together: int) -> "Quantity":
        """Return the quantity with an interval that is one of several; see `Interval.one_of`."""
        return replace(self, interval=self.interval.one_of(together))


def possible_share(value: float, n: int) -> float:
    """Return the nearest share from 1 / (n + 2) to 1 - 1 / (n + 2).

    0 and 1 are left out, since `n` reports cannot prove them: with p = 1, or q = 0, the standard
    error would be 0 there. The ends are the posterior means of a uniform prior after n equal
    answers (Laplace's rule of succession).
    """
    least = 1 / (n + 2)
    return min(1 - least, max(least, value))


def people_directly(value: float, std_error: float, n: int) -> float:
    """Return the number of people who, asked directly, would give a share with this standard error.

    See docs/methods.md, (5).
    """
    possible = possible_share(value, n)
    return possible * (1 - possible) / std_error**2


def supporting(
    scores: Floats, others: Floats | None = None
) -> tuple[NDArray[np.bool_], float, float] | None:
    """Return which reports support a value, and p and q of `Share`; None if support is not binary.

    The result is not None if all reports have one of two scores, whose expectation is 1 for the
    value and 0 for others.

    Parameters
    ----------
    scores : (reports,) array
        The score of each report.
    others : array, optional
        Scores of other values, too. If all `scores` are equal, as those of a value that none of few
        reports supports, the two scores are those of other values.
    """
    every = scores if others is None or np.ptp(scores) else others
    high, low = float(every.max()), float(every.min())
    if high == low:
        return None
    is_high = np.isclose(every, high, rtol=1e-9, atol=1e-12)
    if not (is_high | np.isclose(every, low, rtol=1e-9, atol=1e-12)).all():
        return None
    supports = np.isclose(scores, high, rtol=1e-9, atol=1e-12)
    # If a design leaves one answer unchanged, rounding may put these slightly outside [0, 1].
    return supports, min(1.0, (1 - low) / (high - low)), max(0.0, -low / (high - low))


def share_quantity(
    share: Share,
    count: int,
    n: int,
    confidence_level: float = 0.95,
    method: str = "clopper-pearson",
) -> Quantity:
    """Return the unbiased estimate of a share, with the error of randomization and sampling.

    The standard error is that at the estimate, or at the nearest `possible_share`.

    Parameters
    ----------
    share : Share
        The value, and the probabilities that reports support it.
    count, n : int
        The number of reports that support the value, and the number of those that could.
    confidence_level, method
        See `share_interval`.
    """
    interval = share_interval(count, n, *share.chances, confidence_level, method)
    if n == 0:
        return Quantity(share.term, None, None, interval, None, ("few",))
    value = share.estimate(count, n)
    std_error = share.std_error(possible_share(value, n), n)
    flags = ["out-of-range"] * (not 0 <= value <= 1)
    flags += ["boundary"] * (interval.method != method)
    n_eff = people_directly(value, std_error, n)
    return Quantity(share.term, value, std_error, interval, n_eff, tuple(flags))


def mean_quantity(mean: Mean, tally: Ints, n: int, confidence_level: float = 0.95) -> Quantity:
    """Return the ratio of the averages of both scores, in the unit of the mean.

    Parameters
    ----------
    mean : Mean
        The mean, or a share without support, and its scores.
    tally : (cohorts, symbols) array
        The number of reports that count for each symbol.
    n : int
        The number of reports.
    confidence_level : float
        The level of the interval, in (0, 1).
    """
    low, width, counts = float(mean.low), float(mean.width), tally.reshape(-1)
    scores, present = mean.floats
    second = None if mean.second is None or not n else mean.second(tally)
    ratio = ratio_interval(counts, scores, present, confidence_level, n, second)
    within = ratio.interval
    interval = Interval(low + width * within.low, low + width * within.high, within.method)
    answered = float(counts @ present)
    few = answered < FEW or ratio.std_error is None or ratio.few
    flags = ["few"] * few
    if ratio.value is None or ratio.std_error is None:
        return Quantity(mean.term, None, None, interval, None, tuple(flags))
    flags = ["out-of-range"] * (not 0 <= ratio.value <= 1) + flags
    flags += ["boundary"] * interval.method.endswith("likelihood")
    value, std_error = low + width * ratio.value, width * ratio.std_error
    if mean.squares is None or second is not None:
        return Quantity(mean.term, value, std_error, interval, None, tuple(flags))
    # The variance of the numbers themselves is estimated, too. If its error is about as large as
    # the estimate, the number of people is unknown.
    squares = np.array(mean.squares, dtype=float)
    apart = squares - 2 * ratio.value * scores + ratio.value**2 * present
    spread = float(counts @ apart) / answered
    unsure = float(counts @ (apart - spread * present) ** 2) ** 0.5 / answered
    n_eff = spread / ratio.std_error**2 if spread > 2 * unsure else None
    return Quantity(mean.term, value, std_error, interval, n_eff, tuple(flags))
