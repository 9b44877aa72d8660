"""The interval of the number of people with a value, in a finite population that was sampled.

Of N people, K have the value (the *carriers*). n of the N people are drawn without replacement and
report. A report supports the value with probability p if its respondent has it, and with
probability q otherwise. So the number of reports that support it is a sum of two binomial numbers,
whose sizes are a hypergeometric number and the rest of n. The interval has all K that neither
one-sided test rejects, as Clopper and Pearson's interval has all such shares. So it covers at every
K. If everybody was asked (N = n), only randomization is random.
"""

from collections.abc import Callable

import numpy as np
import scipy
from scipy.special import ndtri

from analysis.estimate import Floats, Ints
from analysis.estimate.intervals.normal import Interval, check_level
from analysis.estimate.intervals.shares import profile_likelihood

#: The method's name.
METHOD = "finite-clopper-pearson"
#: Sums over counts reach this many standard deviations, and this many counts more, to each side.
#: The rest has a probability below 1e-14.
_REACH, _MORE = 8.0, 20
#: The probabilities of counts are interpolated by cubic splines between numbers of carriers. These
#: are this fraction of a standard deviation apart, but at least 1, which is precise to 1e-7.
_APART = 1 / 16
#: The most probabilities in one piece of memory.
_PIECE = 2**21


def finite_interval(
    count: int, n: int, population: int, p: float, q: float, confidence_level: float = 0.95
) -> Interval:
    """Return the interval of the number of people of a population who have a value.

    Parameters
    ----------
    count, n : int
        The number of reports that support the value, and of all reports, ``0 <= count <= n``.
    population : int
        The number of people from whom respondents were drawn without replacement, at least `n`.
    p, q : float
        The probabilities that a report supports the value if it is true, and if another is true.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        Whole numbers of people, from 0 to `population`. The interval is a point if nothing is
        random: everybody was asked, and reports are true. If randomization does not explain the
        reports at this level, all K are rejected, or all but a border. Then the result is the
        profile-likelihood interval of the share, with that method's name.

    Raises
    ------
    ValueError
        If p and q are equal or not probabilities, or if a number is out of range.

    References
    ----------
    Clopper and Pearson, Biometrika 1934; Buonaccorsi, The American Statistician 1987 (without
    randomization).
    """
    if not (0 <= p <= 1 and 0 <= q <= 1 and p != q):
        raise ValueError(f"p and q must be different probabilities, got {p} and {q}")
    if not 0 <= count <= n:
        raise ValueError(f"count must be from 0 to n = {n}, got {count}")
    if population < n:
        raise ValueError(f"population must be at least the {n} who were asked, got {population}")
    check_level(confidence_level)
    if n == 0:
        return Interval(0.0, float(population), METHOD)
    if p < q:
        # Reports that do not support the value are more probable if it is true.
        return finite_interval(n - count, n, population, 1 - p, 1 - q, confidence_level)
    tail = (1 - confidence_level) / 2
    share = min(1.0, max(0.0, (count / n - q) / (p - q)))
    # The search for the ends begins with the largest possible variance of supporting reports.
    reach = -float(ndtri(tail)) * population * 0.5 / (p - q) / n**0.5
    fewer, as_many = _Carriers(count - 1, n, p, q), _Carriers(count, n, p, q)
    step = max(1, round(reach / 8))
    high = _last(
        lambda carriers: as_many.at_most(carriers, population) > tail,
        *(population, round(population * share + reach), step),
    )
    # The fewest carriers leave the most others, so the same search runs on these.
    low = population - _last(
        lambda others: 1 - fewer.at_most(population - others, population) > tail,
        *(population, population - round(population * share - reach), step),
    )
    is_random = n < population or p < 1 or q > 0
    if low > high or (low == high and low in (0, population) and is_random):
        ends = profile_likelihood(float(count), n, p, q, confidence_level)
        bottom, top = (population * float(end) for end in ends)
        return Interval(np.floor(bottom), np.ceil(top), "profile-likelihood")
    return Interval(float(low), float(high), METHOD)


def _last(allows: Callable[[int], bool], most: int, guess: int, step: int) -> int:
    """Return the largest number of 0..most that is allowed; -1 if none is.

    Preconditions: all numbers up to some number are allowed, and no others. The search begins at a
    guess, in steps that double, and ends by bisection.
    """
    inside, outside = -1, most + 1
    at = min(most, max(0, guess))
    while outside - inside > 1:
        if allows(at):
            inside = at
        else:
            outside = at
        if inside < 0 or outside > most:
            # An allowed number, or one that is not allowed, is still missing, so steps double.
            at = min(most, inside + step) if inside >= 0 else max(0, outside - step)
            step *= 2
        else:
            at = (inside + outside) // 2
    return inside


