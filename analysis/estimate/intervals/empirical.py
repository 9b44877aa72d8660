"""Empirical-likelihood intervals of averages of debiased reports, and of ratios of averages.

The likelihood of a value is the largest likelihood of any law of reports with this value, where
each kind of report has a probability of its own (empirical likelihood, Owen 1988). Kinds that were
not seen have a probability, too. Without them, an interval shrinks to a point if the rarest kind
was not seen, and covers .43 instead of .95. Other shares are left free. Constraining them to at
least 0 seems to add information. But if many are near 0, the constraint takes from the others what
it cannot take from these: in a table of 5 × 5 with 5 cells that are not 0, such intervals cover .75
to .92.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import chdtri

from analysis.estimate import Floats
from analysis.estimate.intervals.normal import Interval

#: The most steps of a search; five to ten are usual.
_STEPS = 100
#: The precision of an interval's ends, in about standard errors. The statistic at an end is then
#: within 0.00004 of its quantile.
_NEAR = 1e-5
#: Values farther away, in about standard errors, are treated as impossible.
_FAR = 100.0
#: The relative width of a bracket at which the search ends.
_END = 1e-10


def empirical_interval(
    times: Floats,
    above: Floats,
    below: Floats,
    possible: tuple[float, float] = (0.0, 1.0),
    confidence_level: float = 0.95,
    squares: Floats | None = None,
) -> Interval:
    """Return the interval of the ratio of the expectations of two scores.

    Parameters
    ----------
    times : (reports,) array
        How often each kind of report was made, with 0 for possible kinds that were not seen.
    above, below : (reports,) arrays
        The scores of each kind. If `below` is all 1, the ratio is a share or a mean. Otherwise it
        is a share or a mean in a group.
    possible : pair of float
        The least and the largest value that the ratio can have. If the estimate is outside, the
        interval has values that are nearly as likely as the border, so that it never shrinks to a
        point.
    confidence_level : float
        In (0, 1).
    squares : (reports,) array, optional
        Sums of squared weights, if `times` are sums of weights. Both arrays sum to the effective
        number of respondents. The log-likelihood is then scaled to the linearized variance.

    Returns
    -------
    Interval
        It is the whole possible range, with the method ``none``, if the expectation of `below` is
        not significantly above 0, or if reports show no spread.

    References
    ----------
    docs/methods.md, (20). Owen, Biometrika 1988; Qin and Lawless, Annals of Statistics 1994 (with
    parameters).
    """
    least, most = possible
    reach = float(chdtri(1, 1 - confidence_level)) ** 0.5
    group = float(times @ below)
    nothing = Interval(least, most, "none")
    if group <= 0:
        return nothing
    spread = below - group / times.sum()
    if _fall(_rescaled(times, squares, spread), below) <= reach:
        return nothing
    estimate = float(times @ above) / group
    apart = above - estimate * below
    if np.abs(apart).max() <= 1e-9 * np.abs(below).max() * max(1.0, abs(estimate)):
        return nothing
    times = _rescaled(times, squares, apart)
    inside = min(most, max(least, estimate))
    if inside != estimate:
        reach = float(np.hypot(reach, _fall(times, above - inside * below)))

    def fall(value: float) -> float:
        return _fall(times, above - value * below)

    low, high = (end_of_interval(fall, inside, border, reach) for border in possible)
    return Interval(low, high, "empirical-likelihood")


def end_of_interval(
    fall: Callable[[float], float], inside: float, outside: float, reach: float
) -> float:
    """Return the point between a likely value and the border where the fall reaches `reach`.

    It is the border if the fall stays below `reach`. `fall` returns the root of a statistic that is
    nearly quadratic around the likeliest value.
    """
    over = fall(outside) - reach
    if inside == outside or over <= 0:
        return outside
    under = fall(inside) - reach
    # The fall is nearly linear, so that the false-position method is fast (Illinois variant).
    for _ in range(_STEPS):
        middle = inside - under * (outside - inside) / (over - under)
        here = fall(middle) - reach
        if abs(here) < _NEAR:
            return middle
        if here < 0:
            inside, under, over = middle, here, over / 2
        else:
            outside, over, under = middle, here, under / 2
    return outside


def _rescaled(times: Floats, squares: Floats | None, scores: Floats) -> Floats:
    """Return `times` scaled so that the average of scores, about 0, has its linearized error."""
    error = 0.0 if squares is None else float(squares @ scores**2)
    return times * (float(times @ scores**2) / error) if error > 0 else times


def _fall(times: Floats, scores: Floats) -> float:
    """Return the root of twice the loss of log-likelihood if these scores have expectation 0."""
    least, most = float(scores.min()), float(scores.max())
    seen = times > 0
    times, scores = times[seen], scores[seen]
    if not least < 0 < most:
        return _FAR if scores.any() else 0.0
    # Probabilities are times / (1 + tilt score), all positive between both ends. At an end, the
    # unseen kind with the least or the largest score has the remaining probability.
    low, high, tilt = -1 / most, -1 / least, 0.0
    for _ in range(_STEPS):
        parts = scores / (1 + tilt * scores)
        slope, bend = float(times @ parts), float(times @ parts**2)
        low, high = (tilt, high) if slope > 0 else (low, tilt)
        if slope**2 <= 1e-9 * bend or high - low < _END * max(high, -low):
            break
        tilt += slope / bend
        if not low < tilt < high:
            tilt = (low + high) / 2
    missing = float(times @ np.log1p(tilt * scores))
    return min(_FAR, float(np.sqrt(max(0.0, 2 * missing))))
