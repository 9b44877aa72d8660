"""Plans for data from elsewhere: the precision and power of any design before anybody is asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from analysis.core.options import MOST_RESPONDENTS
from analysis.estimate import Floats
from analysis.estimate.columns.measured import Design, Precision
from analysis.estimate.intervals import check_level
from analysis.estimate.precision import normal_half_width
from analysis.estimate.precision.check import check_respondents
from analysis.mechanisms.base import Share
from analysis.study.planning.check import OutOfReach, or_none
from analysis.study.planning.needed import least
from analysis.study.planning.one_sample import share_powers
from analysis.study.planning.power import check_power, least_for_power
from analysis.study.planning.share_width import least_favorable_share, of_share


@dataclass(frozen=True)
class DesignPlan:
    """The planned precision of one term of a column with `respondents` respondents.

    `half_width` is the expected half-width of an interval if `value` is true. `respondents_needed`
    is the number for the wanted half-width. `power` is the probability that the interval excludes
    `null`, and `respondents_for_power` is the number for the wanted power. They are None if they
    were not asked for, or if no number is enough. `method` is ``exact`` (sums over all counts, by
    the default interval) or ``normal`` (by the large-sample variance).
    """

    question: str
    term: str
    value: float
    respondents: int
    half_width: float
    respondents_needed: int | None
    null: float | None
    power: float | None
    respondents_for_power: int | None
    method: str


@dataclass(frozen=True)
class Goals:
    """The goals of a plan: a half-width, a power, and the level of intervals."""

    half_width: float | None = None
    power: float = 0.8
    confidence_level: float = 0.95


@dataclass(frozen=True)
class _Normal:
    """The normal law of an estimate whose variance is `variance` for one respondent."""

    variance: float
    value: float
    level: float
    method = "normal"

    def half_width(self, n: int) -> float:
        return normal_half_width(self.variance, n, self.level)

    def respondents(self, half_width: float) -> int:
        """Return the least number with at most this half-width; raise `OutOfReach` if none."""
        reach = float(ndtri((1 + self.level) / 2))
        return _possible(self.variance * (reach / half_width) ** 2)

    def power(self, n: int, null: float) -> float:
        """Return the probability that the interval excludes a value."""
        reach = float(ndtri((1 + self.level) / 2))
        shift = abs(self.value - null) / math.sqrt(self.variance / n)
        return float(ndtr(shift - reach) + ndtr(-shift - reach))

    def respondents_for_power(self, null: float, power: float) -> int:
        """Return the number from which on the power is reached; raise `OutOfReach` if none."""
        return _possible(self._about(null, power))

    def _about(self, null: float, power: float) -> float:
        # The other tail is ignored, since it is below .001 at a power above one half.
        reach = float(ndtri((1 + self.level) / 2) + ndtri(power))
        return reach**2 * self.variance / (self.value - null) ** 2


@dataclass(frozen=True)
class _Exact(_Normal):
    """Sums over all counts of reports that support a share."""

    share: Share
    method = "exact"

    def half_width(self, n: int) -> float:
        return of_share(self.share, self.value, n, self.level)

    def respondents(self, half_width: float) -> int:
        return least(lambda n: self.half_width(n) / half_width)

    def power(self, n: int, null: float) -> float:
        return float(self._powers([n], null)[0])

    def _powers(self, numbers: Sequence[int], null: float) -> Floats:
        return share_powers(self.share, self.value, null, np.array(numbers), self.level)

    def respondents_for_power(self, null: float, power: float) -> int:
        start = min(float(MOST_RESPONDENTS), self._about(null, power))
        return least_for_power(lambda numbers: self._powers(numbers, null), power, start)


def _possible(respondents: float) -> int:
    if respondents > MOST_RESPONDENTS:
        raise OutOfReach(f"it takes more than {MOST_RESPONDENTS} respondents")
    return max(2, math.ceil(respondents))


def design_plan(
    name: str,
    design: Design,
    respondents: int,
    stated: Mapping[str, float],
    nulls: Mapping[str, float],
    goals: Goals,
) -> list[DesignPlan]:
    """Return the plan of a column whose respondents are drawn one by one.

    Parameters
    ----------
    name : str
        The column's name.
    design : Design
    respondents : int
        The number of respondents in all samples together. Samples are of equal size.
    stated : mapping
        True values by term; see `Design.precision`.
    nulls : mapping
        For each term, the value that the interval should exclude.
    goals : Goals

    Raises
    ------
    ValueError
        If a term or a number is impossible.
    """
    check_level(goals.confidence_level)
    check_respondents(respondents)
    check_power(goals.power, goals.confidence_level)
    try:
        found = design.precision(stated)
    except ValueError as error:
        raise ValueError(f'column "{name}": {error}') from None
    known = [each.term for each in found]
    for term in nulls:
        if term not in known:
            raise ValueError(f'column "{name}": expected one of {", ".join(known)}, got {term}')
    return [_plan(name, each, respondents, nulls.get(each.term), goals) for each in found]


def _plan(name: str, each: Precision, n: int, null: float | None, goals: Goals) -> DesignPlan:
    level, share = goals.confidence_level, each.share
    if share is not None and null is not None and not 0 <= null <= 1:
        raise ValueError(f'column "{name}": null of {each.term} must be in [0, 1], got {null:g}')
    value = each.value
    if value is None:
        assert share is not None
        value = least_favorable_share(share, n, level)
        if null is not None:
            raise ValueError(
                f'column "{name}": its power needs the true share of {each.term}, got none'
            )
    if null is not None and null == value:
        raise ValueError(f'column "{name}": null of {each.term} must differ from the true {null:g}')
    plan = _Normal(each.variance, value, level)
    if share is not None:
        plan = _Exact(share.variance(value), value, level, share)
    half, wanted = plan.half_width(n), goals.half_width
    needed = None if wanted is None else or_none(lambda: plan.respondents(wanted))
    power = powered = None
    if null is not None:
        power = plan.power(n, null)
        powered = or_none(lambda: plan.respondents_for_power(null, goals.power))
    return DesignPlan(name, each.term, value, n, half, needed, null, power, powered, plan.method)
