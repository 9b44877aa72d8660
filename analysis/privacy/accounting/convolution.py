"""The total of many reports, by the exact sum of their privacy losses."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from math import fsum

import numpy as np

from analysis.core.errors import check_delta
from analysis.privacy.accounting.lattice import Lattice, common_step
from analysis.privacy.accounting.loss import PrivacyLoss, Total, check_reports

#: If a report's losses are not multiples of one number, the step is the largest loss over this. The
#: largest loss stays exact, and the variance of a sum of losses rises by less than a millionth.
_PARTS = 1000
#: The number of points on which sums of unlike losses are added. Each sum moves by at most one.
_POINTS = 2**16


def compose(reports: Iterable[tuple[PrivacyLoss, int]]) -> PrivacyLoss:
    """Return the loss of all reports together: the sum of independent losses.

    See docs/methods.md, (39).

    The proof holds if questions and waves are chosen without regard to this respondent's reports. A
    mechanism may depend on earlier reports, but its ε may not. If it does, only plain sums are
    privacy filters (Rogers, Roth, Ullman and Vadhan, NeurIPS 2016; Feldman and Zrnic, NeurIPS 2021;
    Whitehouse et al., ICML 2023). So a cap is a plain sum.

    Reports of equal loss are added exactly if its values are multiples of one number, as those of
    randomized response, subsets and single bits are. Otherwise they are added on `_PARTS` parts of
    the largest value. Sums of unlike losses are added on at most `_POINTS` points, exactly if all
    are multiples of one number that is coarse enough for that. Losses are rounded up (`Lattice`).
    `rounding` bounds the error of floats, and `delta` adds it. At most about 2^17 numbers are kept,
    for any number of reports.

    Parameters
    ----------
    reports : pairs
        A loss, and the number of reports that have it, at least 1. There is at least one pair.

    Raises
    ------
    ValueError
        If there are no pairs, or if a number is not a whole number of at least 1.

    References
    ----------
    Kairouz, Oh and Viswanath, IEEE Transactions on Information Theory 2017, theorem 3.3 (equal
    losses of two values); Koskela, Jälkö and Honkela, AISTATS 2020; Zhu, Dong and Wang, AISTATS
    2022.
    By hand: two reports of `PrivacyLoss.pure(log(3))` have the losses 2 ln 3, 0 and -2 ln 3. Only
    the first, with the probabilities 9/16 and 1/16, exceeds ln 3: δ(ln 3) = 9/16 - 3 * 1/16 = 3/8.
    """
    kinds: dict[bytes, tuple[PrivacyLoss, int]] = {}
    for loss, count in check_reports(reports):
        _, before = kinds.get(loss.key, (loss, 0))
        kinds[loss.key] = loss, before + count
    first, times = next(iter(kinds.values()))
    if len(kinds) == times == 1:
        return first
    powers = [_power(loss, count) for loss, count in kinds.values()]
    if len(powers) > 1:
        step = _step(powers)
        powers = [power.on(step) for power in powers]
    total = reduce(Lattice.joined, powers)
    plain = Total(
        fsum(count * loss.plain.epsilon for loss, count in kinds.values()),
        fsum(count * loss.plain.delta for loss, count in kinds.values()),
    )
    return PrivacyLoss(total.losses, total.masses, total.infinite, plain, total.rounding)


def smallest(reports: Sequence[tuple[PrivacyLoss, int]], plain: Total, delta: float) -> Total:
    """Return the smaller of an additive total and the convolution, which is never above `plain`.

    Parameters
    ----------
    reports : pairs
        See `compose`. The waves of a memory stand as one `PrivacyLoss.pure` of what they cost
        together.
    plain : Total
        The additive total of the same reports, by ``sum`` or ``memory``, with its own δ.
    delta : float
        The δ of the total, in (0, 1). If that of `plain` is larger, that is used.

    Returns
    -------
    Total
        `plain` if the two agree to four significant digits, so that δ is spent only if it helps.
        Otherwise the total has the method ``convolution`` or ``memory;convolution``.
    """
    delta = max(check_delta(delta), plain.delta)
    epsilon = compose(reports).epsilon(delta)
    if epsilon >= plain.epsilon or f"{epsilon:.4g}" == f"{plain.epsilon:.4g}":
        return plain
    method = "memory;convolution" if plain.method == "memory" else "convolution"
    return Total(epsilon, delta, method)


@lru_cache(maxsize=4096)
def _power(loss: PrivacyLoss, reports: int) -> Lattice:
    """Return the sum of `reports` losses. It is kept, since respondents have the same questions."""
    above = loss.losses[loss.losses > 0]
    step = common_step(above) if len(above) else 1.0
    if step is None:
        step = float(above[-1]) / _PARTS
    return Lattice.of(step, loss.losses, loss.masses, loss.infinite, loss.rounding).times(reports)


def _step(powers: list[Lattice]) -> float:
    """Return the step for the sum of all powers."""
    finest = 2 * fsum(power.reach for power in powers) / _POINTS
    common = common_step(np.array([power.step for power in powers]))
    return common if common is not None and common >= finest else finest
