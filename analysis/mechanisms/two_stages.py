"""From a randomizer of one wave to one with a memory, whose single waves look just the same.

The one-wave channel is taken apart into a permanent one, which spends ε∞ over all waves, and an
instant one of symmetric noise after it. Since both in a row are again the one-wave channel, the
variance of a wave is that of a fresh draw by the same mechanism.

k-ary: with p₁/q₁ = e^ε∞ and p/q = e^ε₁, the instant p₂ = (p - q₁) / (p₁ - q₁). This is exact; the
calibration of L-GRR by Arcolezi et al. (arXiv 2111.04636, 2021) leaves out that a permanent symbol
other than both answers can lead to a report, so that it spends less than asked if k > 2.
Bits: an instant stage that keeps each bit but with chance s leaves the permanent chances
(p - s) / (1 - 2s) and (q - s) / (1 - 2s). Of `sue` that is RAPPOR (Erlingsson, Pihur and Korolova,
CCS 2014) with symmetric instant noise, or L-SUE; of `oue`, L-OSUE (Arcolezi et al.).
By hand: k = 4, ε∞ = 2, ε₁ = 1 keep the answer with p₁ = .711, its memory with p₂ = .617.
"""

from fractions import Fraction
from typing import Any

import scipy

from analysis.core.channels.bits import Bits
from analysis.core.channels.window import Window
from analysis.core.epsilon import TooCoarse, best_weights, exp_lower, log_ratio
from analysis.core.randomizer import AnyRandomizer, Randomizer
from analysis.core.waves_of_bits import MOST_ONES
from analysis.core.words import WORD
from analysis.mechanisms.one_of_k import window_of


def can_remember(randomizer: AnyRandomizer) -> bool:
    """Return whether a channel can be split into a permanent and an instant one.

    A memory names the same cohort in all waves. So those with thousands of cohorts, one for each
    group of parts, can have none: a device could be followed by that alone.
    """
    channel = randomizer.channel
    if randomizer.limit is not None or randomizer.stages is not None:
        return False
    if randomizer.encoder.parts_told > 1:
        return False
    ones = max(map(max, randomizer.encoder.apart), default=0)
    return bool(channel.can_be_kept and channel.p > channel.q and ones <= MOST_ONES)


def with_memory(randomizer: AnyRandomizer, epsilon: Fraction, forever: Fraction) -> AnyRandomizer:
    """Return the randomizer with a memory, whose reports of all waves have at most e^forever.

    Preconditions: a mechanism made it for one wave and `epsilon`, ``epsilon < forever``, and
    `can_remember` holds.

    Raise TooCoarse if more than a hundredth of `epsilon` or `forever` is lost to weights of 32
    bits.
    """
    bound, whole = exp_lower(epsilon), exp_lower(forever)
    stages: tuple[Window, Window] | tuple[Bits, Bits]
    if randomizer.channel.takes_bits:
        stages = _stages_of_bits(randomizer, bound, whole)
    else:
        permanent = window_of(randomizer.channel.inputs, forever)
        stages = permanent, _instant_window(permanent, bound)
    remembering = Randomizer.remembering(randomizer.encoder, *stages)
    remembering.check()
    remembering.check_epsilon(epsilon)
    remembering.check_forever(forever)
    spent = (remembering.ratio, epsilon), (remembering.forever, forever)
    if any(ratio < exp_lower(Fraction(0.99 * float(asked))) for ratio, asked in spent):
        raise TooCoarse("weights of 32 bits lose over a hundredth of ε in two stages")
    return remembering


def _instant_window(permanent: Window, bound: Fraction) -> Window:
    """Return the window of the largest near/far with which both in a row keep to `bound`."""
    k, near, far = permanent.inputs, permanent.near, permanent.far
    top = bound * (near + (k - 2) * far) - (k - 1) * far
    ratio = top / (near - bound * far)
    return Window(k, 1, *best_weights(ratio, int(WORD / (ratio + k - 1))))


def _stages_of_bits(
    randomizer: Randomizer[Any, Bits], bound: Fraction, whole: Fraction
) -> tuple[Bits, Bits]:
    """Return both stages: ratios are at most `whole` over all waves, and `bound` in one."""
    bits, apart = randomizer.channel, randomizer.encoder.apart
    p, q = float(bits.p), float(bits.q)

    def permanent(flip: float) -> Bits:
        one, zero = ((chance - flip) / (1 - 2 * flip) for chance in (p, q))
        # Rounded so that both ratios fall.
        return Bits(bits.inputs, int(one * WORD), min(int(one * WORD), int(zero * WORD) + 1), WORD)

    def spare(flip: float) -> float:
        return log_ratio(whole) - log_ratio(permanent(flip).ratio(apart))

    most = min(q, 1 - p) * (1 - 1e-9)
    if spare(most) > 0 or spare(0.0) < 0:
        raise TooCoarse("weights of 32 bits cannot serve so large an ε over all waves")
    flip = scipy.optimize.brentq(spare, 0.0, most, xtol=1e-15)
    first = permanent(flip)
    while first.ratio(apart) > whole:
        first = Bits(bits.inputs, first.one - 1, first.zero + 1, WORD)
    swap = max(1, int(flip * WORD) - 2)
    while True:
        second = Bits(bits.inputs, WORD - swap, swap, WORD)
        if first.followed_by(second).ratio(apart) <= bound:
            return first, second
        swap += 1
