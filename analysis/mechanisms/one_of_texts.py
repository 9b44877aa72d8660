"""Mechanisms for texts that report only a hash; `hashed_krr` serves texts, too."""

from fractions import Fraction
from typing import ClassVar

from analysis.core.channels.bits import Bits
from analysis.core.domain import Domain, Texts
from analysis.core.encoders.text import Bloom
from analysis.core.epsilon import best_weights, exp_lower
from analysis.core.randomizer import AnyRandomizer, Randomizer
from analysis.core.words import WORD
from analysis.mechanisms.base import Mechanism, Params, Share, spends

#: The numbers of bits, cohorts and hashes of RAPPOR.
BITS, COHORTS, HASHES = 32, 64, 1


class Rappor(Mechanism):
    """RAPPOR: a Bloom filter of the text, each bit of which is randomized.

    Erlingsson, Pihur and Korolova, CCS 2014, section 3. With a memory it has two stages, the
    permanent and the instantaneous response. Channel: encoder `bloom`, `bits` with p = 1 - q = s /
    (s + 1), where s = e^(ε/2h) for h hashes.
    By hand: h = 1 and ε = 2 ln 3 keep each bit 3 times in 4. The variance of a rare text's share is
    about s / (s - 1)² / h, which is least for h = 1: at ε = 2 it is .92, and 1.96 with two hashes.

    It serves comparisons, and people who know RAPPOR. Hashed k-RR takes fewer respondents.
    """

    name: ClassVar[str] = "rappor"
    called: ClassVar[str] = "RAPPOR"
    cites: ClassVar[tuple[str, ...]] = ("erlingsson2014",)
    serves: ClassVar[tuple[type, ...]] = (Texts,)

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and not domain.is_open

    def compile(self, domain: Texts, epsilon: Fraction, params: Params) -> Randomizer[Bloom, Bits]:
        root = exp_lower(epsilon / (2 * HASHES))
        keep, flip = best_weights(root, int(WORD / (root + 1)))
        bits = Bits(BITS, keep, flip, keep + flip)
        return spends(Randomizer(Bloom(COHORTS, HASHES, BITS), bits), epsilon)


def text_share(randomizer: AnyRandomizer) -> Share:
    """Return the rule for one text's share alone, with a fresh hash for each report.

    It serves comparisons of mechanisms. `analysis.estimate.text` fits all candidates together. If
    reports are bits, it is the share of one bit of a text.
    """
    encoder, channel = randomizer.encoder, randomizer.channel
    if channel.takes_bits:
        p, q = channel.p, channel.q
        # Another text can happen to set the same bit.
        return Share("", p, q + (p - q) / channel.inputs)
    return Share("", channel.p, Fraction(1, channel.inputs), encoder.portion)
