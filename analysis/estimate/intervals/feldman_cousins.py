"""The unified interval of a share known to lie in [0, 1]: exact, and never empty at usual levels.

Counts are ordered by the ratio R of their likelihood to that at their own likeliest share in
[0, 1]. A share is kept unless the first counts reach the level without the count that was seen.

No grid of shares is needed. Let a be the chance of support, and h(y) the log-likelihood of a count
y at its likeliest chance: ``log R(y; a) = y logit(a) + n log(1 - a) - h(y)``, and h is convex. So
above the likeliest chance of the count x that was seen, the counts before x in the order are those
after x up to some m, and m is reached where ``R(m; a) = R(x; a)``: at
``logit(a) = (h(m) - h(x)) / (m - x)``. From there to where m + 1 is reached, x is kept if
``P[x < X <= m] < level``: a smooth function of a that rises to one maximum and then falls, so that
the last chance that is kept is the end of such a piece, or where the level is crossed within one.
"""

from typing import Any

import numpy as np
import scipy
from scipy.special import bdtr, expit, xlog1py, xlogy

from analysis.estimate import Floats, Ints

#: By so much, in chances of support, ends are moved outward. Ties belong to the interval, and
#: rounding would lose them.
ROUNDING = 1e-10


def feldman_cousins(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Return the least and the largest share that are kept.

    The interval also has those shares between them that are not, because counts are discrete.
    Parameters are those of `share_interval`, ``n > 0``.

    Raises
    ------
    ValueError
        If `count` or `n` is not whole.

    References
    ----------
    Feldman and Cousins, Physical Review D 1998, sections III and IV.
    """
    if count != int(count) or n != int(n):
        raise ValueError(f"count and n must be whole for feldman-cousins, got {count} and {n}")
    seen, unseen = int(count), int(n) - int(count)
    if p < q:
        # Count reports that do not support the value: they grow with the share.
        seen, unseen, p, q = unseen, seen, 1 - p, 1 - q
    low = _part_beyond(unseen, int(n), 1 - p, 1 - q, confidence_level)
    return low, 1 - _part_beyond(seen, int(n), q, p, confidence_level)


def _part_beyond(count: int, n: int, least: float, most: float, level: float) -> float:
    """Return the part of [least, most] that lies above the largest chance that is kept."""
    counts = np.arange(count, n + 1)
    likeliest = np.clip(counts / n, least, most)
    heights = _log_likelihood(counts, n, likeliest)
    # Where each count is reached, beginning with the one that was seen; the end follows the last.
    slopes = (heights[1:] - heights[0]) / (counts[1:] - count)
    reached = np.array([likeliest[0], *np.clip(expit(slopes), likeliest[0], most), most])
    # By Chernoff's bound both tails outside the counts before x have less chance than R(x), so no
    # share is kept where R(x) is below half of what the level leaves.
    near = heights[0] - _log_likelihood(count, n, reached[:-1]) <= -np.log((1 - level) / 2)
    near[1:] &= reached[1:-1] < most
    last, start, end = counts[near], reached[:-1][near], reached[1:][near]

    def before(last: Any, chance: Any) -> Any:
        return bdtr(last, n, chance) - bdtr(count, n, chance)

    kept_at_end = before(last, end) < level
    piece = int(np.flatnonzero(kept_at_end | (before(last, start) < level))[-1])
    furthest = float(end[piece])
    if not kept_at_end[piece]:
        furthest = float(
            scipy.optimize.brentq(lambda a: before(last[piece], a) - level, start[piece], furthest)
        )
    if furthest <= least + ROUNDING:
        return 1.0
    return max(0.0, most - furthest - ROUNDING) / (most - least)


def _log_likelihood(count: Ints | int, n: int, chance: Floats) -> Floats:
    return np.asarray(xlogy(count, chance) + xlog1py(n - count, -chance))
