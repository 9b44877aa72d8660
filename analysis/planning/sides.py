"""One sample of a comparison: what its estimate can be, how likely, and what it leaves out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from analysis.domain import NO_ANSWER, Numbers, Texts
from analysis.estimate.quantity import possible_share
from analysis.intervals import Interval, share_interval
from analysis.mechanisms.base import Share
from analysis.planning.half_width import thinned
from analysis.planning.law import Law
from analysis.planning.truth import Truth, has, share_of, truth_of, values_of
from analysis.planning.worst import mean_variance
from analysis.survey import Question

#: A true share; or the shares of all answers, as of `truth_of`.
TrueShares = float | Mapping[str, float]

#: Numbers of trials that are looked at, where these are random.
_TRIALS = 9


@dataclass(frozen=True)
class Told:
    """Every estimate that there can be, with its squared standard error and its chance."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """What one sample's estimate will be of: its true value, and the variance of one report."""

    term: str
    share: Share | None
    value: float
    variance: float
    is_share: bool

    @classmethod
    def of(cls, question: Question, term: str, true: TrueShares) -> "Side":
        domain, randomizer = question.domain, question.randomizer
        place = f'question "{question.id}"'
        if isinstance(domain, Texts):
            raise ValueError(f"{place}: power is planned for other kinds than text")
        shares = {one.term: one for one in question.mechanism.shares(randomizer, domain).values}
        means = {one.term: one for one in question.mechanism.means(randomizer, domain)}
        if term not in shares and term not in means:
            known = ", ".join([*shares, *means])
            raise ValueError(f"{place}: expected one of the terms {known}, got {term}")
        if isinstance(true, Mapping):
            truth = truth_of(question, true)
            value = share_of(domain, truth, term)
        else:
            value = true
            if not (isfinite(value) and 0 <= value <= 1):
                raise ValueError(f"{place}: share of {term} must be in [0, 1], got {value:g}")
        if term in shares:
            own = shares[term]
            return cls(term, own, value, own.variance(value), True)
        mean = means[term]
        if not isinstance(true, Mapping):
            if not mean.is_share or isinstance(domain, Numbers):
                raise ValueError(
                    f"{place}: {term} must be given as the shares of all answers, got {true:g}"
                )
            truth = _having(question, term, value)
        middle, variance = mean_variance(mean, Law(randomizer, domain, truth))
        low, width = float(mean.low), float(mean.width)
        return cls(term, None, low + width * middle, width**2 * variance, mean.is_share)

    def told(self, n: int) -> Told | None:
        """What `share_quantity` says of each count; None where there are no support counts.

        Of a share that a part of the reports tells, that part is taken as if it were not random.
        """
        if self.share is None:
            return None
        p, q = float(self.share.p), float(self.share.q)
        trials = max(1, round(n * self.share.portion))
        counts, weights = thinned(trials, _support(self.share, self.value), 2 * trials)
        values = (counts / trials - q) / (p - q)
        least = possible_share(0.0, trials)
        supports = q + (p - q) * np.clip(values, least, 1 - least)
        return Told(values, supports * (1 - supports) / trials / (p - q) ** 2, weights)

    def check(self, value: float, name: str) -> None:
        """ValueError unless it is what this could be."""
        if not isfinite(value) or (self.is_share and not 0 <= value <= 1):
            raise ValueError(f"{name} must be a share in [0, 1], got {value:g}")


def _having(question: Question, term: str, share: float) -> Truth:
    """So large a part has the value of a term, evenly; the rest evenly another, or none of them."""
    domain = question.domain
    values = values_of(domain)
    there = [value for value in values if has(domain, value, term)]
    others = [value for value in values if value not in there and not has(domain, value, NO_ANSWER)]
    return Truth.of(
        [
            *((value, share / len(there)) for value in there),
            *((value, (1 - share) / len(others)) for value in others),
        ]
    )


def _support(share: Share, true: float) -> float:
    p, q = float(share.p), float(share.q)
    return min(1.0, max(0.0, q + (p - q) * true))


def share_power(share: Share, true: float, null: float, n: int, level: float) -> float:
    if share.portion < 1:
        trials, weights = thinned(n, float(share.portion), _TRIALS)
        alone = Share(share.term, share.p, share.q)
        powers = [share_power(alone, true, null, int(one), level) if one else 0 for one in trials]
        return float(weights @ powers)
    p, q, support = float(share.p), float(share.q), _support(share, true)
    rising = 1 if p > q else -1

    def interval(count: int) -> Interval:
        return share_interval(count, n, p, q, level)

    def side(count: int) -> int:
        """-1 if all of the interval is on the side of few reports, 1 on that of many."""
        found = interval(count)
        return rising * ((found.low > null) - (found.high < null))

    def another(count: int) -> bool:
        return interval(count).method != "clopper-pearson"

    # Counts that no share explains have another interval: three ranges, in each of which intervals
    # move one way.
    middle = round(n * (p + q) / 2)
    start = _first(lambda count: not another(count), 0, middle)
    end = _first(another, middle + 1, n + 1)
    total = 0.0
    for low, high in ((0, start), (start, end), (end, n + 1)):
        if low < high:
            few = _first(lambda count: side(count) >= 0, low, high)
            many = _first(lambda count: side(count) > 0, few, high)
            total += _mass(low, few, n, support) + _mass(many, high, n, support)
    return total


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first of low..high-1 for which it holds, as for all after it; `high` if none."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _mass(low: int, high: int, n: int, chance: float) -> float:
    """The chance of counts from `low` on and below `high`."""
    if low >= high:
        return 0.0
    below = float(bdtr(low - 1, n, chance)) if low else 0.0
    above = float(bdtrc(high - 1, n, chance)) if high <= n else 0.0
    return 1 - below - above
