"""Empirical-likelihood intervals of averages of debiased reports, and of ratios of them.

The likelihood of a value is the largest that any law of reports with this value has, where each
kind of report has a chance of its own (empirical likelihood, Owen 1988). Kinds that were not seen
have a chance, too: without them an interval shrinks to a point where the rarest kind was not seen,
and covers .43 instead of .95. Other shares are left free. To hold them at 0 and above seems to add
information, but where many are near 0, what cannot be taken from them is taken from the others: in
a table of 5 × 5 with 5 cells that are not 0, such intervals cover .75 to .92.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import chdtri

from analysis.estimate import Floats
from analysis.estimate.intervals.normal import Interval

#: The most steps of a search; five to ten are usual.
_STEPS = 100
#: How precisely the end of an interval is found, in about standard errors: the statistic at the
#: end is then within 0.00004 of its quantile.
_NEAR = 1e-5
#: Values farther away, in about standard errors, are as good as impossible.
_FAR = 100.0
#: The relative width at which a bracket of the search is narrow enough.
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
        How often each kind of report was made; 0 for kinds that were possible but not seen.
    above, below : (reports,) arrays
        The scores of each kind. With `below` all 1 the ratio is a share or a mean; else it is one
        in a group.
    possible : pair of float
        The least and the largest value that the ratio can have. Where the estimate is outside, the
        interval has values nearly as likely as the border, so that it never shrinks to a point.
    confidence_level : float
        In (0, 1).
    squares : (reports,) array, optional
        Sums of squared weights, if `times` are sums of weights; both sum to the effective number
        of respondents. The log-likelihood is then scaled so that its error is the linearized one.

    Returns
    -------
    Interval
        It is all that is possible, with the method ``none``, if the expectation of `below` is not
        significantly above 0, or reports show no spread.

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
    """Return where between a likely value and the border the fall passes `reach`, or the border.

    `fall` gives the root of a statistic that is nearly quadratic around the likeliest value.
    """
    over = fall(outside) - reach
    if inside == outside or over <= 0:
        return outside
    under = fall(inside) - reach
    # The fall is nearly linear, so that false position is fast (Illinois variant).
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
    """Return `times`, scaled so that the average of scores, about 0, has its linearized error."""
    error = 0.0 if squares is None else float(squares @ scores**2)
    return times * (float(times @ scores**2) / error) if error > 0 else times


def _fall(times: Floats, scores: Floats) -> float:
    """Return the root of twice the log-likelihood that expectation 0 of these scores costs."""
    least, most = float(scores.min()), float(scores.max())
    seen = times > 0
    times, scores = times[seen], scores[seen]
    if not least < 0 < most:
        return _FAR if scores.any() else 0.0
    # Chances are times / (1 + tilt score), all positive between both ends. At an end, the unseen
    # kind with the least or the largest score has the rest of 1.
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