class _Carriers:
    """The probability of at most `count` supporting reports, by the number of carriers among n.

    Preconditions: ``-1 <= count <= n`` and ``p > q``.
    """

    def __init__(self, count: int, n: int, p: float, q: float) -> None:
        self._count, self._n, self._p, self._q = count, n, p, q
        #: The probabilities for all numbers of carriers from `_first` on that were asked for.
        self._first, self._chances = 0, np.zeros(0)

    def at_most(self, carriers: int, population: int) -> float:
        """Return the probability if a population has this many carriers and n are drawn from it."""
        if self._count < 0:
            return 0.0
        if self._count == self._n:
            return 1.0
        first, weights = _drawn(carriers, population, self._n)
        return float(weights @ self._among(first, first + len(weights)))

    def _among(self, low: int, high: int) -> Floats:
        """Return the probabilities for `low` to `high` - 1 carriers among the respondents."""
        first, end = self._first, self._first + len(self._chances)
        if not (first <= low and high <= end):
            spare = (high - low) // 2
            if len(self._chances):
                low_end, high_end = min(low - spare, first), max(high + spare, end)
            else:
                low_end, high_end = low - spare, high + spare
            self._first = max(0, low_end)
            self._chances = self._interpolated(self._first, min(self._n + 1, high_end))
        return self._chances[low - self._first : high - self._first]

    def _interpolated(self, low: int, high: int) -> Floats:
        variances = self._variance(np.array([low, high - 1]))
        apart = int(_APART * float(variances.min()) ** 0.5 / (self._p - self._q))
        if apart <= 1 or high - low < 8 * apart:
            return self._exactly(np.arange(low, high))
        nodes = np.append(np.arange(low, high - 1, apart), high - 1)
        return np.asarray(
            scipy.interpolate.CubicSpline(nodes, self._exactly(nodes))(np.arange(low, high))
        )

    def _variance(self, carriers: Ints) -> Floats:
        p, q = self._p, self._q
        return np.asarray(carriers * (p * (1 - p)) + (self._n - carriers) * (q * (1 - q)))

    def _exactly(self, carriers: Ints) -> Floats:
        """Return the probabilities as sums over the number of carriers' reports that support it."""
        width = 2 * int(_REACH * 0.5 * self._n**0.5) + _MORE
        pieces = np.array_split(carriers, max(1, len(carriers) * width // _PIECE))
        return np.concatenate([self._summed(piece) for piece in pieces])

    def _summed(self, carriers: Ints) -> Floats:
        first, of_carriers = _binomial(carriers, self._p)
        other_first, of_others = _binomial(self._n - carriers, self._q)
        below = np.cumsum(of_others, axis=1)
        below = np.hstack([np.zeros((len(below), 1)), below])
        rest = self._count - first[:, None] - np.arange(of_carriers.shape[1])
        places = np.clip(rest - other_first[:, None] + 1, 0, below.shape[1] - 1)
        return np.asarray((of_carriers * np.take_along_axis(below, places, axis=1)).sum(axis=1))


def _binomial(sizes: Ints, chance: float) -> tuple[Ints, Floats]:
    """Return the first counts, and (sizes, counts) the probabilities from these counts on."""
    if chance in (0, 1):
        return sizes * int(chance), np.ones((len(sizes), 1))
    spread = (float(sizes.max(initial=0)) * chance * (1 - chance)) ** 0.5
    half = int(_REACH * spread) + _MORE
    first = np.maximum(0, np.floor(sizes * chance).astype(np.int64) - half)
    counts = first[:, None] + np.arange(2 * half)
    # Each probability is the one before it times a simple ratio. All sum to 1.
    with np.errstate(divide="ignore"):
        ratios = np.log(np.maximum(0, sizes[:, None] - counts) / (counts + 1.0))
    logs = np.zeros((len(sizes), 2 * half + 1))
    np.cumsum(ratios + np.log(chance / (1 - chance)), axis=1, out=logs[:, 1:])
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return first, chances / chances.sum(axis=1, keepdims=True)


def _drawn(carriers: int, population: int, n: int) -> tuple[int, Floats]:
    """Return the least number of carriers among n drawn people, and probabilities from it on."""
    least, most = max(0, n - (population - carriers)), min(n, carriers)
    mean = n * carriers / population
    spread = (mean * (1 - carriers / population) * (population - n) / max(1, population - 1)) ** 0.5
    half = int(_REACH * spread) + _MORE
    first, last = max(least, int(mean) - half), min(most, int(mean) + half)
    numbers = np.arange(first, last, dtype=np.float64)
    ratios = (carriers - numbers) * (n - numbers)
    ratios /= (numbers + 1) * (population - carriers - n + numbers + 1)
    logs = np.append(0.0, np.cumsum(np.log(ratios)))
    chances = np.exp(logs - logs.max())
    return first, chances / chances.sum()
