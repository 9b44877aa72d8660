"""What several waves reveal together about permanent bits if inputs have few bits or few ones.

A history is the input of each wave. Compare two histories. Let bit i be 1 in the waves A_i of the
first and in the waves B_i of the second. The permanent channel keeps one draw for the ones of a bit
and one for its zeros. So the reports of bit i depend only on A_i under the first history, and only
on B_i under the second:

    P[y_i | A] = E[probability of the reports in A] E[probability of the reports outside A].

Bits are independent, and all their reports are possible. So the worst ratio of all reports is the
product over the bits of r(A_i, B_i), the worst ratio of one bit's reports. Waves are exchangeable:
r depends only on the numbers of waves in both sets, in each set alone, and in neither.

An input has 1 to `most` ones, so over `waves` waves the sizes of all A_i sum to at least ``waves``
and at most ``most * waves``. So do those of all B_i. `worst_total` maximizes the sum of
ln r(A_i, B_i) over all sizes and overlaps with such sums, by dynamic programming over the bits.
Every pair of histories is among them, so no pair reveals more. The maximum is a bound, because some
sizes and overlaps may belong to no pair of histories. For inputs with a single 1 it was exact in
every case that was enumerated.

It never exceeds the product of two separate packings that `waves.worst_ratio` takes, since
r(A, B) <= r(A, {}) r({}, B). Both are equal from ``2 * most * waves`` bits on, since each history
can then have its ones in bits of its own. It never falls as waves are added: one more wave in which
a bit is 1 in both histories, or 0 in both, lowers no r, since its report can be ignored.

By hand: there are two inputs with one bit each and two waves, and both channels are three times as
likely to keep a bit as to flip it. A bit that is 1 in one wave of the first history, and in the
other wave of the second history, has the ratio (5/3)^2. So has the other bit, and no pair of
histories reveals more: (5/3)^4 = 7.7. Separate packings compare bits that are 1 in one wave with
bits that never are. These have the ratios 25/12 and, the other way round, 28/15. Each counts twice:
15.1.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from analysis.core.channels.bits import Bits
from analysis.core.epsilon import fewest_parts
from analysis.core.types import Integers
from analysis.core.waves import ONE_BIT, SEARCHED, chance_of_bit

#: Logarithms are rounded up to trillionths. Their sums are whole numbers below 2^53, so that
#: JavaScript adds them exactly. What rounding adds is far below the millionths that are charged.
TRILLION = 10**12
#: Inputs with more ones have too many sizes for a phone to go through, and proving the costs of
#: their waves takes long.
MOST_ONES = 4
#: Floats choose the reports that are compared as fractions: all whose ratio is within this factor
#: of the largest. The error of these floats is below 1e-13.
_NEAR = 1 - 1e-9


def worst_total(permanent: Bits, instant: Bits, most: int, waves: int) -> int:
    """Return a bound of ln of the worst ratio of `waves` reports, in trillionths.

    Parameters
    ----------
    permanent, instant : Bits
        With equal `inputs`.
    most : int
        The largest number of ones of an input, ``1 <= most <= MOST_ONES``.
    waves : int
        At least 1. After `SEARCHED` waves, a bound of each further report is added.
    """
    if waves > SEARCHED:
        each = fewest_parts(instant.ratio(ONE_BIT), TRILLION)
        # Given all before it, the probability of a bit is between zero/total and one/total. Bits
        # differ only where one of the histories has had a one.
        touched = sum(
            min(permanent.inputs, 2 * most * wave) for wave in range(SEARCHED + 1, waves + 1)
        )
        return worst_total(permanent, instant, most, SEARCHED) + touched * each
    gain = _gain_of_bit(permanent, instant, waves)
    slots, sizes = most * waves, range(waves + 1)
    if permanent.inputs >= 2 * slots:
        first, second = [gain(size, 0) for size in sizes], [gain(0, size) for size in sizes]
        return _packed(first, slots) + _packed(second, slots)
    table = [[gain(raised, lowered) for lowered in sizes] for raised in sizes]
    return _shared(table, permanent.inputs, slots)


def _shared(gains: list[list[int]], bits: int, slots: int) -> int:
    """Return the largest sum of gains, one for each bit, over the sizes of A_i and of B_i.

    The sizes of all A_i sum to at least ``len(gains) - 1``, the number of waves, and at most
    `slots`. So do those of all B_i.
    """
    waves = len(gains) - 1
    # Floats hold the whole numbers exactly, and minus infinity for sums that are impossible.
    best = np.full((slots + 1, slots + 1), -np.inf)
    best[0, 0] = 0
    for _ in range(bits):
        with_bit = best.copy()
        for raised, row in enumerate(gains):
            for lowered, gain in enumerate(row):
                left = best[: slots + 1 - raised, : slots + 1 - lowered]
                cells = with_bit[raised:, lowered:]
                np.maximum(cells, left + gain, out=cells)
        best = with_bit
    return int(best[waves:, waves:].max())


def _packed(gains: list[int], slots: int) -> int:
    """Return the largest sum of the gains of sizes that sum to at most `slots`."""
    best = [0] * (slots + 1)
    for used in range(1, slots + 1):
        sizes = range(1, min(used, len(gains) - 1) + 1)
        best[used] = max(best[used - 1], *(best[used - size] + gains[size] for size in sizes))
    return best[slots]


def _gain_of_bit(permanent: Bits, instant: Bits, waves: int) -> Callable[[int, int], int]:
    """Return a function of the sizes of A and of B: ln of the worst r(A, B), in trillionths.

    It is the largest over all overlaps of two sets of these sizes.
    """
    # The probabilities of reports that share one kept bit, by their number and that of ones.
    ones, zeros = (
        [
            [chance_of_bit(permanent, instant, kept, length, told) for told in range(length + 1)]
            for length in range(waves + 1)
        ]
        for kept in (permanent.one, permanent.zero)
    )

    def gain(raised: int, lowered: int) -> int:
        # The probabilities of the reports in A, outside A, in B, and outside B.
        exact = ones[raised], zeros[waves - raised], ones[lowered], zeros[waves - lowered]
        reports = _reports(waves, raised, lowered)
        inside, outside, other_inside, other_outside = (
            np.array(chances, dtype=np.float64)[told]
            for chances, told in zip(exact, reports.T, strict=True)
        )
        about = inside * outside / (other_inside * other_outside)
        ratios = (
            Fraction(exact[0][a] * exact[1][b], exact[2][c] * exact[3][d])
            for a, b, c, d in reports[about >= _NEAR * about.max()].tolist()
        )
        return fewest_parts(max(ratios), TRILLION)

    return gain


def _reports(waves: int, raised: int, lowered: int) -> Integers:
    """Return the possible numbers of reports that are 1, for all overlaps of sets of these sizes.

    Returns
    -------
    (n, 4) array
        The numbers in the waves of A, outside A, in the waves of B, and outside B; no row twice.
    """
    rows = []
    for both in range(max(0, raised + lowered - waves), min(raised, lowered) + 1):
        neither = waves - raised - lowered + both
        cells = both + 1, raised - both + 1, lowered - both + 1, neither + 1
        in_both, first, second, rest = np.indices(cells).reshape(4, -1)
        rows.append(np.stack((in_both + first, second + rest, in_both + second, first + rest)))
    return np.unique(np.concatenate(rows, axis=1), axis=1).T
