"""What mechanisms for texts have in common: nothing but the hash of a text is reported."""

from fractions import Fraction

from analysis.core.randomizer import AnyRandomizer
from analysis.mechanisms.base import Share


def text_share(randomizer: AnyRandomizer) -> Share:
    """How one text's share would be estimated alone, with a fresh hash function for each report.

    To compare mechanisms by; `analysis.estimate.text` fits all candidates together. Of one bit a
    text, if it has bits.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    if channel.takes_bits:
        p, q = channel.p, channel.q
        # Another text sets the bit of this one, too, by chance.
        return Share("", p, q + (p - q) / channel.inputs)
    return Share("", channel.p, Fraction(1, channel.inputs), encoder.portion)
