"""One sample of a comparison: its possible estimates with their probabilities, and its power."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtri

from analysis.core.domain import NO_ANSWER, Estimand
from analysis.estimate import Floats, Ints
from analysis.estimate.intervals import Ratios, ratio_intervals, sides_of_shares
from analysis.estimate.intervals.shares import clopper_pearson
from analysis.estimate.precision.law import Law
from analysis.estimate.precision.least_favorable import mean_variance
from analysis.estimate.precision.truth import NOBODY, Truth, every_value, share_of, truth_of
from analysis.estimate.quantity import possible_share
from analysis.mechanisms.base import Mean, Share
from analysis.study.planning.share_width import counts_between, trials_of, weights_of
from analysis.survey.question import Question

#: A true share, or the shares of all answers as `truth_of` takes them.
TrueShares = float | Mapping[str, float]

#: The numbers of trials that are looked at if they are random. Power is smoother than widths.
_FEW_TRIALS = 9
#: The number of drawn tallies for estimates without support counts, and for each of two samples.
_DRAWS, _PAIR_DRAWS = 4000, 1500


@dataclass(frozen=True)
class Possible:
    """Possible estimates with their squared standard errors and their probabilities."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """A quantity that one sample estimates: its true value, and the variance of one report.

    A share with support counts has a `share`. Other shares, and means, have their scores in `mean`
    and the law of their reports in `law`.
    """

    term: str
    share: Share | None
    mean: Mean | None
    law: Law | None
    value: float
    variance: float
    is_share: bool

    @classmethod
    def of(cls, question: Question, term: str, truth: TrueShares) -> "Side":
        """Return the side of a term; raise `ValueError` if the term or the truth is impossible."""
        domain, randomizer = question.domain, question.randomizer
        where = f'question "{question.id}"'
        if domain.estimand is Estimand.TEXTS:
            raise ValueError(f"{where}: power cannot be planned for the kind text")
        shares = {s.term: s for s in question.mechanism.shares(randomizer, domain).values}
        means = {mean.term: mean for mean in question.mechanism.means(randomizer, domain)}
        if term not in shares and term not in means:
            known = ", ".join([*shares, *means])
            raise ValueError(f"{where}: expected one of the terms {known}, got {term}")
        if not isinstance(truth, Mapping) and not (isfinite(truth) and 0 <= truth <= 1):
            raise ValueError(f"{where}: share of {term} must be in [0, 1], got {truth:g}")
        if term in shares:
            share, value = shares[term], truth
            if isinstance(value, Mapping):
                value = share_of(domain, truth_of(question, value), term)
            return cls(term, share, None, None, value, share.variance(value), True)
        mean = means[term]
        is_share = domain.is_share(term)
        if isinstance(truth, Mapping):
            law = Law(randomizer, domain, truth_of(question, truth))
        elif is_share:
            law = Law(randomizer, domain, _having(question, term, truth))
        else:
            raise ValueError(
                f"{where}: {term} must be given as the shares of all answers, got {truth:g}"
            )
        if law.first(mean.floats[1]) <= NOBODY:
            raise ValueError(f"{where}: truth must leave a share of people who answer")
        middle, variance = mean_variance(mean, law)
        low, width = float(mean.low), float(mean.width)
        return cls(term, None, mean, law, low + width * middle, width**2 * variance, is_share)

    @property
    def is_drawn(self) -> bool:
        """Return whether its estimates come from drawn tallies of single symbols."""
        return self.law is not None and self.law.table is not None

    def possible(self, n: int, rng: Generator) -> Possible | None:
        """Return the estimates of all counts or of drawn tallies; None if reports are sets.

        If only a fraction of the reports can support a share, that fraction is taken as fixed.
        """
        if self.share is not None:
            trials = max(1, round(n * self.share.portion))
            chance = self.share.support(self.value)
            counts = counts_between(trials, (chance, chance), 2 * trials)
            values = self.share.estimate(counts.astype(np.float64), trials)
            least = possible_share(0.0, trials)
            errors = self.share.std_error(np.clip(values, least, 1 - least), trials)
            return Possible(values, errors**2, weights_of(counts, trials, chance))
        if self.mean is None or not self.is_drawn:
            return None
        # An estimate that does not exist is NaN, which shows no difference.
        drawn = self._drawn(n, _PAIR_DRAWS, 0.95, rng)
        values = float(self.mean.low) + float(self.mean.width) * drawn.values
        variances = (float(self.mean.width) * drawn.std_errors) ** 2
        return Possible(values, variances, np.full(_PAIR_DRAWS, 1 / _PAIR_DRAWS))

    def left_out(self, null: float, n: int, level: float, rng: Generator) -> float:
        """Return the probability that the interval of `mean_quantity` excludes a value."""
        assert self.mean is not None
        scaled = (null - float(self.mean.low)) / float(self.mean.width)
        drawn = self._drawn(n, _DRAWS, level, rng)
        return float(np.mean((scaled < drawn.low) | (drawn.high < scaled)))

    def _drawn(self, n: int, times: int, level: float, rng: Generator) -> Ratios:
        assert self.mean is not None
        assert self.law is not None
        scores, present = self.mean.floats
        return ratio_intervals(self.law.tallies(n, times, rng), scores, present, level, n)

    def check(self, value: float, name: str) -> None:
        """Raise `ValueError` unless the quantity can have the value."""
        if not isfinite(value) or (self.is_share and not 0 <= value <= 1):
            raise ValueError(f"{name} must be a share in [0, 1], got {value:g}")


def _having(question: Question, term: str, share: float) -> Truth:
    """Return the truth in which a term has a share, and all other answers share the rest evenly."""
    domain = question.domain
    values = every_value(domain)
    there = [value for value in values if domain.counts_for(value, term)]
    others = [
        value for value in values if value not in there and not domain.counts_for(value, NO_ANSWER)
    ]
    return Truth.of(
        [
            *((value, share / len(there)) for value in there),
            *((value, (1 - share) / len(others)) for value in others),
        ]
    )


def share_powers(share: Share, true: float, null: float, n: Ints, level: float) -> Floats:
    """Return the probabilities that default intervals of shares exclude `null`, by exact sums.

    `n` has the numbers of respondents.
    """
    if share.portion < 1:
        alone = replace(share, portion=Fraction(1))
        trials = [trials_of(share, number, _FEW_TRIALS) for number in n.tolist()]
        told = sorted({number for some in trials for number, _ in some if number})
        powers = dict(
            zip(told, share_powers(alone, true, null, np.array(told), level), strict=True)
        )
        return np.array(
            [sum(weight * powers[number] for number, weight in some if number) for some in trials],
            dtype=float,
        )
    (p, q), support = share.chances, share.support(true)
    rising = 1 if p > q else -1

    def side(count: Ints, of: Ints) -> Ints:
        """Return -1 if the whole interval is on the side of few reports, 1 on that of many."""
        sides = sides_of_shares(null, count.astype(float), n[of].astype(float), p, q, level)
        return np.asarray(rising * sides)

    def another(count: Ints, of: Ints) -> NDArray[np.bool_]:
        low, high = clopper_pearson(count.astype(float), n[of].astype(float), p, q, level)
        return np.asarray(low >= high)

    def about(chance: float, tail: float) -> Ints:
        """Return about the count that is this far in the tail of a rate, by the normal law."""
        return np.asarray(
            np.rint(n * chance + tail * np.sqrt(n * chance * (1 - chance))), dtype=np.int64
        )

    reach = float(ndtri((1 + level) / 2))
    least, most = min(p, q), max(p, q)
    # Counts that no share explains have another interval. So there are three ranges, in each of
    # which intervals move one way.
    none, middle = np.zeros_like(n), np.rint(n * (p + q) / 2).astype(np.int64)
    start = _first(lambda *at: ~another(*at), none, middle, about(least, -reach))
    end = _first(another, middle + 1, n + 1, about(most, reach))
    total, there = np.zeros(len(n)), share.support(null)
    for low, high in ((none, start), (start, end), (end, n + 1)):
        few = _first(lambda *at: side(*at) >= 0, low, high, about(there, -reach))
        many = _first(lambda *at: side(*at) > 0, few, high, about(there, reach))
        total += _mass(low, few, n, support) + _mass(many, high, n, support)
    return total


def _first(
    holds: Callable[[Ints, Ints], NDArray[np.bool_]], low: Ints, high: Ints, guess: Ints
) -> Ints:
    """Return the first of low..high-1 from which on a condition holds; `high` if there is none.

    There are many searches, each around its guess, at distances that double. `holds` takes numbers,
    and the indices of their searches.
    """
    low, high = low.copy(), high.copy()
    at, step, is_near = np.minimum(np.maximum(guess, low), high - 1), 1, np.ones(len(low), bool)
    while (of := np.flatnonzero(low < high)).size:
        here, place = holds(at[of], of), at[of]
        low[of], high[of] = np.where(here, low[of], place + 1), np.where(here, place, high[of])
        further = np.where(here, place - step, place + step)
        is_near[of] &= (low[of] <= further) & (further < high[of])
        at[of] = np.where(is_near[of], further, (low[of] + high[of]) // 2)
        step *= 2
    return low


def _mass(low: Ints, high: Ints, n: Ints, chance: float) -> Floats:
    """Return the probabilities of counts from `low` on and below `high`."""
    below = np.where(low > 0, bdtr(np.maximum(low - 1, 0), n, chance), 0.0)
    above = np.where(high <= n, bdtrc(np.clip(high - 1, 0, n), n, chance), 0.0)
    return np.where(low < high, 1 - below - above, 0.0)
