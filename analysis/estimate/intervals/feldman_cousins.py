"""The unified interval of a share in [0, 1], which is exact and never empty at usual levels.

For each share, counts are ordered by the ratio R of their likelihood to that at their own likeliest
share in [0, 1]. A share is in the interval unless the first counts in this order reach the level
without the observed count.

No grid of shares is needed. Let a be the probability of support, and h(y) the log-likelihood of a
count y at its likeliest probability. Then ``log R(y; a) = y logit(a) + n log(1 - a) - h(y)``, and h
is convex. Let x be the observed count. Above its likeliest probability, the counts that precede x
in the order are x + 1 to some m. The count m begins to precede x where ``R(m; a) = R(x; a)``, which
is at ``logit(a) = (h(m) - h(x)) / (m - x)``. From there to the point where m + 1 begins to precede
x, x is kept if ``P[x < X <= m] < level``. This is a smooth function of a that rises to one maximum
and then falls. So the last probability that is kept is the end of such a piece, or a point within a
piece where the function crosses the level.
"""

from typing import Any

import numpy as np
import scipy
from scipy.special import bdtr, expit, xlog1py, xlogy

from analysis.estimate import Floats, Ints

#: Ends are moved outward by this probability of support. Ties belong to the interval, and rounding
#: would lose them.
ROUNDING = 1e-10


def feldman_cousins(
    count: float, n: float, p: float, q: float, confidence_level: float
) -> tuple[float, float]:
    """Return the least and the largest share that are in the interval.

    All shares between them are in the interval, too, although the test may reject some of them
    because counts are discrete. Parameters are those of `share_interval`, with ``n > 0``.

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
        # Count reports that do not support the value, since they become more with the share.
        seen, unseen, p, q = unseen, seen, 1 - p, 1 - q
    low = _part_beyond(unseen, int(n), 1 - p, 1 - q, confidence_level)
    return low, 1 - _part_beyond(seen, int(n), q, p, confidence_level)


def _part_beyond(count: int, n: int, least: float, most: float, level: float) -> float:
    """Return the fraction of [least, most] above the largest probability that is kept."""
    counts = np.arange(count, n + 1)
    likeliest = np.clip(counts / n, least, most)
    heights = _log_likelihood(counts, n, likeliest)
    # The points where each count begins to precede x, from x itself on. The end follows the last.
    slopes = (heights[1:] - heights[0]) / (counts[1:] - count)
    reached = np.array([likeliest[0], *np.clip(expit(slopes), likeliest[0], most), most])
    # By Chernoff's bound, each tail outside the counts before x is less probable than R(x). So no
    # share is kept where R(x) is below half of 1 - level.
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
