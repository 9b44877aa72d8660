"""What several waves reveal together if a device keeps permanent draws and adds fresh noise.

The permanent channel draws once for each input (for bits: once for each position and its 0 or 1).
The instant channel draws anew in each wave (Erlingsson, Pihur and Korolova, CCS 2014, section 3).
An answer that changes costs more than one that never changes: the new input has a new permanent
draw, and each further report adds evidence about draws that stay the same. Then there is no bound
for all waves.
By hand: there are two inputs, and both channels are windows with near 3, far 1. One wave has the
ratio (3*3 + 1*1) / (3*1 + 1*3) = 5/3. Two waves have (3*9 + 1*1) / (1*9 + 3*1) = 7/3 if the answer
stays the same, and (5/3)^2 = 25/9 if it changes. As equal answers are repeated, the ratio
approaches 3; for answers that change it grows without bound.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import prod

from analysis.core.channels.bits import Bits
from analysis.core.channels.window import Window
from analysis.core.types import Apart

Counts = tuple[int, ...]
#: A search for the largest ratio, given both channels, `apart` and the number of waves.
_Search = Callable[..., Fraction]

#: The differences of inputs in a single bit, either way, as `Bits.ratio` takes them.
ONE_BIT = ((1, 0), (0, 1))

#: Beyond this many waves, the exact search takes too long for three or more inputs.
EXACT = 6
#: Beyond this many waves, every search takes too long.
SEARCHED = 12


@lru_cache
def worst_ratio(
    permanent: Window | Bits, instant: Window | Bits, apart: Apart, waves: int
) -> Fraction:
    """Return the largest ratio of probabilities of `waves` reports, whatever the answers were.

    For windows, it is exact for two inputs, for more inputs than waves, and for up to `EXACT`
    waves; otherwise it is a bound. For bits it is a bound. It is exact if any `most` positions can
    be an input's ones, where `most` is the largest number in `apart`, and there are at least
    ``2 * most * waves`` positions. After `SEARCHED` waves, it is multiplied by a bound of each
    further report, given those before. It never falls as waves are added.

    Parameters
    ----------
    permanent, instant : Window or Bits
        Two channels of one kind with equal `inputs`. Windows have width 1 and ``far <= near``.
    apart : pairs of numbers
        The numbers of ones in which two inputs can differ, either way; not used for windows. No
        input has more ones than the largest of these numbers.
    waves : int
        At least 0.
    """
    if waves > SEARCHED:
        more = (_last(instant, apart, wave) for wave in range(SEARCHED + 1, waves + 1))
        return prod(more, start=worst_ratio(permanent, instant, apart, SEARCHED))
    worst: _Search = _worst_bits if permanent.takes_bits else _worst_window
    return worst(permanent, instant, apart, waves)


@lru_cache
def constant_ratio(
    permanent: Window | Bits, instant: Window | Bits, apart: Apart, waves: int
) -> Fraction:
    """Return the largest ratio, exactly, if the answer was the same in all waves.

    It rises with the number of waves to the permanent channel's own ratio and never exceeds it.
    """
    constant: _Search = _constant_bits if permanent.takes_bits else _constant_window
    return constant(permanent, instant, apart, waves)


def _last(instant: Window | Bits, apart: Apart, waves: int) -> Fraction:
    """Return the largest ratio of the probabilities of a last report, whatever came before.

    Given all reports before it, the probability of a symbol is a weighted mean of near/total and
    far/total. For a bit it is a weighted mean of one/total and zero/total. Bits differ only where
    one of the histories has had a one.
    """
    touched = min(instant.inputs, 2 * waves * max(map(max, apart), default=0))
    return instant.ratio(((touched, 0), (0, touched)))


def _constant_window(permanent: Window, instant: Window, _: Apart, waves: int) -> Fraction:
    # Two inputs are easiest to distinguish if all reports are one of the two. All other symbols are
    # equally likely under both.
    near, far = instant.near**waves, instant.far**waves
    rest = (permanent.inputs - 2) * permanent.far * far
    return Fraction(
        permanent.near * near + permanent.far * far + rest,
        permanent.far * near + permanent.near * far + rest,
    )


def _constant_bits(permanent: Bits, instant: Bits, apart: Apart, waves: int) -> Fraction:
    raised, lowered = _gains(permanent, instant, waves, waves)
    return max(raised[-1] ** more * lowered[-1] ** fewer for more, fewer in apart)


def _worst_bits(permanent: Bits, instant: Bits, apart: Apart, waves: int) -> Fraction:
    if waves < 2:
        return constant_ratio(permanent, instant, apart, waves)
    # Bits are independent. Compare each history with a bit that is never 1. The product of the two
    # largest ratios bounds the bit's ratio, and equals it if only one history has ones there. The
    # set of waves in which a bit is 1 can have any size up to `waves`, if the sizes of all bits sum
    # to `slots`: laid end to end around the circle of waves, the sets cover each wave equally often
    # (McNaughton, Management Science 1959).
    slots = waves * max(map(max, apart))
    raised, lowered = _gains(permanent, instant, waves)
    return _packed(raised, permanent.inputs, slots) * _packed(lowered, permanent.inputs, slots)


def _worst_window(permanent: Window, instant: Window, apart: Apart, waves: int) -> Fraction:
    if permanent.inputs <= waves and (permanent.inputs == 2 or waves <= EXACT):
        return _largest(permanent, instant, waves, permanent.inputs, _searched)
    relaxed = _largest(permanent, instant, waves, waves, _relaxed)
    if permanent.inputs > waves:
        return relaxed
    # Given the others, the probability of a last report is between far/total and near/total.
    fewer = _worst_window(permanent, instant, apart, waves - 1)
    return min(relaxed, fewer * instant.ratio())


def _largest(
    permanent: Window,
    instant: Window,
    waves: int,
    length: int,
    least: Callable[[Window, Window, Counts], int],
) -> Fraction:
    """Return the largest ratio over all reports. `least` returns their smallest `_chance`.

    Waves and symbols are exchangeable, so only the number of reports of each symbol matters. The
    probability is (far/total)^T times E r^n for each input, where r is near/far of the instant
    channel, and n is the number of reports of the input's kept symbol in its waves. It is largest
    if each wave's input is its report. Separating an input's symbols raises it, as near >= far.
    Joining the waves of one symbol raises it too, since E r^(n + m) >= E r^n E r^m if n and m rise
    together (Chebyshev).
    """
    largest = Fraction(0)
    for some in _partitions(waves, waves, permanent.inputs):
        counts = some + (0,) * (length - len(some))
        likely = prod(_chance(permanent, instant, 0, (count,)) for count in counts)
        largest = max(largest, Fraction(likely, least(permanent, instant, counts)))
    return largest


def _chance(permanent: Window, instant: Window, label: int, counts: Counts) -> int:
    """Return E r^n times total far^reports, for the input `label` and the counts of its reports."""
    reports = sum(counts)
    none: int = instant.far**reports
    chance: int = permanent.total * none
    for symbol, count in enumerate(counts):
        weight = permanent.near if symbol == label else permanent.far
        chance += weight * (instant.near**count * instant.far ** (reports - count) - none)
    return chance


def _relaxed(permanent: Window, instant: Window, counts: Counts) -> int:
    """Return a lower bound of the least probability; it is exact if inputs outnumber reports.

    By Chebyshev an input should have no symbol twice. With m symbols its E r^n is then at least
    1 + m (r - 1) far/total, and equal to that if the input is not among them. This is log-concave
    in m, so that the most uneven numbers m are best (Gale and Ryser): the waves of one input report
    all symbols, those of another report all symbols that were reported twice or more, and so on.
    There are at most one more of the reported symbols and these inputs than of reports, so they can
    all differ.
    """
    base, rise = permanent.total * instant.far, permanent.far * (instant.near - instant.far)
    rows = range(sum(counts))
    return prod(base + rise * sum(count > row for count in counts) for row in rows)


def _searched(permanent: Window, instant: Window, counts: Counts) -> int:
    """Return the least probability over all ways to share the reports among the inputs."""

    @cache
    def least(label: int, left: Counts) -> int:
        if label == permanent.inputs - 1:
            return _chance(permanent, instant, label, left)
        return min(
            _chance(permanent, instant, label, taken)
            * least(label + 1, tuple(n - less for n, less in zip(left, taken, strict=True)))
            for taken in product(*(range(n + 1) for n in left))
        )

    return least(0, counts)


def _partitions(whole: int, most: int, parts: int) -> Iterator[Counts]:
    """Yield all non-increasing sequences of at most `parts` numbers of 1..most with this sum."""
    if not whole:
        yield ()
    elif parts:
        for first in range(1, min(whole, most) + 1):
            for rest in _partitions(whole - first, first, parts - 1):
                yield (first, *rest)


def _packed(gains: list[Fraction], bits: int, slots: int) -> Fraction:
    """Return the largest product of gains of `bits` sizes that sum to at most `slots`."""
    unlimited = bits >= slots
    best = [Fraction(1)] * (slots + 1)
    for _ in range(1 if unlimited else bits):
        longer: list[Fraction] = []
        for used, without in enumerate(best):
            before = longer if unlimited else best[:used]
            more = (before[-size] * gain for size, gain in enumerate(gains[1:], 1) if size <= used)
            longer.append(max([without, *more]))
        best = longer
    return best[slots]


def _gains(
    permanent: Bits, instant: Bits, waves: int, fewest: int = 0
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the largest ratios of one bit's reports if it is 1 in some waves or in none.

    The first list has the ratio of the probability if the bit is 1 in `fewest`, `fewest` + 1, ...,
    all waves to the probability if it never is 1. The second list has the inverse ratio.
    """

    def ratios(size: int) -> Iterator[Fraction]:
        for inside, outside in product(range(size + 1), range(waves - size + 1)):
            some = chance_of_bit(permanent, instant, permanent.one, size, inside)
            some *= chance_of_bit(permanent, instant, permanent.zero, waves - size, outside)
            told = inside + outside
            never = chance_of_bit(permanent, instant, permanent.zero, waves, told)
            yield Fraction(some, never * permanent.total)

    by_size = [list(ratios(size)) for size in range(fewest, waves + 1)]
    return [max(some) for some in by_size], [1 / min(some) for some in by_size]


def chance_of_bit(permanent: Bits, instant: Bits, kept: int, length: int, ones: int) -> int:
    """Return the probability that `ones` of `length` reports that share one kept bit are 1.

    It is that of one order of these reports, times a total for each draw, and so a whole number.
    `kept` is the weight of a 1.
    """
    one: int = instant.one**ones * (instant.total - instant.one) ** (length - ones)
    zero: int = instant.zero**ones * (instant.total - instant.zero) ** (length - ones)
    return kept * one + (permanent.total - kept) * zero
