"""A randomizer with a memory, made from the randomizer of one wave, with the same law of a wave.

The one-wave channel is factored into a permanent channel, which spends ε∞ over all waves, followed
by an instant channel of symmetric noise. Since their composition is the one-wave channel, the
variance of a wave is that of a fresh draw by the same mechanism.

k-ary: if p₁/q₁ = e^ε∞ and p/q = e^ε₁, the instant p₂ is (p - q₁) / (p₁ - q₁). This is exact. The
calibration of L-GRR by Arcolezi et al. (arXiv 2111.04636, 2021) ignores that a permanent symbol
other than both answers can lead to a report, so that it spends less than asked if k > 2. Bits: if
the instant stage flips each bit with probability s, the permanent probabilities are (p - s) / (1 -
2s) and (q - s) / (1 - 2s). For `sue` that is RAPPOR (Erlingsson, Pihur and Korolova, CCS 2014) with
symmetric instant noise, or L-SUE. For `oue` it is L-OSUE (Arcolezi et al.).
By hand: k = 4, ε∞ = 2 and ε₁ = 1 keep the answer with p₁ = .711, and its memory with p₂ = .617.
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

#: The most weights of an instant channel that are tried. The first few are enough, since they start
#: at a root that is precise to 1e-15.
_SWAPS = 1000


def can_remember(randomizer: AnyRandomizer) -> bool:
    """Return whether a channel can be factored into a permanent and an instant channel.

    A memory names the same cohort in all waves. Mechanisms with thousands of cohorts, one for each
    group of parts, can have no memory, since the cohort alone could identify a device.
    """
    channel = randomizer.channel
    if randomizer.limit is not None or randomizer.stages is not None:
        return False
    if randomizer.encoder.parts_told > 1:
        return False
    ones = max(map(max, randomizer.encoder.apart), default=0)
    return bool(channel.can_be_kept and channel.p > channel.q and ones <= MOST_ONES)


def with_memory(randomizer: AnyRandomizer, epsilon: Fraction, forever: Fraction) -> AnyRandomizer:
    """Return the randomizer with a memory, whose ratio over all waves is at most e^forever.

    Preconditions: a mechanism made `randomizer` for one wave and `epsilon`, ``epsilon < forever``,
    and `can_remember` holds.

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
    """Return the window of the largest near/far for which the composition keeps to `bound`."""
    k, near, far = permanent.inputs, permanent.near, permanent.far
    top = bound * (near + (k - 2) * far) - (k - 1) * far
    ratio = top / (near - bound * far)
    return Window(k, 1, *best_weights(ratio, int(WORD / (ratio + k - 1))))


def _stages_of_bits(
    randomizer: Randomizer[Any, Bits], bound: Fraction, whole: Fraction
) -> tuple[Bits, Bits]:
    """Return both stages, with ratios of at most `whole` over all waves and `bound` in one."""
    bits, apart = randomizer.channel, randomizer.encoder.apart
    p, q = float(bits.p), float(bits.q)

    def permanent(flip: float) -> Bits:
        one, zero = ((chance - flip) / (1 - 2 * flip) for chance in (p, q))
        # Weights are rounded so that both ratios fall.
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
    least = max(1, int(flip * WORD) - 2)
    for swap in range(least, least + _SWAPS):
        second = Bits(bits.inputs, WORD - swap, swap, WORD)
        if first.followed_by(second).ratio(apart) <= bound:
            return first, second
    raise TooCoarse("weights of 32 bits cannot serve these two ε together")
