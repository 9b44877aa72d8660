"""Expected half-widths of shares with support counts, as sums over these counts."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from analysis.estimate.intervals import share_intervals
from analysis.estimate.precision.least_favorable import normal_half_widths, widest_at
from analysis.mechanisms.base import Share

_Floats = NDArray[np.float64]
_Counts = NDArray[np.int64]

#: Less than 1e-12 of a binomial's mass lies beyond this many standard deviations.
_FAR = 7.2
#: The most counts, and the most numbers of trials, in a sum. If there are more, they are thinned
#: out.
_COUNTS, _TRIALS = 20_000, 65
#: The number of counts that find the least favorable share, at most .4 standard deviations apart.
_SOME = 1000


def counts_between(n: int, chances: tuple[float, float], most: int = _COUNTS) -> _Counts:
    """Return counts of a binomial whose rate lies between two, up to 1e-12 of its mass.

    These are all counts if there are at most `most`, and evenly spaced counts otherwise.
    """
    (low, below), (high, above) = (
        # This is Bernstein's inequality, for few counts.
        (n * chance, _FAR * math.sqrt(n * chance * (1 - chance)) + 20)
        for chance in sorted(chances)
    )
    first, last = max(0, math.floor(low - below)), min(n, math.ceil(high + above))
    return np.arange(first, last + 1, -(-(last - first + 1) // most))


def weights_of(counts: _Counts, n: int, chances: _Floats | float) -> _Floats:
    """Return (chances, counts) probabilities of counts, which sum to 1 for each rate."""
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    chance = np.asarray(chances)[..., None]
    weights = np.exp(ways + xlogy(counts, chance) + xlog1py(n - counts, -chance))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def half_widths(counts: _Counts, n: int | _Counts, p: float, q: float, level: float) -> _Floats:
    """Return half of `analysis.estimate.intervals.share_interval` for each count of `n`."""
    ends = share_intervals(counts.astype(np.float64), n, p, q, level)
    return (ends.high - ends.low) / 2


@lru_cache(maxsize=4096)
def of_share(share: Share, true: float, n: int, level: float) -> float:
    """Return the expected half-width of the default interval of a share, by a sum over counts.

    It sums over all counts, or over 20,000 evenly spaced counts if there are more. With a
    `portion`, the number of trials is random, too. If there are more than 65 numbers, evenly spaced
    ones are used, which is precise to .1 %.

    Parameters
    ----------
    share : Share
        The probabilities that reports support it.
    true : float
        The true share, in [0, 1].
    n : int
        The number of reports, at least 1.
    level : float
        The level of the interval, in (0, 1).

    By hand: with two true reports (p = 1, q = 0), a share of 1/2, and 95 %, the counts 0, 1 and 2
    have the intervals [0, .842], [.013, .987] and [.158, 1], with the probabilities 1/4, 1/2 and
    1/4. The result is .454.
    """
    expected, chance = 0.0, share.support(true)
    trials = trials_of(share, n, _TRIALS)
    # The few counts of many numbers of trials are computed together.
    for some in (trials,) if n <= _COUNTS else ([one] for one in trials):
        counts = [counts_between(number, (chance, chance)) for number, _ in some]
        numbers = np.repeat([number for number, _ in some], [len(of_one) for of_one in counts])
        widths = half_widths(np.concatenate(counts), numbers, *share.chances, level)
        pieces = np.split(widths, np.cumsum([len(of_one) for of_one in counts])[:-1])
        for (number, weight), of_one, piece in zip(some, counts, pieces, strict=True):
            expected += weight * float(weights_of(of_one, number, chance) @ piece)
    return expected


def trials_of(share: Share, n: int, most: int) -> list[tuple[int, float]]:
    """Return at most about `most` numbers of reports that could support a share, with weights."""
    if share.portion == 1:
        return [(n, 1.0)]
    portion = float(share.portion)
    trials = counts_between(n, (portion, portion), most)
    return list(zip(trials.tolist(), weights_of(trials, n, portion).tolist(), strict=True))


@lru_cache(maxsize=512)
def least_favorable_share(share: Share, n: int, level: float) -> float:
    """Return the true share at which `of_share` is largest, to five digits.

    It sums over all counts up to 20,000, and uses the normal law of the estimate beyond. With a
    `portion`, it takes the mean number of trials.
    """
    trials = max(1, round(n * share.portion))
    counts = counts_between(trials, share.chances)
    if counts[1] - counts[0] > 1:
        return widest_at(lambda at: normal_half_widths(at, np.sqrt(share.variance(at) / n), level))
    widths = half_widths(counts, trials, *share.chances, level)

    def width(at: _Floats) -> _Floats:
        chances = share.support(at)
        likely = counts_between(trials, (chances.min(), chances.max()), _SOME)
        return np.asarray(weights_of(likely, trials, chances) @ widths[likely - counts[0]])

    return widest_at(width)
