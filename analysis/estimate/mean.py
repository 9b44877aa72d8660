"""From the scores that reports carry to a mean over those who answered."""

import numpy as np
from numpy.typing import NDArray

from analysis.estimate.quantity import Quantity
from analysis.intervals import FEW, Interval, ratio_interval
from analysis.mechanisms.base import Mean


def mean_quantity(
    mean: Mean, tally: NDArray[np.int64], n: int, confidence_level: float = 0.95
) -> Quantity:
    """The ratio of the averages of both scores, in the unit of the mean; shares without support.

    Parameters
    ----------
    mean : Mean
        Of what, and the scores.
    tally : (cohorts, symbols) array
        How many reports count for each symbol.
    n : int
        Reports.
    confidence_level : float
        Of the interval, in (0, 1).
    """
    low, width, counts = float(mean.low), float(mean.width), tally.reshape(-1)
    scores, present = (np.array(part, dtype=float) for part in (mean.scores, mean.present))
    second = None if mean.second is None or not n else mean.second(tally)
    ratio = ratio_interval(counts, scores, present, confidence_level, n, second)
    found = ratio.interval
    interval = Interval(low + width * found.low, low + width * found.high, found.method)
    answered = float(counts @ present)
    few = answered < FEW or ratio.std_error is None or ratio.few
    flags = ["few"] * few
    if ratio.value is None or ratio.std_error is None:
        return Quantity(mean.term, None, None, interval, None, tuple(flags))
    flags = ["out-of-range"] * (not 0 <= ratio.value <= 1) + flags
    flags += ["boundary"] * found.method.endswith("likelihood")
    value, std_error = low + width * ratio.value, width * ratio.std_error
    if mean.squares is None or second is not None:
        return Quantity(mean.term, value, std_error, interval, None, tuple(flags))
    # The variance of the numbers themselves is estimated too: without knowing it to about its own
    # size, nothing can be said of the people it would take.
    squares = np.array(mean.squares, dtype=float)
    apart = squares - 2 * ratio.value * scores + ratio.value**2 * present
    spread = float(counts @ apart) / answered
    unsure = float(counts @ (apart - spread * present) ** 2) ** 0.5 / answered
    n_eff = spread / ratio.std_error**2 if spread > 2 * unsure else None
    return Quantity(mean.term, value, std_error, interval, n_eff, tuple(flags))
